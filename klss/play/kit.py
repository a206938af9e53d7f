"""What a game provides in order to be played, so that everything above its rules and players is written only once.

A game with a :class:`Kit` can be played by :class:`klss.play.arbiter.Arbiter`, in matches, by the engine protocol, and
in the terminal. ``--game`` finds it as ``MODULE:NAME``, or by its name among the entry points of the group
``klss.games``; ``tests/table/hidden_tictactoe.py`` is a small example.
"""

from __future__ import annotations

import pickle
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeGuard, TypeVar

from klss.errors import GameError
from klss.play.contest import Answer, AnyReferee, Observation, Player, Setup
from klss.play.outcome import Outcome, Seat
from klss.play.wire import GameWire
from klss.support.text import Document

if TYPE_CHECKING:
    from klss.play.arbiter import Played

ENTRY_POINTS = "klss.games"
"""The group of entry points by which installed packages name their kits."""


class Spec(Protocol):
    """A player's configuration, as results record it."""

    @property
    def name(self) -> str:
        """The name in results."""
        ...

    def fields(self) -> Document:
        """Return the fields that results record."""
        ...


@dataclass(frozen=True)
class Named:
    """A configuration with a name and no options."""

    name: str

    def fields(self) -> Document:
        return {"name": self.name}


@dataclass(frozen=True)
class Maker(Generic[Setup, Observation, Answer]):
    """Makes the players of one configuration, for one game after the other."""

    # a player by its seed, for one game or for several in turn
    player: Callable[[int], Player[Setup, Observation, Answer]]
    close: Callable[[], None] = lambda: None  # frees what the players share, such as an evaluator


Configuration = TypeVar("Configuration", bound=Spec)
TrueGame = TypeVar("TrueGame", bound=AnyReferee)  # a bound can't name the other parameters


@dataclass(frozen=True)
class Replay(Generic[TrueGame, Answer]):
    """A game that was read from its record, for the referee's side."""

    begin: Callable[[], TrueGame]  # makes the true game at its start, in which nature will draw as it did
    answers: Sequence[Answer]  # all answers that were given, in order
    headers: Mapping[str, str]  # what the record says about the game, such as White and Black
    outcome: Outcome | None  # how it ended; None: it was left, or the record does not say

    def game(self, plies: int | None = None) -> TrueGame:
        """Return the true game after ``plies``, or all that were played; raises a ValueError of the game if an answer
        is none.
        """
        referee = self.begin()
        for answer in self.answers:
            if referee.ply == plies or referee.outcome is not None:
                break
            referee.answer(answer)
        return referee


AnyReplay: TypeAlias = Replay[Any, Any]
"""A game that was read from the record of a kit that was chosen by name."""


class Kit(ABC, Generic[Configuration, TrueGame, Setup, Observation, Answer]):
    """A game. Methods that are not abstract have a default for games that need nothing special.

    The last three types are those that meet in play (:mod:`klss.play.contest`). ``Configuration`` and ``TrueGame``
    are what the kit itself makes and takes back: its players' settings, and its referee with more than players need,
    for records. All else that a game has of its own, such as its evaluators, stays inside its methods.
    """

    name: str  # the game's name for ``--game`` and in results: ``MODULE:NAME`` of this object, or of its entry point
    title: str  # the game's name in sentences
    # the game's part of the engine protocol; how observations look in messages is its own affair
    wire: GameWire[Setup, Observation, Answer]
    own: type[Configuration]  # the class of its own players' configurations
    configurations: Sequence[str]  # the names of its own players' configurations
    default_player: str  # the configuration if none is named
    # further configurations, from the easiest to the hardest: their names, and what each does
    levels: Mapping[str, str] = {}
    players: str = "cmd:PROGRAM …"  # other texts that name a player, as shown in help texts
    rules: tuple[str, ...] = ()  # the names of its rulesets, the usual one first; () if there is only one
    suffix: str = ".json"  # of a record's file
    starts: bool = False  # whether :meth:`setup` takes other start positions than the usual one
    front: str | None = None  # ``MODULE:CLASS`` of how people see it (``klss_app.front.Front``); None: as a PlainKit

    def __reduce__(self) -> str | tuple[object, ...]:
        """Pickle by reference, for workers of a match: as the name of this object in the module of its class."""
        module = sys.modules[type(self).__module__]
        for name, found in vars(module).items():
            if found is self:
                return name
        raise pickle.PicklingError(f"kit: got {self.name!r}, expected a name of it in {module.__name__}")

    # ------------------------------------------------------------------------------------------------ players
    @abstractmethod
    def spec(self, text: str) -> Spec:
        """Return the configuration, or another player, that ``text`` describes; it is never a program (``cmd:…``).

        Raises
        ------
        ConfigurationError
            The text describes no player.
        """

    def is_ours(self, spec: Spec) -> TypeGuard[Configuration]:
        """Whether ``spec`` is a configuration of this game, from which :meth:`maker` makes players."""
        return isinstance(spec, self.own)

    def text(self, spec: Configuration) -> str:
        """Return a text that describes one of our configurations to another process; raises ConfigurationError if there
        is none.
        """
        return spec.name

    # ``choice`` is the command line's choice of an evaluator, which only kits of games that have evaluators read
    def pondering(self, spec: Configuration, choice: Any) -> Configuration:
        """Return ``spec`` with thinking in the opponent's time, if its players can."""
        return spec

    def ponders(self, spec: Configuration) -> bool:
        """Whether players of ``spec`` think in the opponent's time, once they have seen the result of their move."""
        return False

    @abstractmethod
    def maker(self, spec: Configuration, choice: Any, setup: Setup) -> Maker[Setup, Observation, Answer]:
        """Return what makes the players of ``spec`` for games from ``setup``; it has the evaluator that they share."""

    def label(self, spec: Configuration, choice: Any) -> str | None:
        """Return the evaluator's name on a screen; None if there is no evaluator."""
        return None

    def versions(self, spec: Configuration, choice: Any) -> dict[str, str | None]:
        """Return the programs that the evaluator runs, and their versions."""
        return {}

    def warm_up(self, player: Player[Setup, Observation, Answer], seat: Seat) -> None:
        """Let ``player`` play a little without an effect, so that its compiled code is loaded before a clock runs."""
        return

    # ------------------------------------------------------------------------------------------------ the true game
    @abstractmethod
    def setup(self, start: str | None = None, rules: str | None = None) -> Setup:
        """Return what both players know before a game from ``start`` (None: the usual start) under a ruleset."""

    @abstractmethod
    def referee(self, setup: Setup, moves: Sequence[str] = (), seed: int = 0) -> TrueGame:
        """Return the true game after ``moves`` of an opening; ``seed`` is for nature's draws."""

    @abstractmethod
    def record(self, referee: TrueGame, headers: Mapping[str, str]) -> str:
        """Return the game as a text; ``headers`` has at least White and Black, the names of the players."""

    def replayed(self, text: str, rules: str | None = None) -> Replay[TrueGame, Answer]:
        """Return the game of a text that :meth:`record` wrote, for analyses and reviews; ``rules``: its ruleset.

        Raises
        ------
        ValueError
            The text is no game; or this kit reads none, which is the default.
        """
        raise GameError(f"got a record of {self.title}, expected one of a game whose kit reads its records")

    def line(self, referee: TrueGame, played: Played[Answer]) -> Document:
        """Return the data of a turn in ``moves.jsonl`` in addition to its diagnostics: the answers."""
        return {"answers": [str(each.decision.answer) for each in played.answers]}


AnyKit: TypeAlias = Kit[Any, Any, Any, Any, Any]
"""A game that is chosen by name: its types are known only at run time."""

AnyMaker: TypeAlias = Maker[Any, Any, Any]
