"""A player's requests, and the moves that are played of them."""

from __future__ import annotations

import chess
import numpy as np

from darkchess.board.kernels import board
from darkchess.board.kernels.tables import TABLES
from darkchess.board.move import decode, encode
from darkchess.board.position import Position
from darkchess.rbc.game._kernels import requests as kernels
from darkchess.rbc.game.own_half import OwnHalf


def requests(position: Position) -> tuple[chess.Move, ...]:
    """Return the requests of the side to move, sorted by from, to, promotion; it may also pass.

    >>> len(requests(Position.start()))
    34
    """
    return OwnHalf(position.turn, position).requests()


def is_request(position: Position, move: chess.Move) -> bool:
    """Whether the side to move may request ``move``. A pawn that reaches the last rank may leave its promotion open."""
    asked = requests(position)
    queen = chess.Move(move.from_square, move.to_square, chess.QUEEN)
    return move in asked or (move.promotion is None and queen in asked)


def played(position: Position, move: chess.Move) -> chess.Move | None:
    """Return the move that the request ``move`` of the side to move becomes; None: nothing is played."""
    side = 0 if position.turn else 1
    row = position.row
    ep = 0 if position.ep_square is None else 1 << position.ep_square
    enemy = row[board.BLACK - side]
    code = kernels.revised(row, side, enemy, np.uint64(ep), encode(move), TABLES)
    return None if code < 0 else decode(code)


def after_move(position: Position, taken: chess.Move | None) -> Position:
    """Return the position after a move of the side to move, or after a turn without one (None)."""
    if taken is not None:
        return position.after(taken)
    out = np.empty(board.WIDTH, dtype=np.uint64)
    kernels.pass_turn(position.row, out)
    return Position(out, position.fullmove + (not position.turn))
