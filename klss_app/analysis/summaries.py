"""A whole game's analysis in a few figures: the cost of each side's moves, its luck, and the costliest moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

NODES = 2000
"""Nodes per turn in the analysis of a whole game."""

CAP = 1_000_000
"""Most positions in either side's set during the analysis; beyond that it is a sample."""

MARKS = {"??": 0.24, "?": 0.12, "?!": 0.06}
"""Least cost of a move with each mark. Differences below .03 are noise in so short a search; the mildest mark begins at
twice that, and each next one at double the cost.
"""

_COSTLIEST = 5
LEAST_COST = 0.005
"""Least cost of a move that is listed among the costliest."""


def mark(cost: float | None) -> str:
    """The mark of a move of that cost; empty below the least mark.

    >>> mark(0.3), mark(0.07), mark(0.05)
    ('??', '?!', '')
    """
    return next((sign for sign, least in MARKS.items() if cost is not None and cost >= least), "")


MOST_MOVES = 8
"""Moves of a mixture that a record has."""

LEAST_SHOWN = 0.001
"""Least probability that a record has."""


def likely(pieces: Mapping[str, float]) -> dict[str, float]:
    """Return the probabilities of pieces on a square, rounded, without those that are nearly impossible."""
    return {letter: round(p, 4) for letter, p in pieces.items() if p >= LEAST_SHOWN}


def rounded(value: float | None) -> float | None:
    """Return a value as a record has it."""
    return None if value is None else round(value, 4)


@dataclass
class Sums:
    """Sums over the costs of moves; in blind chess of looks too, while no luck is known."""

    moves: int = 0
    valued: int = 0
    cost: float = 0.0
    judged: int = 0
    luck: float = 0.0
    looked: int = 0
    look_cost: float = 0.0
    marks: Counter[str] = field(default_factory=Counter)

    def add(self, played: Mapping[str, Any]) -> None:
        """Count a move."""
        self.moves += 1
        if played["turned"] is not None:
            self.judged += 1
            self.luck += played["turned"]
        if played["loss"] is not None:
            self.valued += 1
            self.cost += max(0.0, played["loss"])
            self.marks[mark(played["loss"])] += 1
        if played.get("look_loss") is not None:
            self.looked += 1
            self.look_cost += played["look_loss"]

    def document(self) -> dict[str, Any]:
        """The fields of a summary in docs/analyse.md but the costliest moves."""
        return {
            "moves": self.moves,
            "mean_cost": round(self.cost / self.valued, 4) if self.valued else None,
            "mean_luck": round(self.luck / self.judged, 4) if self.judged else None,
            "marks": {sign: self.marks[sign] for sign in MARKS},
            **({"mean_look_cost": round(self.look_cost / self.looked, 4)} if self.looked else {}),
        }


def summary(turns: Sequence[Mapping[str, Any]], color: str) -> dict[str, Any]:
    """The costs of ``color`` in ``turns``, records of :mod:`klss_app.analysis`: ``summary`` in docs/analyse.md.

    >>> played = {"san": "e4", "p": 0.5, "loss": 0.25, "turned": -0.5}
    >>> turn = {"ply": 0, "color": "white", "positions": {"white": [1, False]}, "played": played, "best": {}}
    >>> found = summary([turn], "white")
    >>> found["mean_cost"], found["mean_luck"], found["marks"], [each["san"] for each in found["costliest"]]
    (0.25, -0.5, {'??': 1, '?': 0, '?!': 0}, ['e4'])
    """
    own, sums = [turn for turn in turns if turn["color"] == color], Sums()
    for turn in own:
        sums.add(turn["played"])
    worst = sorted(
        (turn for turn in own if (turn["played"]["loss"] or 0.0) >= LEAST_COST),
        key=lambda turn: -turn["played"]["loss"],
    )
    return {
        **sums.document(),
        "costliest": [costly(turn) for turn in worst[:_COSTLIEST]],
    }


def costly(turn: Mapping[str, Any]) -> dict[str, Any]:
    """The move of a turn in a list of costly ones."""
    played = turn["played"]
    return {
        "ply": turn["ply"],
        "san": played["san"],
        "cost": played["loss"],
        "positions": turn.get("after_look", turn["positions"][turn["color"]][0]),
        "best": turn["best"],
        "probability": played["p"],
        "turned": played["turned"],
    }
