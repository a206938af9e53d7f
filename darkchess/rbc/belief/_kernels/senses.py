"""The partitions of a set by each of the 36 senses, all in one pass.

For each window, a position gets a key: the sum of random words of the pieces in the window, built from sums along the
ranks and then along the files. Positions with the same key look the same there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.bits import squares
from darkchess.board.kernels.halves import plain
from klss.support.hashing import mix64
from klss.support.kernel import kernel


@kernel(inline="always")
def _word(piece: int, square: int) -> Any:
    """Return the random word (uint64) of a piece on a square."""
    return mix64(np.uint64(64 * piece + square + 1))


@kernel
def partitions(positions: Any, indices: Any, classes: Any, counts: Any) -> None:
    """Number the classes into which each window divides some positions.

    Parameters
    ----------
    positions, indices
        uint64[·, 2], the enemy's halves, and the indices of those to divide, int64[n].
    classes
        int32[36, n], written: the class of each position in each window, numbered in the order of their first members.
        Windows by rank and then by file of their middle, from b2 on, seen from the viewer's side.
    counts
        int64[36], written: the number of classes of each window.
    """
    number = indices.shape[0]
    words = np.empty((6, 64), dtype=np.uint64)
    for piece in range(6):
        for square in range(64):
            words[piece, square] = _word(piece, square)
    keys = np.empty((36, number), dtype=np.uint64)
    on = np.zeros(64, dtype=np.uint64)
    along = np.empty(48, dtype=np.uint64)
    for i in range(number):
        # Put the words of the pieces on their squares.
        remaining = positions[indices[i], 0]
        codes = positions[indices[i], 1]
        for square in squares(remaining):
            on[square] = words[plain(np.int64(codes & np.uint64(15))), square]
            codes >>= np.uint64(4)
        # Sums of three neighbours along each rank, then of three such sums: the 36 windows.
        for rank in range(8):
            for file in range(6):
                square = 8 * rank + file
                along[6 * rank + file] = on[square] + on[square + 1] + on[square + 2]
        for window in range(36):
            keys[window, i] = along[window] + along[window + 6] + along[window + 12]
        # Clear only the squares that were written to.
        for square in squares(remaining):
            on[square] = np.uint64(0)
    # Window by window, number the keys in the order in which they come, with a hash table that is at most half full.
    size = 64
    while size < 2 * number:
        size *= 2
    heads = np.empty(size, dtype=np.int32)
    firsts = np.empty(number, dtype=np.int64)
    for window in range(36):
        heads[:] = -1
        found = 0
        for i in range(number):
            key = keys[window, i]
            slot = np.int64(mix64(key) & np.uint64(size - 1))
            while True:
                held = heads[slot]
                if held < 0:
                    heads[slot] = found
                    firsts[found] = i
                    classes[window, i] = found
                    found += 1
                    break
                if keys[window, firsts[held]] == key:
                    classes[window, i] = held
                    break
                slot = (slot + 1) & (size - 1)
        counts[window] = found


@kernel
def best_sums(classes: Any, counts: Any, values: Any, out: Any) -> None:
    """Write for each window into ``out`` (float64[36]): the sum, over its classes, of the largest column sum of
    ``values`` (float64[n, m]) in the class. ``classes`` and ``counts`` are those of :func:`partitions`.
    """
    for window in range(classes.shape[0]):
        sums = np.zeros((counts[window], values.shape[1]))
        for i in range(values.shape[0]):
            for j in range(values.shape[1]):
                sums[classes[window, i], j] += values[i, j]
        out[window] = 0.0
        for place in range(sums.shape[0]):
            out[window] += sums[place].max()
