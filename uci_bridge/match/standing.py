"""The count of a match, from A's side: of any game."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from klss.table.contest import TruthCount
from uci_bridge.match.report import MoveStatistics, spread
from uci_bridge.match.statistics import Elo, PairCounter, Sprt, SprtState, elo_of_match
from uci_bridge.match.task import Side, sides

__all__ = ["Record", "Standing"]


@dataclass
class Record:
    """Games won, drawn and lost by A."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        """Games counted."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Wins and half the draws."""
        return self.wins + self.draws / 2

    def add(self, winner: Side | None) -> None:
        """Count a game."""
        self.wins += winner == "a"
        self.losses += winner == "b"
        self.draws += winner is None

    def document(self) -> dict[str, Any]:
        """As JSON."""
        counts = {"wins": self.wins, "draws": self.draws, "losses": self.losses}
        return {"games": self.games, "score": self.score, **counts}


class Standing(Record):
    """The count so far, from A's side, and the test ``sprt`` over the pairs, if there is one."""

    def __init__(self, sprt: Sprt | None = None) -> None:
        super().__init__()
        self.truth = TruthCount()  # summed over games, in test mode
        self.by_color = {"white": Record(), "black": Record()}  # the same count for A's games as White and as Black
        self.pairs = PairCounter(sprt)  # the pairs, and the test
        self.plies: list[float] = []  # each game's length
        self.reasons: dict[str, int] = {}  # how often games ended how
        self.moves = {"a": MoveStatistics(), "b": MoveStatistics()}  # of each side

    @property
    def elo(self) -> Elo:
        """The Elo difference so far."""
        return elo_of_match(self.score, self.games, self.pairs.counts)

    @property
    def sprt(self) -> SprtState | None:
        """Where the test stands; None without one."""
        return self.pairs.tested

    @property
    def decided(self) -> bool:
        """Whether the test has taken a side."""
        return self.pairs.tested is not None and self.pairs.tested.decision is not None

    def count(self, line: dict[str, Any], moves: list[dict[str, Any]] | None = None) -> None:
        """Count a line of ``games.jsonl``, and its moves."""
        winner = line["winner"]
        self.add(winner)
        white = next(color for color, side in sides(line["game"]).items() if side == "a")
        self.by_color["white" if white else "black"].add(winner)
        self.pairs.count(line["pair"], {"a": 2, None: 1, "b": 0}[winner])
        self.plies.append(line["plies"])
        self.reasons[line["reason"]] = self.reasons.get(line["reason"], 0) + 1
        for name, number in line.get("truth", {}).items():
            setattr(self.truth, name, getattr(self.truth, name) + number)
        self.count_moves(moves or [])

    def count_moves(self, moves: list[dict[str, Any]]) -> None:
        """Count lines of ``moves.jsonl``."""
        for move in moves:
            self.moves[move["player"]].count(move)

    def statistics(self) -> dict[str, Any]:
        """Lengths of games, how they ended, and what each side's moves were like."""
        return {
            "plies": spread(self.plies),
            "reasons": dict(sorted(self.reasons.items())),
            **{side: moves.document() for side, moves in self.moves.items()},
        }
