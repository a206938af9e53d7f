"""The engine protocol's messages, as docs/engine-protocol.md's tables have them: types with bounds.

Fields have their JSON names. A field with the default None may be left out or null. Unknown fields are ignored, and so
is ``protocolVersion``, which is checked before. Conditions on several fields are checked in the type that has them. A
game adds the fields of its questions, its setup and its observations (:mod:`klss.play.wire`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from klss.errors import KlssError
from klss.play.limits import MOST_NODES
from klss.play.outcome import Outcome, Seat
from klss.support.text import Document, printable

MAX_ID = 256
MAX_PLY = 20_000
MAX_MS = 10**11  # three years: more than any clock holds

MAX_COMPLAINT = 300
"""Characters of what is wrong with a message; it may quote a value."""

Color = Literal["white", "black"]

COLORS: dict[Color, Seat] = {"white": True, "black": False}
COLOR_NAMES = {seat: name for name, seat in COLORS.items()}

Id = Annotated[str, Meta(min_length=1, max_length=MAX_ID)]
IdOrEmpty = Annotated[str, Meta(max_length=MAX_ID)]
Ply = Annotated[int, Meta(ge=0, le=MAX_PLY)]
Milliseconds = Annotated[int, Meta(ge=0, le=MAX_MS)]
Nodes = Annotated[int, Meta(ge=1, le=MOST_NODES)]
Seed = Annotated[int, Meta(ge=-(2**63))]  # msgspec's bounds end at 2^63


class ProtocolError(KlssError, ValueError):
    """A message of the engine protocol that is malformed, impossible or out of order: what, got, expected."""

    def __init__(self, message: str, *, need: str | None = None) -> None:
        super().__init__(message)
        self.ids: dict[str, str] = {}  # the ids of the message that could be read, by their keys
        self.need = need


class GameOver(Struct, frozen=True, kw_only=True):
    """The end of the game."""

    winner: Color | None = None
    reason: Annotated[str, Meta(max_length=64)]


class Seen(Struct, frozen=True, kw_only=True):
    """An observation; a game adds its content."""

    ply: Ply


Shown = TypeVar("Shown", bound=Seen)
"""A game's own class of observations."""

_Shown = TypeVar("_Shown", bound=Seen, covariant=True)  # the same in messages, which only have them
_Value = TypeVar("_Value")


class Clock(Struct, frozen=True, kw_only=True):
    """A player's clock: the time left (None: there is no clock), and the time added after each of its turns."""

    remaining_ms: Milliseconds | None = None
    increment_ms: Milliseconds


class Request(Struct, Generic[_Shown], frozen=True, kw_only=True):
    """A question, with every observation or with the last one; a game adds the possible answers and its setup."""

    gameId: Id
    engineId: Id
    sessionId: Id
    color: Color
    ply: Ply  # that of the last observation
    engineSeed: Seed
    clock: Clock
    observationTranscript: Annotated[list[_Shown], Meta(min_length=1, max_length=2 * MAX_PLY)] | None = None
    latestObservationDelta: _Shown | None = None
    # the limit of the answer: nodes, else the budget, else the clock
    budget_ms: Milliseconds | None = None
    nodes: Nodes | None = None

    def __post_init__(self) -> None:
        """Refuse a seed that is too large."""
        if self.engineSeed >= 2**64:
            raise ValueError("engineSeed: got 2^64 or more, expected a whole number of 64 bits")


class Push(Struct, Generic[_Shown], frozen=True, kw_only=True):
    """An observation outside the player's questions: the result of its turn, and the end of the game."""

    gameId: Id
    engineId: IdOrEmpty = ""
    sessionId: Id
    color: Color
    ply: Ply
    observation: _Shown

    def __post_init__(self) -> None:
        """Refuse an observation of another ply."""
        if self.ply != self.observation.ply:
            raise ValueError(f"ply: got {self.ply} with observation.ply {self.observation.ply}, expected the same")


class _Reply(Struct, frozen=True, kw_only=True):
    gameId: IdOrEmpty = ""
    sessionId: IdOrEmpty = ""


class Received(_Reply, frozen=True, kw_only=True):
    """The answer to a push."""


class Answer(_Reply, Generic[_Value], frozen=True, kw_only=True):
    """The answer to a question, and what the engine reports about it."""

    key: str  # the question that it answers: the name of the field that holds it in JSON
    value: _Value
    diagnostics: Mapping[str, object] | None = None


class Refusal(_Reply, frozen=True, kw_only=True):
    """The refusal of a request, with the ids that could be read."""

    error: str
    need: str | None = None


Reply = Answer[Any] | Received | Refusal


def fitted(value: Document, shape: type[_Value]) -> _Value:
    """Return ``value`` as a ``shape``. Raises ProtocolError if it does not fit."""
    try:
        return msgspec.convert(value, shape)
    except (msgspec.ValidationError, UnicodeEncodeError, RecursionError) as error:
        raise ProtocolError(printable(str(error), MAX_COMPLAINT)) from None


def bad(where: str, got: object, expected: str) -> ProtocolError:
    """Return the error for one bad value.

    >>> print(bad("ply", None, "a whole number"))
    ply: got nothing, expected a whole number
    """
    shown = "nothing" if got is None else printable(repr(got), 60)
    return ProtocolError(f"{where}: got {shown}, expected {expected}")


def over_shape(outcome: Outcome) -> GameOver:
    """Return an outcome as it stands in messages."""
    return GameOver(winner=None if outcome.winner is None else COLOR_NAMES[outcome.winner], reason=outcome.reason)


def outcome_of(raw: GameOver) -> Outcome:
    """Return the outcome of a message."""
    return Outcome(None if raw.winner is None else COLORS[raw.winner], raw.reason)
