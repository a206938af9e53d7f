"""Reconnaissance Blind Chess on the engine protocol: the fields of its messages, and the consistency of observations.

:class:`darkchess.rbc.game.following.Followed` checks that observations and requests follow from those before. A
contradiction of all observations together is found only by the player's position set, at its next question.

Source: docs/engine-protocol.md, "Reconnaissance Blind Chess".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import chess
from msgspec import Meta, structs

from darkchess.board.move import encode
from darkchess.board.position import START_FEN, Position
from darkchess.errors import ViewError
from darkchess.rbc.game.contest import Answer
from darkchess.rbc.game.following import Followed
from darkchess.rbc.game.observation import INNER, Moved, Notice, Observation, Sensed, looked, window
from klss.play import messages
from klss.play.contest import Player
from klss.play.limits import Limit
from klss.play.messages import GameOver, ProtocolError, Push, Request, Seen, bad, outcome_of, over_shape
from klss.play.outcome import Outcome
from klss.play.wire import Transcript, Wire
from klss.support.text import Document
from uci_bridge.protocol import shapes
from uci_bridge.protocol.shapes import given

_MAX_REQUESTS = 512
"""Bound on requests, with castling, pawns' diagonals and promotions (darkchess.rbc.game._kernels.requests)."""


# ---------------------------------------------------------------------------------------- what the messages look like

_SquareAndContent = tuple[shapes.Square, shapes.Piece | None]


class _Observation(Seen, frozen=True, kw_only=True, tag_field="kind"):
    """One observation; its ply: turns of both sides played then; the result of a move counts the turn that it ends."""


class _Notice(_Observation, frozen=True, kw_only=True, tag="capture_notice"):
    own_capture_square: shapes.Square | None = None


class _Sensed(_Observation, frozen=True, kw_only=True, tag="sense_result"):
    sense: shapes.Square | None = None
    sensed_squares: Annotated[list[_SquareAndContent], Meta(max_length=9)]

    def __post_init__(self) -> None:
        """Bring the squares into the order of the window."""
        contents = dict(self.sensed_squares)
        if len(contents) < len(self.sensed_squares):
            raise ValueError("sensed_squares: expected each square once")
        first = [] if self.sense is None else [square for square in window(self.sense) if square in contents]
        squares = [(square, contents[square]) for square in dict.fromkeys([*first, *contents])]
        structs.force_setattr(self, "sensed_squares", squares)


class _Moved(_Observation, frozen=True, kw_only=True, tag="move_result"):
    requested: shapes.Move | None = None
    taken: shapes.Move | None = None
    capture_square: shapes.Square | None = None


class _Over(_Observation, frozen=True, kw_only=True, tag="game_over"):
    game_over: GameOver


_Seen = _Notice | _Sensed | _Moved | _Over
_PLACES = {_Notice: 0, _Sensed: 1, _Moved: 2}
"""Places of the observations in a turn."""


def _told(seen: _Seen) -> Observation | Outcome:
    """An observation as a player gets it."""
    if isinstance(seen, _Notice):
        return Notice(seen.own_capture_square)
    if isinstance(seen, _Sensed):
        contents = ((square, given(shapes.piece_of, piece)) for square, piece in seen.sensed_squares)
        return Sensed(seen.sense, tuple(contents))
    if isinstance(seen, _Moved):
        return Moved(given(shapes.move_of, seen.requested), given(shapes.move_of, seen.taken), seen.capture_square)
    return outcome_of(seen.game_over)


def _seen(ply: int, told: Observation | Outcome) -> _Seen:
    """What a player is told, as one of the shapes."""
    if isinstance(told, Notice):
        return _Notice(ply=ply, own_capture_square=told.square)
    if isinstance(told, Sensed):
        squares = [(square, given(shapes.piece_shape, piece)) for square, piece in told.contents]
        return _Sensed(ply=ply, sense=told.square, sensed_squares=squares)
    if isinstance(told, Moved):
        requested, taken = given(shapes.move_shape, told.requested), given(shapes.move_shape, told.taken)
        return _Moved(ply=ply, requested=requested, taken=taken, capture_square=told.capture_square)
    return _Over(ply=ply, game_over=over_shape(told))


class _Request(Request[_Seen], frozen=True, kw_only=True):
    """A question."""

    phase: Literal["sense", "move"]
    senseActions: Annotated[list[shapes.Square], Meta(min_length=1, max_length=64)] | None = None
    legalMoves: Annotated[list[shapes.Move], Meta(max_length=_MAX_REQUESTS)]
    fen: shapes.Fen | None = None


# ---------------------------------------------------------------------------------------- what follows from what


class _Transcript(Transcript[_Seen, Observation, Answer]):
    """Three observations per turn, and the end of the game."""

    def __init__(self, color: chess.Color, start: Position) -> None:
        super().__init__()
        self._color, self._first = color, 0 if start.turn == color else 1
        self._followed = Followed(color, start)
        self._senses = list(chess.SQUARES)

    def copy(self) -> _Transcript:
        other = super().copy()
        other._followed = self._followed.copy()
        return other

    @property
    def ply(self) -> int:
        return self._followed.ply

    def place(self, seen: _Seen) -> int:
        if isinstance(seen, _Over):
            return len(self.seen) - (self.outcome is not None)
        turn, odd = divmod(seen.ply - self._first - isinstance(seen, _Moved), 2)
        if odd or turn < 0:
            raise ProtocolError(
                f"got an observation of ply {seen.ply}, expected a ply at which {chess.COLOR_NAMES[self._color]} "
                "observes it"
            )
        return 3 * turn + _PLACES[type(seen)]

    def take(self, seen: _Seen, request: Request[_Seen] | None = None) -> None:
        told = _told(seen)
        if isinstance(told, Outcome):
            self.outcome = told
        else:
            self._followed.take(told)
            self.given.append(told)
        self.seen.append(seen)

    def check(self, request: Request[_Seen]) -> None:
        assert isinstance(request, _Request)
        if self._followed.awaited != {"sense": Sensed, "move": Moved}[request.phase]:
            raise ViewError(f"phase: got {request.phase!r}, expected it once what goes before it in the turn is known")
        requests = map(encode, self._followed.requests())
        if sorted(encode(shapes.move_of(move)) for move in request.legalMoves) != list(requests):
            raise ViewError(
                f"legalMoves: expected those that {chess.COLOR_NAMES[self._color]} may request at ply {self.ply}"
            )
        self._senses = request.senseActions or []
        if request.phase == "sense" and not set(INNER) <= set(self._senses):
            raise ViewError(
                f"senseActions: got {len(self._senses)} squares, expected the 36 that are not on the edge among them"
            )

    def add(self, observation: Observation) -> _Seen | None:
        """See the base: the result of a move is pushed."""
        moved = isinstance(observation, Moved)
        self.take(_seen(self.ply + moved, observation))
        return self.seen[-1] if moved else None

    def end(self, outcome: Outcome) -> _Seen:
        # The ply of the last observation: it does not tell whether the opponent has moved since, only the outcome does.
        self.take(_seen(self.seen[-1].ply if self.seen else 0, outcome))
        return self.seen[-1]

    def asks(self, question: str) -> Document:
        """See the base; the moves are sorted by from, to, promotion."""
        moves = [shapes.move_shape(move) for move in self._followed.requests()]
        senses = self._senses if question == "sense" else None
        return {"phase": question, "senseActions": senses, "legalMoves": moves}

    def complaint(self, question: str, answer: Answer) -> str | None:
        """See the base. A pawn's request may leave the promotion out: it is then to a queen."""
        if answer is None:
            return None
        if question == "sense":
            return None if answer in self._senses else f"the square {answer}, expected one of {len(self._senses)}"
        assert isinstance(answer, chess.Move)
        requests = self._followed.requests()
        queen = None if answer.promotion else chess.Move(answer.from_square, answer.to_square, chess.QUEEN)
        if answer in requests or queen in requests:
            return None
        return f"{answer.uci()}, expected one of its {len(requests)} requests, or null"


# ---------------------------------------------------------------------------------------- the vocabulary


class _Rbc(Wire[Position, _Seen, Observation, Answer]):
    """See the module."""

    game = "rbc"
    asked = "phase"
    request = _Request
    push = Push[_Seen]
    answers = {  # noqa: RUF012
        "sense": messages.Answer[shapes.Square | None],
        "move": messages.Answer[shapes.Move | None],
    }

    def check_game(self, message: Mapping[str, object]) -> None:
        if message.get("game") != self.game:
            raise bad("game", message.get("game"), f'"{self.game}" (Fog of War has none, and klss engine plays it)')

    def transcript(self, seat: chess.Color, setup: Position) -> _Transcript:
        return _Transcript(seat, setup)

    def setup(self, request: Request[_Seen]) -> Position:
        assert isinstance(request, _Request)
        return shapes.start_of(request.fen)

    def setup_fields(self, setup: Position) -> Document:
        fen = setup.fen()
        return {"fen": None if fen == START_FEN else fen}

    def key(self, request: Request[_Seen]) -> str:
        assert isinstance(request, _Request)
        return request.phase

    def answer(self, key: str, value: int | shapes.Move | None) -> Answer:
        return shapes.move_of(value) if isinstance(value, shapes.Move) else value

    def answer_value(self, key: str, answer: Answer) -> object:
        return shapes.move_shape(answer) if isinstance(answer, chess.Move) else answer

    def rehearse(self, player: Player[Position, Observation, Answer], limit: Limit) -> None:
        """See the base: a turn."""
        start = Position.start()
        player.begin(chess.WHITE, start)
        player.observe(Notice(None))
        square = player.answer("sense", limit).answer
        assert not isinstance(square, chess.Move)
        player.observe(looked(start, square))
        player.answer("move", limit)
        player.observe(Moved(None, None, None))


RBC = _Rbc()
"""The vocabulary of Reconnaissance Blind Chess."""
