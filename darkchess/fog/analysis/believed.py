"""A player's belief in figures for people: the effective number of positions, and the likeliest ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from darkchess.board.position import Position
from darkchess.fog.belief.position_set import PositionSet
from klss.support.arrays import Floats, Ints
from klss.support.greatest import greatest

Belief = Literal["filter", "uniform"]
"""Weights with which positions are shown."""

LISTED = 10
"""Number of likeliest positions that are listed."""


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
        The likeliest positions and their weights, in order; none if all weigh the same.
    """

    belief: Belief
    effective: float
    likeliest: tuple[tuple[Position, float], ...]


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


def believed(positions: PositionSet, belief: Belief, weights: Floats | None) -> Believed:
    """Return a player's belief at its turn. ``weights`` of the kind ``belief``: float64[size], summing to 1; None: all
    positions weigh the same.
    """
    if weights is None:
        return Believed(belief, float(positions.size), ())
    at = likeliest(positions, weights, LISTED)
    rows = zip(positions.rows(at), weights[at].tolist(), strict=True)
    found = tuple((Position(row, positions.fullmove), weight) for row, weight in rows)
    return Believed(belief, effective(weights), found)
