"""The limits of a search: nodes or time.

With a node budget nothing reads a clock, so the same seed gives the same bytes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass
class Budget:
    """A limit on one search; construct it when the search's time starts."""

    nodes: int | None = None  # most nodes that are added (the last expansion may exceed it by one node's children)
    seconds: float | None = None  # wall time from ``started`` on, the final solve included
    started: float | None = None  # ``time.monotonic()`` at the start; None where no clock is read

    def __post_init__(self) -> None:
        if self.nodes is None and self.seconds is None:
            raise ValueError("a search needs a limit, got neither nodes nor seconds; give one")
        if self.seconds is not None and self.started is None:
            self.started = time.monotonic()

    def elapsed(self) -> float:
        """Seconds since the start; 0 where no clock is read."""
        return 0.0 if self.started is None else time.monotonic() - self.started

    def left(self) -> float:
        """Seconds left; infinite without a time limit."""
        return float("inf") if self.seconds is None else self.seconds - self.elapsed()

    def nodes_left(self, added: int) -> float:
        """Nodes left after ``added``; infinite without a node limit."""
        return float("inf") if self.nodes is None else self.nodes - added
