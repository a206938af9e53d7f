"""Kernels of :mod:`darkchess.weighting.enemy_features`: the pieces of enemy halves
(:mod:`darkchess.board.kernels.halves`) as rows of features and as counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.bits import squares
from darkchess.board.kernels.halves import CASTLING_ROOK, DOUBLE_STEPPED, plain
from klss.support.kernel import kernel

RIGHTS = 6 * 64
"""Feature of the enemy's right to castle queenside; the next one is kingside."""
STEPPED = RIGHTS + 2
"""Feature of a pawn on file a that has just made a double step; files b to h follow."""


@kernel
def sum_halves(positions: Any, weights: Any, sums: Any) -> None:
    """Add to ``sums`` (float64[6, 64]) the ``weights`` (float64[n], or of length 0: each is 1) of the ``positions``
    (uint64[n, 2]) with each piece on each square.
    """
    for i in range(positions.shape[0]):
        codes = positions[i, 1]
        for square in squares(positions[i, 0]):
            sums[plain(np.int64(codes & np.uint64(15))), square] += weights[i] if weights.shape[0] else 1.0
            codes >>= np.uint64(4)


@kernel
def _features(position: Any, row: Any) -> int:
    """Write the features of a position (uint64[2]) into ``row`` (uint16[19]): piece · 64 + square for each piece, and
    those of castling rights and a double step. Return their number.
    """
    codes = position[1]
    count = 0
    for square in squares(position[0]):
        code = np.int64(codes & np.uint64(15))
        if code == CASTLING_ROOK:
            row[count] = RIGHTS + (square & 1)
            count += 1
        elif code == DOUBLE_STEPPED:
            row[count] = STEPPED + (square & 7)
            count += 1
        row[count] = plain(code) * 64 + square
        count += 1
        codes >>= np.uint64(4)
    return count


@kernel
def feature_rows(positions: Any, rows: Any, counts: Any) -> None:
    """Write features of ``positions`` into ``rows`` (uint16[n, 19]), and their numbers into ``counts`` (int64[n])."""
    for i in range(positions.shape[0]):
        counts[i] = _features(positions[i], rows[i])


@kernel
def score_halves(positions: Any, indices: Any, logits: Any, row: Any, scores: Any) -> None:
    """Write into ``scores`` (float64[n]) for each of ``positions[indices]`` the sum of ``logits`` (float32[features])
    over its features. A score depends on no other position. ``row`` (uint16[19]) is scratch.
    """
    for i in range(indices.shape[0]):
        total = np.float32(0)
        for k in range(_features(positions[indices[i]], row)):
            total += logits[row[k]]
        scores[i] = total
