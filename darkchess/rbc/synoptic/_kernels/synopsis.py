"""The synopsis of a set: what is true definitely (in all members) and possibly (in some), and the memory of earlier
turns.

A set has the enemy's halves (:mod:`darkchess.board.kernels.halves`) and one own half, seen from the viewer's side: as
White, which moves up. The planes are listed in :mod:`darkchess.rbc.synoptic.synopsis`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.attacks import pawn_attacks, slanted, straight
from darkchess.board.kernels.bits import bit, lowest, squares
from darkchess.board.kernels.board import BISHOP, KING, KNIGHT, META, PAWN, QUEEN, ROOK, WHITE
from darkchess.board.kernels.enemy_moves import pawn_steps
from darkchess.board.kernels.halves import CASTLING_ROOK, plain, stepped
from darkchess.board.kernels.moves import castling_targets
from darkchess.board.kernels.tables import KING_STEPS, KNIGHT_STEPS
from klss.support.kernel import kernel

PLANES = 104
FIRST_HELD, HELD = 18, 14
"""The planes of the squares of the enemy's pieces by kind, definitely and possibly: the first, and how many."""

MEMORY = 22
"""Words of a memory: planes 32–35 of this turn, then planes 86–103."""
SENSE, MOVE = 0, 1
"""Stages of a turn."""
_TURN = 4
"""The first word of the part of a memory that is about the previous turn."""

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_NONE = np.uint64(0)

_HERE = 86
"""First word of a scratch area in ``out``: planes 18–24 (no piece, pawns … king) of the current member alone. It lies
in the planes of the previous turn, which are written only afterwards.
"""

_DEFINITELY = (18, 19, 20, 21, 22, 23, 24, 37, 40, 42, 45, 47, 51, 53, 55, 57, 59, 61, 71, 74, 77, 83)
"""The planes that are "definitely", made by AND: they begin full."""

_SQUARES = np.array(
    [
        0xF0F0F0F0F0F0F0F0, 0x0F0F0F0F0F0F0F0F, 0x00000000FFFFFFFF, 0xFFFFFFFF00000000,  # east, west, south, north
        0x00000000000000FF, 0xFF00000000000000, 0x0101010101010101, 0x8080808080808080,  # ranks 1, 8, files a, h
        0xAA55AA55AA55AA55, 0x55AA55AA55AA55AA,  # the colour of a1, the other one
    ],
    dtype=np.uint64,
)  # fmt: skip
"""Planes 0–9, the same in every synopsis."""


@kernel(inline="always")
def _both(out: Any, plane: int, squares: Any) -> None:
    """Add a member's ``squares`` to a plane that is "definitely", and to the next one, which is "possibly"."""
    out[plane] &= squares
    out[plane + 1] |= squares


@kernel(allocates=False)
def _enemy(own: Any, enemy: Any, codes: Any, tables: Any, out: Any) -> None:
    """Add a member to the planes about the enemy's pieces: 18–31, 51–64, 66, 67."""
    occupied = own | enemy
    castling, once, twice = _NONE, _NONE, _NONE
    by_knights, by_bishops, by_rooks = _NONE, _NONE, _NONE
    out[_HERE] = ~enemy
    for piece in range(PAWN, KING + 1):
        out[_HERE + 1 + piece] = _NONE
    # Piece by piece: its square, and the squares that it attacks; queens count as bishops and as rooks.
    for square in squares(enemy):
        mask = bit(square)
        code = np.int64(codes & np.uint64(15))
        codes >>= np.uint64(4)
        if code == CASTLING_ROOK:
            castling |= mask
        code = plain(code)
        out[_HERE + 1 + code] |= mask
        steps = _NONE
        if code == KNIGHT:
            steps = tables[square, KNIGHT_STEPS]
            by_knights |= steps
        elif code == KING:
            steps = tables[square, KING_STEPS]
        if code in (BISHOP, QUEEN):
            steps = slanted(square, occupied, tables)
            by_bishops |= steps
        if code in (ROOK, QUEEN):
            lines = straight(square, occupied, tables)
            by_rooks |= lines
            steps |= lines
        twice |= once & steps
        once |= steps
    # All pawns at once: they attack diagonally, and step straight to free squares.
    pawns = out[_HERE + 1 + PAWN]
    left, right = pawn_attacks(pawns, 1)
    by_pawns = left | right
    twice |= (left & right) | (once & by_pawns)
    single, double = pawn_steps(pawns, ~occupied)
    moves = (once & ~enemy) | single | double | (by_pawns & own)
    # Castling: a rook with the right, and nothing between it and the king.
    if castling & bit(63) != _NONE and occupied & np.uint64(0x6000000000000000) == _NONE:
        moves |= bit(62)
    if castling & bit(56) != _NONE and occupied & np.uint64(0x0E00000000000000) == _NONE:
        moves |= bit(58)
    # Add all this to the planes.
    for i in range(HELD // 2):
        out[FIRST_HELD + i] &= out[_HERE + i]
        out[FIRST_HELD + HELD // 2 + i] |= out[_HERE + i]
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


@kernel(allocates=False)
def _mine(own_row: Any, occupied: Any, tables: Any, out: Any) -> None:
    """Add a member to the planes of squares that I attack: 37, 38, 40, 41, 45–48, 65, 84, 85; 50 gets the sliders'."""
    # Start from the attacks of the pieces that do not slide; queens have their own planes.
    once, twice = out[36], out[39]
    sliders, by_bishops, by_rooks = _NONE, _NONE, _NONE
    for square in squares(own_row[BISHOP] | own_row[ROOK] | own_row[QUEEN]):
        mask = bit(square)
        if own_row[BISHOP] & mask != _NONE:
            steps = slanted(square, occupied, tables)
            by_bishops |= steps
        else:
            steps = straight(square, occupied, tables)
            if own_row[QUEEN] & mask != _NONE:
                slopes = slanted(square, occupied, tables)
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
    out[65] |= out[_HERE + 1 + KING] & ~once


@kernel(allocates=False)
def _near_my_king(king: int, occupied: Any, tables: Any, out: Any) -> None:
    """Add a member to the planes around my king: 71–78."""
    slopes, lines = slanted(king, occupied, tables), straight(king, occupied, tables)
    queens = out[_HERE + 1 + QUEEN]
    _both(out, 71, out[70] & out[_HERE + 1 + KNIGHT])
    out[73] |= slopes
    _both(out, 74, slopes & (out[_HERE + 1 + BISHOP] | queens))
    out[76] |= lines
    _both(out, 77, lines & (out[_HERE + 1 + ROOK] | queens))


@kernel(allocates=False)
def _steppers(own_row: Any, tables: Any, out: Any) -> Any:
    """Fill planes 44, 69 and 70, and the part of 36 and 39 of pawns, knights and king, whose attacks do not depend on
    the enemy. Return the squares that the pawns attack.
    """
    left, right = pawn_attacks(own_row[PAWN], 0)
    once, twice = left | right, left & right
    for square in squares(own_row[KNIGHT]):
        steps = tables[square, KNIGHT_STEPS]
        out[44] |= steps
        twice |= once & steps
        once |= steps
    if own_row[KING] != _NONE:
        king = lowest(own_row[KING])
        out[69] = tables[king, KING_STEPS]
        out[70] = tables[king, KNIGHT_STEPS]
        twice |= once & out[69]
        once |= out[69]
    out[36] = once
    out[39] = twice
    return left | right


@kernel(allocates=False)
def _same_men(own_row: Any, everything: Any, tables: Any, out: Any) -> None:
    """Add the sliders to planes 36 and 39, which already have the other pieces. ``everything`` are all squares that are
    occupied in some member: what a slider attacks on this board, it attacks in every member.
    """
    once, twice = out[36], out[39]
    for square in squares(own_row[BISHOP] | own_row[ROOK] | own_row[QUEEN]):
        mask = bit(square)
        # A queen, neither a bishop nor a rook, takes both branches.
        steps = _NONE
        if own_row[BISHOP] & mask == _NONE:
            steps |= straight(square, everything, tables)
        if own_row[ROOK] & mask == _NONE:
            steps |= slanted(square, everything, tables)
        twice |= once & steps
        once |= steps
    out[36] = once
    out[39] = twice


@kernel(allocates=False)
def synopsis(own_row: Any, halves: Any, stage: int, memory: Any, tables: Any, out: Any) -> None:
    """Write the synopsis of a set into ``out`` (uint64[PLANES]); the rest is as in
    :func:`darkchess.rbc.synoptic.synopsis.synopsis`.
    """
    own = own_row[WHITE]
    out[:] = _NONE
    for plane in _DEFINITELY:
        out[plane] = _ALL
    by_pawns = _steppers(own_row, tables, out)
    # Each member removes squares from planes that are "definitely", and adds squares to those that are "possibly".
    for i in range(halves.shape[0]):
        enemy = halves[i, 0]
        occupied = own | enemy
        _enemy(own, enemy, halves[i, 1], tables, out)
        _mine(own_row, occupied, tables, out)
        if own_row[KING] != _NONE:
            _near_my_king(lowest(own_row[KING]), occupied, tables, out)
        _both(out, 42, by_pawns & (enemy | (stepped(enemy, halves[i, 1]) << np.uint64(8))))
        castles = castling_targets(own_row, 0, occupied)
        out[82] |= castles
        out[83] &= castles
    _same_men(own_row, own | ~out[18], tables, out)
    # The planes that do not depend on the members, or only on the finished planes of all members.
    for plane in range(10):
        out[plane] = _SQUARES[plane]
    out[11] = ~own
    for piece in range(6):
        out[12 + piece] = own_row[piece] & own
    out[49] = by_pawns | out[44] | out[50]
    out[50] |= out[44] | out[69]
    out[68] = own
    for plane in range(18, 25):
        out[68] |= out[plane]
    out[79] = own
    out[80] = out[18] & ~own
    if own_row[META] & np.uint64(2) != _NONE:
        out[81] |= bit(7)
    if own_row[META] & np.uint64(4) != _NONE:
        out[81] |= bit(0)
    out[10] = _ALL if stage == MOVE else _NONE
    for i in range(4):
        out[32 + i] = memory[i]
    for i in range(MEMORY - _TURN):
        out[_HERE + i] = memory[_TURN + i]


@kernel(allocates=False)
def remember_notice(memory: Any, captured: int) -> None:
    """Begin the player's turn: ``captured`` is the square on which the opponent's turn captured a piece, 64: none.

    ``memory`` (uint64[MEMORY]) is modified in place; it is all zeros before the first turn.
    """
    memory[3] = bit(captured) if captured < 64 else _NONE


@kernel(allocates=False)
def remember_moved(memory: Any, origin: int, target: int, capture: int, planes: Any) -> None:
    """End the player's turn.

    Parameters
    ----------
    memory
        uint64[MEMORY], modified in place.
    origin, target
        Squares of the move that was played; 64 and 64: none was.
    capture
        Where it captured a piece, 64: nowhere.
    planes
        uint64[PLANES], the synopsis of the set after the sense, made with this memory.
    """
    # The planes of the set after the sense, and this turn's own, become those of the previous turn.
    for i in range(HELD):
        memory[_TURN + i] = planes[FIRST_HELD + i]
    for i in range(4):
        memory[_TURN + HELD + i] = memory[i]
    memory[0] = bit(origin) if origin < 64 else _NONE
    memory[1] = bit(target) if target < 64 else _NONE
    memory[2] = bit(capture) if capture < 64 else _NONE
