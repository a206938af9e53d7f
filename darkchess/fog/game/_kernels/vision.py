"""What a player sees (docs/rules.md, rule 4): as a mask, and as a key of what stands there."""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.attacks import bishop_attacks, rook_attacks
from darkchess.board.kernels.bits import bit, lowest, without_lowest
from darkchess.board.kernels.board import BISHOP, BLACK, KING, KNIGHT, META, PAWN, QUEEN, ROOK, WHITE, ep_square, turn
from darkchess.board.kernels.moves import pawn_steps
from darkchess.board.kernels.tables import KING_STEPS, KNIGHT_STEPS, PAWN_CAPTURES
from klss.support.hashing import mix64
from klss.support.kernel import kernel

__all__ = ["known_meta", "observation_key", "view_key", "visible"]


@kernel(allocates=False)
def visible(row: Any, side: int, tables: Any) -> Any:
    """Squares that ``side`` sees (uint64): its own and the destinations of its moves, *as if it were to move*.

    The en passant target is seen only by the side to move. Castling adds nothing: its rook sees those squares.
    """
    own = row[WHITE + side]
    occupied = own | row[BLACK - side]
    seen = own
    # Pawns: their steps, and their diagonals where something can be taken.
    capturable = row[BLACK - side]
    ep = ep_square(row)
    if ep >= 0 and side == turn(row):
        capturable |= bit(ep)
    left = row[PAWN] & own
    while left != np.uint64(0):
        square = lowest(left)
        left = without_lowest(left)
        seen |= pawn_steps(square, side, occupied) | (tables[square, PAWN_CAPTURES + side] & capturable)
    # The other pieces: what they attack; a queen is looked at as a bishop and as a rook.
    left = row[KNIGHT] & own
    while left != np.uint64(0):
        seen |= tables[lowest(left), KNIGHT_STEPS]
        left = without_lowest(left)
    left = (row[BISHOP] | row[QUEEN]) & own
    while left != np.uint64(0):
        seen |= bishop_attacks(lowest(left), occupied, tables)
        left = without_lowest(left)
    left = (row[ROOK] | row[QUEEN]) & own
    while left != np.uint64(0):
        seen |= rook_attacks(lowest(left), occupied, tables)
        left = without_lowest(left)
    left = row[KING] & own
    while left != np.uint64(0):
        seen |= tables[lowest(left), KING_STEPS]
        left = without_lowest(left)
    return seen


@kernel(inline="always")
def known_meta(row: Any, side: int) -> Any:
    """What ``side`` knows of the entry META of ``row`` (uint64)."""
    meta = row[META] & (np.uint64(1) | (np.uint64(6) << np.uint64(2 * side)))
    if turn(row) == side:
        meta |= row[META] & np.uint64(0x7F00)
    return meta


@kernel(inline="always")
def _key(row: Any, seen: Any, meta: Any) -> Any:
    """Key of the pieces of ``row`` on ``seen``, of the mask itself, and of what is known of META."""
    key = mix64(seen ^ np.uint64(0x9E3779B97F4A7C15))
    for i in range(META):
        key = mix64(key ^ (row[i] & seen)) + np.uint64(0x9E3779B97F4A7C15)
    return mix64(key ^ meta) + np.uint64(0x9E3779B97F4A7C15)


@kernel(allocates=False)
def view_key(view: Any, seen: Any) -> Any:
    """Key (uint64) of the row of a view (:meth:`darkchess.fog.game.view.View.row`) that shows the squares ``seen``."""
    return _key(view, seen, view[META])


@kernel(allocates=False)
def observation_key(row: Any, side: int, tables: Any) -> Any:
    """Key (uint64) of what ``side`` sees of the position ``row``; equal to :func:`view_key` of its view."""
    return _key(row, visible(row, side, tables), known_meta(row, side))
