"""What a game defines for the board in the browser, besides its kit (:mod:`klss.table.kit`).

The server, the seats, the clocks and the page's frame are the same for every game. Each game defines the messages that
its pages get, and the review of a finished game.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import chess

from klss.table.arbiter import Arbiter
from klss.table.contest import Decision, Player
from klss.table.kit import Kit
from klss.table.limits import Limit, Progress, TimeControl
from klss.table.outcome import Seat
from klss_app.web.seats import HumanAtBoard, Inbox

if TYPE_CHECKING:
    from klss_app.web.settings import Settings

MOST_PLIES = 2000
"""Most plies of a game that is reviewed; each is replayed, and sent to the page."""


class BadGame(Exception):
    """A file that holds no game that can be shown; the text says why."""


@dataclass(frozen=True)
class Reviewed:
    """A game as its reviews read it: ``game`` in the board game's own type, ``text`` as it is kept in a file, ``plies``
    the number of turns played, and White's and Black's ``names``."""

    game: Any
    text: str
    plies: int
    names: tuple[str, str]


@dataclass(frozen=True)
class Finished:
    """A game whose hidden moves may be shown: it is over, or came from a file."""

    number: int
    reviewed: Reviewed
    color: chess.Color = chess.WHITE  # whose side the review is seen from


class BoardGame(ABC):
    """A game at the board."""

    kit: Kit
    rehearsal: tuple[str, ...]  # what people may type from the first question of a game on, for a turn of each side
    analysis: str  # the module that is run to analyse a finished game; it writes one line of JSON per turn

    @abstractmethod
    def human(self, inbox: Inbox, show: Callable[[dict[str, Any]], None], earlier: int) -> HumanAtBoard:
        """A human's player; see :class:`klss_app.web.seats.HumanAtBoard`."""

    def warm_up(self) -> None:
        """Load the compiled code that a game between people needs, by playing the beginning of one."""
        inbox, typed = Inbox(lambda offer: None), iter(self.rehearsal)
        people = {color: _Rehearsing(self.human(inbox, lambda message: None, 0), typed) for color in chess.COLORS}
        arbiter = Arbiter(self.kit.referee(self.kit.setup()), people, dict.fromkeys(chess.COLORS, TimeControl()))
        arbiter.begin()
        for _ in people:
            arbiter.play_turn()

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
        """The request to :attr:`analysis`, without the nodes per turn and the cap of the sets."""


class _Rehearsing(Player):
    """A human at no page, who types the next of these texts."""

    def __init__(self, human: HumanAtBoard, typed: Iterator[str]) -> None:
        self._human, self._typed = human, typed

    def begin(self, seat: Seat, setup: Any) -> None:
        self._human.begin(seat, setup)

    def observe(self, observation: Any) -> None:
        self._human.observe(observation)

    def answer(self, question: Any, limit: Limit, progress: Progress | None = None) -> Decision:
        self._human.move(next(self._typed), self._human.asked[1])
        return self._human.answer(question, limit)
