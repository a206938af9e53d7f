"""The interface between the engine protocol and a game: how its questions, answers and observations are written.

A :class:`Wire` is one game's vocabulary; a :class:`Transcript` has one player's observations in one game of it. Both
are on the player's side of the wall: an engine reads a transcript, a host writes one. A game whose observations are
plain dataclasses has that of :class:`klss.play.small_game.PlainKit`.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, Self, TypeAlias

from klss.play.contest import Answer, Observation, Player, Setup
from klss.play.limits import Limit
from klss.play.messages import Answer as AnswerMessage
from klss.play.messages import Push, Request, Shown, bad
from klss.play.outcome import Outcome, Seat
from klss.support.text import Document


class Transcript(ABC, Generic[Shown, Observation, Answer]):
    """One player's observations in one game, with what follows from them."""

    first: ClassVar[int] = 0  # number of observations that a player has from the setup
    gapless: ClassVar[bool] = False  # whether the end of the game follows only after all observations

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
    asked: str  # a field that questions have, and pushes have not
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
