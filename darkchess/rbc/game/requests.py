"""A player's requests, and what is played of them."""

from __future__ import annotations

import chess
import numpy as np

from darkchess.board.kernels import board
from darkchess.board.kernels.tables import TABLES
from darkchess.board.move import decode, encode
from darkchess.board.position import Position
from darkchess.rbc.game._kernels import requests as kernels
from klss.support.arrays import Int32s, Words

__all__ = ["after_move", "is_request", "own_half", "played", "request_codes", "requests"]


def own_half(position: Position, color: chess.Color) -> Words:
    """The row (uint64[9]) of what ``color`` knows of a position without sensing: its pieces, its rights, the turn.

    En passant and the counter are left out.
    """
    own = position.row[board.WHITE if color else board.BLACK]
    row: Words = position.row & own
    row[board.META] = position.row[board.META] & np.uint64(1 | (0x06 if color else 0x18))
    return row


def request_codes(own_row: Words, color: chess.Color) -> Int32s:
    """Codes of all requests of ``color``, sorted: int32[n]; ``own_row`` is :func:`own_half` with that side to move."""
    out = np.empty(kernels.MAX_REQUESTS, dtype=np.int32)
    return np.sort(out[: kernels.generate_requests(own_row, 0 if color else 1, TABLES, out)])


def requests(position: Position) -> tuple[chess.Move, ...]:
    """The requests of the side to move, sorted by from, to, promotion; it may also pass.

    >>> len(requests(Position.start()))
    34
    """
    return tuple(decode(code) for code in request_codes(own_half(position, position.turn), position.turn).tolist())


def is_request(position: Position, move: chess.Move) -> bool:
    """Whether the side to move may ask for ``move``. A pawn that reaches the last rank may leave the promotion open."""
    asked = requests(position)
    if move in asked:
        return True
    queen = chess.Move(move.from_square, move.to_square, chess.QUEEN)
    return (
        move.promotion is None
        and chess.square_rank(move.to_square) in (0, 7)
        and queen in asked
        and bool(int(position.row[board.PAWN]) >> move.from_square & 1)
    )


def played(position: Position, move: chess.Move) -> chess.Move | None:
    """What the request ``move`` of the side to move becomes; None: nothing is played."""
    side = 0 if position.turn else 1
    row = position.row
    ep = 0 if position.ep_square is None else 1 << position.ep_square
    enemy = row[board.BLACK - side]
    code = kernels.revised(row, side, enemy, np.uint64(ep), encode(move), TABLES)
    return None if code < 0 else decode(code)


def after_move(position: Position, taken: chess.Move | None) -> Position:
    """The position after a move of the side to move, or after a turn without one (None)."""
    if taken is not None:
        return position.after(taken)
    out = np.empty(board.WIDTH, dtype=np.uint64)
    kernels.pass_turn(position.row, out)
    return Position(out, position.fullmove + (not position.turn))
