"""Attack tables, built once and passed to kernels as an argument: ``uint64[64, 12]``, six kilobytes, so that they stay
in the fastest cache.

Columns: :data:`KNIGHT_STEPS`, :data:`KING_STEPS`, :data:`PAWN_CAPTURES` (squares that a white pawn attacks, then those
of a black one); then for each line through the square (file, rank, diagonal, antidiagonal) the squares below it and
above it by number, without the square itself. Each of these columns has its own name, since numba does not fold the sum
of a name and a number into a constant.
"""

from __future__ import annotations

import numpy as np

from klss.support.arrays import Words

KNIGHT_STEPS, KING_STEPS, PAWN_CAPTURES = 0, 1, 2
FILE_BELOW, FILE_ABOVE, RANK_BELOW, RANK_ABOVE = 4, 5, 6, 7
DIAGONAL_BELOW, DIAGONAL_ABOVE, ANTIDIAGONAL_BELOW, ANTIDIAGONAL_ABOVE = 8, 9, 10, 11


def _mask(square: int, steps: list[tuple[int, int]], length: int = 1) -> int:
    mask = 0
    for file_step, rank_step in steps:
        file, rank = square % 8, square // 8
        for _ in range(length):
            file, rank = file + file_step, rank + rank_step
            if not (0 <= file < 8 and 0 <= rank < 8):
                break
            mask |= 1 << (8 * rank + file)
    return mask


def attack_tables() -> Words:
    """Build and return the tables: uint64[64, 12]."""
    knight = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]
    king = [(f, r) for f in (-1, 0, 1) for r in (-1, 0, 1) if (f, r) != (0, 0)]
    lines = [(0, -1), (0, 1), (-1, 0), (1, 0), (-1, -1), (1, 1), (1, -1), (-1, 1)]
    tables = np.zeros((64, 12), dtype=np.uint64)
    for square in range(64):
        masks = [
            _mask(square, knight),
            _mask(square, king),
            _mask(square, [(-1, 1), (1, 1)]),
            _mask(square, [(-1, -1), (1, -1)]),
            *(_mask(square, [step], length=7) for step in lines),
        ]
        tables[square] = np.array(masks, dtype=np.uint64)
    tables.setflags(write=False)
    return tables


TABLES = attack_tables()
"""The one instance, which Python code passes to kernels; uint64[64, 12], read-only."""
