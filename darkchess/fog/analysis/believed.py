"""A player's belief in figures for people: the effective number of positions, the likeliest ones, and the information
that moves would give and views gave.

The information of a view is −log₂ of its probability by the filter (:mod:`darkchess.fog.belief.filter`). That of a move
is the mean over the possible observations right after it: the entropy of the observation.
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

MOST_LIKELIEST = 10
"""Default number of likeliest positions that are listed: as many as fit on a page."""

_SAMPLE = 2000
"""Most positions over which the next observation's entropy is estimated, as in the search."""


@dataclass(frozen=True)
class Likely:
    """A position and its weight; the weights of all positions sum to 1."""

    position: Position
    weight: float


@dataclass(frozen=True)
class MoveInformation:
    """A move, and the entropy, in bits, of the player's observation right after it."""

    move: chess.Move
    san: str
    bits: float


@dataclass(frozen=True)
class ViewInformation:
    """The information that a view gave the player.

    Attributes
    ----------
    ply
        The ply of the view.
    san
        The player's own move that led to it; None: the opponent's move did.
    bits
        −log₂ of its probability by the filter.
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
        The kind of the weights.
    effective
        Number of equally likely positions with the same uncertainty: e to the entropy of the weights.
    likeliest
        The likeliest positions, in order; none if all weigh the same.
    moves
        Information of each legal move, the largest first.
    views
        Information of each view, the largest first; None if there is no filter.
    """

    belief: Belief
    effective: float
    likeliest: tuple[Likely, ...]
    moves: tuple[MoveInformation, ...]
    views: tuple[ViewInformation, ...] | None


def effective(weights: Floats) -> float:
    """Return e to the entropy of ``weights`` (float64[n], summing to 1)."""
    above = weights[weights > 0.0]
    return float(np.exp(-(above * np.log(above)).sum()))


def likeliest(positions: PositionSet, weights: Floats, count: int) -> Ints:
    """Return the indices of the ``count`` likeliest positions, the likeliest first; equally likely ones in the order of
    their halves, which does not depend on how they are stored.
    """
    count = min(count, positions.size)
    if not count:
        return np.empty(0, dtype=np.int64)
    chosen = np.flatnonzero(weights >= weights[greatest(weights, count)].min())
    order = np.lexsort((*positions.halves[chosen].T, -weights[chosen]))
    return np.asarray(chosen[order[:count]])


def believed(
    positions: PositionSet,
    belief: Belief,
    weights: Floats | None,
    views: list[ViewInformation] | None,
    count: int = MOST_LIKELIEST,
) -> Believed:
    """Return a player's belief at its turn.

    Parameters
    ----------
    positions
        The position set.
    belief
        The kind of its weights.
    weights
        float64[size], summing to 1; None: all positions weigh the same.
    views
        Information of each view; None: not known.
    count
        Number of likeliest positions that are wanted.
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
    moves = [MoveInformation(move, san(view, move), each) for move, each in zip(view.legal_moves, bits, strict=True)]
    return Believed(
        belief=belief,
        effective=float(positions.size) if weights is None else effective(weights),
        likeliest=tuple(found),
        moves=tuple(sorted(moves, key=lambda each: (-each.bits, encode(each.move)))),
        views=None if views is None else tuple(sorted(views, key=lambda each: (-each.bits, each.ply))),
    )
