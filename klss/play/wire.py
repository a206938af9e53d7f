"""The interface between the engine protocol and a game: how its questions, answers and observations are written.

A :class:`Wire` is one game's vocabulary; a :class:`Transcript` has one player's observations in one game of it. Both
are on the player's side of the wall: an engine reads a transcript, a host writes one. A game whose observations are
plain dataclasses takes :class:`PlainWire`.
"""

from __future__ import annotations

import copy
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Generic, Self, TypeAlias, get_type_hints

import msgspec
from msgspec import UNSET, Meta, UnsetType

from klss.play.contest import Answer, Contradiction, Observation, Player, Setup
from klss.play.limits import Limit
from klss.play.messages import Answer as AnswerMessage
from klss.play.messages import GameOver, ProtocolError, Push, Request, Seen, Shown, bad, outcome_of, over_shape
from klss.play.outcome import Outcome, Seat
from klss.support.text import Document


class Transcript(ABC, Generic[Shown, Observation, Answer]):
    """One player's observations in one game, with what follows from them."""

    first: ClassVar[int] = 0  # number of observations that a player has from the setup

    def __init__(self) -> None:
        self.seen: list[Shown] = []  # as messages have them; the game's end is the last, or part of it
        self.given: list[Observation] = []  # the same as a player gets them, without the game's end
        self.outcome: Outcome | None = None  # how the game has ended

    @property
    def ply(self) -> int:
        """The ply of the next question."""
        return len(self.seen) - 1

    # ------------------------------------------------------------------------------------------------ an engine's part
    def copy(self) -> Self:
        """Return an independent copy."""
        other = copy.copy(self)
        other.seen, other.given = self.seen.copy(), self.given.copy()
        return other

    def place(self, seen: Shown) -> int:
        """Return the index in :attr:`seen` that ``seen`` has or will have. Raises ProtocolError: it can't have any."""
        return seen.ply

    @abstractmethod
    def take(self, seen: Shown, request: Request[Shown] | None = None) -> None:
        """Add the next observation, with the ``request`` that has it, if any. Raises Contradiction: it does not follow
        from those before; the transcript can't be used any more then.
        """

    def same(self, index: int, seen: Shown) -> bool:
        """Whether ``seen`` is the observation at ``index``."""
        return self.seen[index] == seen

    def end_late(self, seen: Shown) -> None:
        """Add what a repeated observation has more than the known one; by default nothing."""
        return

    @abstractmethod
    def check(self, request: Request[Shown]) -> None:
        """Raise Contradiction unless the question and its possible answers follow from the observations."""

    # ------------------------------------------------------------------------------------------------ a host's part
    def begin(self) -> None:
        """Add the observations that the setup gives."""
        return

    @abstractmethod
    def add(self, observation: Observation) -> Shown | None:
        """Add the referee's observation; return it as it is pushed at once, or None if it waits for a question."""

    @abstractmethod
    def end(self, outcome: Outcome) -> Shown | None:
        """Add the end of the game; return the observation to push, or None if the last one had the end already."""

    @abstractmethod
    def asks(self, question: str) -> Document:
        """Return the fields of a request that ask this, with the possible answers."""

    @abstractmethod
    def complaint(self, question: str, answer: Answer) -> str | None:
        """Return what is wrong with an answer, and what was expected; None for an allowed answer."""


class Wire(ABC, Generic[Setup, Shown, Observation, Answer]):
    """One game's part of the engine protocol."""

    game: str | None  # ``game`` of every message to an engine; None: the field is left out
    asked: Sequence[str]  # the fields of a question; only questions have the first
    # the game's messages (:mod:`klss.play.messages`)
    request: type[Request[Shown]]
    push: type[Push[Shown]]
    answers: Mapping[str, type[AnswerMessage[Any]]]  # by the field that holds the answer, with its type in messages

    def check_game(self, message: Mapping[str, object]) -> None:
        """Refuse a message of another game."""
        if message.get("game") != self.game:
            raise bad("game", message.get("game"), f'"{self.game}"')

    @abstractmethod
    def transcript(self, seat: Seat, setup: Setup) -> Transcript[Shown, Observation, Answer]:
        """Return the empty transcript of a new game."""

    @abstractmethod
    def setup(self, request: Request[Shown]) -> Setup:
        """Return the part of the game that both players know. Raises ProtocolError: no game has it."""

    def setup_fields(self, setup: Setup) -> Document:
        """Return the fields of a request that have the setup; None in those of the usual one."""
        return {}

    def key(self, request: Request[Shown]) -> str:
        """Return the question: the field that holds its answer, and :attr:`klss.play.contest.Referee.question`."""
        return next(iter(self.answers))

    def answer(self, key: str, value: Any) -> Answer:
        """Return the answer of a message's ``value``."""
        found: Answer = value
        return found

    def answer_value(self, key: str, answer: Answer) -> object:
        """Return an answer as messages have it."""
        return answer

    @abstractmethod
    def rehearse(self, player: Player[Setup, Observation, Answer], limit: Limit) -> None:
        """Have ``player`` play a turn of a dummy game, so that its compiled code is loaded."""


GameWire: TypeAlias = Wire[Setup, Any, Observation, Answer]
"""A game's wire, for those that pass its messages on: only the wire itself knows their classes."""

AnyWire: TypeAlias = Wire[Any, Any, Any, Any]
AnyTranscript: TypeAlias = Transcript[Any, Any, Any]
"""The same of a game that is chosen by name: its types are known only at run time."""


class _Plain(Seen, frozen=True, kw_only=True):
    """The fields of a dataclass, or the end of the game; what is not there is UNSET."""

    game_over: GameOver | UnsetType = UNSET


class PlainWire(Wire[None, _Plain, Observation, Answer]):
    """The vocabulary of a game with one kind of observation and of question, and with nothing to set up.

    In messages an observation is an object with the fields of its dataclass, and its number as ``ply``. The end of the
    game has a number of its own, and ``game_over``.

    Parameters
    ----------
    game
        The kit's name.
    observation, answer
        The dataclass of observations and the type of answers, of parts that msgspec reads and writes.
    choices
        The open answers, from all observations so far.
    opening
        The seat that is asked first and its observations until then, in a game that is thrown away.
    key, mark
        The fields of an answer and of the open ones.
    rename
        The names that fields of the dataclass have in messages, where they differ.
    follows
        Raises Contradiction if the last one of these observations can't follow from those before.
    """

    def __init__(
        self,
        game: str,
        observation: type[Observation],
        answer: type[Answer],
        choices: Callable[[Sequence[Observation]], Sequence[Answer]],
        opening: Callable[[], tuple[Seat, Sequence[Observation]]],
        *,
        key: str = "answer",
        mark: str = "answers",
        rename: Mapping[str, str] | None = None,
        follows: Callable[[Sequence[Observation]], None] = lambda observations: None,
    ) -> None:
        self.game, self.asked, self.choices, self.follows = game, (mark,), choices, follows
        self._observation, self._opening = observation, opening
        hints = get_type_hints(observation)
        self._numbered = hints.pop("ply", None) is not None
        self._names = list(hints)
        fields = [(name, hint | UnsetType, UNSET) for name, hint in hints.items()]
        shape: Any = msgspec.defstruct("Observation", fields, bases=(_Plain,), frozen=True, kw_only=True, rename=rename)
        open_answers = {mark: Annotated[list[answer], Meta(min_length=1)]}  # type: ignore[valid-type]
        options = {"frozen": True, "kw_only": True}
        self._shape = shape
        self.request = types.new_class(
            "Question", (Request[shape],), options, lambda body: body.update(__annotations__=open_answers)
        )
        self.push = Push[shape]
        self.answers = {key: AnswerMessage[answer]}  # type: ignore[valid-type]

    def transcript(self, seat: Seat, setup: None) -> PlainTranscript[Observation, Answer]:
        return PlainTranscript(self)

    def setup(self, request: Request[_Plain]) -> None:
        return None

    def rehearse(self, player: Player[None, Observation, Answer], limit: Limit) -> None:
        seat, observations = self._opening()
        player.begin(seat, None)
        for each in observations:
            player.observe(each)
        player.answer(next(iter(self.answers)), limit)

    def told(self, seen: _Plain) -> Observation:
        """Return the observation of a message. Raises ProtocolError: it is none."""
        found = {name: getattr(seen, name) for name in self._names}
        numbered = {"ply": seen.ply} if self._numbered else {}
        try:
            return self._observation(**numbered, **{name: value for name, value in found.items() if value is not UNSET})
        except (TypeError, ValueError) as error:
            raise ProtocolError(f"observation of ply {seen.ply}: {error}") from None

    def shown(self, ply: int, observation: Observation) -> _Plain:
        """Return an observation as messages have it."""
        shown: _Plain = self._shape(ply=ply, **{name: getattr(observation, name) for name in self._names})
        return shown

    def over(self, ply: int, outcome: Outcome) -> _Plain:
        """Return the end of the game as messages have it."""
        shown: _Plain = self._shape(ply=ply, game_over=over_shape(outcome))
        return shown


class PlainTranscript(Transcript[_Plain, Observation, Answer]):
    """The observations in a game of a :class:`PlainWire`."""

    def __init__(self, wire: PlainWire[Observation, Answer]) -> None:
        super().__init__()
        self._wire = wire

    def take(self, seen: _Plain, request: Request[_Plain] | None = None) -> None:
        if isinstance(seen.game_over, GameOver):
            self.outcome = outcome_of(seen.game_over)
        else:
            self.given.append(self._wire.told(seen))
            self._wire.follows(self.given)
        self.seen.append(seen)

    def check(self, request: Request[_Plain]) -> None:
        (mark,) = self._wire.asked
        got, expected = getattr(request, mark), list(self._wire.choices(self.given))
        if got != expected:
            raise Contradiction(f"{mark}: got {got[:20]}, expected those of the observations: {expected[:20]}")

    def add(self, observation: Observation) -> None:
        self.seen.append(self._wire.shown(len(self.seen), observation))
        self.given.append(observation)

    def end(self, outcome: Outcome) -> _Plain | None:
        self.outcome = outcome
        self.seen.append(self._wire.over(len(self.seen), outcome))
        return self.seen[-1] if len(self.seen) > 1 else None

    def asks(self, question: str) -> Document:
        return {self._wire.asked[0]: list(self._wire.choices(self.given))}

    def complaint(self, question: str, answer: Answer) -> str | None:
        choices = self._wire.choices(self.given)
        return None if answer in choices else f"{answer}, expected one of its {len(choices)} choices"
