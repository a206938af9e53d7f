"""A whole game's analysis in a few figures: the cost of each side's moves, its luck, and the costliest moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


def summary(turns: Sequence[Mapping[str, Any]], color: str) -> dict[str, Any]:
    """The costs of ``color`` in ``turns``, documents of :func:`klss_app.web.game_analysis.turn_document`: the fields of
    ``summary`` in docs/analyse.md.

    >>> played = {"san": "e4", "p": 0.5, "loss": 0.25, "turned": -0.5}
    >>> turn = {"ply": 0, "color": "white", "positions": {"white": [1, False]}, "played": played, "best": {}}
    >>> found = summary([turn], "white")
    >>> found["mean_cost"], found["mean_luck"], found["marks"], [each["san"] for each in found["costliest"]]
    (0.25, -0.5, {'??': 1, '?': 0, '?!': 0}, ['e4'])
    """
    own = [turn for turn in turns if turn["color"] == color]
    known = [turn for turn in own if turn["played"]["loss"] is not None]
    costs = [max(0.0, turn["played"]["loss"]) for turn in known]
    worst = sorted(
        (turn for turn in known if turn["played"]["loss"] >= LEAST_COST), key=lambda turn: -turn["played"]["loss"]
    )
    return {
        "moves": len(own),
        "mean_cost": round(sum(costs) / len(costs), 4) if costs else None,
        "mean_luck": round(sum(turn["played"]["turned"] for turn in own) / len(own), 4) if own else None,
        "marks": {sign: sum(mark(cost) == sign for cost in costs) for sign in MARKS},
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
