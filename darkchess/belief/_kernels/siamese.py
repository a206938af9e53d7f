"""Kernels of :mod:`darkchess.belief.siamese`: what stands in the 16 bytes of an enemy half
(:mod:`darkchess.board.kernels.halves`), as feature rows and as counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.bits import lowest, without_lowest
from darkchess.board.kernels.board import ROOK
from darkchess.board.kernels.halves import CASTLING_ROOK
from klss.kernel import kernel

__all__ = ["RIGHTS", "count_halves", "feature_rows", "features_of"]

RIGHTS = 6 * 64
"""Feature of the enemy's right to castle queenside; the next one is kingside."""


@kernel
def count_halves(positions: Any, counts: Any) -> None:
    """Add to ``counts`` (int64[6, 64]) in how many of ``positions`` (uint64[n, 2]) each piece stands on each square."""
    for i in range(positions.shape[0]):
        men = positions[i, 0]
        codes = positions[i, 1]
        while men != np.uint64(0):
            code: Any = np.int64(codes & np.uint64(15))
            if code == CASTLING_ROOK:
                code = ROOK
            counts[code, lowest(men)] += 1
            codes >>= np.uint64(4)
            men = without_lowest(men)


@kernel(allocates=False)
def features_of(enemy: Any, codes: Any, rows: Any) -> Any:
    """Write the features of one half into ``rows`` (uint16[18 or more]): piece · 64 + square for each man, and its
    rights; how many there are.
    """
    count = 0
    while enemy != np.uint64(0):
        square = np.int64(lowest(enemy))
        code: Any = np.int64(codes & np.uint64(15))
        if code == CASTLING_ROOK:
            rows[count] = RIGHTS + (square & 1)
            count += 1
            code = ROOK
        rows[count] = code * 64 + square
        count += 1
        codes >>= np.uint64(4)
        enemy = without_lowest(enemy)
    return count


@kernel
def feature_rows(positions: Any, indices: Any, rows: Any, counts: Any) -> None:
    """:func:`features_of` of ``positions[indices]`` into ``rows`` (uint16[n, 18]) and ``counts`` (int64[n])."""
    for i in range(indices.shape[0]):
        half = positions[indices[i]]
        counts[i] = features_of(half[0], half[1], rows[i])
