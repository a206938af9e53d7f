"""The interface between the engine protocol and a game: how its questions, answers and observations are written.

A :class:`Wire` is one game's vocabulary; a :class:`Transcript` has one player's observations in one game of it. Both
are on the player's side of the wall: an engine reads a transcript, a host writes one.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from klss.play.contest import AnyPlayer
from klss.play.limits import Limit
from klss.play.outcome import Outcome, Seat
from uci_bridge.protocol import shapes
from uci_bridge.protocol.shapes import bad


class Transcript(ABC):
    """One player's observations in one game."""

    # the observations in the protocol's form, in order, each with a ``ply``; the game's end is the last, or part of it
    seen: list[Any]
    given: list[Any]  # the same as a player gets them (``klss.play.contest.Player.observe``), without the game's end
    over: bool  # whether the game has ended

    @property
    def outcome(self) -> Outcome:
        """How the game, which is over, has ended."""
        return Outcome(None, "unknown")

    @property
    @abstractmethod
    def ply(self) -> int:
        """The ply of the next question."""

    # ------------------------------------------------------------------------------------------------ an engine's part
    @abstractmethod
    def copy(self) -> Self:
        """An independent copy."""

    @abstractmethod
    def place(self, seen: Any) -> int:
        """The index in :attr:`seen` that ``seen`` has or will have. Raises ProtocolError: it can't have any."""

    @abstractmethod
    def take(self, seen: Any, question: Any = None) -> None:
        """Add the next observation, with the ``question`` that follows it if there is one. Raises Contradiction: it
        does not follow from those before; the transcript can't be used any more then.
        """

    def same(self, index: int, seen: Any) -> bool:
        """Whether ``seen`` is the observation at ``index``."""
        return bool(self.seen[index] == seen)

    def end_late(self, seen: Any) -> None:
        """Add what a repeated observation has more than the known one; by default nothing."""
        return

    @abstractmethod
    def check(self, question: Any) -> None:
        """Raise Contradiction unless ``question`` follows from the observations."""

    # ------------------------------------------------------------------------------------------------ a host's part
    @abstractmethod
    def add(self, observation: Any) -> Any:
        """Add the referee's observation; return it in the protocol's form if it is to be pushed at once, else None."""

    @abstractmethod
    def end(self, outcome: Any) -> Any:
        """Add the end of the game; return the observation to push, or None if the last one had the end already."""

    @abstractmethod
    def question(self, asked: Any) -> Any:
        """The referee's question in the protocol's form, with the possible answers."""


class Wire(ABC):
    """One game's part of the engine protocol."""

    game: ClassVar[str | None]  # ``game`` of every message to an engine; None: the field is left out
    mark: ClassVar[str]  # the field that only questions have
    # their shapes (``uci_bridge.protocol.shapes``)
    request: ClassVar[type[shapes.Request]]
    push: ClassVar[type[shapes.Push]]
    answers: ClassVar[Mapping[str, type[shapes.Answer]]]  # the shape of each answer, by the field that holds it

    def check_game(self, message: Mapping[str, Any]) -> None:
        """Refuse a message of another game."""
        if message.get("game") != self.game:
            raise bad("game", message.get("game"), f'"{self.game}"')

    @abstractmethod
    def transcript(self, seat: Seat, setup: Any) -> Transcript:
        """The empty transcript of a new game."""

    # ------------------------------------------------------------------------------------------------ reading
    def read_setup(self, raw: Any) -> Any:
        """The setup, which both players know, from a request of type :attr:`request`."""
        return None

    def read_question(self, raw: Any) -> Any:
        """The question of a request."""
        return getattr(raw, self.mark)

    @abstractmethod
    def read_seen(self, raw: Any) -> Any:
        """An observation of a request or a push."""

    def read_answer(self, key: str, raw: Any) -> Any:
        """The value of the field ``key`` of an answer."""
        return getattr(raw, key)

    # ------------------------------------------------------------------------------------------------ writing
    def setup_json(self, setup: Any) -> dict[str, Any]:
        """The fields of a setup; those of the usual setup may be left out."""
        return {}

    def question_json(self, question: Any) -> dict[str, Any]:
        """The fields of a question; their values may be shapes."""
        return {self.mark: question}

    def seen_json(self, seen: Any) -> Any:
        """An observation, as JSON or as one of the shapes."""
        return dataclasses.asdict(seen)

    def answer_json(self, key: str, value: Any) -> Any:
        """The value of the field ``key``."""
        return value

    # ------------------------------------------------------------------------------------------------ questions
    def key(self, question: Any) -> str:
        """The field that holds the answer to ``question``; it is also the referee's name for the question
        (:attr:`klss.play.contest.Referee.question`).
        """
        return next(iter(self.answers))

    def complaint(self, question: Any, value: Any) -> str | None:
        """What is wrong with an answer, and what was expected; None for an allowed answer."""
        return None if value in question else f"{value}, expected one of its {len(question)} choices"

    @abstractmethod
    def rehearse(self, player: AnyPlayer, limit: Limit) -> None:
        """Have ``player`` play a turn of a dummy game, so that its compiled code is loaded."""
