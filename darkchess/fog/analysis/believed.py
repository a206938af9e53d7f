"""What a player's belief amounts to, for people: how many positions it is as good as, the likeliest of them, which of
her moves would tell her most, and which of the views that she had told her most.

What a view told is how unlikely it was, −log₂ of its probability as the filter gave it
(:mod:`darkchess.fog.belief.filter`); what a move would tell is the mean of that over what she may see right after it,
the entropy of the observation.
"""

from __future__ import annotations

from dataclasses import dataclass

import chess
import numpy as np

from darkchess.board.move import encode
from darkchess.board.position import Position
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.belief.weights import Belief
from darkchess.fog.game.san import san
from klss.belief.greatest import greatest
from klss.support.arrays import Floats, Ints

__all__ = ["MOST_LIKELIEST", "Believed", "Likely", "Promise", "Told", "believed", "effective", "likeliest"]

MOST_LIKELIEST = 10
"""Likeliest positions that are looked for, unless more are asked."""

_SAMPLE = 2000
"""Positions over which the next observation's entropy is taken, as in the search."""


@dataclass(frozen=True)
class Likely:
    """A position, and its weight, of 1 in all."""

    position: Position
    weight: float


@dataclass(frozen=True)
class Promise:
    """What a move of hers would tell: the entropy, in bits, of what she would see right after it."""

    move: chess.Move
    san: str
    bits: float


@dataclass(frozen=True)
class Told:
    """What a view of hers told.

    Attributes
    ----------
    ply
        The view's.
    san
        Her own move, after which she had it; None: it followed the enemy's.
    bits
        −log₂ of its probability, as the filter gave it.
    """

    ply: int
    san: str | None
    bits: float


@dataclass(frozen=True)
class Believed:
    """A belief at one turn.

    Attributes
    ----------
    belief
        What weighs the positions.
    effective
        How many equally likely positions would be as uncertain: e to the entropy of the weights.
    likeliest
        The likeliest first; none where all are alike.
    moves
        What each of her moves would tell, the most telling first.
    told
        What each view told, the most telling first; None where no filter goes along.
    """

    belief: Belief
    effective: float
    likeliest: tuple[Likely, ...]
    moves: tuple[Promise, ...]
    told: tuple[Told, ...] | None


def effective(weights: Floats) -> float:
    """e to the entropy of ``weights`` (float64[n], summing to 1)."""
    above = weights[weights > 0.0]
    return float(np.exp(-(above * np.log(above)).sum()))


def likeliest(positions: PositionSet, weights: Floats, count: int) -> Ints:
    """Where the ``count`` likeliest positions are, the likeliest first; equals in the order of what they hold."""
    count = min(count, positions.size)
    if not count:
        return np.empty(0, dtype=np.int64)
    chosen = np.flatnonzero(weights >= weights[greatest(weights, count)].min())
    order = np.lexsort((*positions.halves[chosen].T, -weights[chosen]))
    return np.asarray(chosen[order[:count]])


def believed(
    positions: PositionSet, belief: Belief, weights: Floats | None, told: list[Told] | None, count: int = MOST_LIKELIEST
) -> Believed:
    """What her belief amounts to at her turn.

    Parameters
    ----------
    positions
        What she holds possible.
    belief
        What weighs them.
    weights
        float64[size], summing to 1; None: all are alike.
    told
        What each view told; None: nobody knows.
    count
        How many likeliest ones are wanted.
    """
    view = positions.view
    found: list[Likely] = []
    if weights is not None:
        at = likeliest(positions, weights, count)
        found = [
            Likely(Position(row, view.fullmove), float(weights[i]))
            for row, i in zip(positions.rows(at), at, strict=True)
        ]
    codes = np.array([encode(move) for move in view.legal_moves], dtype=np.int64)
    bits = positions.information(codes, _SAMPLE, weights=weights).tolist()
    promises = [Promise(move, san(view, move), each) for move, each in zip(view.legal_moves, bits, strict=True)]
    return Believed(
        belief=belief,
        effective=float(positions.size) if weights is None else effective(weights),
        likeliest=tuple(found),
        moves=tuple(sorted(promises, key=lambda each: (-each.bits, encode(each.move)))),
        told=None if told is None else tuple(sorted(told, key=lambda each: (-each.bits, each.ply))),
    )
