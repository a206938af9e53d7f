"""Requests, and the moves that they become: docs/rbc.md, "Requests".

A player makes a request without knowledge of the enemy's pieces, and it is played as far as these allow. Codes of
requests are those of moves (:mod:`darkchess.board.move`); a pawn's capture on the last rank may lack its promotion (0),
which then is to a queen.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.bits import bit, squares
from darkchess.board.kernels.board import KING, KNIGHT, META, PAWN, QUEEN, QUIET_SHIFT, WHITE, piece_on
from darkchess.board.kernels.moves import castling_targets, generate
from darkchess.board.kernels.tables import PAWN_CAPTURES
from klss.support.kernel import kernel

MAX_REQUESTS = 512
"""Room for the requests of one player."""


@kernel(allocates=False)
def generate_requests(own_row: Any, side: int, tables: Any, out: Any) -> int:
    """Write the codes of all requests, unsorted, into ``out`` (int32[MAX_REQUESTS]); return how many.

    ``own_row`` (uint64[9]) has only the pieces of ``side``, which is to move.
    """
    # All moves on a board without enemies; then all captures by pawns, on the last rank also without a promotion.
    count: int = generate(own_row, tables, out)
    own = own_row[WHITE + side]
    for square in squares(own_row[PAWN] & own):
        for target in squares(tables[square, PAWN_CAPTURES + side] & ~own):
            base = (square << 9) | (target << 3)
            out[count] = base
            count += 1
            if target >= 56 or target < 8:
                for promotion in range(KNIGHT, QUEEN + 1):
                    out[count] = base | promotion
                    count += 1
    return count


@kernel(allocates=False)
def revised(own_row: Any, side: int, enemy: Any, ep: Any, code: int, tables: Any) -> int:
    """Return the code of the move that the request ``code`` becomes, −1 if nothing is played.

    Parameters
    ----------
    own_row
        uint64[9], the pieces and rights of ``side`` (0 White, 1 Black); the enemy's pieces in it are ignored.
    enemy
        The enemy's pieces, a set of squares.
    ep
        The en passant square (a set of one or none).
    code
        One of the codes of :func:`generate_requests`.
    """
    from_square = code >> 9
    to_square = (code >> 3) & 63
    mask = bit(from_square)
    target = bit(to_square)
    occupied = own_row[WHITE + side] | enemy
    piece = piece_on(own_row, mask)
    # A king's step and a knight's move can't be blocked; castling needs free squares between king and rook.
    if piece == KING:
        castles = to_square - from_square == 2 or from_square - to_square == 2
        if castles and castling_targets(own_row, side, occupied) & target == np.uint64(0):
            return -1
        return code
    if piece == KNIGHT:
        return code
    if piece == PAWN:
        if (to_square - from_square) & 7 != 0:
            # A diagonal step is played only if it captures something.
            if target & (enemy | ep) == np.uint64(0):
                return -1
        elif to_square - from_square == 16 or from_square - to_square == 16:
            # A double step ends after one square if the second one is occupied.
            middle = (from_square + to_square) >> 1
            if bit(middle) & occupied != np.uint64(0):
                return -1
            if target & occupied != np.uint64(0):
                return (from_square << 9) | (middle << 3)
            return code
        elif target & occupied != np.uint64(0):
            return -1
        # On the last rank the pawn becomes a queen, unless the request names another piece.
        if (to_square >= 56 or to_square < 8) and code & 7 == 0:
            return code | QUEEN
        return code
    # A slider moves to its target, or to the first piece on its way, which it captures.
    files = (to_square & 7) - (from_square & 7)
    ranks = (to_square >> 3) - (from_square >> 3)
    step = (1 if files > 0 else -1 if files < 0 else 0) + (8 if ranks > 0 else -8 if ranks < 0 else 0)
    square = from_square + step
    while square != to_square and bit(square) & occupied == np.uint64(0):
        square += step
    return (from_square << 9) | (square << 3)


@kernel(allocates=False)
def pass_turn(row: Any, out: Any) -> None:
    """Write the position after a turn without a move into ``out`` (uint64[9])."""
    for i in range(8):
        out[i] = row[i]
    quiet = (row[META] >> np.uint64(QUIET_SHIFT)) & np.uint64(0xFFFF)
    if quiet < np.uint64(0xFFFF):
        quiet += np.uint64(1)
    out[META] = ((row[META] & np.uint64(0x1F)) ^ np.uint64(1)) | (quiet << np.uint64(QUIET_SHIFT))
