"""The greatest of many numbers, most of which may be equal."""

from __future__ import annotations

import numpy as np

from klss.support.arrays import Floats, Ints


def greatest(values: Floats, count: int) -> Ints:
    """Return the indices (int64, ascending) of the ``count`` greatest of ``values`` (float64[n], no NaN), or of all if
    there are no more; among equals the first ones; none if ``count`` is below 1.

    >>> greatest(np.array([0.1, 0.3, 0.1, 0.2, 0.1]), 3).tolist()
    [0, 1, 3]
    """
    if count >= len(values):
        return np.arange(len(values))
    if count <= 0:
        return np.empty(0, dtype=np.int64)
    # All above the count-th greatest, then as many of its equals as are missing.
    least = np.partition(values, len(values) - count)[len(values) - count]
    chosen = values > least
    chosen[np.flatnonzero(values == least)[: count - int(chosen.sum())]] = True
    return np.flatnonzero(chosen)
