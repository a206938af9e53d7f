"""The protocols of a game that is played: players, the referee that asks them, and exceptions that end a game.

A game with hidden information consists of *questions and observations*. The referee asks one seat at a time; its player
gets its new observations, and answers. The game defines the questions, answers and observations, all else here is the
same for every game: Fog of War asks for a move and shows a view after each ply; Reconnaissance Blind Chess asks for a
sense, then for a request, and reports their results.

Three types of a game meet here: its ``Setup``, which both players know before it begins, its ``Observation``
and its ``Answer``. A question is only a word, such as ``"sense"``: what may be answered follows from the observations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar

from klss.play.limits import Limit
from klss.play.outcome import Outcome, Seat

if TYPE_CHECKING:  # not at run time, so that a command line draws its first board before numpy is loaded
    import numpy as np
    import numpy.typing as npt

Setup = TypeVar("Setup")
Observation = TypeVar("Observation")
Answer = TypeVar("Answer")

# the same for classes that only give or only take them
_Setup = TypeVar("_Setup", covariant=True)
_Observation = TypeVar("_Observation", covariant=True)
_Given = TypeVar("_Given", covariant=True)
_Taken = TypeVar("_Taken", contravariant=True)


class Contradiction(ValueError):
    """Observations that are impossible in any game: they contradict themselves, each other or the rules."""


class Resignation(Exception):
    """Raised by a player's ``answer``: the player resigns."""


class OutOfTime(Exception):
    """Raised by a player's ``answer``: the player found that its own clock has run out."""


class Forfeit(Exception):
    """Raised by a player's ``answer``: there is no legal answer; the message gives the reason."""


@dataclass(frozen=True)
class Decision(Generic[_Given]):
    """A player's decision."""

    answer: _Given  # to the referee's question
    # what the player reports about it, by name (the engine protocol's ``diagnostics``): numbers and short texts
    diagnostics: Mapping[str, object] = field(default_factory=dict)


class Positions(Protocol):
    """The set of states that a player holds possible, as far as the host may read it."""

    @property
    def size(self) -> int:
        """Number of states."""
        ...

    @property
    def capped_by(self) -> str | None:
        """Reason why the states are a sample; None if they are all that agree with the observations."""
        ...

    def contains(self, row: npt.NDArray[np.uint64], /) -> bool:
        """Whether the state ``row`` is in the set."""
        ...


class Player(Generic[Setup, Observation, Answer]):
    """A player of one seat, in one game after the other: one of ours, a human at a terminal, a process.

    The base class has defaults for a player without a position set and without resources.
    """

    last_fault: str | None = None  # the player's last fault with a cost for it, for the records
    # the probability of each answer in the strategy that the last decision was drawn from; empty: it is not known
    mixture: Mapping[Answer, float] = MappingProxyType({})

    def values(self) -> Mapping[Answer, float]:
        """Return the value of answers by the last decision's search, in [−1, 1], as far as they are known."""
        return {}

    @property
    def position_set(self) -> Positions | None:
        """The player's position set after all its observations; None if it gives none."""
        return None

    def begin(self, seat: Seat, setup: Setup) -> None:
        """Begin a game at ``seat``; ``setup`` is what both players know about it: the start, the rules."""
        raise NotImplementedError

    def observe(self, observation: Observation) -> None:
        """Take in an observation; each is passed once, in order."""
        raise NotImplementedError

    def answer(self, question: str, limit: Limit) -> Decision[Answer]:
        """Answer the referee's question. A Resignation, OutOfTime or Forfeit that is raised ends the game."""
        raise NotImplementedError

    def end(self, outcome: Outcome) -> None:
        """Take in how the game ended."""
        return

    def close(self) -> None:
        """Free all resources."""
        return


class Referee(Protocol[_Setup, _Observation, _Taken]):
    """The true game, which players never have access to."""

    @property
    def outcome(self) -> Outcome | None:
        """How the game ended; None while it goes on."""
        ...

    @property
    def ply(self) -> int:
        """Number of plies played, of both sides; where a refused move is tried again, each try is one."""
        ...

    @property
    def turn(self) -> Seat:
        """The seat that is asked."""
        ...

    @property
    def question(self) -> str:
        """The present question to that seat, in one word; a turn may have several questions."""
        ...

    @property
    def truth(self) -> npt.NDArray[np.uint64]:
        """The true state, as :meth:`Positions.contains` takes it; for tests of players."""
        ...

    @property
    def setup(self) -> _Setup:
        """What both players know before the game begins."""
        ...

    def observations(self, seat: Seat) -> Sequence[_Observation]:
        """Return all observations of ``seat``, in order; the list only grows during the game."""
        ...

    def answer(self, answer: _Taken) -> None:
        """Take the answer to :attr:`question`; an illegal one raises a ValueError of the game."""
        ...

    def resign(self, seat: Seat) -> None:
        """End the game by resignation of ``seat``."""
        ...

    def flag(self, seat: Seat) -> None:
        """End the game because the clock of ``seat`` ran out."""
        ...

    def end(self, outcome: Outcome) -> None:
        """End the game with ``outcome``, other than by an answer."""
        ...


# Where a game is chosen by name, its types are known only at run time.
AnyDecision: TypeAlias = Decision[Any]
AnyPlayer: TypeAlias = Player[Any, Any, Any]
AnyReferee: TypeAlias = Referee[Any, Any, Any]


@dataclass
class TruthCount:
    """Counts of checks whether a player's set contains the true state (in tests only)."""

    checks: int = 0  # checks of a set that claims to be complete
    lost: int = 0  # those in which the true state was missing
    sampled: int = 0  # checks left out because the set was declared a sample
