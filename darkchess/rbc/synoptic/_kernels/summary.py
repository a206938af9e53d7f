"""What a set of positions holds definitely, in all members, and possibly, in some: the planes of a synopsis
that are about the pieces.

A set is the enemy's halves (:mod:`darkchess.board.kernels.halves`) beside one own half, seen from the viewer's side:
as White, which moves up. The planes are listed in :mod:`darkchess.rbc.synoptic.synopsis`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.attacks import bishop_attacks, rook_attacks
from darkchess.board.kernels.bits import bit, lowest, without_lowest
from darkchess.board.kernels.board import BISHOP, KING, KNIGHT, META, PAWN, QUEEN, ROOK, WHITE
from darkchess.board.kernels.halves import stepped
from darkchess.board.kernels.moves import castling_targets
from darkchess.board.kernels.tables import KING_STEPS, KNIGHT_STEPS
from klss.support.kernel import kernel

__all__ = ["FIRST_HELD", "HELD", "PLANES", "bishopwise", "rookwise", "summary"]

PLANES = 104
FIRST_HELD, HELD = 18, 14
"""The planes of where the viewer's pieces are, definitely and possibly, by kind: the first, and how many."""

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_NONE = np.uint64(0)
_NOT_A, _NOT_H = np.uint64(0xFEFEFEFEFEFEFEFE), np.uint64(0x7F7F7F7F7F7F7F7F)
_KNIGHTS, _BISHOPS, _ROOKS, _KING = 100, 101, 102, 103
"""Words of a summary in the making that hold pieces of the member at hand; queens are among bishops and rooks."""


@kernel(inline="always")
def up_left(pawns: Any) -> Any:
    """What pawns moving up attack to their left."""
    return (pawns << np.uint64(7)) & _NOT_H


@kernel(inline="always")
def up_right(pawns: Any) -> Any:
    """What pawns moving up attack to their right."""
    return (pawns << np.uint64(9)) & _NOT_A


@kernel(inline="always")
def down_left(pawns: Any) -> Any:
    """What pawns moving down attack to their left, seen from above."""
    return (pawns >> np.uint64(9)) & _NOT_H


@kernel(inline="always")
def down_right(pawns: Any) -> Any:
    """What pawns moving down attack to their right, seen from above."""
    return (pawns >> np.uint64(7)) & _NOT_A


@kernel(allocates=False)
def rookwise(square: int, occupied: Any, tables: Any) -> Any:
    """Squares that a rook attacks. (Not compiled into each of its callers, which would take numba minutes.)"""
    return rook_attacks(square, occupied, tables)


@kernel(allocates=False)
def bishopwise(square: int, occupied: Any, tables: Any) -> Any:
    """Squares that a bishop attacks."""
    return bishop_attacks(square, occupied, tables)


@kernel(inline="always")
def _both(out: Any, plane: int, squares: Any) -> None:
    """One member more of a plane of what is so definitely, and of the next one, of what is so possibly."""
    out[plane] &= squares
    out[plane + 1] |= squares


@kernel(allocates=False)
def _enemy(own: Any, enemy: Any, codes: Any, tables: Any, out: Any) -> None:
    """A member's part of the planes about the viewer's pieces: 18–31, 51–64, 66, 67."""
    occupied = own | enemy
    pawns, castling = _NONE, _NONE
    by_knights, by_bishops, by_rooks, by_king = _NONE, _NONE, _NONE, _NONE
    once, twice = _NONE, _NONE
    knights, bishops, rooks, queens, king = _NONE, _NONE, _NONE, _NONE, _NONE
    remaining = enemy
    while remaining != _NONE:
        square = lowest(remaining)
        mask = bit(square)
        remaining = without_lowest(remaining)
        code = codes & np.uint64(15)
        codes >>= np.uint64(4)
        if code == np.uint64(0) or code == np.uint64(7):
            pawns |= mask
            steps = _NONE
        elif code == np.uint64(1):
            knights |= mask
            steps = tables[square, KNIGHT_STEPS]
            by_knights |= steps
        elif code == np.uint64(5):
            king |= mask
            steps = tables[square, KING_STEPS]
            by_king |= steps
        elif code == np.uint64(2):
            bishops |= mask
            steps = bishopwise(square, occupied, tables)
            by_bishops |= steps
        else:
            steps = rookwise(square, occupied, tables)
            by_rooks |= steps
            if code == np.uint64(4):
                queens |= mask
                slopes = bishopwise(square, occupied, tables)
                by_bishops |= slopes
                steps |= slopes
            else:
                rooks |= mask
                if code == np.uint64(6):
                    castling |= mask
        twice |= once & steps
        once |= steps
    moves = once & ~enemy
    left, right = down_left(pawns), down_right(pawns)
    by_pawns = left | right
    twice |= (left & right) | (once & by_pawns)

    single = (pawns >> np.uint64(8)) & ~occupied
    moves |= single | (((single & np.uint64(0x0000FF0000000000)) >> np.uint64(8)) & ~occupied) | (by_pawns & own)
    if castling & bit(63) != _NONE and occupied & np.uint64(0x6000000000000000) == _NONE:
        moves |= bit(62)
    if castling & bit(56) != _NONE and occupied & np.uint64(0x0E00000000000000) == _NONE:
        moves |= bit(58)

    out[18] &= ~enemy
    out[19] &= pawns
    out[20] &= knights
    out[21] &= bishops
    out[22] &= rooks
    out[23] &= queens
    out[24] &= king
    out[25] |= ~enemy
    out[26] |= pawns
    out[27] |= knights
    out[28] |= bishops
    out[29] |= rooks
    out[30] |= queens
    out[31] |= king
    _both(out, 51, once | by_pawns)
    _both(out, 53, twice)
    _both(out, 55, by_pawns)
    _both(out, 57, by_knights)
    _both(out, 59, by_bishops)
    _both(out, 61, by_rooks)
    out[63] |= by_pawns | by_knights | by_bishops | by_rooks
    out[64] |= once
    out[66] |= moves
    out[67] |= castling
    # what the other kernels need of this member
    out[_KNIGHTS] = knights
    out[_BISHOPS] = bishops | queens
    out[_ROOKS] = rooks | queens
    out[_KING] = king


@kernel(allocates=False)
def _mine(own_row: Any, occupied: Any, tables: Any, out: Any) -> None:
    """A member's part of the planes about what I attack: 37–48, 65, 84, 85; 50 gets what sliders attack."""
    once, twice = out[36], out[39]  # of the pieces that do not slide
    sliders, by_bishops, by_rooks = _NONE, _NONE, _NONE
    left = own_row[BISHOP] | own_row[ROOK] | own_row[QUEEN]
    while left != _NONE:
        square = lowest(left)
        mask = bit(square)
        left = without_lowest(left)
        if own_row[BISHOP] & mask != _NONE:
            steps = bishopwise(square, occupied, tables)
            by_bishops |= steps
        else:
            steps = rookwise(square, occupied, tables)
            if own_row[QUEEN] & mask != _NONE:
                slopes = bishopwise(square, occupied, tables)
                out[84] |= steps
                out[85] |= slopes
                steps |= slopes
            else:
                by_rooks |= steps
        sliders |= steps
        twice |= once & steps
        once |= steps
    _both(out, 37, once)
    _both(out, 40, twice)
    _both(out, 45, by_bishops)
    _both(out, 47, by_rooks)
    out[50] |= sliders
    out[65] |= out[_KING] & ~once


@kernel(allocates=False)
def _near_my_king(king: int, occupied: Any, tables: Any, out: Any) -> None:
    """A member's part of the planes around my king: 71–78."""
    slopes, lines = bishopwise(king, occupied, tables), rookwise(king, occupied, tables)
    _both(out, 71, out[70] & out[_KNIGHTS])
    out[73] |= slopes
    _both(out, 74, slopes & out[_BISHOPS])
    out[76] |= lines
    _both(out, 77, lines & out[_ROOKS])


@kernel(allocates=False)
def _same_men(own_row: Any, everything: Any, tables: Any, out: Any) -> None:
    """Planes 36 and 39, which hold the pieces that do not slide: nothing that may stand is in a slider's way."""
    once, twice = out[36], out[39]
    left = own_row[BISHOP] | own_row[ROOK] | own_row[QUEEN]
    while left != _NONE:
        square = lowest(left)
        mask = bit(square)
        left = without_lowest(left)
        steps = _NONE
        if own_row[BISHOP] & mask == _NONE:
            steps |= rookwise(square, everything, tables)
        if own_row[ROOK] & mask == _NONE:
            steps |= bishopwise(square, everything, tables)
        twice |= once & steps
        once |= steps
    out[36] = once
    out[39] = twice


@kernel(allocates=False)
def summary(own_row: Any, halves: Any, tables: Any, out: Any) -> None:
    """Write planes 0–9, 11–31 and 36–85 of a set's synopsis; the others are empty.

    Parameters
    ----------
    own_row
        uint64[9], the viewer's half.
    halves
        uint64[n, 2], the enemy's, at least one.
    tables
        :data:`darkchess.board.kernels.tables.TABLES`.
    out
        uint64[PLANES].
    """
    own = own_row[WHITE]
    out[:] = _NONE
    for first, last in ((18, 24), (71, 71), (74, 74), (77, 77), (83, 83)):
        for plane in range(first, last + 1):
            out[plane] = _ALL
    for plane in (37, 40, 42, 45, 47, 51, 53, 55, 57, 59, 61):
        out[plane] = _ALL

    # what pawns, knights and king attack does not hang on the enemy
    left, right = up_left(own_row[PAWN]), up_right(own_row[PAWN])
    by_pawns = left | right
    once, twice = by_pawns, left & right
    by_knights, by_king = _NONE, _NONE
    remaining = own_row[KNIGHT]
    while remaining != _NONE:
        steps = tables[lowest(remaining), KNIGHT_STEPS]
        remaining = without_lowest(remaining)
        by_knights |= steps
        twice |= once & steps
        once |= steps
    king = -1
    if own_row[KING] != _NONE:
        king = lowest(own_row[KING])
        by_king = tables[king, KING_STEPS]
        out[70] = tables[king, KNIGHT_STEPS]
        twice |= once & by_king
        once |= by_king
    out[36] = once
    out[39] = twice

    for i in range(halves.shape[0]):
        enemy = halves[i, 0]
        occupied = own | enemy
        _enemy(own, enemy, halves[i, 1], tables, out)
        _mine(own_row, occupied, tables, out)
        if king >= 0:
            _near_my_king(king, occupied, tables, out)
        _both(out, 42, by_pawns & (enemy | (stepped(enemy, halves[i, 1]) << np.uint64(8))))
        castles = castling_targets(own_row, 0, occupied)
        out[82] |= castles
        out[83] &= castles
    _same_men(own_row, own | ~out[18], tables, out)

    out[0] = np.uint64(0xF0F0F0F0F0F0F0F0)
    out[1] = np.uint64(0x0F0F0F0F0F0F0F0F)
    out[2] = np.uint64(0x00000000FFFFFFFF)
    out[3] = np.uint64(0xFFFFFFFF00000000)
    out[4] = np.uint64(0x00000000000000FF)
    out[5] = np.uint64(0xFF00000000000000)
    out[6] = np.uint64(0x0101010101010101)
    out[7] = np.uint64(0x8080808080808080)
    out[8] = np.uint64(0xAA55AA55AA55AA55)
    out[9] = np.uint64(0x55AA55AA55AA55AA)
    out[11] = ~own
    for piece in range(6):
        out[12 + piece] = own_row[piece] & own
    out[44] = by_knights
    out[49] = by_pawns | by_knights | out[50]
    out[50] |= by_knights | by_king
    known = own
    for plane in range(18, 25):
        known |= out[plane]
    out[68] = known
    out[69] = by_king
    out[79] = own
    out[80] = out[18] & ~own
    if own_row[META] & np.uint64(2) != _NONE:
        out[81] |= bit(7)
    if own_row[META] & np.uint64(4) != _NONE:
        out[81] |= bit(0)
    for i in range(86, PLANES):
        out[i] = _NONE
