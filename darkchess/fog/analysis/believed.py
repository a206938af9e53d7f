"""A belief in figures for people: the effective number of positions, and the likeliest ones."""

from __future__ import annotations

from typing import Literal

import numpy as np

from darkchess.fog.belief.position_set import PositionSet
from klss.support.arrays import Floats, Ints
from klss.support.greatest import greatest

Belief = Literal["filter", "uniform"]
"""Weights with which positions are shown."""


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
