"""Reconnaissance Blind Chess on the engine protocol: the fields of its messages, and the consistency of observations.

:class:`darkchess.rbc.game.following.Followed` checks that observations and requests follow from those before. A
contradiction of all observations together is found only by the player's position set, at its next question.

Source: docs/engine-protocol.md, "Reconnaissance Blind Chess".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import chess
from msgspec import Meta, Struct, structs, to_builtins

from darkchess.board.move import encode
from darkchess.board.position import START_FEN, Position
from darkchess.errors import ViewError
from darkchess.rbc.game.following import Followed
from darkchess.rbc.game.observation import INNER, Moved, Notice, Sensed, looked, window
from klss.play.contest import AnyPlayer
from klss.play.limits import Limit
from klss.play.outcome import Outcome
from uci_bridge.errors import ProtocolError
from uci_bridge.protocol import shapes, wire
from uci_bridge.protocol.shapes import bad, given

_MAX_REQUESTS = 512
"""Bound on requests, with castling, pawns' diagonals and promotions (darkchess.rbc.game._kernels.requests)."""


@dataclass(frozen=True)
class Question:
    """A question."""

    phase: Literal["sense", "move"]  # which of a turn's two questions
    requests: tuple[chess.Move, ...]  # the possible requests, without the pass
    senses: tuple[int, ...] = ()  # the squares for a look, without "nowhere"; () if it is asked for a move


# ----------------------------------------------------------------------------------------------------------------------
# what the messages look like

_SquareAndContent = tuple[shapes.Square, shapes.Piece | None]


class _Observation(Struct, frozen=True, kw_only=True, tag_field="kind"):
    """One observation of a player."""

    # turns of both sides played at that time; the result of a move counts the turn that it ends
    ply: shapes.Ply


class _Notice(_Observation, frozen=True, kw_only=True, tag="capture_notice"):
    own_capture_square: shapes.Square | None = None


class _Sensed(_Observation, frozen=True, kw_only=True, tag="sense_result"):
    sense: shapes.Square | None = None
    sensed_squares: Annotated[list[_SquareAndContent], Meta(max_length=9)]


class _Moved(_Observation, frozen=True, kw_only=True, tag="move_result"):
    requested: shapes.Move | None = None
    taken: shapes.Move | None = None
    capture_square: shapes.Square | None = None


class _Over(_Observation, frozen=True, kw_only=True, tag="game_over"):
    game_over: shapes.GameOver


_Seen = _Notice | _Sensed | _Moved | _Over
_PLACES = {_Notice: 0, _Sensed: 1, _Moved: 2}
"""Places of the observations in a turn."""


def _told(seen: _Seen) -> Notice | Sensed | Moved | Outcome:
    """An observation as a player gets it."""
    if isinstance(seen, _Notice):
        return Notice(seen.own_capture_square)
    if isinstance(seen, _Sensed):
        contents = ((square, given(shapes.piece_of, piece)) for square, piece in seen.sensed_squares)
        return Sensed(seen.sense, tuple(contents))
    if isinstance(seen, _Moved):
        return Moved(given(shapes.move_of, seen.requested), given(shapes.move_of, seen.taken), seen.capture_square)
    return shapes.outcome_of(seen.game_over)


def _seen(ply: int, told: Notice | Sensed | Moved | Outcome) -> _Seen:
    """What a player is told, as one of the shapes."""
    if isinstance(told, Notice):
        return _Notice(ply=ply, own_capture_square=told.square)
    if isinstance(told, Sensed):
        squares = [(square, given(shapes.piece_shape, piece)) for square, piece in told.contents]
        return _Sensed(ply=ply, sense=told.square, sensed_squares=squares)
    if isinstance(told, Moved):
        requested, taken = given(shapes.move_shape, told.requested), given(shapes.move_shape, told.taken)
        return _Moved(ply=ply, requested=requested, taken=taken, capture_square=told.capture_square)
    return _Over(ply=ply, game_over=shapes.over_shape(told))


class _Request(shapes.Request, frozen=True, kw_only=True):
    """A question."""

    phase: Literal["sense", "move"]
    senseActions: Annotated[list[shapes.Square], Meta(min_length=1, max_length=64)] | None = None
    legalMoves: Annotated[list[shapes.Move], Meta(max_length=_MAX_REQUESTS)]
    observationTranscript: Annotated[list[_Seen], Meta(min_length=1, max_length=2 * shapes.MAX_PLY)] | None = None
    latestObservationDelta: _Seen | None = None
    fen: shapes.Fen | None = None

    def __post_init__(self) -> None:
        """Refuse squares in the wrong phase, and squares that come twice."""
        super().__post_init__()
        if (self.senseActions is not None) != (self.phase == "sense"):
            raise ValueError("senseActions: expected squares in phase 'sense' and only there")
        if self.senseActions is not None and len(set(self.senseActions)) < len(self.senseActions):
            raise ValueError("senseActions: expected each square once")


class _Push(shapes.Push, frozen=True, kw_only=True):
    """An observation outside the player's questions."""

    observation: _Seen


class _SenseAnswer(shapes.Answer, frozen=True, kw_only=True):
    """The answer to ``sense``."""

    sense: shapes.Square | None


class _MoveAnswer(shapes.Answer, frozen=True, kw_only=True):
    """The answer to ``move``."""

    move: shapes.Move | None


# ----------------------------------------------------------------------------------------------------------------------
# what follows from what


class _Transcript(wire.Transcript):
    """Three observations per turn, and the end of the game."""

    def __init__(self, color: chess.Color, start: Position) -> None:
        self._color, self._first = color, 0 if start.turn == color else 1
        self._followed = Followed(color, start)
        self.seen: list[_Seen] = []

    def copy(self) -> _Transcript:
        other = object.__new__(_Transcript)
        other._color, other._first = self._color, self._first
        other._followed, other.seen = self._followed.copy(), self.seen.copy()
        return other

    @property
    def ply(self) -> int:
        return self._followed.ply

    @property
    def given(self) -> list[Any]:  # type: ignore[override]
        return [_told(seen) for seen in self.seen if not isinstance(seen, _Over)]

    @property
    def over(self) -> bool:  # type: ignore[override]
        return bool(self.seen) and isinstance(self.seen[-1], _Over)

    @property
    def outcome(self) -> Outcome:
        last = self.seen[-1]
        assert isinstance(last, _Over)
        return shapes.outcome_of(last.game_over)

    def place(self, seen: _Seen) -> int:
        if isinstance(seen, _Over):
            return len(self.seen) - 1 if self.over else len(self.seen)
        turn, odd = divmod(seen.ply - self._first - isinstance(seen, _Moved), 2)
        if odd or turn < 0:
            raise ProtocolError(
                f"got an observation of ply {seen.ply}, expected a ply at which {chess.COLOR_NAMES[self._color]} "
                "observes it"
            )
        return 3 * turn + _PLACES[type(seen)]

    def take(self, seen: _Seen, question: Question | None = None) -> None:
        told = _told(seen)
        if not isinstance(told, Outcome):
            self._followed.take(told)
        self.seen.append(seen)

    def check(self, question: Question) -> None:
        awaited = {"sense": "sensed", "move": "moved"}[question.phase]
        if self._followed.awaited != awaited:
            raise ViewError(f"phase: got {question.phase!r}, expected it once what goes before it in the turn is known")
        requests = self._followed.requests()
        if sorted(map(encode, question.requests)) != list(map(encode, requests)):
            raise ViewError(
                f"legalMoves: expected those that {chess.COLOR_NAMES[self._color]} may request at ply {self.ply}"
            )
        if question.phase == "sense" and not set(INNER) <= set(question.senses):
            raise ViewError(
                f"senseActions: got {len(question.senses)} squares, expected the 36 that are not on the edge among them"
            )

    def add(self, observation: Notice | Sensed | Moved) -> _Seen | None:
        """See the base: the result of a move is pushed."""
        ply = self.ply
        self._followed.take(observation)
        moved = isinstance(observation, Moved)
        self.seen.append(_seen(ply + 1 if moved else ply, observation))
        return self.seen[-1] if moved else None

    def end(self, outcome: Outcome) -> _Seen:
        # The ply of the last observation: it does not tell whether the opponent has moved since, only the outcome does.
        self.seen.append(_seen(self.seen[-1].ply if self.seen else 0, outcome))
        return self.seen[-1]

    def question(self, asked: Literal["sense", "move"]) -> Question:
        return Question(asked, self._followed.requests(), tuple(chess.SQUARES) if asked == "sense" else ())


# ----------------------------------------------------------------------------------------------------------------------
# the vocabulary


class _Rbc(wire.Wire):
    """See the module."""

    game = "rbc"
    mark = "phase"
    request = _Request
    push = _Push
    answers = {"sense": _SenseAnswer, "move": _MoveAnswer}  # noqa: RUF012

    def check_game(self, message: Any) -> None:
        if message.get("game") != self.game:
            raise bad("game", message.get("game"), f'"{self.game}" (Fog of War has none, and klss engine plays it)')

    def transcript(self, seat: chess.Color, setup: Position) -> _Transcript:
        return _Transcript(seat, setup)

    def read_setup(self, raw: _Request) -> Position:
        """See the base; raises ProtocolError if no game can start from it."""
        return shapes.start_of(raw.fen)

    def setup_json(self, setup: Position) -> dict[str, Any]:
        fen = setup.fen()
        return {} if fen == START_FEN else {"fen": fen}

    def read_question(self, raw: _Request) -> Question:
        return Question(raw.phase, tuple(map(shapes.move_of, raw.legalMoves)), tuple(raw.senseActions or ()))

    def question_json(self, question: Question) -> dict[str, Any]:
        """See the base; the moves are sorted by from, to, promotion."""
        message: dict[str, Any] = {"phase": question.phase}
        if question.phase == "sense":
            message["senseActions"] = sorted(question.senses)
        return message | {"legalMoves": [shapes.move_shape(move) for move in sorted(question.requests, key=encode)]}

    def read_seen(self, raw: _Seen) -> _Seen:
        """See the base; the squares come in the order of the window, whatever their order was."""
        if not isinstance(raw, _Sensed):
            return raw
        contents = dict(raw.sensed_squares)
        if len(contents) < len(raw.sensed_squares):
            raise ProtocolError("sensed_squares: expected each square once")
        first = [] if raw.sense is None else [square for square in window(raw.sense) if square in contents]
        squares = [(square, contents[square]) for square in dict.fromkeys([*first, *contents])]
        return structs.replace(raw, sensed_squares=squares)

    def seen_json(self, seen: _Seen) -> dict[str, Any]:
        return {"ply": seen.ply, **to_builtins(seen)}

    def read_answer(self, key: str, raw: Any) -> int | chess.Move | None:
        return raw.sense if key == "sense" else given(shapes.move_of, raw.move)

    def answer_json(self, key: str, value: Any) -> Any:
        return value if key == "sense" else given(shapes.move_shape, value)

    def key(self, question: Question) -> str:
        return question.phase

    def complaint(self, question: Question, value: Any) -> str | None:
        """See the base. A pawn's request may leave the promotion out: it is then to a queen."""
        if value is None:
            return None
        if question.phase == "sense":
            return None if value in question.senses else f"the square {value}, expected one of {len(question.senses)}"
        queen = None if value.promotion else chess.Move(value.from_square, value.to_square, chess.QUEEN)
        if value in question.requests or queen in question.requests:
            return None
        return f"{value.uci()}, expected one of its {len(question.requests)} requests, or null"

    def rehearse(self, player: AnyPlayer, limit: Limit) -> None:
        """See the base: a turn."""
        start = Position.start()
        player.begin(chess.WHITE, start)
        player.observe(Notice(None))
        player.observe(looked(start, player.answer("sense", limit).answer))
        player.answer("move", limit)
        player.observe(Moved(None, None, None))


RBC = _Rbc()
"""The vocabulary of Reconnaissance Blind Chess."""
