"""Our player of Fog of War served on the engine protocol.

A session of an :class:`Engine` is what was shown, as observations and as views, and a player who was shown the same. A
turn request with the whole transcript begins a session, in mid-game too; deltas and pushes carry it on. Nothing of a
request is kept unless all of it holds good: the observations follow from one another by
:func:`darkchess.fog.game.view.observed`, and the legal moves are those that follow from what is seen. What contradicts
itself only in sum (no position agrees) is found by the player's position set, when she is to move.

This is the player's side of the wall: the referee is not imported here, nor by anything that is.

Source: docs/engine-protocol.md. Deviations: the seed of a session is that of its first request; a repeated request
gets the answer that it got, without a second search.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field, replace
from typing import Any

import chess

from darkchess.board.move import encode
from darkchess.board.position import START_FEN, Position
from darkchess.errors import ViewError
from darkchess.fog.game.contest import Decision, Player
from darkchess.fog.game.rules import PAPER, PYCHESS, Ruleset
from darkchess.fog.game.view import View, initial_view, observed
from darkchess.fog.players.configuration import Configuration, make_player
from klss.search.pondering import Pondering
from uci_bridge.errors import ProtocolError
from uci_bridge.evaluators import EvaluatorChoice
from uci_bridge.protocol.codec import read_request, write_reply
from uci_bridge.protocol.messages import (
    Answer,
    Observation,
    ObservationPush,
    Received,
    Reply,
    TurnRequest,
    observation_of,
)
from uci_bridge.protocol.served import MAX_SESSIONS, SEED_MASK, Served, limit_of, serve

__all__ = ["MAX_SESSIONS", "Engine", "serve"]

log = logging.getLogger(__name__)

_RULESETS = {"loss": PAPER, "draw": PYCHESS}


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


class Engine(Served[_Session]):
    """Answers requests; one at a time. See :class:`uci_bridge.protocol.served.Served`."""

    def __init__(self, configuration: Configuration, choice: EvaluatorChoice | None = None, **rest: Any) -> None:
        super().__init__(configuration, choice, **rest)
        self._configuration = configuration
        self._pushed: _Session | None = None  # whose own move was the last request, where players ponder

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

    # ------------------------------------------------------------------------------------------------ requests
    def _read(self, line: bytes) -> TurnRequest | ObservationPush:
        return read_request(line)

    def _reply(self, request: TurnRequest | ObservationPush, began: float) -> bytes:
        return write_reply(self._replied(request, began))

    def _replied(self, request: TurnRequest | ObservationPush, began: float) -> Reply:
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
        if session.over and session.player is not None:
            session.player.close()
            session.player = None
        self._keep(session_id, session)

    # ------------------------------------------------------------------------------------------------ moves
    def _decide(self, request: TurnRequest, session: _Session, began: float) -> Decision:
        """Her move. A session whose views contradict one another is dropped."""
        player = self._player(session, reproducible=request.nodes is not None)
        try:
            Pondering.halt_all()  # in another session
            self._show(session, player)
            decision = player.choose(limit_of(request, time.monotonic() - began))
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
            evaluator = self._evaluator(reproducible, session.game.ruleset)
            session.player = make_player(self._configuration, evaluator, seed=session.seed & SEED_MASK)
            session.player.start(session.views[0], session.start, session.game.ruleset)
            session.shown = 1
            session.reproducible = reproducible
        return session.player


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
