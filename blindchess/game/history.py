"""Games as ``reconchess`` keeps them: its JSON, which ``rc-replay`` and ``rc-playback`` open, without needing it.

The format is that of ``GameHistory.save`` (reconchess 1.6.9): senses, what they showed, requests, what was played,
where men were taken, positions before and after each turn, by colour.
"""

from __future__ import annotations

import json
from typing import Any

import chess

from blindchess.game.referee import Referee, Turn
from blindchess.game.rules import WIN_REASONS
from darkchess.board.position import Position

__all__ = ["history", "history_text"]

_BY_COLOR = (
    "senses", "sense_results", "requested_moves", "taken_moves", "capture_squares", "fens_before_move",
    "fens_after_move",
)  # fmt: skip


def history(game: Referee, white: str, black: str) -> dict[str, Any]:
    """The document of a game that is over.

    Parameters
    ----------
    game
        The game.
    white, black
        The players' names.
    """
    assert game.outcome is not None
    positions = game.positions
    document: dict[str, Any] = {"type": "GameHistory", "white_name": white, "black_name": black}
    document |= {key: {"true": [], "false": []} for key in _BY_COLOR}
    document |= {"winner_color": game.outcome.winner, "win_reason": _reason(game.outcome.reason)}
    last: chess.Move | None = None
    for ply, turn in enumerate(game.turns):
        name = "true" if turn.color else "false"
        told = {
            "senses": turn.sensed.square,
            "sense_results": [[square, _piece(piece)] for square, piece in turn.sensed.contents],
            "requested_moves": _move(turn.moved.requested),
            "taken_moves": _move(turn.moved.taken),
            "capture_squares": turn.moved.capture_square,
            "fens_before_move": _fen(turn.before, None if ply == 0 else game.turns[ply - 1], last),
            "fens_after_move": _fen(positions[ply + 1], turn, turn.moved.taken),
        }
        for key, value in told.items():
            document[key][name].append(value)
        last = turn.moved.taken
    return document


def history_text(game: Referee, white: str, black: str) -> str:
    """:func:`history` as JSON on one line."""
    return json.dumps(history(game, white, black)) + "\n"


def _reason(reason: str) -> dict[str, str] | None:
    known = WIN_REASONS.get(reason)
    return None if known is None else {"type": "WinReason", "value": known}


def _piece(piece: chess.Piece | None) -> dict[str, str] | None:
    return None if piece is None else {"type": "Piece", "value": piece.symbol()}


def _move(move: chess.Move | None) -> dict[str, str] | None:
    return None if move is None else {"type": "Move", "value": move.uci()}


def _fen(position: Position, turn: Turn | None, taken: chess.Move | None) -> str:
    """The FEN as ``reconchess`` writes it: with an en passant square after every double step."""
    text = position.fen()
    if turn is None or taken is None or position.ep_square is not None:
        return text
    piece = turn.before.piece_at(taken.from_square)
    if piece is None or piece.piece_type != chess.PAWN or abs(taken.to_square - taken.from_square) != 16:
        return text
    fields = text.split()
    fields[3] = chess.SQUARE_NAMES[(taken.from_square + taken.to_square) // 2]
    return " ".join(fields)
