"""Our player of Reconnaissance Blind Chess served on the engine protocol.

A session of a :class:`BlindEngine` is what its player was told, and a player who was told the same. A request with the
whole transcript begins a session, in mid-game too; deltas and pushes carry it on. Nothing of a request is kept unless
all of it holds good: what is told follows by :class:`darkchess.rbc.game.following.Followed`, and the requests are those
that follow from it. What contradicts itself only in sum is found by the player's position set, when she is asked.

This is the player's side of the wall: the referee is not imported here, nor by anything that is.

Source: docs/engine-protocol.md, "Reconnaissance Blind Chess". Deviations: the seed of a session is that of its first
request; a repeated request gets the answer that it got, without a second search.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import chess

from darkchess.board.move import encode
from darkchess.board.position import START_FEN, Position
from darkchess.errors import ViewError
from darkchess.rbc.game.contest import Asked, Look, Player
from darkchess.rbc.game.following import Followed
from darkchess.rbc.game.observation import INNER, Moved, Notice, Sensed
from darkchess.rbc.players.configuration import Configuration, make_player
from klss.table.outcome import Outcome
from uci_bridge.errors import ProtocolError
from uci_bridge.evaluators import EvaluatorChoice
from uci_bridge.protocol.blind.codec import read_request, write_reply
from uci_bridge.protocol.blind.messages import (
    BlindObservation,
    BlindPush,
    BlindReply,
    BlindRequest,
    MoveAnswer,
    SenseAnswer,
)
from uci_bridge.protocol.messages import Received
from uci_bridge.protocol.served import SEED_MASK, Served, limit_of

__all__ = ["BlindEngine"]

_PLACES = {Notice: 0, Sensed: 1, Moved: 2}


@dataclass(frozen=True)
class _Game:
    """What stays the same in a session."""

    game_id: str
    color: chess.Color
    fen: str


@dataclass
class _Session:
    """One player of one game.

    Attributes
    ----------
    told
        What she was told, in order; the end of the game last.
    followed
        What follows from it.
    player
        None until she is asked, and once the game is over.
    shown
        How much of it she was told.
    decided
        Her last answer, and how much she had been told then.
    """

    game: _Game
    start: Position
    seed: int
    followed: Followed
    told: list[BlindObservation] = field(default_factory=list)
    player: Player | None = None
    reproducible: bool = False
    shown: int = 0
    decided: tuple[int, Look | Asked] | None = None

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return bool(self.told) and isinstance(self.told[-1].told, Outcome)

    def number(self, seen: BlindObservation) -> int:
        """Where in what she is told it stands."""
        if isinstance(seen.told, Outcome):
            return len(self.told) - 1 if self.over else len(self.told)
        first = 0 if self.start.turn == self.game.color else 1
        turn, odd = divmod(seen.ply - first - isinstance(seen.told, Moved), 2)
        if odd or turn < 0:
            raise ProtocolError(
                f"got a {_kind(seen)} of ply {seen.ply}, expected a ply at which {_name(self.game.color)} is told one"
            )
        return 3 * turn + _PLACES[type(seen.told)]


class BlindEngine(Served[_Session]):
    """Answers requests; one at a time. See :class:`uci_bridge.protocol.served.Served`."""

    def __init__(self, configuration: Configuration, choice: EvaluatorChoice | None = None, **rest: Any) -> None:
        super().__init__(configuration, choice, **rest)
        self._configuration = configuration

    def _read(self, line: bytes) -> BlindRequest | BlindPush:
        return read_request(line)

    def _reply(self, request: BlindRequest | BlindPush, began: float) -> bytes:
        return write_reply(self._take_in(request) if isinstance(request, BlindPush) else self._answered(request, began))

    def _take_in(self, push: BlindPush) -> BlindReply:
        """Take in what she is told outside her questions."""
        session = self._sessions.get(push.ids.session_id)
        if session is None or (session.game.game_id, session.game.color) != (push.ids.game_id, push.color):
            raise self._unknown(push.ids.session_id)
        self._commit(push.ids.session_id, session, *_news(session, push.observation))
        return Received(push.ids)

    def _answered(self, request: BlindRequest, began: float) -> BlindReply:
        session = self._brought_up_to_date(request)
        number = len(session.told)
        if session.decided is None or session.decided[0] != number:
            session.decided = number, self._decide(request, session, began)
        decision = session.decided[1]
        if isinstance(decision, Look):
            return SenseAnswer(request.ids, decision.square, decision.diagnostics)
        return MoveAnswer(request.ids, decision.request, decision.diagnostics)

    def _brought_up_to_date(self, request: BlindRequest) -> _Session:
        """The session of a request, with everything in it that the request tells; unchanged if that is refused."""
        session_id = request.ids.session_id
        game = _Game(request.ids.game_id, request.color, request.fen or START_FEN)
        known = self._sessions.get(session_id)
        if known is not None and known.game != game:
            known = None
        if known is None and request.delta is not None:
            first = _begun(game, request).followed.ply
            if isinstance(request.delta.told, Notice) and request.delta.ply == first:
                request = replace(request, transcript=(request.delta,))  # that is all there is
        if request.transcript is None:
            if known is None:
                raise self._unknown(session_id)
            assert request.delta is not None
            if known.over:
                raise ProtocolError(f"got a question in a game that is over at ply {request.ply}, expected none")
            news, followed = _news(known, request.delta)
            if known.number(request.delta) < len(known.told) - 1:
                raise ProtocolError(
                    f"out of order: got a question of ply {request.ply} after a later one, expected the next, or the "
                    "whole transcript",
                    need="transcript",
                )
        else:
            if known is None or known.over or not _extends(known.told, request.transcript):
                known = _begun(game, request)
            news, followed = list(request.transcript[len(known.told) :]), known.followed.copy()
            for number, seen in enumerate(request.transcript):
                if isinstance(seen.told, Outcome):
                    raise ProtocolError(f"got a question in a game that is over at ply {seen.ply}, expected none")
                if known.number(seen) != number:
                    raise ProtocolError(
                        f"observationTranscript[{number}]: got a {_kind(seen)} of ply {seen.ply}, expected all she was "
                        "told, once, in order"
                    )
            for seen in news:
                assert not isinstance(seen.told, Outcome)
                followed.take(seen.told)
        _check_question(request, followed)
        self._commit(session_id, known, news, followed)
        return known

    def _commit(self, session_id: str, session: _Session, news: list[BlindObservation], followed: Followed) -> None:
        session.told += news
        session.followed = followed
        if session.over and session.player is not None:
            outcome = session.told[-1].told
            assert isinstance(outcome, Outcome)
            self._tell(session, session.player)
            session.player.end(outcome)
            session.player.close()
            session.player = None
        self._keep(session_id, session)

    def _decide(self, request: BlindRequest, session: _Session, began: float) -> Look | Asked:
        """Her answer. A session in which she is told what no game tells is dropped."""
        player = self._player(session, reproducible=request.nodes is not None)
        try:
            self._tell(session, player)
            limit = limit_of(request, time.monotonic() - began)
            if request.phase == "sense":
                look = player.choose_sense(limit)
                assert look.square is None or look.square in request.senses, f"she looked at {look.square}"
                return look
            asked = player.choose_move(limit)
            assert asked.request is None or asked.request in request.requests, f"she asked for {asked.request}"
            return asked
        except ViewError:
            self._drop(request.ids.session_id)
            raise

    @staticmethod
    def _tell(session: _Session, player: Player) -> None:
        """Tell the session's player what she was not told yet."""
        for seen in session.told[session.shown :]:
            session.shown += 1
            if isinstance(seen.told, Notice):
                player.notice(seen.told)
            elif isinstance(seen.told, Sensed):
                player.sensed(seen.told)
            elif isinstance(seen.told, Moved):
                player.moved(seen.told)

    def _player(self, session: _Session, *, reproducible: bool) -> Player:
        """The session's player; another one, told everything again, where the evaluator has to change its ways."""
        if session.player is not None and session.reproducible != reproducible:
            session.player.close()
            session.player = None
        if session.player is None:
            evaluator = self._evaluator(reproducible)
            session.player = make_player(self._configuration, evaluator, seed=session.seed & SEED_MASK)
            session.player.start(session.game.color, session.start)
            session.shown = 0
            session.reproducible = reproducible
        return session.player


def _begun(game: _Game, request: BlindRequest) -> _Session:
    start = Position.from_fen(game.fen)
    return _Session(game, start, request.seed, Followed(game.color, start))


def _extends(known: list[BlindObservation], told: tuple[BlindObservation, ...]) -> bool:
    return known == list(told[: len(known)])


def _news(session: _Session, seen: BlindObservation) -> tuple[list[BlindObservation], Followed]:
    """What is new in something told alone, and what follows with it."""
    number = session.number(seen)
    if number < len(session.told):
        if session.told[number] != seen:
            raise ProtocolError(
                f"got another {_kind(seen)} of ply {seen.ply} than before, expected the same, or the whole transcript",
                need="transcript",
            )
        return [], session.followed
    if number > len(session.told) or session.over:
        raise ProtocolError(
            f"got a {_kind(seen)} of ply {seen.ply} that does not follow the {len(session.told)} things told before, "
            "expected the next one, or the whole transcript",
            need="transcript",
        )
    followed = session.followed.copy()
    if not isinstance(seen.told, Outcome):
        followed.take(seen.told)
    return [seen], followed


def _check_question(request: BlindRequest, followed: Followed) -> None:
    """Whether it is time for the question, and what may be answered is what follows from what she was told."""
    awaited = {"sense": "sensed", "move": "moved"}[request.phase]
    if followed.awaited != awaited:
        raise ViewError(f"phase: got {request.phase!r}, expected it once what goes before it in the turn is told")
    requests = followed.requests()
    if sorted(map(encode, request.requests)) != list(map(encode, requests)):
        odd = sorted({move.uci() for move in request.requests} ^ {move.uci() for move in requests})
        raise ViewError(
            f"legalMoves: got moves that are not those that {_name(request.color)} may ask for at ply {request.ply}; "
            f"they differ in {' '.join(odd[:6]) or 'one that comes twice'}"
        )
    if request.phase == "sense" and not set(INNER) <= set(request.senses):
        raise ViewError(
            f"senseActions: got {len(request.senses)} squares, expected the 36 that are not on the edge among them"
        )


def _kind(seen: BlindObservation) -> str:
    kinds = {Notice: "capture_notice", Sensed: "sense_result", Moved: "move_result", Outcome: "game_over"}
    return kinds[type(seen.told)]


def _name(color: chess.Color) -> str:
    return chess.COLOR_NAMES[color]
