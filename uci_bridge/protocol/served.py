"""Players served on the engine protocol, of any game: lines in, one answer each out, whatever comes in.

A :class:`Served` keeps a session for each ``sessionId``, the last :data:`MAX_SESSIONS` of them; what a session holds
and what a request means is a subclass's. This is the player's side of the wall: the referee is not imported here.
"""

from __future__ import annotations

import io
import logging
import queue
import threading
import time
import traceback
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar

from darkchess.errors import DarkchessError
from darkchess.evaluation.evaluator import Evaluator
from darkchess.fog.game.rules import PAPER, Ruleset
from klss.table.limits import Limit
from uci_bridge.errors import ProtocolError
from uci_bridge.evaluators import Configuration, EvaluatorChoice, make_evaluator
from uci_bridge.lines import LineSplitter
from uci_bridge.protocol.common import MAX_LINE_BYTES, refusal_line
from uci_bridge.protocol.messages import Clock, Refusal

__all__ = ["MAX_SESSIONS", "SEED_MASK", "Served", "limit_of", "serve"]

log = logging.getLogger(__name__)

MAX_SESSIONS = 16
"""Games that one process keeps; past that the one that was silent longest is dropped, and asked for its transcript if
it comes back."""

SEED_MASK = (1 << 63) - 1
"""What of a request's seed a player is given."""

_QUEUED = 16
_READ_BYTES = 1 << 16
_LEAST_S = 0.01


class _Closable(Protocol):
    def close(self) -> None: ...


class _Session(Protocol):
    @property
    def player(self) -> _Closable | None: ...


class _Limited(Protocol):
    @property
    def clock(self) -> Clock: ...

    @property
    def budget_ms(self) -> int | None: ...

    @property
    def nodes(self) -> int | None: ...


_Kept = TypeVar("_Kept", bound=_Session)


class Served(ABC, Generic[_Kept]):
    """Answers requests; one at a time.

    Parameters
    ----------
    configuration
        Of the players.
    choice
        Of their evaluator, where the configuration leaves it open.
    max_sessions
        How many are kept.
    loaded
        Called before the first player is needed; returns once all is there.
    """

    def __init__(
        self,
        configuration: Configuration,
        choice: EvaluatorChoice | None = None,
        *,
        max_sessions: int = MAX_SESSIONS,
        loaded: Callable[[], None] | None = None,
    ) -> None:
        self._choice = choice or EvaluatorChoice()
        self._valuing = configuration
        self._max_sessions = max_sessions
        self._loaded = loaded
        self._sessions: OrderedDict[str, _Kept] = OrderedDict()
        self._evaluators: dict[tuple[str, bool], Evaluator] = {}

    @property
    def sessions(self) -> tuple[str, ...]:
        """The ids of the sessions that are kept, the one silent longest first."""
        return tuple(self._sessions)

    def answer(self, line: bytes | None, arrived: float | None = None) -> bytes:
        """The line that answers ``line``; never raises for what is in it.

        Parameters
        ----------
        line
            A request; None for one that was too long to be kept.
        arrived
            When it came, of :func:`time.monotonic`; what limits its time counts from there. None: now.
        """
        began = time.monotonic() if arrived is None else arrived
        ids: dict[str, str] = {}
        need = None
        try:
            if line is None:
                raise ProtocolError(f"got a line of more than {MAX_LINE_BYTES} bytes, expected a shorter one")
            request = self._read(line)
            ids = {"gameId": request.ids.game_id, "sessionId": request.ids.session_id}
            if getattr(request, "transcript", None) is None:
                need = "transcript"  # what does not follow from the session may follow from the whole game
            if self._loaded is not None:
                self._loaded()
                self._loaded = None
            return self._reply(request, began)
        except ProtocolError as error:
            return refusal_line(Refusal(ids or error.ids, str(error), error.need))
        except (DarkchessError, RecursionError) as error:
            return refusal_line(Refusal(ids, str(error), need))
        except Exception as error:
            log.error("%s", traceback.format_exc())
            self._drop(ids.get("sessionId", ""))
            return refusal_line(
                Refusal(ids, f"internal error ({type(error).__name__}); the session is dropped", "transcript")
            )

    def idle(self) -> None:
        """What there is to do once a request is answered, while none waits."""

    def close(self) -> None:
        """Drop every session and end the evaluators."""
        for session_id in self.sessions:
            self._drop(session_id)
        for evaluator in self._evaluators.values():
            evaluator.close()
        self._evaluators.clear()

    @abstractmethod
    def _read(self, line: bytes) -> Any:
        """The request of one line; raises :class:`uci_bridge.errors.ProtocolError` where it is none."""

    @abstractmethod
    def _reply(self, request: Any, began: float) -> bytes:
        """The line that answers a request."""

    # ------------------------------------------------------------------------------------------------ sessions
    def _keep(self, session_id: str, session: _Kept) -> None:
        """Keep ``session`` as the one last used, and no more than there may be."""
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
        if session is not None and session.player is not None:
            session.player.close()

    def _unknown(self, session_id: str) -> ProtocolError:
        what = "another game, colour or start" if session_id in self._sessions else "a session that is not known here"
        return ProtocolError(
            f"got {what}, expected the whole transcript (the {self._max_sessions} sessions last used are kept)",
            need="transcript",
        )

    def _evaluator(self, reproducible: bool, ruleset: Ruleset = PAPER) -> Evaluator:
        """The evaluator of all players whose answers can, or need not, be repeated."""
        key = ruleset.no_move, reproducible
        if key not in self._evaluators:
            choice = replace(self._choice, reproducible=reproducible)
            self._evaluators[key] = make_evaluator(self._valuing, choice, ruleset)
        return self._evaluators[key]


def limit_of(request: _Limited, waited_s: float) -> Limit:
    """What limits the search: nodes, else the budget, else the clock; the time that has passed is taken off."""
    if request.nodes is not None:
        return Limit(nodes=request.nodes)
    if request.budget_ms is not None:
        return Limit(time_s=max(_LEAST_S, request.budget_ms / 1000.0 - waited_s))
    if request.clock.remaining_ms is not None:
        left = max(_LEAST_S, request.clock.remaining_ms / 1000.0 - waited_s)
        return Limit(clock=(left, request.clock.increment_ms / 1000.0))
    return Limit()


# ----------------------------------------------------------------------------------------------------------------------
# pipes


def serve(engine: Served[Any], source: io.RawIOBase | io.FileIO, sink: io.RawIOBase | io.FileIO) -> None:
    """Answer the requests of ``source`` on ``sink``, in order, until the source ends.

    A thread reads ahead, so that a request's time counts from when it came.

    Raises
    ------
    BrokenPipeError
        Nobody reads the answers any more.
    """
    lines: queue.Queue[tuple[bytes | None, float] | None] = queue.Queue(maxsize=_QUEUED)

    def read() -> None:
        splitter = LineSplitter(MAX_LINE_BYTES)
        try:
            while piece := source.read(_READ_BYTES):
                for line in splitter.feed(piece):
                    lines.put((line, time.monotonic()))
            for line in splitter.finish():
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
