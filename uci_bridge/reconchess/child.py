"""The program that bots of ``reconchess`` run in: ``python -m uci_bridge.reconchess.child``.

It imports the modules that every bot needs, which can take longer than a game, and forks a process for each game; no
code of a bot runs in the parent. Calls and answers go over two descriptors that programs started by the bot do not
inherit. The bot's stdin is empty, and its prints go to stderr. An exception of the bot is sent as its last answer. All
processes that a bot has started end with its game (:mod:`uci_bridge.child_processes`).
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
from uci_bridge.errors import FAULT_SHOWN
from uci_bridge.reconchess.messages import Answer, Call
from uci_bridge.reconchess.trout import LivingEngine

_PR_SET_PDEATHSIG = 1
_ADDR_NO_RANDOMIZE = 0x0040000
_WELL = 86
"""Exit code of the process of a finished game. Not 0, which a bot that calls ``os._exit()`` in mid-game may give."""


def main() -> None:
    """Play games on calls from stdin, one after the other, until it ends."""
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
    """Play one game, in the forked process, with a session of its own."""
    os.setsid()
    linux_call("prctl", _PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # it ends with its parent, even while a bot hangs
    seat, line, code = _Seat(), first, 0
    while line.endswith(b"\n"):
        call = msgspec.json.decode(line, type=Call)
        try:
            answer = seat.answer(call)
        except BaseException as error:  # anything that ends a bot, including sys.exit()
            traceback.print_exc()
            frames = traceback.extract_tb(error.__traceback__)
            where = frames[-1].name if frames else "?"
            answer = Answer(call.number, error=f"{type(error).__name__} in {where}: {error}"[:FAULT_SHOWN])
        with contextlib.suppress(Exception):  # a bot may have closed them
            sys.stdout.flush()
            sys.stderr.flush()
        if answer is not None:
            _write(answers, msgspec.json.encode(answer) + b"\n")
        if call.do == "end" or (answer is not None and answer.error is not None):
            code = _WELL if answer is not None and answer.error is None else 1
            break
        line = rest.readline()
    os._exit(code)  # without waiting for the bot's threads and exit handlers


def _fix_addresses() -> None:
    """Switch off the random layout of memory for programs started from now on. Stockfish's answers depend on it, even
    with one thread and a limit of nodes (*measured*: 15.1, the same four questions of 1,000 nodes: three different sets
    of answers in 16 processes, one in 40 with fixed addresses).
    """
    linux_call("personality", _ADDR_NO_RANDOMIZE)


def _lines(pipe: int) -> io.BufferedReader:
    """A reader of the lines of a pipe. It does not see bytes that another reader has buffered; between two games there
    are none, since the host waits for the answer to a game's last call.
    """
    return open(pipe, "rb", closefd=False)  # all games share the pipe


def _write(pipe: int, line: bytes) -> None:
    while line:
        line = line[os.write(pipe, line) :]


class _Seat:
    """The bot and its game."""

    def __init__(self) -> None:
        self._bot: Any = None

    def answer(self, call: Call) -> Answer | None:
        """The bot's answer to a call; None if the call has none."""
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
    """A history without the moves, since those would show what was hidden."""
    history = reconchess.GameHistory()
    history.store_players("White", "Black")
    history.store_results(winner, reason)
    return history


if __name__ == "__main__":
    main()
