"""A game's numbers as fractions: what its floating-point numbers were before they were rounded."""

from __future__ import annotations

from fractions import Fraction

from klss.game import Game
from klss.movers import CHANCE

_ROUNDING = Fraction(1, 2**50)
"""Relative error of a number that is the result of a few roundings."""


def simplest(number: float) -> Fraction:
    """Return a whole number itself, and of the fractions within rounding of another the one of least denominator.

    >>> simplest(1 / 3), simplest(-0.05), simplest(1e19)
    (Fraction(1, 3), Fraction(-1, 20), Fraction(10000000000000000000, 1))
    """
    exact = Fraction(number)
    if exact.denominator == 1:
        return exact
    error = abs(exact) * _ROUNDING
    return _between(abs(exact) - error, abs(exact) + error) * (1 if number > 0 else -1)


def _between(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction of least denominator from ``low`` to ``high``, by their continued fractions."""
    whole = -(-low.numerator // low.denominator)  # the next whole number
    if whole <= high:
        return Fraction(whole)
    return whole - 1 + 1 / _between(1 / (high - whole + 1), 1 / (low - whole + 1))


def probabilities(game: Game) -> list[Fraction]:
    """Return the probability of the edge into each node; chance's sum to 1 exactly at each of its nodes."""
    found = [simplest(each) for each in game.probability.tolist()]
    parents, movers = game.parent.tolist(), game.player.tolist()
    total = [Fraction(0)] * len(found)
    for node, parent in enumerate(parents):
        total[parent] += found[node]
    return [
        each / total[parent] if parent >= 0 and movers[parent] == CHANCE else Fraction(1)
        for each, parent in zip(found, parents, strict=True)
    ]
