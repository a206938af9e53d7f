"""What a player sees (docs/rules.md, rule 4): as a mask of squares, and as a key of the view."""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.attacks import bishop_attacks, rook_attacks
from darkchess.board.kernels.bits import bit, squares
from darkchess.board.kernels.board import BISHOP, BLACK, KING, KNIGHT, META, PAWN, QUEEN, ROOK, WHITE, ep_square, turn
from darkchess.board.kernels.moves import pawn_steps
from darkchess.board.kernels.tables import KING_STEPS, KNIGHT_STEPS, PAWN_CAPTURES
from klss.support.hashing import mix64
from klss.support.kernel import kernel


@kernel(allocates=False)
def visible(row: Any, side: int, tables: Any) -> Any:
    """Return the squares that ``side`` sees (uint64): its own and the targets of its moves, *as if it were to move*.

    Only the side to move sees the en passant target. Castling adds nothing, since the rook sees those squares.
    """
    own = row[WHITE + side]
    occupied = own | row[BLACK - side]
    seen = own
    # Pawns: their steps, and their diagonals if they can capture there.
    capturable = row[BLACK - side]
    ep = ep_square(row)
    if ep >= 0 and side == turn(row):
        capturable |= bit(ep)
    for square in squares(row[PAWN] & own):
        seen |= pawn_steps(square, side, occupied) | (tables[square, PAWN_CAPTURES + side] & capturable)
    # The other pieces: the squares that they attack; a queen counts as a bishop and as a rook.
    for square in squares(row[KNIGHT] & own):
        seen |= tables[square, KNIGHT_STEPS]
    for square in squares((row[BISHOP] | row[QUEEN]) & own):
        seen |= bishop_attacks(square, occupied, tables)
    for square in squares((row[ROOK] | row[QUEEN]) & own):
        seen |= rook_attacks(square, occupied, tables)
    for square in squares(row[KING] & own):
        seen |= tables[square, KING_STEPS]
    return seen


@kernel(inline="always")
def known_meta(row: Any, side: int) -> Any:
    """Return the part of the entry META of ``row`` that ``side`` knows (uint64): the side to move, its own castling
    rights and, if it is to move, the en passant square.
    """
    meta = row[META] & (np.uint64(1) | (np.uint64(6) << np.uint64(2 * side)))
    if turn(row) == side:
        meta |= row[META] & np.uint64(0x7F00)
    return meta


@kernel(inline="always")
def _key(row: Any, seen: Any, meta: Any) -> Any:
    """Return a key of the pieces of ``row`` on ``seen``, of that mask, and of ``meta``, the known part of META."""
    key = mix64(seen ^ np.uint64(0x9E3779B97F4A7C15))
    for i in range(META):
        key = mix64(key ^ (row[i] & seen)) + np.uint64(0x9E3779B97F4A7C15)
    return mix64(key ^ meta) + np.uint64(0x9E3779B97F4A7C15)


@kernel(allocates=False)
def view_key(view: Any, seen: Any) -> Any:
    """Return the key (uint64) of the row of a view (:meth:`darkchess.fog.game.view.View.row`) with squares ``seen``."""
    return _key(view, seen, view[META])


@kernel(allocates=False)
def observation_key(row: Any, side: int, tables: Any) -> Any:
    """Return the key (uint64) of what ``side`` sees of the position ``row``; equal to :func:`view_key` of its view."""
    return _key(row, visible(row, side, tables), known_meta(row, side))
