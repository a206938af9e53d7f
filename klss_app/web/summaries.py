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


@dataclass
class Sums:
    """Sums over the costs of moves; of those of blind chess no luck is known."""

    moves: int = 0
    valued: int = 0
    cost: float = 0.0
    judged: int = 0
    luck: float = 0.0
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

    def document(self) -> dict[str, Any]:
        """The fields of a summary in docs/analyse.md but the costliest moves."""
        return {
            "moves": self.moves,
            "mean_cost": round(self.cost / self.valued, 4) if self.valued else None,
            "mean_luck": round(self.luck / self.judged, 4) if self.judged else None,
            "marks": {sign: self.marks[sign] for sign in MARKS},
        }


def summary(turns: Sequence[Mapping[str, Any]], color: str) -> dict[str, Any]:
    """The costs of ``color`` in ``turns``, documents of :func:`klss_app.web.game_analysis.turn_document`: the fields of
    ``summary`` in docs/analyse.md.

    >>> played = {"san": "e4", "p": 0.5, "loss": 0.25, "turned": -0.5}
    >>> turn = {"ply": 0, "color": "white", "positions": {"white": [1, False]}, "played": played, "best": {}}
    >>> found = summary([turn], "white")
    >>> found["mean_cost"], found["mean_luck"], found["marks"], [each["san"] for each in found["costliest"]]
    (0.25, -0.5, {'??': 1, '?': 0, '?!': 0}, ['e4'])
    """
    own, sums = [turn for turn in turns if turn["color"] == color], Sums()
    for turn in own:
        sums.add(turn["played"])
    looks = [turn["played"]["look_loss"] for turn in own if turn["played"].get("look_loss") is not None]
    worst = sorted(
        (turn for turn in own if (turn["played"]["loss"] or 0.0) >= LEAST_COST),
        key=lambda turn: -turn["played"]["loss"],
    )
    return {
        **sums.document(),
        **({"mean_look_cost": round(sum(looks) / len(looks), 4)} if looks else {}),
        "costliest": [
            {
                "ply": turn["ply"],
                "san": turn["played"]["san"],
                "cost": turn["played"]["loss"],
                "positions": turn["positions"][color][0],
                "best": turn["best"],
                "probability": turn["played"]["p"],
                "turned": turn["played"]["turned"],
            }
            for turn in worst[:_COSTLIEST]
        ],
    }
