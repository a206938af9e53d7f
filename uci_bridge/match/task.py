"""The messages between a match and its workers: a game to be played, and one that was."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from klss.table.outcome import Seat
from uci_bridge.match.openings import Opening

Side = str
"""``"a"`` or ``"b"``."""


def sides(game: int) -> dict[Seat, Side]:
    """The side in each seat: A has White in the games of even number."""
    return {True: "a" if game % 2 == 0 else "b", False: "b" if game % 2 == 0 else "a"}


@dataclass(frozen=True)
class GameTask:
    """A game to be played."""

    game: int  # its number; games 2k and 2k+1 are pair k
    seed: int
    opening: Opening = field(default_factory=Opening)  # its pair's

    @property
    def pair(self) -> int:
        """Number of its pair."""
        return self.game // 2


@dataclass(frozen=True)
class GameResult:
    """A game that was played."""

    line: dict[str, Any]  # for ``games.jsonl``
    record: str  # the game, as a text
    moves: list[dict[str, Any]]  # for ``moves.jsonl``: each turn that a player played, with its diagnostics
    suffix: str = ".pgn"  # of the file that the record is kept in
