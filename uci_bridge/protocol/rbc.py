"""Reconnaissance Blind Chess on the engine protocol: the fields of its messages, and the consistency of observations.

:class:`darkchess.rbc.game.following.Followed` checks that observations and requests follow from those before. A
contradiction of all observations together is found only by the player's position set, at its next question.

Source: docs/engine-protocol.md, "Reconnaissance Blind Chess".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import chess
from msgspec import Meta, Struct

from darkchess.board.move import encode
from darkchess.board.position import START_FEN, Position
from darkchess.errors import ViewError
from darkchess.rbc.game.following import Followed
from darkchess.rbc.game.observation import INNER, Moved, Notice, Sensed, looked, window
from klss.table.contest import Player
from klss.table.limits import Limit
from klss.table.outcome import Outcome
from uci_bridge.errors import ProtocolError
from uci_bridge.protocol import shapes, wire
from uci_bridge.protocol.schema import bad
from uci_bridge.protocol.shapes import given

_KINDS = {Notice: "capture_notice", Sensed: "sense_result", Moved: "move_result", Outcome: "game_over"}
_PLACES = {Notice: 0, Sensed: 1, Moved: 2}
"""Places of the observations in a turn."""

_MAX_REQUESTS = 512
"""Bound on requests, with castling, pawns' diagonals and promotions (darkchess.rbc.game._kernels.requests)."""


@dataclass(frozen=True)
class Observation:
    """One observation of a player."""

    # turns of both sides played at that time; the result of a move counts the turn that it ends
    ply: int
    what: Notice | Sensed | Moved | Outcome  # the observation itself

    @property
    def kind(self) -> str:
        """Its name in the protocol."""
        return _KINDS[type(self.what)]


@dataclass(frozen=True)
class Question:
    """A question."""

    phase: Literal["sense", "move"]  # which of a turn's two questions
    requests: tuple[chess.Move, ...]  # the possible requests, without the pass
    senses: tuple[int, ...] = ()  # the squares for a look, without "nowhere"; () if it is asked for a move


# ----------------------------------------------------------------------------------------------------------------------
# what the messages look like

_SquareAndContent = Annotated[
    tuple[shapes.Square, shapes.Piece | None], Meta(description='[square, {"type", "color"} or null]')
]

_FIELDS = {
    "capture_notice": {"own_capture_square"},
    "sense_result": {"sense", "sensed_squares"},
    "move_result": {"requested", "taken", "capture_square"},
    "game_over": {"game_over"},
}


class _Observation(Struct, frozen=True, kw_only=True):
    """One observation of a player."""

    ply: shapes.Ply
    kind: Literal["capture_notice", "sense_result", "move_result", "game_over"]
    own_capture_square: shapes.Square | None = None
    sense: shapes.Square | None = None
    sensed_squares: Annotated[list[_SquareAndContent], Meta(max_length=9)] | None = None
    requested: shapes.Move | None = None
    taken: shapes.Move | None = None
    capture_square: shapes.Square | None = None
    game_over: shapes.GameOver | None = None

    def __post_init__(self) -> None:
        """Refuse fields of another kind, and a kind without its own fields."""
        for kind, fields in _FIELDS.items():
            for name in sorted(fields):
                if kind != self.kind and getattr(self, name) is not None:
                    raise ValueError(f".{name}: got something with kind {self.kind!r}, expected it with {kind!r} only")
        for kind, name in (("sense_result", "sensed_squares"), ("game_over", "game_over")):
            if self.kind == kind and getattr(self, name) is None:
                raise ValueError(f".{name}: got nothing, expected it with kind {kind!r}")
        squares = [square for square, _ in self.sensed_squares or []]
        if len(set(squares)) < len(squares):
            raise ValueError(".sensed_squares: got a square twice, expected each square once")


class _Request(shapes.Request, frozen=True, kw_only=True):
    """A question."""

    phase: Literal["sense", "move"]
    senseActions: Annotated[list[shapes.Square], Meta(min_length=1, max_length=64)] | None = None
    legalMoves: Annotated[list[shapes.Move], Meta(max_length=_MAX_REQUESTS)]
    observationTranscript: Annotated[list[_Observation], Meta(min_length=1, max_length=2 * shapes.MAX_PLY)] | None = (
        None
    )
    latestObservationDelta: _Observation | None = None
    fen: shapes.Fen | None = None

    def __post_init__(self) -> None:
        """Refuse squares in the wrong phase, and squares that come twice."""
        super().__post_init__()
        if (self.senseActions is not None) != (self.phase == "sense"):
            got = "nothing" if self.senseActions is None else "squares"
            raise ValueError(f".senseActions: got {got} in phase {self.phase!r}, expected squares in 'sense' only")
        if self.senseActions is not None and len(set(self.senseActions)) < len(self.senseActions):
            raise ValueError(".senseActions: got a square twice, expected each square once")


class _Push(shapes.Push, frozen=True, kw_only=True):
    """An observation outside the player's questions."""

    observation: _Observation


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
        self.seen: list[Observation] = []

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
        return [seen.what for seen in self.seen if not isinstance(seen.what, Outcome)]

    @property
    def over(self) -> bool:  # type: ignore[override]
        return bool(self.seen) and isinstance(self.seen[-1].what, Outcome)

    def place(self, seen: Observation) -> int:
        if isinstance(seen.what, Outcome):
            return len(self.seen) - 1 if self.over else len(self.seen)
        turn, odd = divmod(seen.ply - self._first - isinstance(seen.what, Moved), 2)
        if odd or turn < 0:
            raise ProtocolError(
                f"got a {seen.kind} of ply {seen.ply}, expected a ply at which {chess.COLOR_NAMES[self._color]} "
                "observes one"
            )
        return 3 * turn + _PLACES[type(seen.what)]

    def take(self, seen: Observation, question: Question | None = None) -> None:
        if not isinstance(seen.what, Outcome):
            self._followed.take(seen.what)
        self.seen.append(seen)

    def check(self, question: Question) -> None:
        awaited = {"sense": "sensed", "move": "moved"}[question.phase]
        if self._followed.awaited != awaited:
            raise ViewError(f"phase: got {question.phase!r}, expected it once what goes before it in the turn is known")
        requests = self._followed.requests()
        if sorted(map(encode, question.requests)) != list(map(encode, requests)):
            odd = sorted({move.uci() for move in question.requests} ^ {move.uci() for move in requests})
            raise ViewError(
                f"legalMoves: got moves that are not those that {chess.COLOR_NAMES[self._color]} may request at ply "
                f"{self.ply}; they differ in {' '.join(odd[:6]) or 'one that comes twice'}"
            )
        if question.phase == "sense" and not set(INNER) <= set(question.senses):
            raise ViewError(
                f"senseActions: got {len(question.senses)} squares, expected the 36 that are not on the edge among them"
            )

    def add(self, observation: Notice | Sensed | Moved) -> Observation | None:
        """See the base: the result of a move is pushed."""
        ply = self.ply
        self._followed.take(observation)
        moved = isinstance(observation, Moved)
        self.seen.append(Observation(ply + 1 if moved else ply, observation))
        return self.seen[-1] if moved else None

    def end(self, outcome: Outcome) -> Observation:
        # The ply of the last observation: it does not tell whether the opponent has moved since, only the outcome does.
        self.seen.append(Observation(self.seen[-1].ply if self.seen else 0, outcome))
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

    def read_seen(self, raw: _Observation) -> Observation:
        found: Notice | Sensed | Moved | Outcome
        if raw.kind == "capture_notice":
            found = Notice(raw.own_capture_square)
        elif raw.kind == "sense_result":
            contents = {square: given(shapes.piece_of, piece) for square, piece in raw.sensed_squares or []}
            order = () if raw.sense is None else window(raw.sense)
            first = [square for square in order if square in contents]
            found = Sensed(raw.sense, tuple((each, contents[each]) for each in dict.fromkeys([*first, *contents])))
        elif raw.kind == "move_result":
            found = Moved(given(shapes.move_of, raw.requested), given(shapes.move_of, raw.taken), raw.capture_square)
        else:
            assert raw.game_over is not None
            found = shapes.outcome_of(raw.game_over)
        return Observation(raw.ply, found)

    def seen_json(self, seen: Observation) -> dict[str, Any]:
        what, message = seen.what, {"ply": seen.ply, "kind": seen.kind}
        if isinstance(what, Notice):
            return message | {"own_capture_square": what.square}
        if isinstance(what, Sensed):
            squares = [[square, given(shapes.piece_shape, piece)] for square, piece in what.contents]
            return message | {"sense": what.square, "sensed_squares": squares}
        if isinstance(what, Moved):
            requested, taken = given(shapes.move_shape, what.requested), given(shapes.move_shape, what.taken)
            return message | {"requested": requested, "taken": taken, "capture_square": what.capture_square}
        return message | {"game_over": shapes.over_shape(what)}

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

    def rehearse(self, player: Player, limit: Limit) -> None:
        """See the base: a turn."""
        start = Position.start()
        player.begin(chess.WHITE, start)
        player.observe(Notice(None))
        player.observe(looked(start, player.answer("sense", limit).answer))
        player.answer("move", limit)
        player.observe(Moved(None, None, None))


RBC = _Rbc()
"""The vocabulary of Reconnaissance Blind Chess."""
