"""The growth of one search's trunk: leaves in, nodes counted, limits kept.

Every expander adds its leaves through :meth:`Growth.expand`; so there is one place that knows how many nodes are left,
how much time the next equilibrium needs, and how much memory a trunk takes.

Threads: only the thread that runs the search touches the trunk. Whoever works beside it (evaluators, an expander that
prepares the next leaves) is given copies of states and hands back an :class:`klss.search.model.Expansion`; it is
attached at the hand-over point, which is here. So arrays may grow, and with a node budget the order of attaching, and
with it every byte, does not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from klss.arrays import Ints, Keys
from klss.search.budget import Budget
from klss.search.model import Model
from klss.search.trunk import Trunk

__all__ = ["Growth", "Progress"]

Progress = Callable[[dict[str, float]], None]

_BATCH = 64
"""Leaves expanded between two looks at the budget."""

_LEAVES_A_SECOND = 250
"""Leaves of a batch for each second that is left.

A batch then takes a quarter of that time at the most on a slow, busy machine.
"""

_NODES_A_LEAF = 32
"""What a leaf is expected to add, where nodes run out."""

_BYTES_A_NODE = 1000
"""Measured, rounded up.

A node of a dark-chess trunk of 400,000, its share of the program and of HiGHS's work included.
"""


@dataclass
class Growth:
    """How one search's trunk grows.

    Attributes
    ----------
    trunk : Trunk
    model : Model
    budget : Budget
    history : uint64[k]
        Keys of player 0's observations in the game so far, sorted, with repeats.
    memory_mb : int
        The trunk stops growing when it and its programs are estimated at so many megabytes.
    reserve_s : callable
        Seconds to keep for the next equilibrium of the trunk as it stands.
    progress : callable or None
        Whom :meth:`tell` tells.
    added : int
        Nodes added so far, those that were only visited included.
    """

    trunk: Trunk
    model: Model
    budget: Budget
    history: Keys
    memory_mb: int
    reserve_s: Callable[[Trunk], float]
    progress: Progress | None = None
    added: int = 0

    @property
    def spent(self) -> bool:
        """Whether nodes, time or memory have run out."""
        full = self.trunk.node_count * _BYTES_A_NODE >= self.memory_mb * 1_000_000
        return self.budget.nodes_left(self.added) <= 0 or self.left_s() <= 0.0 or full

    def left_s(self) -> float:
        """Seconds left for growing; infinite without a time limit."""
        return self.budget.left() - self.reserve_s(self.trunk)

    def expand(self, leaves: Ints, *, at_least: int = 0) -> None:
        """Expand ``leaves`` (int64[n], distinct open leaves) in batches while the limits allow, ``at_least`` so many
        of them.
        """
        at = 0
        while at < len(leaves) and (at < at_least or not self.spent):
            room = self.budget.nodes_left(self.added)
            size = _BATCH if room == float("inf") else max(1, min(_BATCH, int(room) // _NODES_A_LEAF))
            if self.budget.seconds is not None:
                size = max(1, min(size, int(_LEAVES_A_SECOND * self.budget.left())))
            self.added += self.trunk.expand(leaves[at : at + size], self.model, self.history)
            at += size

    def tell(self, depth: int) -> None:
        """Report progress: nodes, depth and seconds."""
        if self.progress is not None:
            told = {"nodes": self.added, "depth": depth, "seconds": self.budget.elapsed()}
            self.progress({key: float(value) for key, value in told.items()})
