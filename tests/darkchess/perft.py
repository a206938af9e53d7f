"""Counting lines of moves: the usual test of move generation (Chess Programming Wiki, "Perft")."""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.board import KING, WHITE, turn
from darkchess.board.kernels.moves import MAX_MOVES, generate, make
from klss.support.kernel import kernel


@kernel
def perft(row: Any, depth: int, tables: Any) -> Any:
    """Number (int) of lines of ``depth`` moves; a king capture ends a line and counts only as its last move.

    A loop over plies, not a recursion: numba crashes when it loads a recursive function from its cache whose inner call
    has other types than the outer one (numba issue 6061), and a read-only row is another type.
    """
    if depth == 0:
        return 1
    rows = np.empty((depth, 9), dtype=np.uint64)
    codes = np.empty((depth, MAX_MOVES), dtype=np.int32)
    left = np.empty(depth, dtype=np.int64)
    for i in range(9):
        rows[0, i] = row[i]
    left[0] = generate(rows[0], tables, codes[0])
    if depth == 1:
        return left[0]
    total = 0
    ply = 0
    while ply >= 0:
        if left[ply] == 0:
            ply -= 1
            continue
        left[ply] -= 1
        # A king that is taken ends the line; the last ply is counted, not made.
        child = rows[ply + 1]
        make(rows[ply], codes[ply, left[ply]], tables, child)
        if child[KING] & child[WHITE + turn(child)] == np.uint64(0):
            continue
        count = generate(child, tables, codes[ply + 1])
        if ply + 2 == depth:
            total += count
        else:
            ply += 1
            left[ply] = count
    return total
