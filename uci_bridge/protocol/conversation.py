"""A host's side of the engine protocol, of any game: a session with an engine process, and what its faults cost.

What reaches the engine is a function of what a player observes, the limits, a seed and a key that is not the game's:
ids are hashes of that key.

The engine's faults are found here and by who asks: garbage, an error, silence, a dead process, an answer that can't be
played. Each costs the engine its process; unless ``restarts`` allow another try with the whole transcript, it costs the
game (:class:`klss.table.contest.Forfeit`, or :class:`klss.table.contest.OutOfTime` once the clock is
used up).
"""

from __future__ import annotations

import hashlib
import logging
import secrets
import time
from collections.abc import Callable
from typing import Any, TypeVar

from klss.table.contest import Forfeit, OutOfTime
from klss.table.limits import Limit
from klss.table.time_plan import TimePlan
from uci_bridge.errors import EngineFailed, ProtocolError
from uci_bridge.protocol.engine_process import EngineProcess, Late
from uci_bridge.protocol.messages import Clock, Ids, Received, Refusal

__all__ = ["Conversation", "budget_ms", "clock_left"]

log = logging.getLogger(__name__)

_SEEDS = 1 << 53
"""Seeds are below this: programs that have floating-point numbers only read them right."""

_NODE_S = 0.02
"""Seconds that a node may take, where nodes are the limit and no clock runs."""

_STRAYS = 16
"""Blank lines, or acknowledgements of nothing, that are passed over."""

_Found = TypeVar("_Found")


class Conversation:
    """Asks an engine on behalf of one player, game after game.

    Observations are counted: an engine that has all up to one observation gets the next one alone, any other
    the whole transcript.

    Parameters
    ----------
    engine
        The process; started when the game starts. Several players may share it.
    read
        What reads a line that the engine wrote.
    seed
        Of the engine's random choices.
    key
        What the ids are hashed from; None: random ones. Nothing that says which game this is.
    restarts
        How often in this game an engine that failed is killed, started again and asked again.
    quiet
        Whether faults are not logged.

    Attributes
    ----------
    ids
        Of the session.
    seed
        As it is sent.
    last_fault
        The engine's last fault (str or None).
    """

    def __init__(
        self,
        engine: EngineProcess,
        read: Callable[[bytes], Any],
        *,
        seed: int = 0,
        key: str | None = None,
        restarts: int = 0,
        quiet: bool = False,
    ) -> None:
        self.last_fault: str | None = None
        self.ids = Ids("", "")
        self.seed = seed % _SEEDS
        self._engine = engine
        self._read = read
        self._closed = False
        self._key = secrets.token_hex(16) if key is None else key
        self._restarts = restarts
        self._quiet = quiet
        self._games = 0
        self._pushes = True
        self._unanswered = 0
        self._known = -1
        self._incarnation = 0

    def begin(self) -> None:
        """A new session."""
        self._games += 1
        self._closed = False
        self.ids = Ids(self._hashed("game"), self._hashed("session"), "engine")
        self._forget()
        try:
            self._engine.start()
        except EngineFailed as fault:
            self._note(str(fault))  # the first question tries once more, and then says so

    def ask(
        self, last: int, line: Callable[[bool, float], bytes], accept: Callable[[Any], _Found], limit: Limit
    ) -> _Found:
        """What the engine answers.

        Parameters
        ----------
        last
            The number of the player's last observation.
        line
            The request: with that alone (True) or with the whole transcript, of a player who has been asked at a moment
            of :func:`time.monotonic`.
        accept
            What its reply says; raises :class:`uci_bridge.errors.EngineFailed` where that is not to be had.
        limit
            Of the player.

        Raises
        ------
        Forfeit
            The engine gives no answer, or none that can be played.
        OutOfTime
            It gave none before its clock ran out.
        """
        began = time.monotonic()
        while True:
            try:
                found = accept(self._answer(last, line, limit, began))
                self._known = last
                return found
            except (EngineFailed, ProtocolError) as fault:
                self._engine.kill()
                flagged = limit.clock is not None and time.monotonic() - began >= limit.clock[0]
                self._note(str(fault))
                if flagged:
                    raise OutOfTime(str(fault)) from None
                if self._restarts <= 0 or self._closed:
                    raise Forfeit(str(fault)) from None
                self._restarts -= 1

    def close(self) -> None:
        """No more of this game. The process stays and is its owner's to close, afterwards if it is still thinking."""
        self._closed = True

    # ------------------------------------------------------------------------------------------------ questions
    def _answer(self, last: int, line: Callable[[bool, float], bytes], limit: Limit, began: float) -> Any:
        asked = time.monotonic()
        with self._engine.lock:
            self._engine.start()
            if self._closed:
                raise EngineFailed("it was closed")
            if self._engine.starts != self._incarnation:
                self._forget()
                self._incarnation = self._engine.starts
            until = self._until(limit, began, asked)
            reply = self._asked(line(self._known == last - 1 and self._known >= 0, began), until)
            if isinstance(reply, Refusal) and reply.need == "transcript" and self._known >= 0:
                self._known = -1
                reply = self._asked(line(False, began), until)
        if isinstance(reply, Refusal):
            raise EngineFailed(f"it refused the turn: {reply.error[:300]}")
        return reply

    def _asked(self, line: bytes, until: Callable[[], float]) -> Any:
        """The engine's reply to a turn request; late ones to pushes are passed over."""
        self._engine.send(line, until())
        for _ in range(self._unanswered + _STRAYS):
            reply = self._reply(until)
            if not (isinstance(reply, Received) or (isinstance(reply, Refusal) and self._unanswered > 0)):
                self._unanswered = 0
                return reply
            self._unanswered = max(0, self._unanswered - 1)
        raise EngineFailed("it said again and again that it received what nobody asked for")

    def _until(self, limit: Limit, began: float, asked: float) -> Callable[[], float]:
        """When to give up on an answer: its clock has run since ``began``, this process was asked at ``asked``."""
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
            # A hung engine costs no whole clock where it may be started again.
            by = min(flag, hung) if self._restarts > 0 else flag
            return lambda: by
        if self._engine.answered:
            return lambda: hung
        loaded = self._engine.loaded_by(asked)
        return lambda: max(hung, loaded())

    # ------------------------------------------------------------------------------------------------ pushes
    def push(self, number: int, line: bytes) -> None:
        """Send what the player observed outside the engine's turn, and wait a moment for the answer; nothing is raised
        for what the engine does.

        Parameters
        ----------
        number
            Of the observation.
        line
            The push.
        """
        if not (self._pushes and self._engine.alive and self._engine.starts == self._incarnation):
            return  # an engine that was not asked yet in this game, or does not take pushes, gets the whole transcript
        until = time.monotonic() + self._engine.patience.push_s
        with self._engine.lock:
            try:
                self._engine.send(line, until)
                self._unanswered += 1
                reply = self._reply(lambda: until)
            except Late:
                self._pushes = False
                return
            except (EngineFailed, ProtocolError) as fault:
                self._note(str(fault))
                self._engine.kill()
                return
        self._unanswered -= 1
        if isinstance(reply, Received) and self._known >= number - 1:
            self._known = number
        elif not isinstance(reply, Received):
            self._pushes = self._pushes and isinstance(reply, Refusal)
            self._known = -1

    # ------------------------------------------------------------------------------------------------ helpers
    def _reply(self, until: Callable[[], float]) -> Any:
        """The next reply in this session.

        Raises
        ------
        EngineFailed
            See :meth:`EngineProcess.receive`; or the reply is another session's.
        ProtocolError
            The line is no reply.
        """
        line = b""
        for _ in range(_STRAYS):
            line = line.strip() or self._engine.receive(until)
        reply = self._read(line)
        said: dict[str, Any] = dict(reply.ids) if isinstance(reply, Refusal) else _ids(reply.ids)
        for key, value in _ids(self.ids).items():
            if said.get(key, value) != value:
                raise EngineFailed(f"it answered with {key} {said[key]!r}, expected {value!r}")
        return reply

    def _forget(self) -> None:
        """Nothing is known to the engine, for all we know."""
        self._known = -1
        self._unanswered = 0
        self._pushes = True
        self._incarnation = 0

    def _hashed(self, what: str) -> str:
        return hashlib.sha256(f"{what}/{self._games}/{self._key}".encode()).hexdigest()[:24]

    def _note(self, fault: str) -> None:
        self.last_fault = fault
        if not self._quiet:
            log.warning("%s: %s", self._engine.name, fault)


def _ids(ids: Ids) -> dict[str, str]:
    """The ids that a reply has; an empty one was left out."""
    return {key: value for key, value in (("gameId", ids.game_id), ("sessionId", ids.session_id)) if value}


def clock_left(limit: Limit, began: float) -> Clock:
    """The clock of a player that has been asked since ``began``, as a request says it."""
    if limit.clock is None:
        return Clock()
    left = limit.clock[0] - (time.monotonic() - began)
    return Clock(max(0, round(left * 1000)), max(0, round(limit.clock[1] * 1000)))


def budget_ms(limit: Limit) -> int | None:
    """Milliseconds for one answer, as a request says them."""
    return None if limit.time_s is None else max(1, round(limit.time_s * 1000))
