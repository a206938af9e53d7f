"""What a game defines for the board in the browser, besides its kit (:mod:`klss.table.kit`).

The server, the seats, the clocks and the page's frame are the same for every game. Each game defines the messages that
its pages get, and the review of a finished game.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chess

from klss.table.kit import Kit
from klss_app.web.seats import HumanAtBoard, Inbox

if TYPE_CHECKING:
    from klss_app.web.settings import Settings

__all__ = ["MOST_PLIES", "BadGame", "BoardGame", "Finished", "Reviewed"]

MOST_PLIES = 2000
"""Most plies of a game that is reviewed; each is replayed, and sent to the page."""


class BadGame(Exception):
    """A file that holds no game that can be shown; the text says why."""


@dataclass(frozen=True)
class Reviewed:
    """A game as its reviews read it: ``game`` in the board game's own type, ``text`` as it is kept in a file, ``plies``
    the number of turns played."""

    game: Any
    text: str
    plies: int


@dataclass(frozen=True)
class Finished:
    """A game whose hidden moves may be shown: it is over, or came from a file."""

    number: int
    reviewed: Reviewed
    color: chess.Color = chess.WHITE  # whose side the review is seen from
    path: Path | None = None  # of a game that was left and may go on


class BoardGame(ABC):
    """A game at the board."""

    kit: Kit
    analysis: str  # the module that is run to analyse a finished game; it writes one line of JSON per turn

    @abstractmethod
    def human(self, inbox: Inbox, show: Callable[[dict[str, Any]], None], earlier: int) -> HumanAtBoard:
        """A human's player; see :class:`klss_app.web.seats.HumanAtBoard`."""

    def engines(self) -> Mapping[str, str]:
        """The configurations that a page may ask for, the easiest first, with a few words on each."""
        return dict.fromkeys(self.kit.configurations, "")

    @abstractmethod
    def kept(self, referee: Any, settings: Settings, headers: Mapping[str, str], *, left: bool) -> Reviewed:
        """A game that was played; ``left``: it is not over."""

    def listed(self, text: str) -> tuple[list[dict[str, Any]], int]:
        """The games of a file as rows to choose from (:func:`klss_app.web.reviews.listed_games`), and the number of its
        games; no rows for a file with one game."""
        return [], 1

    @abstractmethod
    def opened(self, text: str, settings: Settings, number: int = 1) -> Reviewed:
        """A game of a file; raises :class:`BadGame`."""

    @abstractmethod
    def review(self, reviewed: Reviewed) -> dict[str, Any]:
        """The document of a review: ``tags``, ``over``, ``plies``."""

    def annotated(self, reviewed: Reviewed, turns: Sequence[dict[str, Any]]) -> str:
        """The text of a game's file with the analysis of all turns; without it if the format has no place for it."""
        return reviewed.text

    @abstractmethod
    def request(self, reviewed: Reviewed, settings: Settings) -> dict[str, Any]:
        """The request to :attr:`analysis`, without the nodes per turn, the cap of the sets and the turn."""

    @abstractmethod
    def summary(self, turns: Sequence[Mapping[str, Any]], color: str) -> dict[str, Any]:
        """The costs of one side's moves over a game, in a few figures."""
