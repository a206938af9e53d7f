"""Serve our players of any game on the engine protocol: every line gets one answer, in order, even a malformed one.

An :class:`Engine` keeps a session for each ``sessionId``: the observations of its player
(:class:`klss.play.wire.Transcript`), and a player that was given the same. A request with the whole
transcript begins a session, in mid-game too; deltas and pushes extend it. A request with a fault changes nothing in the
session.

This is the player's side of the wall: neither this module nor any module it imports imports a referee.

Source: docs/engine-protocol.md. Deviations: the seed of a session is that of its first request; a repeated request
gets the same answer again, without a second search.
"""

from __future__ import annotations

import io
import logging
import queue
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

from darkchess.errors import DarkchessError
from darkchess.evaluation.registry import EvaluatorChoice
from klss.play.contest import AnyDecision, AnyPlayer, Contradiction
from klss.play.kit import AnyKit, AnyMaker, Spec
from klss.play.limits import Limit
from klss.play.messages import COLORS, Answer, ProtocolError, Push, Received, Refusal, Reply, Request, Seen
from klss.play.outcome import Seat
from klss.play.wire import AnyTranscript
from klss.search.pondering import Pondering
from klss.support.text import Document
from uci_bridge.protocol.codec import MAX_LINE_BYTES, read_request, write_reply

log = logging.getLogger(__name__)

MAX_SESSIONS = 16
"""Most sessions of one process; beyond that the least recently used one is dropped, and its host is asked for the whole
transcript if it comes back."""

_QUEUED = 16
"""Requests that are read ahead."""

_SEED_MASK = (1 << 63) - 1
"""The bits of a request's seed that a player gets: the lowest 63, which make no negative number."""

_LEAST_S = 0.01
"""Least time limit of a player in seconds, however late its request was read."""


@dataclass
class _Session:
    """One player of one game."""

    game_id: str
    seat: Seat
    setup: object  # what both players know, of the kit's own type
    setup_fields: Document  # the same as in messages
    seed: int
    transcript: AnyTranscript  # what it observed
    player: AnyPlayer | None = None  # None until it is asked, and once the game is over
    reproducible: bool = False
    shown: int = 0  # number of observations that it was given
    decided: tuple[int, AnyDecision] | None = None  # its last decision, and the number of observations before it

    def show(self, player: AnyPlayer) -> None:
        """Give the player the observations that it has not seen yet."""
        for observation in self.transcript.given[self.shown :]:
            self.shown += 1
            player.observe(observation)

    def close(self) -> None:
        """End the session's player."""
        if self.player is not None:
            self.player.close()
            self.player = None


class Engine:
    """Answers requests; one at a time."""

    def __init__(
        self,
        kit: AnyKit,
        configuration: Spec,
        choice: EvaluatorChoice | None = None,  # of the evaluator, if the configuration leaves it open
        *,
        max_sessions: int = MAX_SESSIONS,
        loaded: Callable[[], None] | None = None,  # called before the first player is made; waits until all is loaded
    ) -> None:
        self._kit, self._wire = kit, kit.wire
        self._configuration = configuration
        self._choice = choice or EvaluatorChoice()
        self._max_sessions = max_sessions
        self._loaded = loaded
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._makers: dict[tuple[str, bool], AnyMaker] = {}
        self._pushed: _Session | None = None  # if players ponder: the session of the last request, if that was a push

    @property
    def sessions(self) -> tuple[str, ...]:
        """The ids of the sessions, the least recently used first."""
        return tuple(self._sessions)

    def answer(self, line: bytes | None, arrived: float | None = None) -> bytes:
        """The line that answers ``line`` (None: one that was too long to be kept); never raises because of its content.

        Time limits count from ``arrived``, a value of :func:`time.monotonic`; None: now.
        """
        return write_reply(self._wire, self._reply(line, time.monotonic() if arrived is None else arrived))

    def _reply(self, line: bytes | None, began: float) -> Reply:
        ids: dict[str, str] = {}
        whole = False  # whether the request has the whole transcript: then there is nothing more to ask for
        try:
            if line is None:
                raise ProtocolError(f"got a line of more than {MAX_LINE_BYTES} bytes, expected a shorter one")
            request = read_request(self._wire, line)
            ids = {"gameId": request.gameId, "sessionId": request.sessionId}
            whole = isinstance(request, Request) and request.observationTranscript is not None
            if self._loaded is not None:
                self._loaded()
                self._loaded = None
            self._pushed = None
            return self._take_in(request) if isinstance(request, Push) else self._answered(request, began)
        except ProtocolError as error:
            return Refusal(**ids or error.ids, error=str(error), need=None if whole else error.need)
        except (DarkchessError, Contradiction, RecursionError) as error:
            # An observation that contradicts the session may fit the whole game.
            return Refusal(**ids, error=str(error), need=None if whole or not ids else "transcript")
        except Exception as error:
            log.error("%s", traceback.format_exc())
            self._drop(ids.get("sessionId", ""))
            broken = f"internal error ({type(error).__name__}); the session is dropped"
            return Refusal(**ids, error=broken, need="transcript")

    def idle(self) -> None:
        """Called once a request is answered and no other waits: if the configuration ponders, the player that has just
        moved gets the result of its move, and ponders.
        """
        session, self._pushed = self._pushed, None
        if session is None or session.player is None:
            return
        try:
            session.show(session.player)
        except Exception as error:  # at its turn a fresh player gets everything again, and a fault can be reported
            log.warning("no pondering: %s", error)
            session.close()

    def close(self) -> None:
        """Drop every session and close the evaluators."""
        for session_id in self.sessions:
            self._drop(session_id)
        for maker in self._makers.values():
            maker.close()
        self._makers.clear()

    # ------------------------------------------------------------------------------------------------ observations
    def _take_in(self, push: Push[Seen]) -> Reply:
        """Add an observation outside the player's questions."""
        session = self._sessions.get(push.sessionId)
        if session is None or (session.game_id, session.seat) != (push.gameId, COLORS[push.color]):
            raise self._unknown(push.sessionId)
        before, found = len(session.transcript.seen), session.transcript.copy()
        _follow(found, push.observation)
        self._commit(push.sessionId, session, found)
        if self._kit.ponders(self._configuration) and before < len(found.seen):
            self._pushed = session
        return Received(gameId=push.gameId, sessionId=push.sessionId)

    def _brought_up_to_date(self, request: Request[Seen]) -> _Session:
        """The session of a request, extended by the request's observations; unchanged if they are refused.

        Inside there are only transcripts that begin a session, and single observations that follow.
        """
        seat, setup = COLORS[request.color], self._wire.setup(request)
        game = request.gameId, seat, self._wire.setup_fields(setup)
        known = self._sessions.get(request.sessionId)
        if known is not None and (known.game_id, known.seat, known.setup_fields) != game:
            known = None
        fresh = self._wire.transcript(seat, setup)
        new, last = request.observationTranscript, request.latestObservationDelta
        alone = new is None
        if new is None:
            assert last is not None
            if known is None and not _is_first(fresh, last):
                raise self._unknown(request.sessionId)
            new, count = [last], 0  # the first observation is the whole transcript
        elif known is not None and known.transcript.outcome is None and _extends(known.transcript, new):
            count = len(known.transcript.seen)
        else:
            known, count = None, 0
        if known is None:
            known = _Session(request.gameId, seat, setup, game[2], request.engineSeed, fresh)
        found = known.transcript.copy()
        for index, seen in enumerate(new):
            if not alone and found.place(seen) != index:
                raise ProtocolError(
                    f"observationTranscript[{index}]: got one of ply {seen.ply}, expected every observation once, in "
                    "order"
                )
            if index >= count:
                _follow(found, seen, request if seen is new[-1] else None)
        if alone and found.outcome is None and found.place(new[-1]) < len(found.seen) - 1:
            raise ProtocolError(
                f"out of order: got a question of ply {request.ply} after a later one, expected a later one, or "
                "the whole transcript",
                need="transcript",
            )
        if found.outcome is not None:
            raise ProtocolError(f"got a question in a game that is over at ply {request.ply}, expected none")
        found.check(request)
        self._commit(request.sessionId, known, found)
        return known

    def _commit(self, session_id: str, session: _Session, transcript: AnyTranscript) -> None:
        """Keep ``session``, with ``transcript``, as the last used one; drop the oldest if there are too many."""
        session.transcript = transcript
        if transcript.outcome is not None:
            if session.player is not None:
                session.player.end(transcript.outcome)
            session.close()
        if self._sessions.get(session_id) is not session:
            self._drop(session_id)
            self._sessions[session_id] = session
        self._sessions.move_to_end(session_id)
        while len(self._sessions) > self._max_sessions:
            oldest = next(iter(self._sessions))
            log.warning("session %r is dropped: only the last %d are kept", oldest, self._max_sessions)
            self._drop(oldest)

    def _drop(self, session_id: str) -> None:
        session = self._sessions.pop(session_id, None)
        if session is not None:
            session.close()

    def _unknown(self, session_id: str) -> ProtocolError:
        what = "another game, colour or start" if session_id in self._sessions else "a session that is not known here"
        return ProtocolError(
            f"got {what}, expected the whole transcript (the {self._max_sessions} sessions last used are kept)",
            need="transcript",
        )

    # ------------------------------------------------------------------------------------------------ answers
    def _answered(self, request: Request[Seen], began: float) -> Reply:
        session = self._brought_up_to_date(request)
        number = len(session.transcript.seen)
        if session.decided is None or session.decided[0] != number:
            session.decided = number, self._decide(request, session, began)
        decision = session.decided[1]
        return Answer(
            gameId=request.gameId,
            sessionId=request.sessionId,
            key=self._wire.key(request),
            value=decision.answer,
            diagnostics=decision.diagnostics,
        )

    def _decide(self, request: Request[Seen], session: _Session, began: float) -> AnyDecision:
        """The player's decision; raises Contradiction, and drops the session, if its observations contradict."""
        player = self._player(session, reproducible=request.nodes is not None)
        question = self._wire.key(request)
        try:
            Pondering.halt_all()  # players of other sessions may still ponder
            session.show(player)
            limit = _limit(request, time.monotonic() - began)
            decision = player.answer(question, limit)
        except Contradiction:
            self._drop(request.sessionId)
            raise
        complaint = session.transcript.complaint(question, decision.answer)
        assert complaint is None, complaint
        return decision

    def _player(self, session: _Session, *, reproducible: bool) -> AnyPlayer:
        """The session's player; a fresh one, which gets all observations again, if ``reproducible`` has changed."""
        if session.reproducible != reproducible:
            session.close()
        if session.player is None:
            session.player = self._maker(reproducible, session).player(session.seed & _SEED_MASK)
            session.player.begin(session.seat, session.setup)
            session.shown = session.transcript.first
            session.reproducible = reproducible
        return session.player

    def _maker(self, reproducible: bool, session: _Session) -> AnyMaker:
        """Makes the players of all sessions with the same rules and the same ``reproducible``."""
        key = repr(session.setup_fields.get("rules")), reproducible
        if key not in self._makers:
            choice = replace(self._choice, reproducible=reproducible)
            self._makers[key] = self._kit.maker(self._configuration, choice, session.setup)
        return self._makers[key]


def _follow(found: AnyTranscript, seen: Seen, request: Request[Seen] | None = None) -> None:
    """Add an observation to a transcript; it may be known already, and have the end of the game then."""
    place, count = found.place(seen), len(found.seen)
    if place > count or (place == count and found.outcome is not None):
        raise ProtocolError(
            f"got an observation of ply {seen.ply} that does not follow the {count} known ones, expected the next "
            "one, or the whole transcript",
            need="transcript",
        )
    if place == count:
        found.take(seen, request)
    elif found.same(place, seen):
        found.end_late(seen)
    else:
        raise ProtocolError(
            f"got another observation of ply {seen.ply} than before, expected the same, or the whole transcript",
            need="transcript",
        )


def _is_first(fresh: AnyTranscript, seen: Seen) -> bool:
    """Whether an observation is the first of its game."""
    try:
        return fresh.place(seen) == 0
    except ProtocolError:
        return False


def _extends(known: AnyTranscript, whole: Sequence[Seen]) -> bool:
    return len(known.seen) <= len(whole) and all(known.same(index, whole[index]) for index in range(len(known.seen)))


def _limit(request: Request[Seen], waited_s: float) -> Limit:
    """The limit of the answer: nodes, else the budget, else the clock; less the time that has passed."""
    if request.nodes is not None:
        return Limit(nodes=request.nodes)
    if request.budget_ms is not None:
        return Limit(time_s=max(_LEAST_S, request.budget_ms / 1000.0 - waited_s))
    if request.clock.remaining_ms is not None:
        left = max(_LEAST_S, request.clock.remaining_ms / 1000.0 - waited_s)
        return Limit(clock=(left, request.clock.increment_ms / 1000.0))
    return Limit()


def serve(engine: Engine, source: io.FileIO, sink: io.FileIO) -> None:
    """Answer the requests of ``source`` on ``sink``, in order, until the source ends.

    A thread reads ahead, so that a request's time counts from its arrival. Raises BrokenPipeError: nobody reads the
    answers any more.
    """
    lines: queue.Queue[tuple[bytes | None, float] | None] = queue.Queue(maxsize=_QUEUED)

    def read() -> None:
        try:
            for line in bounded_lines(io.BufferedReader(source), MAX_LINE_BYTES):
                lines.put((line, time.monotonic()))
        except OSError as error:
            log.error("can't read requests: %s", error.strerror)
        lines.put(None)

    threading.Thread(target=read, name="reads requests", daemon=True).start()
    while (entry := lines.get()) is not None:
        answer = memoryview(engine.answer(*entry))
        while answer:
            answer = answer[sink.write(answer) or 0 :]
        if lines.empty():
            engine.idle()


def bounded_lines(source: BinaryIO, limit: int) -> Iterator[bytes | None]:
    """The lines of ``source``, without their ends; None at once for one of more than ``limit`` bytes, whose rest is
    dropped.
    """
    while line := source.readline(limit + 1):
        long = len(line) > limit and not line.endswith(b"\n")
        yield None if long else line.removesuffix(b"\n")
        while long and line and not line.endswith(b"\n"):
            line = source.readline(limit)
