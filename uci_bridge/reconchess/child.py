"""The program that bots of ``reconchess`` run in: ``python -m uci_bridge.reconchess.child``.

It imports what every bot needs, which takes longer than many a game, and forks a process for each game; no code of a
bot runs in the one that forks. Calls come in and answers go out over descriptors of this file's own, which no program
that the bot starts inherits; the bot's stdin is empty, and what it prints goes to stderr. What it raises is an answer,
and its last. Whatever a bot has started ends with its game (:mod:`uci_bridge.child_processes`).
"""

from __future__ import annotations

import contextlib
import importlib
import io
import operator
import os
import random
import signal
import sys
import traceback
from typing import Any, NoReturn

import chess
import chess.engine
import msgspec
import reconchess

from uci_bridge.child_processes import adopt_orphans, end_descendants, linux_call
from uci_bridge.reconchess.messages import Answer, Call
from uci_bridge.reconchess.trout import LivingEngine

__all__ = ["main"]

_PR_SET_PDEATHSIG = 1
_ADDR_NO_RANDOMIZE = 0x0040000
_WELL = 86
"""Exit code of a game's process whose game is over. Not 0: a bot that leaves by ``os._exit()`` has not ended a game."""


def main() -> None:
    """Play the games that stdin says, one after the other, until it ends."""
    calls, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    adopt_orphans()
    while (first := _lines(calls).readline()).endswith(b"\n"):  # else the pipe has ended
        game = os.fork()
        if game == 0:
            _play(first, _lines(calls), answers)
        _, status = os.waitpid(game, 0)
        end_descendants()
        if os.WIFSIGNALED(status):
            os.kill(os.getpid(), os.WTERMSIG(status))
        if os.waitstatus_to_exitcode(status) != _WELL:
            os._exit(1)


def _play(first: bytes, rest: io.BufferedReader, answers: int) -> NoReturn:
    """One game, in a process and a session of its own."""
    os.setsid()
    linux_call("prctl", _PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # it ends with its parent, even while a bot hangs
    seat, line, code = _Seat(), first, 0
    while line.endswith(b"\n"):
        call = msgspec.json.decode(line, type=Call)
        try:
            answer = seat.answer(call)
        except BaseException as error:  # whatever a bot leaves by, sys.exit() too
            traceback.print_exc()
            frames = traceback.extract_tb(error.__traceback__)
            where = frames[-1].name if frames else "?"
            answer = Answer(call.number, error=f"{type(error).__name__} in {where}: {error}"[:500])
        with contextlib.suppress(Exception):  # a bot may have closed them
            sys.stdout.flush()
            sys.stderr.flush()
        if answer is not None:
            _write(answers, msgspec.json.encode(answer) + b"\n")
        if call.do == "end" or (answer is not None and answer.error is not None):
            code = _WELL if answer is not None and answer.error is None else 1
            break
        line = rest.readline()
    os._exit(code)  # whatever threads and exit handlers the bot has


def _fix_addresses() -> None:
    """Have programs that are started from here on laid out in memory the same way each time. Stockfish's answers depend
    on it (*measured*: 15.1, one thread, the same four questions of 1,000 nodes: three different sets of answers in 16
    processes, one in 40 with fixed addresses).
    """
    linux_call("personality", _ADDR_NO_RANDOMIZE)


def _lines(pipe: int) -> io.BufferedReader:
    """The lines of a pipe. What another one has begun to read, this one does not see: between two games nothing is on
    its way, as the answer to a game's last call is waited for.
    """
    return open(pipe, "rb", closefd=False)  # the pipe is every game's


def _write(pipe: int, line: bytes) -> None:
    while line:
        line = line[os.write(pipe, line) :]


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
        if call.stockfish is not None:
            os.environ["STOCKFISH_EXECUTABLE"] = call.stockfish
        if call.engine_nodes is not None:
            _fix_addresses()
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
