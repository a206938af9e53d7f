"""What a game brings to the table, so that everything above its rules and players is written once.

With a :class:`Kit` a game is played by :class:`klss.table.arbiter.Arbiter`, by the match, on the engine protocol, and
in the terminal. ``klss match --game MODULE:NAME`` takes a kit of anybody's; ``tests/table/hidden_tictactoe.py`` is a
small one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from klss.support.configurations import ConfigurationError
from klss.table.contest import Player, Referee
from klss.table.outcome import Seat

if TYPE_CHECKING:
    from klss.table.arbiter import Played

__all__ = ["Kit", "Named", "Spec"]


class Spec(Protocol):
    """A player's choices, which results hold."""

    @property
    def name(self) -> str:
        """As it is named in results."""
        ...

    def fields(self) -> dict[str, Any]:
        """What results hold."""
        ...


@dataclass(frozen=True)
class Named:
    """A configuration that is a name and nothing else."""

    name: str

    def fields(self) -> dict[str, Any]:
        """See :class:`Spec`."""
        return {"name": self.name}


class Kit(ABC):
    """A game. What is not abstract has an answer for games that need none of their own."""

    name: str  # what ``--game`` takes, and results hold: ``MODULE:NAME``, where this object is
    title: str  # the game's name in sentences
    wire: Any  # the game's part of the engine protocol (``uci_bridge.protocol.wire.Wire``)
    configurations: Sequence[str]  # the names of its own players' configurations
    default_player: str  # the one that plays where none is named
    players: str = "cmd:PROGRAM …"  # what else may stand where a player is asked for, as helps say it
    rules: tuple[str, ...] = ()  # the names of its rulesets; the first is the usual one. () where there is one alone
    suffix: str = ".json"  # of a record's file
    starts: bool = False  # whether :meth:`setup` takes other start positions than the usual one
    # ``MODULE:CLASS`` of how people see it and play it in a terminal (``klss_app.cli.screen.Screen``); None where they
    # can't
    screen: str | None = None

    def __reduce__(self) -> str:
        """Workers of a match find it by its name in its module: the last part of :attr:`name`, in capitals."""
        return self.name.rpartition(":")[2].upper()

    # ------------------------------------------------------------------------------------------------ players
    def spec(self, text: str) -> Any:
        """The :class:`Spec` that ``text`` describes, programs (``cmd:…``) left out.

        Raises
        ------
        ConfigurationError
            Says what is wrong with it.
        """
        if text not in self.configurations:
            raise ConfigurationError(f"player: got {text[:80]!r}, expected one of {', '.join(self.configurations)}")
        return Named(text)

    def is_ours(self, spec: Spec) -> bool:
        """Whether it is a configuration of this game's, which :meth:`player` makes."""
        return isinstance(spec, Named)

    def text(self, spec: Any) -> str:
        """A text that describes a configuration of ours to another process; raises ConfigurationError if none does."""
        return str(spec.name)

    def evaluator(self, spec: Any, choice: Any, setup: Any) -> Any:
        """What values states for players of ``spec``, with a ``close``; None where nothing does. ``choice``: what the
        command line asks for.
        """
        return None

    def label(self, spec: Any, choice: Any) -> str | None:
        """What that is called on a screen; None where nothing is."""
        return None

    @abstractmethod
    def player(self, spec: Any, evaluator: Any, seed: int) -> Player:
        """A player for a game, or for one after the other."""

    def warm_up(self, player: Player, seat: Seat) -> None:
        """Have ``player`` play a little that nobody sees, so that its compiled code is loaded before a clock runs."""
        return

    # ------------------------------------------------------------------------------------------------ the true game
    def setup(self, start: str | None = None, rules: str | None = None) -> Any:
        """What both players know before a game from ``start`` (None: the usual start) under a ruleset."""
        return None

    @abstractmethod
    def referee(self, setup: Any, moves: Sequence[str] = (), seed: int = 0) -> Referee:
        """The true game, after ``moves`` of an opening; ``seed`` is that of what nature draws in it."""

    @abstractmethod
    def record(self, referee: Any, headers: Mapping[str, str]) -> str:
        """The game as a text; ``headers`` has at least White and Black, the names of the players."""

    def line(self, referee: Any, played: Played) -> dict[str, Any]:
        """What ``moves.jsonl`` holds of a turn beside its diagnostics: the answers."""
        return {"answers": [str(each.decision.answer) for each in played.answers]}
