"""What a player sees: docs/rules.md, rule 4, as a mask, as a position with the hidden pieces left out, and as a key."""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.attacks import bishop_attacks, rook_attacks
from darkchess.board.kernels.bits import bit, lowest, without_lowest
from darkchess.board.kernels.board import BLACK, META, WHITE, ep_square, turn
from darkchess.board.kernels.moves import pawn_steps
from darkchess.board.kernels.tables import PAWN_CAPTURES
from klss.support.hashing import mix64
from klss.support.kernel import kernel

__all__ = ["masked", "observation_key", "view_key", "visible"]


@kernel(allocates=False)
def visible(row: Any, side: int, tables: Any) -> Any:
    """Squares that ``side`` sees (uint64): its own and the destinations of its moves, *as if it were to move*.

    The en passant target is seen only by the side to move. Castling adds nothing: its rook sees those squares.
    """
    own = row[WHITE + side]
    enemy = row[BLACK - side]
    occupied = own | enemy
    seen = own
    capturable = enemy
    ep = ep_square(row)
    if ep >= 0 and side == turn(row):
        capturable |= bit(ep)
    left = row[0] & own
    while left != np.uint64(0):
        square = lowest(left)
        left = without_lowest(left)
        seen |= pawn_steps(square, side, occupied) | (tables[square, PAWN_CAPTURES + side] & capturable)
    left = row[1] & own
    while left != np.uint64(0):
        seen |= tables[lowest(left), 0]
        left = without_lowest(left)
    left = (row[2] | row[4]) & own
    while left != np.uint64(0):
        seen |= bishop_attacks(lowest(left), occupied, tables)
        left = without_lowest(left)
    left = (row[3] | row[4]) & own
    while left != np.uint64(0):
        seen |= rook_attacks(lowest(left), occupied, tables)
        left = without_lowest(left)
    left = row[5] & own
    while left != np.uint64(0):
        seen |= tables[lowest(left), 1]
        left = without_lowest(left)
    return seen


@kernel(inline="always")
def known_meta(row: Any, side: int) -> Any:
    """What ``side`` knows of the entry META of ``row`` (uint64)."""
    meta = row[META] & (np.uint64(1) | (np.uint64(6) << np.uint64(2 * side)))
    if turn(row) == side:
        meta |= row[META] & np.uint64(0x7F00)
    return meta


@kernel(allocates=False)
def masked(row: Any, side: int, seen: Any, out: Any) -> None:
    """Write into ``out`` (uint64[9]) what ``side`` knows of ``row``: the pieces on ``seen``, its own castling rights,
    the en passant square if that side can take it.

    Quiet plies are left out: they are the true game's.
    """
    for i in range(8):
        out[i] = row[i] & seen
    out[META] = known_meta(row, side)


@kernel(allocates=False)
def view_key(view: Any, seen: Any) -> Any:
    """Key (uint64) of what :func:`masked` wrote, together with which squares are seen."""
    key = mix64(seen ^ np.uint64(0x9E3779B97F4A7C15))
    for i in range(9):
        key = mix64(key ^ view[i]) + np.uint64(0x9E3779B97F4A7C15)
    return key


@kernel(allocates=False)
def observation_key(row: Any, side: int, tables: Any) -> Any:
    """Key (uint64) of what ``side`` sees of the position ``row``; equal to ``view_key`` of its masked row."""
    seen = visible(row, side, tables)
    key = mix64(seen ^ np.uint64(0x9E3779B97F4A7C15))
    for i in range(8):
        key = mix64(key ^ (row[i] & seen)) + np.uint64(0x9E3779B97F4A7C15)
    return mix64(key ^ known_meta(row, side)) + np.uint64(0x9E3779B97F4A7C15)
