"""What a game brings to the board in the browser, beside its kit (:mod:`klss.table.kit`).

The server, the seats, the clocks and the page's frame are the same for every game; what a page is sent of a game, and
what can be seen of it afterwards, is the game's own.
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

__all__ = ["BadGame", "BoardGame", "Finished", "Reviewed"]


class BadGame(Exception):
    """A file that holds no game to look at; the text says why."""


@dataclass(frozen=True)
class Reviewed:
    """A game as its reviews read it: ``game`` is the board game's own, ``text`` that of its file, ``plies`` how many
    turns were played."""

    game: Any
    text: str
    plies: int


@dataclass(frozen=True)
class Finished:
    """A game that is public: it is over, or came from a file."""

    number: int
    reviewed: Reviewed
    color: chess.Color = chess.WHITE  # whose side the review is seen from
    path: Path | None = None  # of a game that was left and may go on


class BoardGame(ABC):
    """A game at the board."""

    kit: Kit
    resumes = False  # a game that was left can go on
    analysis: str  # the module that is run to analyse a finished game, a line of JSON a turn

    @property
    def page(self) -> str:
        """Which of its games the page shows: ``fog``, ``rbc``, or ``text``."""
        return self.kit.name

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
        """The games of a file as rows to choose from (:func:`klss_app.web.reviews.listed_games`), and how many it
        holds; no row where it holds one."""
        return [], 1

    @abstractmethod
    def opened(self, text: str, settings: Settings, number: int = 1) -> Reviewed:
        """A game of a file; raises :class:`BadGame`."""

    @abstractmethod
    def review(self, reviewed: Reviewed) -> dict[str, Any]:
        """The document of a review: ``tags``, ``over``, ``plies``."""

    def annotated(self, reviewed: Reviewed, turns: Sequence[dict[str, Any]]) -> str:
        """The text of a game's file with the analysis of all its turns, or without it where the file can't hold it."""
        return reviewed.text

    @abstractmethod
    def request(self, reviewed: Reviewed, settings: Settings) -> dict[str, Any]:
        """What :attr:`analysis` is asked, beside the nodes of a turn, the cap of the sets and the turn."""

    @abstractmethod
    def summary(self, turns: Sequence[Mapping[str, Any]], color: str) -> dict[str, Any]:
        """What a side gave away in all turns of a game."""
