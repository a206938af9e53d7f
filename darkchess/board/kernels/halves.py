"""The sixteen bytes of an enemy half: what a player does not know of a position, seen from the viewer's side of the
board.

The viewer is White and moves up (the caller flips the board for Black). Its own half is known and kept apart; of
a position only the *enemy's* half is kept:

- ``enemy``: occupancy, uint64;
- ``codes``: four bits a piece in the order of the squares, the lowest square lowest: 0 … 5 pawn to king, 6 a rook that
  may castle (then the king is at home too), 7 a pawn that has just made a double step and can be captured en passant
  (in games where that is hidden).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.bits import bit, lowest, popcount, without_lowest
from darkchess.board.kernels.board import BLACK, KING, KNIGHT, META, PAWN, ROOK
from klss.support.kernel import kernel

__all__ = [
    "CASTLING_ROOK", "DOUBLE_STEPPED", "MOST_SUCCESSORS", "castled", "code_at", "decode_half", "decode_halves",
    "encode_half", "marks", "stepped", "with_code", "without", "without_rights",
]  # fmt: skip

CASTLING_ROOK = 6
"""Code of a rook that may castle."""
DOUBLE_STEPPED = 7
"""Code of a pawn that can be captured en passant."""
MOST_SUCCESSORS = 320
"""No enemy half has more moves than this."""


@kernel(allocates=False)
def encode_half(row: Any, out: Any) -> None:
    """Write the enemy half of a position row (uint64[9], the viewer White) into ``out`` (uint64[2])."""
    enemy = row[BLACK]
    rights = (row[META] >> np.uint64(3)) & np.uint64(3)
    codes = np.uint64(0)
    shift = np.uint64(0)
    left = enemy
    while left != np.uint64(0):
        mask = left & ~(left - np.uint64(1))
        left = without_lowest(left)
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

    ``own_row`` (uint64[9]) holds the viewer's half, castling rights and the side to move as the board really lies;
    ``flipped`` says that the viewer is Black. An en passant square in it is copied.
    """
    # The own half as it is, then piece by piece of the enemy's.
    for i in range(9):
        out[i] = own_row[i]
    side = 6 if flipped else 7
    left = enemy
    while left != np.uint64(0):
        square = lowest(left)
        left = without_lowest(left)
        code: Any = np.int64(codes & np.uint64(15))
        codes >>= np.uint64(4)
        if code == CASTLING_ROOK:
            code = ROOK
            right = np.uint64(2) if square == 63 else np.uint64(4)
            out[META] |= right if flipped else right << np.uint64(2)
        mask = bit(square ^ 56) if flipped else bit(square)
        out[code] |= mask
        out[side] |= mask


@kernel
def decode_halves(
    positions: Any, indices: Any, own_row: Any, flipped: bool, ep_captors: Any, ep_meta: Any, out: Any
) -> None:
    """:func:`decode_half` of ``positions[indices]`` into ``out`` (uint64[n, 9]).

    Where an enemy pawn stands on one of ``ep_captors`` it can capture en passant, and the row gets ``ep_meta`` (the
    bits of META for that square).
    """
    for i in range(indices.shape[0]):
        enemy = positions[indices[i], 0]
        codes = positions[indices[i], 1]
        decode_half(enemy, codes, own_row, flipped, out[i])
        beside = enemy & ep_captors
        while beside != np.uint64(0):
            if code_at(enemy, codes, beside & ~(beside - np.uint64(1))) == np.uint64(PAWN):
                out[i, META] |= ep_meta
            beside = without_lowest(beside)


@kernel(inline="always")
def code_at(enemy: Any, codes: Any, mask: Any) -> Any:
    """Code (uint64) of the piece on the one square of ``mask``, which is occupied."""
    return (codes >> np.uint64(4 * popcount(enemy & (mask - np.uint64(1))))) & np.uint64(15)


@kernel(inline="always")
def without(codes: Any, index: int) -> Any:
    """``codes`` less the piece of that index."""
    low = (np.uint64(1) << np.uint64(4 * index)) - np.uint64(1)
    return (codes & low) | ((codes >> np.uint64(4)) & ~low)


@kernel(inline="always")
def with_code(enemy: Any, codes: Any, mask: Any, code: Any) -> Any:
    """``codes`` of the pieces ``enemy`` with one more, of ``code``, put on the free square of ``mask``."""
    place = np.uint64(4 * popcount(enemy & (mask - np.uint64(1))))
    low = (np.uint64(1) << place) - np.uint64(1)
    return (codes & low) | (code << place) | ((codes & ~low) << np.uint64(4))


@kernel(inline="always")
def marks(codes: Any, code: int) -> Any:
    """The lowest bit of each group of four bits in ``codes`` that is ``code``."""
    # Such a group is 0 after the exclusive or; any other one is folded down to its lowest bit.
    unlike = codes ^ (np.uint64(code) * np.uint64(0x1111111111111111))
    unlike |= unlike >> np.uint64(1)
    unlike |= unlike >> np.uint64(2)
    return ~unlike & np.uint64(0x1111111111111111)


@kernel(inline="always")
def without_rights(codes: Any) -> Any:
    """``codes`` once the king has moved: every rook that could castle is a plain one (6 becomes 3)."""
    return codes ^ (marks(codes, CASTLING_ROOK) * np.uint64(CASTLING_ROOK ^ ROOK))


@kernel(inline="always")
def castled(enemy: Any, codes: Any, short: bool) -> Any:
    """The enemy half after castling, which has to be possible."""
    # King and rook leave e8 and the corner and stand beside each other: two codes change places.
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
    """The square (a set of one or none) of the pawn with the code 7."""
    marked = marks(codes, DOUBLE_STEPPED)
    if marked == np.uint64(0):
        return np.uint64(0)
    # The pieces below it, as many as there are groups below the mark.
    left = enemy
    for _ in range(lowest(marked) >> 2):
        left = without_lowest(left)
    return left & ~(left - np.uint64(1))
