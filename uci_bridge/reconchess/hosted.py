"""A bot of ``reconchess`` as one of our players: a process of its own for each game, which ends with it.

Such bots patch ``chess``, change directories, start pools and engines, and print; all of that stays in their process
(:mod:`uci_bridge.reconchess.child`). The process gets the same data as a player of ``reconchess``, and the short
environment of :mod:`uci_bridge.child_processes`. This is isolation, not security: a bot runs with all rights of the
user who hosts it.

Faults of a bot are found here, and lose the game: it can't be loaded, raises, ends, is silent for too long, or its
answer is not an allowed square or request.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable

import chess
import msgspec

from darkchess.board.position import Position
from darkchess.rbc.game.contest import Player
from darkchess.rbc.game.observation import Moved, Notice, Sensed
from darkchess.rbc.game.own_half import OwnHalf
from darkchess.rbc.game.rules import WIN_REASONS
from klss.support.text import printable
from klss.table.contest import Decision, Forfeit, OutOfTime
from klss.table.limits import Limit
from klss.table.outcome import Outcome
from klss.table.time_plan import TimePlan
from uci_bridge.child_processes import engine_environment
from uci_bridge.errors import FAULT_SHOWN, EngineFailed
from uci_bridge.protocol.engine_process import EngineProcess, Late, Patience
from uci_bridge.reconchess.messages import Answer, Call

log = logging.getLogger(__name__)

CLOCK_S = 900.0
"""Seconds on the clock that a bot is shown if nodes limit the game: those of the usual clock, but it never runs."""

OPPONENT = "opponent"
"""The opponent's name, as it is given to a bot."""

_CALLS = 60.0
"""Factor from seconds per call, if these limit the game, to the clock that a bot is shown: bots that heed their clock
spend a share of it.
"""

_NODE_S = 0.001
"""Seconds allowed per node of a bot's engine."""

_IDLE = 2
"""Most idle programs that are kept for the next game: one for each side."""


class HostedBot(Player):
    """A bot as the player of one colour, game after game; ``start_call`` is the first call of each game, still without
    colour and position.
    """

    def __init__(self, name: str, start_call: Call, patience: Patience) -> None:
        self.last_fault = None  # the bot's fault in this game
        self._name = name
        self._start_call = start_call
        self._patience = patience
        self._process: EngineProcess | None = None
        self._number = 0
        self._notice = Notice(None)
        self._seen = Sensed(None, ())

    # ----------------------------------------------------------------------------------------------- a player's methods
    def start(self, color: chess.Color, start: Position) -> None:
        """See :class:`darkchess.rbc.game.contest.Player`; waits until the bot is loaded."""
        self.close()
        self.last_fault = None
        self._own = OwnHalf(color, start)
        self._number = 0
        call = msgspec.structs.replace(self._start_call, color=color, fen=start.fen(), opponent=OPPONENT)
        self._process = process = _programs.take()
        until = time.monotonic() + self._patience.start_s  # fixed: prints of the bot don't extend it
        try:
            process.start()
            self._asked(call, lambda: until)
        except EngineFailed as fault:
            self._fail(fault)

    def notice(self, notice: Notice) -> None:
        """See :class:`darkchess.rbc.game.contest.Player`; the bot gets it with its next question."""
        if notice.square is not None:
            self._own.lose(notice.square)
        self._notice = notice

    def choose_sense(self, limit: Limit) -> Decision:
        """See :class:`darkchess.rbc.game.contest.Player`. Raises Forfeit: the bot gives no allowed square, or had a
        fault before; OutOfTime: it gave no answer before its clock ran out.
        """
        return Decision(self._answer(Call(0, "sense", capture=self._notice.square), limit).square)

    def sensed(self, sensed: Sensed) -> None:
        """See :class:`darkchess.rbc.game.contest.Player`; the bot gets it with its next question."""
        self._seen = sensed

    def choose_move(self, limit: Limit) -> Decision:
        """See :class:`darkchess.rbc.game.contest.Player`; raises what :meth:`choose_sense` does."""
        seen = [(square, None if piece is None else piece.symbol()) for square, piece in self._seen.contents]
        text = self._answer(Call(0, "move", seen=seen), limit).move
        return Decision(None if text is None else chess.Move.from_uci(text))

    def moved(self, moved: Moved) -> None:
        """See :class:`darkchess.rbc.game.contest.Player`; sent to the bot without waiting for it."""
        self._own.play(moved.taken)
        if self._process is None:
            return
        call = Call(0, "moved", capture=moved.capture_square, requested=_uci(moved.requested), taken=_uci(moved.taken))
        try:
            self._tell(call, time.monotonic() + self._patience.push_s)
        except EngineFailed as fault:
            self._fail(fault)

    def end(self, outcome: Outcome) -> None:
        """See :class:`darkchess.rbc.game.contest.Player`; a process that does not answer in a moment is killed."""
        if self._process is not None:
            until = time.monotonic() + self._patience.close_s
            call = Call(0, "end", winner=outcome.winner, reason=WIN_REASONS.get(outcome.reason))
            try:
                self._asked(call, lambda: until)
                _programs.give_back(self._process)
                self._process = None
            except EngineFailed as fault:
                log.info("%s, after the game: %s", self._name, fault)
        self.close()

    def close(self) -> None:
        """See :class:`darkchess.rbc.game.contest.Player`; kills the process, if the game has not ended."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()

    # ------------------------------------------------------------------------------------------------ calls
    def _answer(self, call: Call, limit: Limit) -> Answer:
        """The bot's answer to a question, checked. Raises as :meth:`choose_sense`."""
        began = time.monotonic()
        if self.last_fault is not None:
            raise Forfeit(self.last_fault)
        moves = list(map(chess.Move.uci, self._own.requests()))
        asked = msgspec.structs.replace(call, moves=moves, seconds_left=_seconds_left(limit))
        until = self._until(limit, began)
        try:
            answer = self._asked(asked, lambda: until)
            if answer.square is not None and not 0 <= answer.square < 64:
                raise EngineFailed(f"it looks at {answer.square}, expected a square, 0 to 63, or None")
            if answer.move is not None and answer.move not in moves:
                got = printable(answer.move, 20)
                raise EngineFailed(f"it asks for {got}, expected one of its {len(moves)} requests, or None")
        except EngineFailed as fault:
            self._fail(fault)
            if isinstance(fault, Late) and limit.clock is not None:
                raise OutOfTime(str(fault)) from None
            raise Forfeit(self.last_fault) from None
        return answer

    def _asked(self, call: Call, until: Callable[[], float]) -> Answer:
        """The answer to a call. Raises EngineFailed: there is none, it belongs to another call, or it reports that the
        bot failed; Late: there is none in time.
        """
        try:
            self._tell(call, until())
        except Late:
            raise
        except EngineFailed:
            # A bot that failed at the result of its move said why before it ended. If it did not, receiving fails too.
            pass
        line = self._running().receive(until)
        try:
            answer = msgspec.json.decode(line, type=Answer)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise EngineFailed(f"its process says {printable(line[:99].decode('utf-8', 'replace'))!r}") from None
        if answer.error is not None:
            raise EngineFailed(printable(answer.error, FAULT_SHOWN))
        if answer.number != self._number:
            raise EngineFailed(f"its process answers call {answer.number}, expected one to call {self._number}")
        return answer

    def _tell(self, call: Call, until: float) -> None:
        """Send a call, with the next number."""
        self._number += 1
        self._running().send(msgspec.json.encode(msgspec.structs.replace(call, number=self._number)) + b"\n", until)

    def _until(self, limit: Limit, began: float) -> float:
        """The deadline of a bot that was asked at ``began``: then it counts as hung, or has lost on time."""
        if limit.nodes is not None:
            return began + self._patience.nodes_s + _NODE_S * limit.nodes
        if limit.time_s is None and limit.clock is not None:
            return began + limit.clock[0]
        return began + (TimePlan(limit).seconds or 0.0) + self._patience.grace_s

    def _running(self) -> EngineProcess:
        if self._process is None:
            raise EngineFailed("no game has begun")
        return self._process

    def _fail(self, fault: EngineFailed) -> None:
        self.last_fault = printable(str(fault), FAULT_SHOWN)
        log.info("%s: %s", self._name, self.last_fault)
        self.close()


class _Programs:
    """The idle programs (:mod:`uci_bridge.reconchess.child`); they end with this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[EngineProcess] = []

    def take(self) -> EngineProcess:
        """A program for a game; the caller starts it if it does not run."""
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                if process.alive:
                    return process
                process.kill()
        environment = engine_environment() | {"PYTHONHASHSEED": "0"}
        return EngineProcess([sys.executable, "-m", "uci_bridge.reconchess.child"], environment=environment)

    def give_back(self, process: EngineProcess) -> None:
        """Keep a program whose game is over, or kill it if enough are idle."""
        with self._lock:
            if len(self._idle) < _IDLE:
                self._idle.append(process)
                return
        process.kill()


_programs = _Programs()


def _seconds_left(limit: Limit) -> float:
    """Seconds on the clock that a bot is shown."""
    if limit.nodes is not None:
        return CLOCK_S
    if limit.time_s is None and limit.clock is not None:
        return limit.clock[0]
    return _CALLS * (TimePlan(limit).seconds or 0.0)


def _uci(move: chess.Move | None) -> str | None:
    return None if move is None else move.uci()
