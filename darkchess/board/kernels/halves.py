"""The sixteen bytes of an enemy half: the part of a position that a player does not know, seen from its side of the
board.

The viewer is White and moves up (the caller flips the board for Black). Its own half is known and stored once; a
position stores only the *enemy's* half:

- ``enemy``: occupancy, uint64;
- ``codes``: four bits for each piece, in the order of the squares, the lowest square in the lowest bits: 0 … 5 pawn to
  king; 6 a rook that may castle (then the king is at home too); 7 a pawn that has just made a double step and can be
  captured en passant (in games where that is hidden).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.bits import bit, lowest, popcount, squares, without_lowest
from darkchess.board.kernels.board import BLACK, KING, KNIGHT, META, PAWN, ROOK
from klss.support.kernel import kernel

CASTLING_ROOK = 6
"""Code of a rook that may castle."""
DOUBLE_STEPPED = 7
"""Code of a pawn that can be captured en passant."""
MOST_SUCCESSORS = 320
"""Bound of the number of moves of an enemy half."""


@kernel(inline="always")
def plain(code: Any) -> Any:
    """Return the index of a code's piece."""
    if code == CASTLING_ROOK:
        return ROOK
    if code == DOUBLE_STEPPED:
        return PAWN
    return code


@kernel(allocates=False)
def encode_half(row: Any, out: Any) -> None:
    """Write the enemy half of a position row (uint64[9], the viewer White) into ``out`` (uint64[2])."""
    enemy = row[BLACK]
    # The enemy is Black here: its rights are bits 3 (kingside) and 4 of META.
    rights = (row[META] >> np.uint64(3)) & np.uint64(3)
    codes = np.uint64(0)
    shift = np.uint64(0)
    for square in squares(enemy):
        mask = bit(square)
        code = np.uint64(0)
        for piece in range(KNIGHT, KING + 1):
            if row[piece] & mask != np.uint64(0):
                code = np.uint64(piece)
        # A rook on its corner may castle if the right is there.
        castles = (mask == bit(63) and rights & np.uint64(1) != np.uint64(0)) or (
            mask == bit(56) and rights & np.uint64(2) != np.uint64(0)
        )
        if code == np.uint64(ROOK) and castles:
            code = np.uint64(CASTLING_ROOK)
        codes |= code << shift
        shift += np.uint64(4)
    out[0] = enemy
    out[1] = codes


@kernel(allocates=False)
def decode_half(enemy: Any, codes: Any, own_row: Any, flipped: bool, out: Any) -> None:
    """Write the full row of a position into ``out`` (uint64[9]).

    ``own_row`` (uint64[9]) has the viewer's half, its castling rights and the side to move on the real board (not
    turned); an en passant square in it is copied. ``flipped``: the viewer is Black.
    """
    # Copy the own half, then add the enemy's pieces one by one.
    for i in range(9):
        out[i] = own_row[i]
    side = 6 if flipped else 7
    for square in squares(enemy):
        code: Any = np.int64(codes & np.uint64(15))
        codes >>= np.uint64(4)
        if code == CASTLING_ROOK:
            code = ROOK
            # Bits 1 (kingside) and 2 of META are White's rights, bits 3 and 4 Black's.
            right = np.uint64(2) if square == 63 else np.uint64(4)
            out[META] |= right if flipped else right << np.uint64(2)
        mask = bit(square ^ 56) if flipped else bit(square)
        out[code] |= mask
        out[side] |= mask


@kernel(inline="always")
def decode_passed(
    enemy: Any, codes: Any, own_row: Any, flipped: bool, ep_captors: Any, ep_meta: Any, out: Any
) -> None:  # fmt: skip
    """Apply :func:`decode_half`. If an enemy pawn stands on one of the squares ``ep_captors``, it can capture en
    passant, and the row gets ``ep_meta`` (the bits of META for the en passant square).
    """
    decode_half(enemy, codes, own_row, flipped, out)
    for square in squares(enemy & ep_captors):
        if code_at(enemy, codes, bit(square)) == np.uint64(PAWN):
            out[META] |= ep_meta


@kernel
def decode_halves(
    positions: Any, indices: Any, own_row: Any, flipped: bool, ep_captors: Any, ep_meta: Any, out: Any
) -> None:
    """Apply :func:`decode_passed` to ``positions[indices]`` and write the rows into ``out`` (uint64[n, 9])."""
    for i in range(indices.shape[0]):
        enemy = positions[indices[i], 0]
        codes = positions[indices[i], 1]
        decode_passed(enemy, codes, own_row, flipped, ep_captors, ep_meta, out[i])


@kernel(inline="always")
def code_at(enemy: Any, codes: Any, mask: Any) -> Any:
    """Return the code (uint64) of the piece on the one square of ``mask``, which is occupied."""
    return (codes >> np.uint64(4 * popcount(enemy & (mask - np.uint64(1))))) & np.uint64(15)


@kernel(inline="always")
def mistyped(enemy: Any, codes: Any, seen: Any, expected: Any) -> Any:
    """Whether the piece on any of the squares ``seen`` (all occupied) is another than ``expected`` (int64[64])."""
    wrong = False
    for square in squares(seen):
        mask = bit(square)
        if plain(np.int64(code_at(enemy, codes, mask))) != expected[square]:
            wrong = True
    return wrong


@kernel(inline="always")
def without(codes: Any, index: int) -> Any:
    """Return ``codes`` without the piece of that index."""
    low = (np.uint64(1) << np.uint64(4 * index)) - np.uint64(1)
    return (codes & low) | ((codes >> np.uint64(4)) & ~low)


@kernel(inline="always")
def with_code(enemy: Any, codes: Any, mask: Any, code: Any) -> Any:
    """Return ``codes`` of the pieces ``enemy`` with one more piece, of ``code``, on the free square of ``mask``."""
    place = np.uint64(4 * popcount(enemy & (mask - np.uint64(1))))
    low = (np.uint64(1) << place) - np.uint64(1)
    return (codes & low) | (code << place) | ((codes & ~low) << np.uint64(4))


@kernel(inline="always")
def marks(codes: Any, code: int) -> Any:
    """Return the lowest bit of each group of four bits in ``codes`` that is equal to ``code``."""
    # An equal group is 0 after the exclusive or; any other one has its bits folded down to the lowest bit.
    unlike = codes ^ (np.uint64(code) * np.uint64(0x1111111111111111))
    unlike |= unlike >> np.uint64(1)
    unlike |= unlike >> np.uint64(2)
    return ~unlike & np.uint64(0x1111111111111111)


@kernel(inline="always")
def without_rights(codes: Any) -> Any:
    """Return ``codes`` after a move of the king: every rook that could castle becomes a plain one (6 becomes 3)."""
    return codes ^ (marks(codes, CASTLING_ROOK) * np.uint64(CASTLING_ROOK ^ ROOK))


@kernel(inline="always")
def castled(enemy: Any, codes: Any, short: bool) -> Any:
    """Return the enemy half after castling, which must be possible."""
    # King and rook leave e8 and the corner and then stand beside each other, nothing was between them: so their two
    # codes just change places (king 5, rook 3).
    if short:
        after = enemy ^ (np.uint64(0xF) << np.uint64(60))
        place = np.uint64(4 * popcount(enemy & np.uint64(0x0FFFFFFFFFFFFFFF)))
        moved = without_rights((codes & ((np.uint64(1) << place) - np.uint64(1))) | (np.uint64(0x53) << place))
    else:
        after = enemy ^ (np.uint64(0x1D) << np.uint64(56))
        place = np.uint64(4 * popcount(enemy & np.uint64(0x00FFFFFFFFFFFFFF)))
        moved = without_rights((codes & ~(np.uint64(0xFF) << place)) | (np.uint64(0x35) << place))
    return after, moved


@kernel(inline="always")
def stepped(enemy: Any, codes: Any) -> Any:
    """Return the square (a set of one or none) of the pawn with code 7."""
    marked = marks(codes, DOUBLE_STEPPED)
    if marked == np.uint64(0):
        return np.uint64(0)
    # Remove the pieces below it: as many as there are groups of four bits below the mark.
    left = enemy
    for _ in range(lowest(marked) >> 2):
        left = without_lowest(left)
    return left & ~(left - np.uint64(1))
