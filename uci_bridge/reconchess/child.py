"""The program that a bot of ``reconchess`` runs in: an engine of the protocol (docs/engine-protocol.md).

``python -m uci_bridge.reconchess.child SOURCE [living]``; with the second word the engine of Trout is restarted and
limited (:class:`LivingEngine`). The program imports the modules that every bot needs, and forks a process
for each game; no code of a bot runs in the parent. Requests and answers go over two descriptors that programs started
by the bot do not inherit. The bot's stdin is empty, and its prints go to stderr. A bot that raises, or answers what it
may not, ends its process, and so the program. All processes that a bot has started end with its game
(:mod:`uci_bridge.child_processes`).
"""

from __future__ import annotations

import contextlib
import operator
import os
import random
import signal
import sys
import traceback
from collections.abc import Callable
from io import FileIO
from pkgutil import resolve_name
from typing import Any, NoReturn, TypeVar

import chess
import chess.engine
import reconchess

from darkchess.board.position import Position
from darkchess.rbc.game.contest import Answer, Player
from darkchess.rbc.game.observation import Moved, Notice, Observation, Sensed
from darkchess.rbc.game.own_half import OwnHalf
from darkchess.rbc.game.rules import WIN_REASONS
from klss.play.contest import Decision
from klss.play.kit import Maker
from klss.play.limits import Limit
from klss.play.outcome import Outcome
from klss.play.time_plan import TimePlan
from uci_bridge.child_processes import adopt_orphans, end_descendants, linux_call
from uci_bridge.protocol.engine import Engine
from uci_bridge.protocol.rbc import RBC

CLOCK_S = 900.0
"""Seconds on the clock that a bot is shown if nodes limit the game: those of the usual clock, but it never runs."""

_CALLS = 60.0
"""Factor from seconds per call, if these limit the game, to the clock that a bot is shown: bots that heed their clock
spend a share of it.
"""

_T = TypeVar("_T")

_PR_SET_PDEATHSIG = 1
_ADDR_NO_RANDOMIZE = 0x0040000
_WELL = 86
"""Exit code of the process of a finished game. Not 0, which a bot that calls ``os._exit()`` in mid-game may give."""


def main() -> None:
    """Play games on requests from stdin, one after the other, until it ends."""
    requests, answers = FileIO(os.dup(0)), FileIO(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    adopt_orphans()
    OwnHalf(chess.WHITE, Position.start()).requests()  # compiled code, for all games
    while first := requests.readline():  # unbuffered, so that a game takes no line of the next one
        game = os.fork()
        if game == 0:
            _play(first, requests, answers)
        _, status = os.waitpid(game, 0)
        end_descendants()
        if os.WIFSIGNALED(status):
            os.kill(os.getpid(), os.WTERMSIG(status))
        if os.waitstatus_to_exitcode(status) != _WELL:
            os._exit(1)


def _play(line: bytes, requests: FileIO, answers: FileIO) -> NoReturn:
    """Play one game, in the forked process, with a session of its own."""
    os.setsid()
    linux_call("prctl", _PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # it ends with its parent, even while a bot hangs
    bots = _Bots()
    engine = Engine(bots, bots, max_sessions=1)  # type: ignore[arg-type]  # the part of a kit that an engine needs
    while line and not bots.over:
        answer = engine.answer(line.rstrip(b"\n"))
        while answer:
            answer = answer[answers.write(answer) :]
        engine.idle()
        line = b"" if bots.over else requests.readline()
    os._exit(_WELL)  # without waiting for the bot's threads and exit handlers


class _Bots:
    """Makes the player of a game."""

    wire = RBC
    over = False

    def ponders(self, spec: object) -> bool:
        return True  # a bot is told the result of its move at once

    def maker(self, *_: object) -> Maker[Position, Observation, Answer]:
        return Maker(lambda seed: _Bot(self, seed))


class _Bot(Player):
    """The bot as one of our players."""

    def __init__(self, bots: _Bots, seed: int) -> None:
        self._bots, self._seed = bots, seed
        self._bot: Any = None

    def begin(self, seat: chess.Color, setup: Position) -> None:
        self._own = OwnHalf(seat, setup)
        self._guarded(self._begin, seat, chess.Board(setup.fen()))

    def notice(self, notice: Notice) -> None:
        if notice.square is not None:
            self._own.lose(notice.square)
        self._tell("opponent_move_result", notice.square is not None, notice.square)

    def choose_sense(self, limit: Limit) -> Decision[int | None]:
        def look() -> Decision[int | None]:
            square = self._bot.choose_sense(list(chess.SQUARES), list(self._own.requests()), self._seconds_left(limit))
            if square is not None and not 0 <= operator.index(square) < 64:
                raise ValueError(f"it looks at {square}, expected a square, 0 to 63, or None")
            return Decision(None if square is None else operator.index(square))

        return self._guarded(look)

    def sensed(self, sensed: Sensed) -> None:
        self._tell("sense_result", list(sensed.contents))

    def choose_move(self, limit: Limit) -> Decision[chess.Move | None]:
        def ask() -> Decision[chess.Move | None]:
            moves = self._own.requests()
            move = self._bot.choose_move(list(moves), self._seconds_left(limit))
            if not (move is None or (isinstance(move, chess.Move) and move in moves)):
                raise ValueError(f"it asks for {move!r}, expected one of its {len(moves)} requests, or None")
            return Decision(move)

        return self._guarded(ask)

    def moved(self, moved: Moved) -> None:
        self._own.play(moved.taken)
        self._tell("move_result", moved.requested, moved.taken, moved.capture_square is not None, moved.capture_square)

    def end(self, outcome: Outcome) -> None:
        """End the game; the history that the bot gets is without the moves, which would show what was hidden."""
        reason = WIN_REASONS.get(outcome.reason)
        told = outcome.winner, None if reason is None else reconchess.WinReason[reason]
        history = reconchess.GameHistory()
        history.store_players("White", "Black")
        history.store_results(*told)
        self._tell("game_end", *told, history)
        self._bots.over = True

    def _begin(self, color: chess.Color, board: chess.Board) -> None:
        # Stockfish's answers depend on the random layout of memory, even with one thread and a limit of nodes
        # (*measured*: 15.1, the same four questions of 1,000 nodes: three different sets of answers in 16 processes,
        # one in 40 with fixed addresses). It is switched off for programs started from now on.
        linux_call("personality", _ADDR_NO_RANDOMIZE)
        source = sys.argv[1]
        by_path = source.endswith(".py") or ":" not in source
        chosen = reconchess.load_player(source)[1] if by_path else resolve_name(source)
        random.seed(self._seed)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(self._seed % (1 << 32))
        self._bot = chosen()
        if sys.argv[2:]:
            self._bot.engine = LivingEngine(self._bot.engine, os.environ["STOCKFISH_EXECUTABLE"])
        self._bot.handle_game_start(color, board, "opponent")

    def _seconds_left(self, limit: Limit) -> float:
        """Seconds on the clock that the bot is shown; the engine of Trout gets the limit itself."""
        if sys.argv[2:]:
            self._bot.engine.limit = limit
        if limit.nodes is not None:
            return CLOCK_S
        if limit.time_s is None and limit.clock is not None:
            return limit.clock[0]
        return _CALLS * (TimePlan(limit).seconds or 0.0)

    def _tell(self, what: str, *told: object) -> None:
        self._guarded(lambda: getattr(self._bot, f"handle_{what}")(*told))

    def _guarded(self, call: Callable[..., _T], *given: object) -> _T:
        """The result of a call of the bot's code; whatever it raises, ``sys.exit()`` too, ends the process."""
        try:
            return call(*given)
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)


class LivingEngine:
    """Trout-R: replaces ``TroutBot.engine``, and starts Stockfish again if an impossible board has killed it.

    Trout shows Stockfish the board that it believes in. If that has too many kings, or one that can be taken, Stockfish
    may die, and Trout then passes to the end of the game, which inflates its opponent's score (*measured*: in 23 of 100
    games). Here it passes only that turn, and has an engine again in the next.
    """

    def __init__(
        self,
        engine: chess.engine.SimpleEngine,  # the one that the bot has started
        program: str,  # path of Stockfish
    ) -> None:
        self._engine: chess.engine.SimpleEngine | None = engine
        self._program = program
        self.limit = Limit()  # of the bot's present answer: its nodes or seconds limit every search

    def play(self, board: chess.Board, limit: chess.engine.Limit) -> chess.engine.PlayResult:
        """The engine's move; ``limit`` is the bot's own, half a second, which holds where the match limits neither
        nodes nor seconds. Raises chess.engine.EngineError, which the bot handles: the engine died, or its answer is
        not a move on that board.
        """
        if self.limit.nodes is not None:
            limit = chess.engine.Limit(nodes=self.limit.nodes)
        elif self.limit.time_s is not None:
            limit = chess.engine.Limit(time=self.limit.time_s)
        if self._engine is None:
            self._engine = chess.engine.SimpleEngine.popen_uci(self._program, setpgrp=True)
        try:
            return self._engine.play(board, limit)
        except chess.engine.EngineTerminatedError:
            with contextlib.suppress(chess.engine.EngineError, TimeoutError):
                self._engine.close()
            self._engine = None
            raise

    def quit(self) -> None:
        """End the engine."""
        engine, self._engine = self._engine, None
        if engine is not None:
            with contextlib.suppress(chess.engine.EngineError, TimeoutError):
                engine.quit()


if __name__ == "__main__":
    main()
