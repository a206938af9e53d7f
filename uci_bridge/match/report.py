"""What a match tells beside its score: how long games and moves were, what the searches looked like, and with which
versions it was played."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from uci_bridge.match.documents import package_versions
from uci_bridge.match.engines import Setup

__all__ = ["MoveStatistics", "spread", "versions"]

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

    def count(self, move: dict[str, Any]) -> None:
        """Count a line of ``moves.jsonl``; what an engine did not report, or in another shape, is left out."""
        self._moves += 1
        for name, key in _NUMBERS.items():
            value = move.get(key)
            if isinstance(value, int | float) and not isinstance(value, bool):
                self._numbers[name].append(float(value))
        if isinstance(move.get("gadget"), str):
            self._gadgets[move["gadget"]] += 1
        if isinstance(move.get("capped_by"), str):
            self._capped[move["capped_by"]] += 1
        if isinstance(move.get("fallbacks"), int):
            self._fallbacks += int(move["fallbacks"])

    def document(self) -> dict[str, Any]:
        """Median, 90 % quantile and maximum of each number (None where there is none), and shares of the moves."""
        counted = sum(self._gadgets.values())
        return {
            "moves": self._moves,
            **{name: spread(values) for name, values in self._numbers.items()},
            "gadgets": {name: round(count / counted, 4) for name, count in sorted(self._gadgets.items())},
            "capped": dict(sorted(self._capped.items())),
            "fallbacks": self._fallbacks,
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


def versions(setup: Setup) -> dict[str, str | None]:
    """What the games were played with: packages, and the programs that evaluators run."""
    return package_versions("numpy", "numba", "highspy", *setup.packages()) | setup.programs()
