"""A proof that a profile is an equilibrium: both players' worst cases in fractions, by walking the game's tree.

It shares no code with the solvers. If player 0's strategy is worth at least v against everything, and player 1's at
most v, then v is the value of the game and both strategies are optimal. A game's numbers are read as the fractions that
they were before they were rounded (:func:`simplest`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction

from klss.theory.game import Game
from klss.theory.movers import CHANCE, TERMINAL

_ROUNDING = Fraction(1, 2**50)
"""Relative error of a number that is the result of a few roundings."""

ExactStrategy = Mapping[str, Mapping[str, Fraction]]
"""One player's strategy: infoset's name -> action's name -> probability, for all infosets at which the player moves."""


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


def worst_case(game: Game, player: int, strategy: ExactStrategy) -> Fraction:
    """Return player 0's payoff of ``strategy`` of ``player`` against the other's best response. Raises ValueError:
    probabilities of an infoset are negative or do not sum to 1.
    """
    for key, actions in strategy.items():
        if min(actions.values()) < 0 or sum(actions.values()) != 1:
            raise ValueError(f"certificate: the probabilities of infoset {key!r} are no distribution")
    other, best = 1 - player, max if player == 1 else min
    movers, parents, actions_in = game.player.tolist(), game.parent.tolist(), game.action.tolist()
    infosets = game.infoset.tolist()
    chance = probabilities(game)
    keys, names = game.observations[player].keys, game.observations[player].action_names
    # Each node's weight by chance and the strategy, and how often the other player has moved before it.
    weight, moved = [Fraction(1)], [0]
    for node in range(1, game.node_count):
        above = parents[node]
        factor, mover = Fraction(1), movers[above]
        if mover == CHANCE:
            factor = chance[node]
        elif mover == player:
            j = infosets[player][above]
            factor = strategy[str(keys[j])][names[j][actions_in[node]]]
        weight.append(weight[above] * factor)
        moved.append(moved[above] + (mover == other))
    # From the last moves up: all nodes of an infoset have as many own moves before them, by perfect recall, so all that
    # follows its actions is known when the best of them is chosen.
    levels: dict[int, list[int]] = defaultdict(list)
    for node in range(game.node_count):
        levels[moved[node]].append(node)
    value = [Fraction(0)] * game.node_count
    below: dict[int, dict[int, Fraction]] = defaultdict(dict)
    total: dict[int, dict[int, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for level in sorted(levels, reverse=True):
        for node in reversed(levels[level]):
            if movers[node] == TERMINAL:
                value[node] = weight[node] * simplest(float(game.utility[node]))
            elif movers[node] == other:
                worth = total[infosets[other][node]]
                value[node] = below[node][best(worth, key=lambda action: worth[action])]
            above = parents[node]
            if above >= 0 and movers[above] == other:
                below[above][actions_in[node]] = value[node]
                total[infosets[other][above]][actions_in[node]] += value[node]
            elif above >= 0:
                value[above] += value[node]
    return value[0]
