"""Features of possible positions: the enemy's pieces on their squares, its castling rights, and a double step.

Everything is seen from the viewer's side of the board: the viewer moves up.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from darkchess.board.kernels import board
from darkchess.weighting._kernels import features as kernels
from klss.support.arrays import Float32s, Floats, Ints, Words

SQUARES = 6 * 64
"""Features that are a piece on a square: piece · 64 + square."""
FEATURES = SQUARES + 2 + 8
"""All features: those, then queenside, kingside, and the files of a double step."""

MOST_FEATURES = 19
"""Most features of one position: sixteen pieces, two rights, one double step."""


def features_of(halves: Words) -> tuple[npt.NDArray[np.uint16], Ints]:
    """Return the features of positions.

    Parameters
    ----------
    halves
        uint64[n, 2], the enemy's (:mod:`darkchess.board.kernels.halves`).

    Returns
    -------
    tuple
        uint16[n, MOST_FEATURES], and int64[n], the number of features in each row.
    """
    rows = np.zeros((halves.shape[0], MOST_FEATURES), dtype=np.uint16)
    counts = np.empty(halves.shape[0], dtype=np.int64)
    kernels.feature_rows(halves, rows, counts)
    return rows, counts


def weight_sums(halves: Words, weights: Floats | None = None) -> Floats:
    """Return the weight of the positions with each enemy piece on each square: float64[6, 64].

    Parameters
    ----------
    halves
        uint64[n, 2], the enemy's.
    weights
        float64[n]; None: each position weighs 1.
    """
    sums = np.zeros((6, 64))
    # To the kernel no weights are weights of 1.
    kernels.sum_halves(halves, np.empty(0) if weights is None else weights, sums)
    return sums


def shares(halves: Words, weights: Floats | None = None) -> Float32s:
    """Return :func:`weight_sums` as shares of all weight: float32[SQUARES]."""
    total = halves.shape[0] if weights is None else weights.sum()
    return np.asarray(weight_sums(halves, weights).reshape(-1) / total, dtype=np.float32)


def own_squares(row: Words) -> Float32s:
    """Return on which squares the viewer's pieces stand, piece · 64 + square: float32[SQUARES].

    ``row``: uint64[9], a position with the viewer as White (:func:`darkchess.board.position.upward`).
    """
    words = row[:6] & row[board.WHITE]
    return np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little").astype(np.float32)
