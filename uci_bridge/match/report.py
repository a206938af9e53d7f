"""The results of a match: the score from A's side, and how its games end."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from klss.play.contest import TruthCount
from klss.support.text import Document
from uci_bridge.match.game import GameLine, Side, sides
from uci_bridge.match.statistics import Elo, PairCounter, Sprt, elo_of_match


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

    def document(self) -> Document:
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
        self.reasons: Counter[str] = Counter()  # number of games by the reason of their end

    @property
    def elo(self) -> Elo:
        """The Elo difference so far."""
        return elo_of_match(self.score, self.games, self.pairs.counts)

    @property
    def sprt(self) -> Sprt | None:
        """The state of the test; None without one."""
        return self.pairs.tested

    @property
    def decided(self) -> bool:
        """Whether the test has decided."""
        return self.pairs.tested is not None and self.pairs.tested.decision is not None

    def count(self, line: GameLine) -> None:
        """Count a line of ``games.jsonl``."""
        winner = line["winner"]
        self.add(winner)
        white = next(color for color, side in sides(line["game"]).items() if side == "a")
        self.by_color["white" if white else "black"].add(winner)
        self.pairs.count(line["pair"], 1 if winner is None else 2 if winner == "a" else 0)
        self.reasons[line["reason"]] += 1
        if "truth" in line:
            truth = line["truth"]
            self.truth.checks += truth["checks"]
            self.truth.lost += truth["lost"]
            self.truth.sampled += truth["sampled"]
