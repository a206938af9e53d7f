"""What a game defines for the board in the browser, besides its kit (:mod:`klss.play.kit`).

The server, the seats, the clocks and the page's frame are the same for every game. It is on the referee's side of the
wall.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import chess

from darkchess.evaluation.registry import EvaluatorChoice
from darkchess.fog.game.rules import PAPER, Ruleset
from klss.play.arbiter import Arbiter
from klss.play.limits import TimeControl
from klss.play.outcome import Outcome
from klss_app.front import Front, Step
from klss_app.kept_games import HUMAN, Earlier
from klss_app.known.known import over_document
from klss_app.web.seats import AnyInbox, HumanAtBoard, Inbox

MOST_PLIES = 2000
"""Most plies of a game that is reviewed; each is replayed, and sent to the page."""


class BadGame(Exception):
    """A file that holds no game that can be shown; the text says why."""


@dataclass(frozen=True)
class Settings:
    """The settings of a game; ``players`` holds ``human``, a configuration's text or ``cmd:…``."""

    players: Mapping[chess.Color, str]
    time_s: float | None = 5.0
    nodes: int | None = None
    clock: tuple[float, float] | None = None
    fen: str | None = None
    ruleset: Ruleset = PAPER
    seed: int | None = None
    evaluator: EvaluatorChoice = field(default_factory=EvaluatorChoice)
    earlier: Earlier | None = None

    @property
    def humans(self) -> list[chess.Color]:
        """The colours that humans play."""
        return [color for color in chess.COLORS if self.players[color] == HUMAN]

    @property
    def engine(self) -> str | None:
        """The engine's text; None where two humans play."""
        return next((spec for spec in self.players.values() if spec != HUMAN), None)


@dataclass(frozen=True)
class Reviewed:
    """A game as its reviews read it."""

    referee: Callable[[], Any]  # makes the true game at its end
    outcome: Outcome | None  # how it ended; None: it was left
    text: str  # the game as it is kept in a file
    plies: int  # the number of turns played
    tags: Mapping[str, str]  # what the page shows of it, with White's and Black's names
    rules: str = PAPER.name

    @property
    def names(self) -> tuple[str, str]:
        """White's and Black's names."""
        return self.tags.get("White", "?"), self.tags.get("Black", "?")


@dataclass(frozen=True)
class Finished:
    """A game whose hidden moves may be shown: it is over, or came from a file."""

    number: int
    reviewed: Reviewed
    color: chess.Color = chess.WHITE  # whose side the review is seen from


class BoardGame(Front):
    """A game in the browser."""

    opening: tuple[str, ...]  # a turn of each side, as the kit takes earlier moves

    def warm_up(self) -> None:
        """Load the compiled code that a game between people needs, by showing both the beginning of one."""
        inbox: AnyInbox = Inbox(lambda offer: None)
        people = {color: HumanAtBoard(self.known, inbox, lambda message: None) for color in chess.COLORS}
        referee = self.kit.referee(self.kit.setup(), self.opening)
        Arbiter(referee, people, dict.fromkeys(chess.COLORS, TimeControl())).begin()

    def engines(self) -> Mapping[str, str]:
        """The configurations that a page may ask for, the easiest first, with a few words on each."""
        return dict.fromkeys(self.kit.configurations, "")

    def kept(self, referee: Any, settings: Settings, headers: Mapping[str, str], *, left: bool) -> Reviewed:
        """A game that was played; ``left``: it is not over."""
        tags = {side: headers[side] for side in ("White", "Black")}
        outcome = None if left else referee.outcome
        return Reviewed(lambda: referee, outcome, self.kit.record(referee, headers), referee.ply, tags)

    def opened(self, text: str, settings: Settings) -> Reviewed:
        """The game of a file; raises :class:`BadGame`."""
        raise BadGame("got a file of a game, expected none: this game has no review")

    def review(self, reviewed: Reviewed) -> dict[str, Any]:
        """The document of a review.

        Returns
        -------
        dict
            ``tags``; ``over`` as in a game's messages, or None; ``plies``, from the start position on: ``move`` (UCI)
            and ``san`` that led there, ``turn``, ``number``, FEN's first fields: ``truth``, and what ``white`` and
            ``black`` saw, and what only this game's page shows.
        """
        plies = [_document(step) for step in self.steps(reviewed.referee())]
        return {"tags": dict(reviewed.tags), "over": over_document(reviewed.outcome), "plies": plies}

    def annotated(self, reviewed: Reviewed, turns: Sequence[dict[str, Any]]) -> str:
        """The text of a game's file with the analysis of all turns; without it if the format has no place for it."""
        return reviewed.text

    def request(self, reviewed: Reviewed, settings: Settings) -> dict[str, Any]:
        """The request to :mod:`klss_app.analysis.process`, without the nodes per turn and the cap of the sets."""
        return {
            "game": self.kit.name,
            "text": reviewed.text,
            "rules": reviewed.rules,
            "configuration": self.kit.default_player,
            "evaluator": settings.evaluator.name,
            "stockfish": settings.evaluator.stockfish,
        }


class TextBoard(BoardGame):
    """Any game without a chessboard: its page shows texts and the open answers; it has no review."""

    def __init__(self, front: Front) -> None:
        super().__init__(front.kit)
        self.known = front.known

    def warm_up(self) -> None:
        return

    def request(self, reviewed: Reviewed, settings: Settings) -> dict[str, Any]:
        raise BadGame("got a game to analyse, expected none: this game has no review")


def _document(step: Step) -> dict[str, Any]:
    """A ply of a review."""
    return {
        "move": step.move,
        "san": step.letters,
        "turn": chess.COLOR_NAMES[step.turn],
        "number": step.number,
        "truth": step.truth.text,
        **{chess.COLOR_NAMES[color]: picture.text for color, picture in step.known.items()},
        **(step.extra or {}),
    }
