"""What a game brings to the table, so that everything above its rules and players is written once.

With a :class:`Kit` a game is played by :class:`klss.table.arbiter.Arbiter`, by the match, on the engine protocol, and
in the terminal. ``klss match --game MODULE:NAME`` takes a kit of anybody's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from klss.table.contest import Player, Referee
from klss.table.outcome import Seat

if TYPE_CHECKING:
    from klss.table.arbiter import Played

__all__ = ["Kit", "PlayersKit", "Spec"]


class Spec(Protocol):
    """A player's choices, which results hold."""

    @property
    def name(self) -> str:
        """As it is named in results."""
        ...

    def fields(self) -> dict[str, Any]:
        """What results hold."""
        ...


class PlayersKit(Protocol):
    """The player's side of a game.

    Attributes
    ----------
    name
        What ``--game`` takes, and results hold.
    wire
        The game's part of the engine protocol (:class:`uci_bridge.protocol.wire.Wire`).
    default_player
        The configuration that plays where none is named.
    configurations
        The names of the configurations, as helps list them.
    players
        What else may stand where a player is asked for, as helps say it.
    """

    name: str
    wire: Any
    default_player: str

    @property
    def configurations(self) -> Sequence[str]:
        """See the class."""
        ...

    @property
    def players(self) -> str:
        """See the class."""
        ...

    def spec(self, text: str) -> Spec:
        """Who plays under ``text``, programs (``cmd:…``) left out; raises a ValueError that says what is wrong."""
        ...

    def is_ours(self, spec: Spec) -> bool:
        """Whether it is a configuration of this game's, which :meth:`player` makes."""
        ...

    def text(self, spec: Any) -> str:
        """A text that describes a configuration of ours to another process; raises ConfigurationError if none does."""
        ...

    def evaluator(self, spec: Any, choice: Any, setup: Any) -> Any:
        """What values states for players of ``spec``, with a ``close``; None where nothing does. ``choice``: what the
        command line asks for.
        """
        ...

    def label(self, spec: Any, choice: Any) -> str | None:
        """What that is called on a screen; None where nothing is."""
        ...

    def player(self, spec: Any, evaluator: Any, seed: int) -> Player:
        """A player for a game, or for one after the other."""
        ...

    def warm_up(self, player: Player, seat: Seat) -> None:
        """Have ``player`` play a little that nobody sees, so that its compiled code is loaded before a clock runs."""
        ...


class Kit(PlayersKit, Protocol):
    """A game.

    Attributes
    ----------
    title
        The game's name.
    rules
        The names of its rulesets; the first is the usual one. () where there is one alone.
    suffix
        Of a record's file.
    records
        What the files are that hold the records.
    screen
        ``MODULE:CLASS`` of how people see it and play it in a terminal (:class:`klss_app.cli.screen.Screen`); None
        where they can't.
    """

    title: str
    rules: tuple[str, ...]
    suffix: str
    records: str
    screen: str | None

    def setup(self, start: str | None = None, rules: str | None = None) -> Any:
        """What both players know before a game from ``start`` (None: the usual start) under a ruleset."""
        ...

    def referee(self, setup: Any, moves: Sequence[str] = ()) -> Referee:
        """The true game, after ``moves`` of an opening."""
        ...

    def record(self, referee: Any, headers: Mapping[str, str]) -> str:
        """The game as a text; ``headers`` has at least White and Black, the names of the players."""
        ...

    def line(self, referee: Any, played: Played) -> dict[str, Any]:
        """What ``moves.jsonl`` holds of a turn beside its diagnostics: the answers."""
        ...
