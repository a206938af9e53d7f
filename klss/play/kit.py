"""What a game provides for the table, so that everything above its rules and players is written only once.

A game with a :class:`Kit` can be played by :class:`klss.play.arbiter.Arbiter`, in matches, by the engine protocol, and
in the terminal. ``klss match --game MODULE:NAME`` takes any kit; ``tests/table/hidden_tictactoe.py`` is a small
example.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from klss.play.contest import Player, Referee
from klss.play.outcome import Seat
from klss.support.configuration_text import ConfigurationError

if TYPE_CHECKING:
    from klss.play.arbiter import Played


class Spec(Protocol):
    """A player's configuration, as results record it."""

    @property
    def name(self) -> str:
        """The name in results."""
        ...

    def fields(self) -> dict[str, Any]:
        """Return the fields that results record."""
        ...


@dataclass(frozen=True)
class Named:
    """A configuration with a name and no options."""

    name: str

    def fields(self) -> dict[str, Any]:
        return {"name": self.name}


class Kit(ABC):
    """A game. Methods that are not abstract have a default for games that need nothing special."""

    name: str  # the game's name for ``--game`` and in results: ``MODULE:NAME`` of this object
    title: str  # the game's name in sentences
    wire: Any  # the game's part of the engine protocol (``uci_bridge.protocol.wire.Wire``)
    configurations: Sequence[str]  # the names of its own players' configurations
    default_player: str  # the configuration if none is named
    players: str = "cmd:PROGRAM …"  # other texts that name a player, as shown in help texts
    rules: tuple[str, ...] = ()  # the names of its rulesets, the usual one first; () if there is only one
    suffix: str = ".json"  # of a record's file
    starts: bool = False  # whether :meth:`setup` takes other start positions than the usual one
    # ``MODULE:CLASS`` of the terminal screen (``klss_app.cli.screen.Screen``); None: can't be played in a terminal
    screen: str | None = None

    def __reduce__(self) -> str:
        """Pickle by name: workers of a match find it in its module under the last part of :attr:`name`, in capitals."""
        return self.name.rpartition(":")[2].upper()

    # ------------------------------------------------------------------------------------------------ players
    def spec(self, text: str) -> Any:
        """Return the :class:`Spec` that ``text`` describes; ``text`` is never a program (``cmd:…``).

        Raises
        ------
        ConfigurationError
            The text describes no player.
        """
        if text not in self.configurations:
            raise ConfigurationError(f"player: got {text[:80]!r}, expected one of {', '.join(self.configurations)}")
        return Named(text)

    def is_ours(self, spec: Spec) -> bool:
        """Whether ``spec`` is a configuration of this game, from which :meth:`player` makes a player."""
        return isinstance(spec, Named)

    def text(self, spec: Any) -> str:
        """Return a text that describes one of our configurations to another process; raises ConfigurationError if there
        is none.
        """
        return str(spec.name)

    def evaluator(self, spec: Any, choice: Any, setup: Any) -> Any:
        """Return the evaluator of states for players of ``spec``, with a ``close``; None if they need none. ``choice``:
        the command line's choice.
        """
        return None

    def label(self, spec: Any, choice: Any) -> str | None:
        """Return the evaluator's name on a screen; None if there is no evaluator."""
        return None

    @abstractmethod
    def player(self, spec: Any, evaluator: Any, seed: int) -> Player:
        """Return a player for one game, or for several in turn."""

    def warm_up(self, player: Player, seat: Seat) -> None:
        """Let ``player`` play a little without an effect, so that its compiled code is loaded before a clock runs."""
        return

    # ------------------------------------------------------------------------------------------------ the true game
    def setup(self, start: str | None = None, rules: str | None = None) -> Any:
        """Return what both players know before a game from ``start`` (None: the usual start) under a ruleset."""
        return None

    @abstractmethod
    def referee(self, setup: Any, moves: Sequence[str] = (), seed: int = 0) -> Referee:
        """Return the true game after ``moves`` of an opening; ``seed`` is for nature's draws."""

    @abstractmethod
    def record(self, referee: Any, headers: Mapping[str, str]) -> str:
        """Return the game as a text; ``headers`` has at least White and Black, the names of the players."""

    def line(self, referee: Any, played: Played) -> dict[str, Any]:
        """Return the data of a turn in ``moves.jsonl`` in addition to its diagnostics: the answers."""
        return {"answers": [str(each.decision.answer) for each in played.answers]}
