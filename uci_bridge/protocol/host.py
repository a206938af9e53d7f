"""Host any program that speaks the engine protocol as a player of any game.

:class:`HostedPlayer` is on the player's side of the wall: it gets observations and a clock. The messages to the engine
are a function of these, the limits, a seed and a key that is independent of the game: ids are hashes of that key.

Faults of the engine are found here: a malformed line, an error, silence, a dead process, an answer that can't be
played. After each one its process is killed. If ``restarts`` allow, it is started again with the whole transcript; else
the game is lost (:class:`klss.play.contest.Forfeit`, or :class:`klss.play.contest.OutOfTime` once the clock has run
out).
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import secrets
import time
from collections.abc import Callable
from typing import Any, TypeAlias

from klss.play.contest import Answer, Decision, Forfeit, Observation, OutOfTime, Player, Setup
from klss.play.limits import Limit
from klss.play.messages import COLOR_NAMES, MAX_MS, Clock, ProtocolError, Received, Refusal, Reply, Seen
from klss.play.messages import Answer as AnswerMessage
from klss.play.outcome import Outcome, Seat
from klss.play.time_plan import TimePlan
from klss.play.wire import AnyWire, GameWire
from uci_bridge.errors import EngineFailed, NeverAnswered
from uci_bridge.protocol.codec import read_reply, write_request
from uci_bridge.protocol.engine_process import CLOSED, EngineProcess, Late

log = logging.getLogger(__name__)

_SEEDS = 1 << 53
"""Bound on seeds: smaller ones are exact also in programs whose numbers are all floating-point."""

_NODE_S = 0.02
"""Seconds allowed per node, if nodes are the limit and no clock runs."""

_AGAIN_S = 1.0
"""Seconds on the clock below which a failed engine is not started again."""

_STRAYS = 16
"""Most blank lines, or acknowledgements without a push, that are skipped."""

_REHEARSAL = Limit(time_s=0.1)

Thinking: TypeAlias = Callable[[], contextlib.AbstractContextManager[object]]


class HostedPlayer(Player[Setup, Observation, Answer]):
    """One player of one game after the other, played by an engine process."""

    def __init__(
        self,
        engine: EngineProcess,  # the process; started when the game starts. Several players may share it
        wire: GameWire[Setup, Observation, Answer],  # the game's part of the protocol
        *,
        seed: int = 0,  # of the engine's random choices
        key: str | None = None,  # the ids are its hashes; None: a random one. It must not tell which game this is
        restarts: int = 0,  # most times in this game that an engine that failed is killed, started and asked again
        quiet: bool = False,  # whether faults are not logged
        # as in a match: an engine whose process ends between two questions has lost the game, instead of being started
        # again; a failure of a program before its first reply ends the match
        whole: bool = False,
        thinking: Thinking = contextlib.nullcontext,  # entered while the engine is asked
    ) -> None:
        self._engine, self._wire, self._whole, self._thinking = engine, wire, whole, thinking
        self._seed = seed % _SEEDS
        self._key = secrets.token_hex(16) if key is None else key
        self._restarts, self._quiet = restarts, quiet
        self._spares = restarts > 0  # its owner goes on without an answer
        self._games = 0
        self._known = -1  # the last observation that the engine has
        self._pushes, self._incarnation = True, 0  # whether it takes pushes; the number of its start

    # ---------------------------------------------------------------------------------------------- a player
    def begin(self, seat: Seat, setup: Setup) -> None:
        """See :class:`klss.play.contest.Player`; always begins a new session."""
        self._seat, self._setup = seat, setup
        self._transcript = self._wire.transcript(seat, setup)
        self._transcript.begin()
        self._asked_before = self._closed = False
        self._games += 1
        self._ids = {"gameId": self._hashed("game"), "engineId": "engine", "sessionId": self._hashed("session")}
        self._forget()
        with contextlib.suppress(OSError):
            self._engine.start()  # while no clock runs; the first question tries again, and raises

    def observe(self, observation: Observation) -> None:
        """See :class:`klss.play.contest.Player`; faults of the engine raise nothing here."""
        self._push(self._transcript.add(observation))

    def end(self, outcome: Outcome) -> None:
        """See :class:`klss.play.contest.Player`; faults of the engine raise nothing here."""
        over = self._transcript.end(outcome)
        # What was to go with the next question, which will not come, goes first.
        gap = self._transcript.gapless and self._known >= 0
        for each in [*self._transcript.seen[self._known + 1 : -1], over] if gap else [over]:
            self._push(each)

    def answer(self, question: str, limit: Limit) -> Decision[Answer]:
        """See :class:`klss.play.contest.Player`. Raises Forfeit: the engine gave no answer that can be played;
        OutOfTime: it gave none before its clock ran out; in a match NeverAnswered: the program failed before its first
        reply, and OSError: the machine has no resources for its process.
        """
        if self._whole and self._asked_before and not self._engine.alive:
            words = f"it ended between two questions; its last words: {self._engine.stderr_tail}"
            self.last_fault = self.last_fault or words
            raise Forfeit(self.last_fault)
        self._asked_before = True
        began = time.monotonic()
        while True:
            try:
                with self._thinking():
                    decision = self._decision(question, self._reply_to(question, limit, began))
                self._known = self._last
                return decision
            except (OSError, ProtocolError) as fault:
                self._engine.kill()
                if self._whole and not isinstance(fault, EngineFailed | ProtocolError):
                    raise
                flagged = limit.clock is not None and time.monotonic() - began >= limit.clock[0]
                if self._whole and not self._engine.speaks and not isinstance(fault, Late):
                    raise NeverAnswered(f"{self._engine.name}: no answer, and {fault}") from None
                self._note(str(fault))
                if flagged:
                    raise OutOfTime(str(fault)) from None
                hasty = limit.clock is not None and time.monotonic() - began > limit.clock[0] - _AGAIN_S
                if self._restarts <= 0 or self._closed or hasty:
                    raise Forfeit(str(fault)) from None
                self._restarts -= 1

    def close(self) -> None:
        """Ask no more in this game. The process keeps running; its owner closes it, after this call if it thinks."""
        self._closed = True

    # ------------------------------------------------------------------------------------------------ questions
    @property
    def _last(self) -> int:
        """The number of the player's last observation. An engine that has all observations before it (``_known``) gets
        it alone, any other engine the whole transcript.
        """
        return len(self._transcript.seen) - 1

    def _reply_to(self, question: str, limit: Limit, began: float) -> Reply:
        """The engine's reply to a question whose clock runs since ``began``, also if its process is started again."""
        starting = time.monotonic()
        with self._engine.lock:
            self._engine.start()
            if self._closed:
                raise EngineFailed(CLOSED)
            if self._engine.starts != self._incarnation:
                self._forget()
                self._incarnation = self._engine.starts
            until = self._until(limit, began, starting)
            follows = self._known == self._last - 1 and self._known >= 0
            reply = self._exchanged(self._request(question, limit, began, follows=follows), until)
            if isinstance(reply, Refusal) and reply.need == "transcript" and self._known >= 0:
                self._known = -1
                reply = self._exchanged(self._request(question, limit, began, follows=False), until)
        if isinstance(reply, Refusal):
            raise EngineFailed(f"it refused the turn: {reply.error[:300]}")
        return reply

    def _request(self, question: str, limit: Limit, began: float, *, follows: bool) -> bytes:
        """The request: with the last observation alone if it ``follows`` those that the engine has, else with all."""
        transcript, clock = self._transcript, Clock(increment_ms=0)
        if limit.clock is not None:
            left = limit.clock[0] - (time.monotonic() - began)
            clock = Clock(remaining_ms=_milliseconds(left), increment_ms=_milliseconds(limit.clock[1]))
        # the game's own fields, whose types only its class of requests knows
        own: dict[str, Any] = transcript.asks(question) | self._wire.setup_fields(self._setup)
        request = self._wire.request(
            **self._ids,
            color=COLOR_NAMES[self._seat],
            ply=transcript.ply,
            engineSeed=self._seed,
            clock=clock,
            observationTranscript=None if follows else transcript.seen,
            latestObservationDelta=transcript.seen[-1] if follows else None,
            budget_ms=None if limit.time_s is None else max(1, _milliseconds(limit.time_s)),
            nodes=limit.nodes,
            **own,
        )
        return write_request(self._wire, request)

    def _exchanged(self, line: bytes, until: Callable[[], float], *, push: bool = False) -> Reply:
        """The engine's reply to a request; late acknowledgements of pushes, of whatever game, are skipped. A reply to a
        ``push`` is an acknowledgement itself.
        """
        self._engine.send(line, until())
        for _ in range(_STRAYS):
            reply = self._reply(until)
            if not isinstance(reply, Received) or (push and self._is_ours(reply)):
                self._check_ids(reply)
                return reply
        raise EngineFailed("it said again and again that it received what nobody asked for")

    def _decision(self, question: str, reply: Reply) -> Decision[Answer]:
        """The decision in a reply. Raises EngineFailed: it has none, or one that may not be played."""
        if not isinstance(reply, AnswerMessage) or reply.key != question:
            raise EngineFailed(f"it answered no {question}, expected one")
        complaint = self._transcript.complaint(question, reply.value)
        if complaint is not None:
            raise EngineFailed(f"it answered {complaint}")
        return Decision(reply.value, dict(reply.diagnostics or {}))

    def _until(self, limit: Limit, began: float, asked: float) -> Callable[[], float]:
        """The deadline of an answer; its clock runs since ``began``, this process was asked at ``asked``."""
        patience, usual = self._engine.patience, TimePlan(limit).seconds
        if usual is None:
            assert limit.nodes is not None
            hung = asked + limit.nodes * _NODE_S + patience.nodes_s
        elif limit.clock is None:
            hung = asked + usual + patience.grace_s
        else:
            hung = asked + usual + max(usual, patience.grace_s)
        if limit.clock is not None:
            flag = began + limit.clock[0]
            # If the game goes on after a fault, don't spend more than half of the clock on a hung engine.
            by = min((asked + flag) / 2.0, hung) if self._spares else flag
            return lambda: by
        if self._engine.answered:
            return lambda: hung
        loaded = self._engine.loaded_by(asked)
        return lambda: max(hung, loaded())

    # ------------------------------------------------------------------------------------------------ pushes
    def _push(self, seen: Seen | None) -> None:
        """Push an observation (None: nothing) outside the engine's turn, and wait a moment for the answer; faults of
        the engine raise nothing here.
        """
        if seen is None or not (self._pushes and self._engine.alive and self._engine.starts == self._incarnation):
            return  # if not asked yet in this game, or without pushes, the engine gets the whole transcript later
        push = self._wire.push(**self._ids, color=COLOR_NAMES[self._seat], ply=seen.ply, observation=seen)
        line = write_request(self._wire, push)
        until = time.monotonic() + self._engine.patience.push_s
        with self._engine.lock:
            try:
                reply = self._exchanged(line, lambda: until, push=True)
            except Late:
                self._pushes = False
                return
            except (EngineFailed, ProtocolError) as fault:
                self._note(str(fault))
                self._engine.kill()
                return
        if not isinstance(reply, Received):
            self._pushes = self._pushes and isinstance(reply, Refusal)
            self._known = -1
        elif self._known >= self._last - 1:
            self._known = self._last

    # ------------------------------------------------------------------------------------------------ helpers
    def _reply(self, until: Callable[[], float]) -> Reply:
        """The next reply, of whatever session. Raises EngineFailed (see :meth:`EngineProcess.receive`); ProtocolError:
        the line is no reply.
        """
        line = b""
        for _ in range(_STRAYS):
            line = line.strip() or self._engine.receive(until)
        reply = read_reply(self._wire, line)
        self._engine.speaks = True
        return reply

    def _check_ids(self, reply: Reply) -> None:
        """Raise EngineFailed if a reply is another session's."""
        if not self._is_ours(reply):
            raise EngineFailed("it answered with the ids of another session")

    def _is_ours(self, reply: Reply) -> bool:
        """Whether a reply has this session's ids; it may leave them out."""
        return reply.gameId in ("", self._ids["gameId"]) and reply.sessionId in ("", self._ids["sessionId"])

    def _forget(self) -> None:
        """Assume that the engine knows nothing of this session."""
        self._known, self._pushes, self._incarnation = -1, True, 0

    def _hashed(self, what: str) -> str:
        return hashlib.sha256(f"{what}/{self._games}/{self._key}".encode()).hexdigest()[:24]

    def _note(self, fault: str) -> None:
        self.last_fault = fault
        if not self._quiet and fault != CLOSED:
            log.warning("%s: %s", self._engine.name, fault)


def _milliseconds(seconds: float) -> int:
    """Whole milliseconds within the protocol's bounds."""
    return round(min(max(0.0, seconds * 1000), MAX_MS))


AnyHosted: TypeAlias = HostedPlayer[Any, Any, Any]
"""A player of a game that is known only at run time."""


def rehearse(engine: EngineProcess, wire: AnyWire) -> str | None:
    """Have an engine play a turn of a dummy game, so that its compiled code is loaded before a clock runs.

    Return what went wrong, or None; nothing is raised, since the same fault will show again in the game.
    """
    player = HostedPlayer(engine, wire, quiet=True)
    try:
        wire.rehearse(player, _REHEARSAL)
    except (Forfeit, OutOfTime, OSError) as error:  # OSError: no memory or descriptors left for a process
        return str(error)
    player.end(Outcome(None, "aborted"))
    return None
