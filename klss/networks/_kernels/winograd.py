"""Kernels of :mod:`klss.networks.residual`: to Winograd's tiles and back, F(4 × 4, 3 × 3).

A grid is stored by rows of cells with a margin of zeros. Each cell has the numbers of all channels and all synopses of
a chunk side by side, so that every inner loop runs over hundreds of contiguous numbers. A tile is 4 × 4 cells of the
result, computed from 6 × 6 cells. The matrices are those of A. Lavin, S. Gray 2015, *Fast Algorithms for Convolutional
Neural Networks*, with which a tile takes 36 multiplications for each pair of channels instead of 144.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from klss.support.kernel import kernel

_FAST = {"contract", "nsz"}
"""Allows fused multiply-add, and ignores the sign of zero; the order of sums stays fixed."""


@kernel(allocates=False)
def planes_of(synopses: Any, start: int, height: int, width: int, grid: Any) -> None:
    """Write the bits of ``synopses`` (uint64[n, P]) as zeros and ones into ``grid`` (float32[h', w', chunk, P]), from
    ``synopses[start]`` on, and zeros if there are fewer than a chunk. Bit y · width + x is cell (y + 1, x + 1).
    """
    # Cell by cell, since a cell's numbers are contiguous.
    one, none = np.uint64(1), np.float32(0)
    for y in range(height):
        for x in range(width):
            bit = np.uint64(y * width + x)
            for i in range(grid.shape[2]):
                if start + i < synopses.shape[0]:
                    for p in range(grid.shape[3]):
                        grid[y + 1, x + 1, i, p] = np.float32((synopses[start + i, p] >> bit) & one)
                else:
                    for p in range(grid.shape[3]):
                        grid[y + 1, x + 1, i, p] = none


@kernel(allocates=False, fastmath=_FAST)
def tiles_of(grid: Any, half: Any, tiles: Any) -> None:
    """Write the tiles of ``grid`` (float32[4a + 2, 4b + 2, m]) into ``tiles`` (float32[36, a, b, m]): first down the
    columns into ``half`` (float32[6, 4b + 2, m]), then along the rows.
    """
    two, four, five = np.float32(2), np.float32(4), np.float32(5)
    for a in range(tiles.shape[1]):
        y = 4 * a
        # Down the columns, the six rows of the source's Bᵀ. Each row has a loop of its own, because the compiler does
        # not vectorise a single loop that writes all six.
        for x in range(grid.shape[1]):
            for e in range(grid.shape[2]):
                half[0, x, e] = four * grid[y, x, e] - five * grid[y + 2, x, e] + grid[y + 4, x, e]
            for e in range(grid.shape[2]):
                even, odd = grid[y + 4, x, e] - four * grid[y + 2, x, e], grid[y + 3, x, e] - four * grid[y + 1, x, e]
                half[1, x, e] = even + odd
            for e in range(grid.shape[2]):
                even, odd = grid[y + 4, x, e] - four * grid[y + 2, x, e], grid[y + 3, x, e] - four * grid[y + 1, x, e]
                half[2, x, e] = even - odd
            for e in range(grid.shape[2]):
                even, odd = grid[y + 4, x, e] - grid[y + 2, x, e], grid[y + 3, x, e] - grid[y + 1, x, e]
                half[3, x, e] = even + two * odd
            for e in range(grid.shape[2]):
                even, odd = grid[y + 4, x, e] - grid[y + 2, x, e], grid[y + 3, x, e] - grid[y + 1, x, e]
                half[4, x, e] = even - two * odd
            for e in range(grid.shape[2]):
                half[5, x, e] = four * grid[y + 1, x, e] - five * grid[y + 3, x, e] + grid[y + 5, x, e]
        # Along the rows, the same six combinations of the results of the columns.
        for k in range(6):
            at = 6 * k
            for b in range(tiles.shape[2]):
                x = 4 * b
                for e in range(grid.shape[2]):
                    tiles[at, a, b, e] = four * half[k, x, e] - five * half[k, x + 2, e] + half[k, x + 4, e]
                for e in range(grid.shape[2]):
                    even, odd = (
                        half[k, x + 4, e] - four * half[k, x + 2, e],
                        half[k, x + 3, e] - four * half[k, x + 1, e],
                    )
                    tiles[at + 1, a, b, e] = even + odd
                for e in range(grid.shape[2]):
                    even, odd = (
                        half[k, x + 4, e] - four * half[k, x + 2, e],
                        half[k, x + 3, e] - four * half[k, x + 1, e],
                    )
                    tiles[at + 2, a, b, e] = even - odd
                for e in range(grid.shape[2]):
                    even, odd = half[k, x + 4, e] - half[k, x + 2, e], half[k, x + 3, e] - half[k, x + 1, e]
                    tiles[at + 3, a, b, e] = even + two * odd
                for e in range(grid.shape[2]):
                    even, odd = half[k, x + 4, e] - half[k, x + 2, e], half[k, x + 3, e] - half[k, x + 1, e]
                    tiles[at + 4, a, b, e] = even - two * odd
                for e in range(grid.shape[2]):
                    tiles[at + 5, a, b, e] = four * half[k, x + 1, e] - five * half[k, x + 3, e] + half[k, x + 5, e]


@kernel(allocates=False, fastmath=_FAST)
def cells_of(tiles: Any, half: Any, bias: Any, residual: bool, height: int, width: int, grid: Any) -> None:
    """Transform ``tiles`` (float32[36, a, b, m]) back, add ``bias`` (float32[m]) and write the ReLU into the cells of
    ``grid`` (float32[4a + 2, 4b + 2, m]); with ``residual``, the old values are added before the ReLU. ``half``
    (float32[4, 6, m]) is scratch. The margin and cells beyond ``height`` × ``width`` are not written.
    """
    none, two, four, eight = np.float32(0), np.float32(2), np.float32(4), np.float32(8)
    size = bias.shape[0]
    for a in range(tiles.shape[1]):
        for b in range(tiles.shape[2]):
            # Down the columns, the four rows of the source's Aᵀ.
            for k in range(6):
                for e in range(size):
                    half[0, k, e] = (
                        tiles[k, a, b, e]
                        + (tiles[6 + k, a, b, e] + tiles[12 + k, a, b, e])
                        + (tiles[18 + k, a, b, e] + tiles[24 + k, a, b, e])
                    )
                for e in range(size):
                    half[1, k, e] = (tiles[6 + k, a, b, e] - tiles[12 + k, a, b, e]) + two * (
                        tiles[18 + k, a, b, e] - tiles[24 + k, a, b, e]
                    )
                for e in range(size):
                    half[2, k, e] = (tiles[6 + k, a, b, e] + tiles[12 + k, a, b, e]) + four * (
                        tiles[18 + k, a, b, e] + tiles[24 + k, a, b, e]
                    )
                for e in range(size):
                    half[3, k, e] = (
                        (tiles[6 + k, a, b, e] - tiles[12 + k, a, b, e])
                        + eight * (tiles[18 + k, a, b, e] - tiles[24 + k, a, b, e])
                        + tiles[30 + k, a, b, e]
                    )
            # Along the rows, the same four, for the cells inside the grid; then bias, residual and ReLU.
            for i in range(min(4, height - 4 * a)):
                y, x = 4 * a + i + 1, 4 * b + 1
                for j in range(min(4, width - 4 * b)):
                    for e in range(size):
                        if j == 0:
                            found = half[i, 0, e] + (half[i, 1, e] + half[i, 2, e]) + (half[i, 3, e] + half[i, 4, e])
                        elif j == 1:
                            found = (half[i, 1, e] - half[i, 2, e]) + two * (half[i, 3, e] - half[i, 4, e])
                        elif j == 2:
                            found = (half[i, 1, e] + half[i, 2, e]) + four * (half[i, 3, e] + half[i, 4, e])
                        else:
                            found = (
                                (half[i, 1, e] - half[i, 2, e])
                                + eight * (half[i, 3, e] - half[i, 4, e])
                                + half[i, 5, e]
                            )
                        found += bias[e]
                        if residual:
                            found += grid[y, x + j, e]
                        grid[y, x + j, e] = max(found, none)
