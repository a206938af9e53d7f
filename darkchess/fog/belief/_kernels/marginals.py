"""Kernel of :mod:`darkchess.fog.belief.marginals`: sums over the rows of a position set (uint64[n, 9], see
:mod:`darkchess.board.kernels.board`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.bits import lowest, without_lowest
from darkchess.board.kernels.board import WHITE
from klss.support.kernel import kernel


@kernel
def add_weights(rows: Any, side: int, weights: Any, sums: Any) -> None:
    """Add to ``sums`` (float64[64, 6]) the ``weights`` (float64[n]) of the ``rows`` that have each piece of ``side`` (0
    White, 1 Black) on each square.
    """
    for i in range(rows.shape[0]):
        for piece in range(6):
            left = rows[i, piece] & rows[i, WHITE + side]
            while left != np.uint64(0):
                sums[lowest(left), piece] += weights[i]
                left = without_lowest(left)
