"""The results of a match: the score from A's side, lengths of games, and statistics of the moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from klss.play.contest import TruthCount
from klss.support.text import Document
from uci_bridge.match.game import GameLine, Side, sides
from uci_bridge.match.statistics import Elo, PairCounter, Sprt, SprtState, elo_of_match

_NUMBERS = {
    "positions": "positions",
    "nodes": "nodes",
    "depth": "depth",
    "seconds": "seconds_wall",
}
"""Name in the statistics -> key of a line of ``moves.jsonl``."""


class MoveStatistics:
    """Counts of the moves of one side."""

    def __init__(self) -> None:
        self._numbers: dict[str, list[float]] = {name: [] for name in _NUMBERS}
        self._gadgets: Counter[str] = Counter()
        self._capped: Counter[str] = Counter()
        self._moves = 0
        self._fallbacks = 0

    def count(self, move: Mapping[str, object]) -> None:
        """Count a line of ``moves.jsonl``; missing fields, and fields of another type, are left out."""
        self._moves += 1
        for name, key in _NUMBERS.items():
            value = move.get(key)
            if isinstance(value, int | float) and not isinstance(value, bool):
                self._numbers[name].append(float(value))
        gadget, capped, fallbacks = move.get("gadget"), move.get("capped_by"), move.get("fallbacks")
        if isinstance(gadget, str):
            self._gadgets[gadget] += 1
        if isinstance(capped, str):
            self._capped[capped] += 1
        if isinstance(fallbacks, int):
            self._fallbacks += fallbacks

    def document(self) -> Document:
        """Median, 90 % quantile and maximum of each number (None without data), and shares of the moves."""
        counted = sum(self._gadgets.values())
        return {
            "moves": self._moves,
            **{name: spread(values) for name, values in self._numbers.items()},
            "gadgets": {name: round(count / counted, 4) for name, count in sorted(self._gadgets.items())},
            "capped": dict(sorted(self._capped.items())),
            "fallbacks": self._fallbacks,
        }


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
        self.plies: list[float] = []  # each game's length
        self.reasons: dict[str, int] = {}  # number of games by the reason of their end
        self.moves = {"a": MoveStatistics(), "b": MoveStatistics()}  # of each side

    @property
    def elo(self) -> Elo:
        """The Elo difference so far."""
        return elo_of_match(self.score, self.games, self.pairs.counts)

    @property
    def sprt(self) -> SprtState | None:
        """The state of the test; None without one."""
        return self.pairs.tested

    @property
    def decided(self) -> bool:
        """Whether the test has decided."""
        return self.pairs.tested is not None and self.pairs.tested.decision is not None

    def count(self, line: GameLine, moves: Sequence[Document] = ()) -> None:
        """Count a line of ``games.jsonl``, and its moves."""
        winner = line["winner"]
        self.add(winner)
        white = next(color for color, side in sides(line["game"]).items() if side == "a")
        self.by_color["white" if white else "black"].add(winner)
        self.pairs.count(line["pair"], 1 if winner is None else 2 if winner == "a" else 0)
        self.plies.append(line["plies"])
        self.reasons[line["reason"]] = self.reasons.get(line["reason"], 0) + 1
        if "truth" in line:
            truth = line["truth"]
            self.truth.checks += truth["checks"]
            self.truth.lost += truth["lost"]
            self.truth.sampled += truth["sampled"]
        self.count_moves(moves)

    def count_moves(self, moves: Sequence[Document]) -> None:
        """Count lines of ``moves.jsonl``."""
        for side, counts in self.moves.items():
            for move in moves:
                if move["player"] == side:
                    counts.count(move)

    def statistics(self) -> Document:
        """Lengths of games, the reasons of their ends, and statistics of each side's moves."""
        return {
            "plies": spread(self.plies),
            "reasons": dict(sorted(self.reasons.items())),
            **{side: moves.document() for side, moves in self.moves.items()},
        }


def spread(values: list[float]) -> dict[str, float] | None:
    """Median, 90 % quantile and maximum; None without values.

    >>> spread([1.0, 2.0, 3.0])
    {'median': 2.0, 'p90': 2.8, 'max': 3.0}
    """
    if not values:
        return None
    median, high = np.percentile(values, [50, 90])
    return {"median": round(float(median), 4), "p90": round(float(high), 4), "max": round(max(values), 4)}
