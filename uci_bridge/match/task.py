"""What the machinery of a match knows of the game that is played: nothing but this file.

Who plays (``pool``, ``workers``), what is kept (``files``) and what is counted (``standing``, ``any_match``) is the
same for every game; a :class:`GameSetup` is where a game comes in.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import chess

from klss.table.limits import TimeControl
from uci_bridge.evaluators import EvaluatorChoice
from uci_bridge.match.openings import Opening

__all__ = ["GameEngines", "GameResult", "GameSetup", "GameTask", "Side", "Spec", "sides"]

Side = str
"""``"a"`` or ``"b"``."""


def sides(game: int) -> dict[chess.Color, Side]:
    """Who has which colour: A has White in the games of even number."""
    return {chess.WHITE: "a" if game % 2 == 0 else "b", chess.BLACK: "b" if game % 2 == 0 else "a"}


@dataclass(frozen=True)
class GameTask:
    """A game to be played.

    Attributes
    ----------
    game
        Its number; games 2k and 2k+1 are pair k.
    seed
        Its own.
    opening
        Its pair's.
    """

    game: int
    seed: int
    opening: Opening = field(default_factory=Opening)

    @property
    def pair(self) -> int:
        """Number of its pair."""
        return self.game // 2


@dataclass(frozen=True)
class GameResult:
    """A game that was played.

    Attributes
    ----------
    line
        For ``games.jsonl``.
    record
        The game, as a text.
    moves
        For ``moves.jsonl``: each move that a player made, with her diagnostics.
    suffix
        Of the file that the record is kept in.
    """

    line: dict[str, Any]
    record: str
    moves: list[dict[str, Any]]
    suffix: str = ".pgn"


class Spec(Protocol):
    """Who may play a match."""

    @property
    def name(self) -> str:
        """As it is named in results."""
        ...

    def fields(self) -> dict[str, Any]:
        """What results hold."""
        ...


class GameEngines(Protocol):
    """What plays the games of one worker, one game at a time."""

    def play(self, task: GameTask) -> GameResult:
        """Play a game to its end; what an engine does wrong costs it the game and raises nothing."""
        ...

    def close(self, *, at_once: bool = False) -> None:
        """End the processes; ``at_once``: without leaving them a moment."""
        ...


class GameSetup(Protocol):
    """What all games of a match have in common; it is sent to the workers."""

    @property
    def budget(self) -> TimeControl:
        """What limits both players."""
        ...

    @property
    def evaluator(self) -> EvaluatorChoice:
        """For configurations that leave theirs open."""
        ...

    def engines(self) -> GameEngines:
        """What plays the games here."""
        ...

    def evaluator_label(self, side: Side) -> str | None:
        """What values the positions of that side, as people read it; None: nothing, or nobody knows."""
        ...

    def packages(self) -> tuple[str, ...]:
        """What the games depend on, beside klss and what it computes with."""
        ...

    def uses_stockfish(self) -> bool:
        """Whether a Stockfish that we start values positions or moves."""
        ...
