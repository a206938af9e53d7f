"""The process in which one bot of ``reconchess`` plays one game: ``python -m uci_bridge.reconchess.child``.

Calls come in and answers go out over descriptors of this file's own, which no child of the bot inherits; the bot's
stdin is empty, and what it prints goes to stderr. What it raises is an answer, and its last.
"""

from __future__ import annotations

import importlib
import operator
import os
import random
import sys
import traceback
from collections.abc import Iterator
from typing import Any

import chess
import chess.engine
import msgspec
import reconchess

from uci_bridge.reconchess.messages import Answer, Call
from uci_bridge.reconchess.trout import LivingEngine

__all__ = ["main"]

_READ_BYTES = 1 << 16


def main() -> None:
    """Play what stdin says, until it ends."""
    calls, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    seat = _Seat()
    for line in _lines(calls):
        call = msgspec.json.decode(line, type=Call)
        try:
            answer = seat.answer(call)
        except BaseException as error:  # whatever a bot leaves by, sys.exit() too
            traceback.print_exc()
            answer = Answer(call.number, error=f"{type(error).__name__} in {_where(error)}: {error}"[:500])
        if answer is not None:
            _write(answers, msgspec.json.encode(answer) + b"\n")
        if call.do == "end" or (answer is not None and answer.error is not None):
            break
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # whatever threads and exit handlers the bot has


def _lines(pipe: int) -> Iterator[bytes]:
    held = b""
    while piece := os.read(pipe, _READ_BYTES):
        *lines, held = (held + piece).split(b"\n")
        yield from lines


def _write(pipe: int, line: bytes) -> None:
    while line:
        line = line[os.write(pipe, line) :]


def _where(error: BaseException) -> str:
    """The function that raised."""
    frames = traceback.extract_tb(error.__traceback__)
    return frames[-1].name if frames else "?"


class _Seat:
    """The bot and its game."""

    def __init__(self) -> None:
        self._bot: Any = None

    def answer(self, call: Call) -> Answer | None:
        """What the bot has to say to a call; None where nothing is expected."""
        if call.do == "start":
            self._start(call)
        elif call.do == "sense":
            self._bot.handle_opponent_move_result(call.capture is not None, call.capture)
            square = self._bot.choose_sense(list(chess.SQUARES), _moves(call.moves), call.seconds_left)
            return Answer(call.number, square=None if square is None else operator.index(square))
        elif call.do == "move":
            self._bot.handle_sense_result(
                [(square, None if sign is None else chess.Piece.from_symbol(sign)) for square, sign in call.seen]
            )
            move = self._bot.choose_move(_moves(call.moves), call.seconds_left)
            if not (move is None or isinstance(move, chess.Move)):
                raise TypeError(f"choose_move gave {move!r}, expected a chess.Move or None")
            return Answer(call.number, move=None if move is None else move.uci())
        elif call.do == "moved":
            requested, taken = (None if text is None else chess.Move.from_uci(text)
                                for text in (call.requested, call.taken))  # fmt: skip
            self._bot.handle_move_result(requested, taken, call.capture is not None, call.capture)
            return None
        elif call.do == "end":
            reason = None if call.reason is None else reconchess.WinReason[call.reason]
            self._bot.handle_game_end(call.winner, reason, _empty_history(call.winner, reason))
        return Answer(call.number)

    def _start(self, call: Call) -> None:
        chosen = _bot_class(call.source)
        random.seed(call.seed)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(call.seed % (1 << 32))
        self._bot = chosen()
        limit = chess.engine.Limit(nodes=call.engine_nodes, time=call.engine_s)
        if limit != chess.engine.Limit():
            self._bot.engine = LivingEngine(self._bot.engine, os.environ["STOCKFISH_EXECUTABLE"], limit)
        self._bot.handle_game_start(call.color, chess.Board(call.fen), call.opponent)


def _bot_class(source: str) -> Any:
    module, colon, name = source.rpartition(":")
    if colon and not os.path.exists(source):
        return getattr(importlib.import_module(module), name)
    return reconchess.load_player(source)[1]


def _moves(texts: list[str]) -> list[chess.Move]:
    return [chess.Move.from_uci(text) for text in texts]


def _empty_history(winner: bool | None, reason: Any) -> Any:
    """A history without the game, which shows what was hidden."""
    history = reconchess.GameHistory()
    history.store_players("White", "Black")
    history.store_results(winner, reason)
    return history


if __name__ == "__main__":
    main()
