"""Our player served on the engine protocol: requests in, one answer each out, whatever comes in.

An :class:`Engine` holds one session for each ``sessionId``: what it was shown, as observations and as views, and a
player who was shown the same. A turn request with the whole transcript begins a session, in mid-game too; deltas and
pushes carry it on. Nothing of a request is kept unless all of it holds good: the observations follow from one another
by :func:`darkchess.game.view.observed`, and the legal moves are those that follow from what is seen. What contradicts
itself only in sum (no position agrees) is found by the player's position set, when she is to move.

This is the player's side of the wall: the referee is not imported here, nor by anything that is.

Source: docs/engine-protocol.md. Deviations: the seed of a session is that of its first request; a repeated request
gets the answer that it got, without a second search.
"""

from __future__ import annotations

import io
import logging
import queue
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import chess

from darkchess.board.move import encode
from darkchess.board.position import START_FEN, Position
from darkchess.errors import DarkchessError, ViewError
from darkchess.evaluation.evaluator import Evaluator
from darkchess.game.contest import Decision, Limit, Player
from darkchess.game.rules import PAPER, PYCHESS, Ruleset
from darkchess.game.view import View, initial_view, observed
from darkchess.players.configuration import Configuration, make_player
from klss.search.pondering import Pondering
from uci_bridge.errors import ProtocolError
from uci_bridge.evaluators import EvaluatorChoice, make_evaluator
from uci_bridge.lines import LineSplitter
from uci_bridge.protocol.codec import MAX_LINE_BYTES, read_request, write_reply
from uci_bridge.protocol.messages import (
    Answer,
    Observation,
    ObservationPush,
    Received,
    Refusal,
    Reply,
    TurnRequest,
    observation_of,
)

__all__ = ["MAX_SESSIONS", "Engine", "serve"]

log = logging.getLogger(__name__)

MAX_SESSIONS = 16
"""Games that one process keeps; past that the one that was silent longest is dropped, and asked for its transcript if
it comes back."""

_QUEUED = 16
_READ_BYTES = 1 << 16
_LEAST_S = 0.01
_RULESETS = {"loss": PAPER, "draw": PYCHESS}
_SEED_MASK = (1 << 63) - 1


@dataclass(frozen=True)
class _Game:
    """What stays the same in a session."""

    game_id: str
    color: chess.Color
    fen: str
    ruleset: Ruleset


@dataclass
class _Session:
    """One player of one game.

    Attributes
    ----------
    seen, views
        What was shown, as it came and as it was understood; the index is the ply.
    player
        None until she is asked for a move, and once the game is over.
    shown
        Number of views that she was shown.
    decided
        Her last move and the ply at which it was asked for.
    """

    game: _Game
    start: Position
    seed: int
    seen: list[Observation] = field(default_factory=list)
    views: list[View] = field(default_factory=list)
    player: Player | None = None
    reproducible: bool = False
    shown: int = 0
    decided: tuple[int, Decision] | None = None

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return bool(self.seen) and self.seen[-1].game_over is not None


class Engine:
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
        self._configuration = configuration
        self._choice = choice or EvaluatorChoice()
        self._max_sessions = max_sessions
        self._loaded = loaded
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._evaluators: dict[tuple[str, bool], Evaluator] = {}
        self._pushed: _Session | None = None  # whose own move was the last request, where players ponder

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
            request = read_request(line)
            ids = {"gameId": request.ids.game_id, "sessionId": request.ids.session_id}
            if not (isinstance(request, TurnRequest) and request.transcript is not None):
                need = "transcript"  # what does not follow from the session may follow from the whole game
            return write_reply(self._reply(request, began))
        except ProtocolError as error:
            return write_reply(Refusal(ids or error.ids, str(error), error.need))
        except (DarkchessError, RecursionError) as error:
            return write_reply(Refusal(ids, str(error), need))
        except Exception as error:
            log.error("%s", traceback.format_exc())
            self._drop(ids.get("sessionId", ""))
            return write_reply(
                Refusal(ids, f"internal error ({type(error).__name__}); the session is dropped", "transcript")
            )

    def idle(self) -> None:
        """What there is to do once a request is answered, while none waits: where the configuration ponders, the player
        who has just moved is shown what she saw of it, and thinks on.
        """
        session, self._pushed = self._pushed, None
        if session is None or session.player is None:
            return
        try:
            self._show(session, session.player)
        except Exception as error:  # she will be shown everything again at her turn, where it can be told
            log.warning("she does not ponder: %s", error)
            session.player.close()
            session.player = None

    def close(self) -> None:
        """Drop every session and end the evaluators."""
        for session_id in self.sessions:
            self._drop(session_id)
        for evaluator in self._evaluators.values():
            evaluator.close()
        self._evaluators.clear()

    # ------------------------------------------------------------------------------------------------ requests
    def _reply(self, request: TurnRequest | ObservationPush, began: float) -> Reply:
        if self._loaded is not None:
            self._loaded()
            self._loaded = None
        self._pushed = None
        if isinstance(request, ObservationPush):
            return self._take_in(request)
        session = self._brought_up_to_date(request)
        if session.decided is None or session.decided[0] != request.ply:
            session.decided = request.ply, self._decide(request, session, began)
        decision = session.decided[1]
        return Answer(request.ids, decision.move, decision.diagnostics)

    def _take_in(self, push: ObservationPush) -> Reply:
        """Take in an observation outside the player's turn."""
        session = self._sessions.get(push.ids.session_id)
        if session is None or (session.game.game_id, session.game.color) != (push.ids.game_id, push.color):
            raise self._unknown(push.ids.session_id)
        views = self._followed(session, push.observation, None)
        self._commit(push.ids.session_id, session, [push.observation] if views else [], views)
        if self._configuration.ponder and views and views[-1].kind == "own_move":
            self._pushed = session
        return Received(push.ids)

    def _brought_up_to_date(self, request: TurnRequest) -> _Session:
        """The session of a turn request, with everything in it that the request shows; unchanged if that is refused."""
        session_id = request.ids.session_id
        game = _game_of(request)
        known = self._sessions.get(session_id)
        if known is not None and known.game != game:
            known = None
        moves = request.legal_moves
        if known is None and request.delta is not None and request.ply == 0:
            request = replace(request, transcript=(request.delta,))  # the first observation is all there is
        if request.transcript is None:
            if known is None:
                raise self._unknown(session_id)
            assert request.delta is not None
            if request.delta.game_over is not None or known.over:
                raise ProtocolError(f"got a turn request of a game that is over at ply {request.ply}, expected none")
            if request.delta.ply < len(known.seen) - 1:
                raise ProtocolError(
                    f"out of order: got a turn request of ply {request.ply} after ply {len(known.seen) - 1}, expected "
                    "a later one, or the whole transcript",
                    need="transcript",
                )
            views = self._followed(known, request.delta, moves)
            seen = [request.delta] if views else []
            if not views:
                self._reread_last(known, moves)
            self._commit(session_id, known, seen, views)
            return known
        if request.transcript[-1].game_over is not None:
            raise ProtocolError(f"got a turn request of a game that is over at ply {request.ply}, expected none")
        if known is None or known.over or not _extends(known.seen, request.transcript):
            known = _begun(game, request)
        news = list(request.transcript[len(known.seen) :])
        views = []
        last = known.views[-1] if known.views else None
        for each in news:
            last = _next_view(known, last, each, moves if each is news[-1] else None)
            views.append(last)
        if not news:
            self._reread_last(known, moves)
        self._commit(session_id, known, news, views)
        return known

    def _followed(self, session: _Session, told: Observation, moves: tuple[chess.Move, ...] | None) -> list[View]:
        """The view of an observation that follows; none if it was told already."""
        ply = len(session.seen)
        if told.ply > ply:
            raise ProtocolError(
                f"got an observation of ply {told.ply} after ply {ply - 1}, expected ply {ply} or the whole transcript",
                need="transcript",
            )
        if told.ply == ply:
            return [_next_view(session, session.views[-1], told, moves)]
        if not _same(session.seen[told.ply], told):
            raise ProtocolError(
                f"got another observation of ply {told.ply} than before, expected the same, or the whole transcript",
                need="transcript",
            )
        if told.game_over is not None and session.seen[told.ply].game_over is None:
            if told.ply != ply - 1:
                raise ProtocolError(f"got the end of the game at ply {told.ply} after ply {ply - 1}, expected it there")
            session.seen[-1] = told
            session.views[-1] = replace(session.views[-1], game_over=told.game_over, legal_moves=())
        return []

    def _reread_last(self, session: _Session, moves: tuple[chess.Move, ...]) -> None:
        """The last observation came before, perhaps in a push: with the legal moves it may tell more."""
        before = session.views[-2] if len(session.views) > 1 else None
        view = _next_view(session, before, session.seen[-1], moves)
        if session.shown < len(session.views):
            session.views[-1] = view

    def _commit(self, session_id: str, session: _Session, seen: list[Observation], views: list[View]) -> None:
        session.seen += seen
        session.views += views
        if self._sessions.get(session_id) is not session:
            self._drop(session_id)
            self._sessions[session_id] = session
        self._sessions.move_to_end(session_id)
        if session.over and session.player is not None:
            session.player.close()
            session.player = None
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

    # ------------------------------------------------------------------------------------------------ moves
    def _decide(self, request: TurnRequest, session: _Session, began: float) -> Decision:
        """Her move. A session whose views contradict one another is dropped."""
        player = self._player(session, reproducible=request.nodes is not None)
        try:
            Pondering.halt_all()  # in another session
            self._show(session, player)
            decision = player.choose(_limit(request, time.monotonic() - began))
        except ViewError:
            self._drop(request.ids.session_id)
            raise
        assert decision.move in session.views[-1].legal_moves, f"the player chose {decision.move.uci()}"
        return decision

    @staticmethod
    def _show(session: _Session, player: Player) -> None:
        """Show the session's player what she has not seen."""
        for view in session.views[session.shown :]:
            player.observe(view)
            session.shown += 1

    def _player(self, session: _Session, *, reproducible: bool) -> Player:
        """The session's player; another one, shown everything again, where the evaluator has to change its ways."""
        if session.player is not None and session.reproducible != reproducible:
            session.player.close()
            session.player = None
        if session.player is None:
            evaluator = self._evaluator(session.game.ruleset, reproducible)
            session.player = make_player(self._configuration, evaluator, seed=session.seed & _SEED_MASK)
            session.player.start(session.views[0], session.start, session.game.ruleset)
            session.shown = 1
            session.reproducible = reproducible
        return session.player

    def _evaluator(self, ruleset: Ruleset, reproducible: bool) -> Evaluator:
        key = ruleset.no_move, reproducible
        if key not in self._evaluators:
            choice = replace(self._choice, reproducible=reproducible)
            self._evaluators[key] = make_evaluator(self._configuration, choice, ruleset)
        return self._evaluators[key]


# ----------------------------------------------------------------------------------------------------------------------
# the game in a request


def _game_of(request: TurnRequest) -> _Game:
    return _Game(request.ids.game_id, request.color, request.fen or START_FEN, _RULESETS[request.no_move])


def _begun(game: _Game, request: TurnRequest) -> _Session:
    return _Session(game, Position.from_fen(game.fen), request.seed)


def _same(known: Observation, told: Observation) -> bool:
    """Whether both are the same observation; that the game is over may be told later."""
    if (known.game_over is None) != (told.game_over is None):
        return replace(known, game_over=None) == replace(told, game_over=None)
    return known == told


def _extends(known: list[Observation], told: tuple[Observation, ...]) -> bool:
    return len(known) <= len(told) and all(map(_same, known, told))


def _next_view(session: _Session, before: View | None, told: Observation, moves: tuple[chess.Move, ...] | None) -> View:
    """The view of an observation.

    Raises
    ------
    ViewError
        It does not follow from the one before, or the legal moves don't from it.
    """
    if before is not None:
        return observed(
            before,
            kind=told.kind,
            visible=told.visible,
            pieces=told.pieces,
            own_move=told.own_move,
            own_capture_square=told.own_capture_square,
            opp_capture_landing_square=told.opp_capture_landing_square,
            game_over=told.game_over,
            legal_moves=moves,
        )
    view = initial_view(session.start, session.game.color, told.game_over)
    _check_first(view, told)
    if moves is not None and sorted(map(encode, moves)) != list(map(encode, view.legal_moves)):
        odd = sorted({move.uci() for move in moves} ^ {move.uci() for move in view.legal_moves})
        raise ViewError(
            f"observation of ply 0: got legal moves that are not the start position's for "
            f"{chess.COLOR_NAMES[view.color]}; they differ in {' '.join(odd[:6]) or 'one that comes twice'}"
        )
    return view


def _check_first(view: View, told: Observation) -> None:
    """What is told of the start position is what is seen of it; the pawn that can be taken en passant may be shown."""
    shown = observation_of(view)
    extra = told.visible & ~shown.visible
    if view.ep_square is not None and extra == 1 << view.ep_square + (-8 if view.color else 8):
        pawn = extra.bit_length() - 1
        told = replace(
            told, visible=shown.visible, pieces={each: man for each, man in told.pieces.items() if each != pawn}
        )
    if told.visible != shown.visible:
        odd = chess.SQUARE_NAMES[(told.visible ^ shown.visible).bit_length() - 1]
        raise ViewError(
            f"observation of ply 0: got a mask that differs in {odd} from what {chess.COLOR_NAMES[view.color]} sees of "
            "the start position, expected the same"
        )
    if dict(told.pieces) != dict(shown.pieces):
        odd_pieces = [each for each in range(64) if told.pieces.get(each) != shown.pieces.get(each)]
        raise ViewError(
            f"observation of ply 0: got {told.pieces.get(odd_pieces[0], 'nothing')} on "
            f"{chess.SQUARE_NAMES[odd_pieces[0]]}, expected {shown.pieces.get(odd_pieces[0], 'nothing')} "
            "as in the start position"
        )


def _limit(request: TurnRequest, waited_s: float) -> Limit:
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


def serve(engine: Engine, source: io.RawIOBase | io.FileIO, sink: io.RawIOBase | io.FileIO) -> None:
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
