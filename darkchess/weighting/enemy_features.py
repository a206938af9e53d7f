"""Features of possible positions: the enemy's pieces on their squares, its castling rights, and a double step.

Everything is seen from the viewer's side of the board: the viewer moves up.
"""

from __future__ import annotations

import numpy as np

from darkchess.weighting._kernels import features as kernels
from klss.networks.towers import Uint16s
from klss.support.arrays import Float32s, Floats, Ints, Words

__all__ = ["FEATURES", "MOST_FEATURES", "SQUARES", "features_of", "shares"]

SQUARES = 6 * 64
"""Features that are a piece on a square: piece · 64 + square."""
FEATURES = SQUARES + 2 + 8
"""All features: those, then queenside, kingside, and the files of a double step."""

MOST_FEATURES = 19
"""Most features of one position: sixteen pieces, two rights, one double step."""


def features_of(halves: Words, indices: Ints | None = None) -> tuple[Uint16s, Ints]:
    """Return the features of positions.

    Parameters
    ----------
    halves
        uint64[n, 2], the enemy's (:mod:`darkchess.board.kernels.halves`).
    indices
        int64[m], which of them; None: all.

    Returns
    -------
    tuple
        uint16[m, MOST_FEATURES], and int64[m], the number of features in each row.
    """
    chosen = np.arange(halves.shape[0]) if indices is None else indices
    rows = np.zeros((chosen.shape[0], MOST_FEATURES), dtype=np.uint16)
    counts = np.empty(chosen.shape[0], dtype=np.int64)
    kernels.feature_rows(halves, chosen, rows, counts)
    return rows, counts


def shares(halves: Words, weights: Floats | None = None) -> Float32s:
    """Return the probability that each enemy piece stands on each square: float32[SQUARES].

    Parameters
    ----------
    halves
        uint64[n, 2], the enemy's.
    weights
        float64[n]; None: all weigh the same.
    """
    each = np.ones(halves.shape[0]) if weights is None else weights
    sums = np.zeros((6, 64))
    kernels.sum_halves(halves, each, sums)
    found: Float32s = (sums.reshape(-1) / each.sum()).astype(np.float32)
    return found
