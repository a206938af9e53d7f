"""The squares that pieces attack.

Sliding pieces use obstruction difference (M. Hoffmann; Chess Programming Wiki, "Obstruction Difference"): on one line,
the nearest blockers below and above bound a run of squares, which one subtraction gives. So no magic numbers and no
large tables are needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.bits import NOT_FILE_A, NOT_FILE_H, bit, highest, lowest
from darkchess.board.kernels.board import BISHOP, BLACK, KING, KNIGHT, PAWN, QUEEN, ROOK, WHITE
from darkchess.board.kernels.tables import (
    ANTIDIAGONAL_ABOVE,
    ANTIDIAGONAL_BELOW,
    DIAGONAL_ABOVE,
    DIAGONAL_BELOW,
    FILE_ABOVE,
    FILE_BELOW,
    KING_STEPS,
    KNIGHT_STEPS,
    PAWN_CAPTURES,
    RANK_ABOVE,
    RANK_BELOW,
)
from klss.support.kernel import kernel


@kernel(inline="always")
def line_attacks(lower: Any, upper: Any, occupied: Any) -> Any:
    """Return the squares of a line that a slider attacks; ``lower``, ``upper``: the line's squares to either side."""
    below = lower & occupied
    above = upper & occupied
    # Subtracting the nearest blocker below borrows up to the first one above: the bits that change are the run between
    # them, both included. If there is no blocker below, bit 0 (a1) takes its place.
    nearest = bit(highest(below | np.uint64(1)))
    return (lower | upper) & (above ^ (above - nearest))


@kernel(inline="always")
def rook_attacks(square: int, occupied: Any, tables: Any) -> Any:
    """Return the squares that a rook on ``square`` attacks; own pieces count as attacked."""
    return line_attacks(tables[square, FILE_BELOW], tables[square, FILE_ABOVE], occupied) | line_attacks(
        tables[square, RANK_BELOW], tables[square, RANK_ABOVE], occupied
    )


@kernel(inline="always")
def bishop_attacks(square: int, occupied: Any, tables: Any) -> Any:
    """Return the squares that a bishop on ``square`` attacks; own pieces count as attacked."""
    return line_attacks(tables[square, DIAGONAL_BELOW], tables[square, DIAGONAL_ABOVE], occupied) | line_attacks(
        tables[square, ANTIDIAGONAL_BELOW], tables[square, ANTIDIAGONAL_ABOVE], occupied
    )


@kernel(allocates=False)
def straight(square: int, occupied: Any, tables: Any) -> Any:
    """:func:`rook_attacks`, not inlined: numba would need seconds for each inlined copy."""
    return rook_attacks(square, occupied, tables)


@kernel(allocates=False)
def slanted(square: int, occupied: Any, tables: Any) -> Any:
    """:func:`bishop_attacks`, not inlined."""
    return bishop_attacks(square, occupied, tables)


@kernel(inline="always")
def pawn_attacks(pawns: Any, side: int) -> Any:
    """Return the squares that the pawns of ``side`` attack towards file a, and those towards file h."""
    left, right = pawns & NOT_FILE_A, pawns & NOT_FILE_H
    if side == 0:
        return left << np.uint64(7), right << np.uint64(9)
    return left >> np.uint64(9), right >> np.uint64(7)


@kernel(allocates=False)
def attacks(piece: int, square: int, side: int, occupied: Any, tables: Any) -> Any:
    """Return the squares that a piece of ``side`` attacks; own pieces count as attacked."""
    if piece == PAWN:
        return tables[square, PAWN_CAPTURES + side]
    if piece == KNIGHT:
        return tables[square, KNIGHT_STEPS]
    if piece == KING:
        return tables[square, KING_STEPS]
    found = np.uint64(0)
    if piece != BISHOP:
        found |= rook_attacks(square, occupied, tables)
    if piece != ROOK:
        found |= bishop_attacks(square, occupied, tables)
    return found


@kernel(allocates=False)
def attackers(row: Any, side: int, square: int, occupied: Any, tables: Any) -> Any:
    """Return the squares of the pieces of ``side`` that attack ``square``."""
    # A piece attacks the square if it stands where the same piece on the square would attack. Only a pawn captures one
    # way, so look as a pawn of the other side.
    found = tables[square, KNIGHT_STEPS] & row[KNIGHT]
    found |= tables[square, KING_STEPS] & row[KING]
    found |= tables[square, PAWN_CAPTURES + (1 - side)] & row[PAWN]
    found |= bishop_attacks(square, occupied, tables) & (row[BISHOP] | row[QUEEN])
    found |= rook_attacks(square, occupied, tables) & (row[ROOK] | row[QUEEN])
    return found & row[WHITE + side]


@kernel(inline="always")
def attacked_by(row: Any, side: int, square: int, tables: Any) -> Any:
    """Whether a piece of ``side`` attacks ``square`` (bool)."""
    return attackers(row, side, square, row[WHITE] | row[BLACK], tables) != np.uint64(0)


@kernel
def in_check(rows: Any, side: int, tables: Any, out: Any) -> None:
    """Write whether the king of ``side`` is attacked, for each of ``rows`` (uint64[n, ≥ 9]), into ``out`` (bool[n])."""
    for i in range(rows.shape[0]):
        king = lowest(rows[i, KING] & rows[i, WHITE + side])
        out[i] = attacked_by(rows[i], 1 - side, king, tables)
