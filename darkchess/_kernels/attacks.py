"""What a piece attacks.

Sliding pieces by obstruction difference (M. Hoffmann; Chess Programming Wiki, "Obstruction Difference"): on one line,
the nearest blocker below and the lowest above bound a run of squares that one subtraction yields. No magic numbers and
no large tables.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess._kernels.bits import bit, highest
from klss.kernel import kernel

__all__ = ["attacked_by", "bishop_attacks", "line_attacks", "piece_attacks", "rook_attacks"]


@kernel(inline="always")
def line_attacks(lower: Any, upper: Any, occupied: Any) -> Any:
    """Squares of one line that a slider attacks; ``lower`` and ``upper`` are the line's squares below and above it."""
    below = lower & occupied
    above = upper & occupied
    nearest = bit(highest(below | np.uint64(1)))
    return (lower | upper) & (above ^ (above - nearest))


@kernel(inline="always")
def rook_attacks(square: int, occupied: Any, tables: Any) -> Any:
    """Squares that a rook on ``square`` attacks; own men count as attacked."""
    return line_attacks(tables[square, 4], tables[square, 5], occupied) | line_attacks(
        tables[square, 6], tables[square, 7], occupied
    )


@kernel(inline="always")
def bishop_attacks(square: int, occupied: Any, tables: Any) -> Any:
    """Squares that a bishop on ``square`` attacks; own men count as attacked."""
    return line_attacks(tables[square, 8], tables[square, 9], occupied) | line_attacks(
        tables[square, 10], tables[square, 11], occupied
    )


@kernel(inline="always")
def piece_attacks(piece: int, side: int, square: int, occupied: Any, tables: Any) -> Any:
    """Squares that a piece of ``side`` (0 White, 1 Black) attacks; a pawn's are its two diagonals, own men count as
    attacked."""
    if piece == 0:
        return tables[square, 2 + side]
    if piece == 1:
        return tables[square, 0]
    if piece == 2:
        return bishop_attacks(square, occupied, tables)
    if piece == 3:
        return rook_attacks(square, occupied, tables)
    if piece == 4:
        return rook_attacks(square, occupied, tables) | bishop_attacks(square, occupied, tables)
    return tables[square, 1]


@kernel
def attacked_by(row: Any, side: int, square: int, tables: Any) -> Any:
    """Whether a man of ``side`` attacks ``square`` (bool)."""
    men = row[6 + side]
    occupied = row[6] | row[7]
    if tables[square, 0] & row[1] & men != np.uint64(0):
        return True
    if tables[square, 1] & row[5] & men != np.uint64(0):
        return True
    if tables[square, 2 + (1 - side)] & row[0] & men != np.uint64(0):
        return True
    if bishop_attacks(square, occupied, tables) & (row[2] | row[4]) & men != np.uint64(0):
        return True
    return rook_attacks(square, occupied, tables) & (row[3] | row[4]) & men != np.uint64(0)
