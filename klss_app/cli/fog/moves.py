"""Moves from the usual start position or a FEN, as they are typed: ``1. e4 e5 Nf3``, in SAN or UCI."""

from __future__ import annotations

import re

import chess

from klss_app.cli.errors import UsageError

_NUMBER = re.compile(r"\d+\.+")


def typed_moves(text: str, fen: str | None = None, flag: str = "") -> list[chess.Move]:
    """The moves of ``text``, checked to be legal. Raises :class:`UsageError`, whose message begins with ``flag``."""
    from darkchess.board.position import START_FEN, Position
    from darkchess.errors import IllegalMove
    from darkchess.fog.game.san import parse_move

    position = Position.from_fen(fen or START_FEN)
    moves = []
    for ply, word in enumerate(_NUMBER.sub(" ", text).split(), 1):
        try:
            move = parse_move(position, word)
        except IllegalMove as error:
            raise UsageError(f"{flag}ply {ply}: {error}") from None
        moves.append(move)
        position = position.after(move)
    return moves
