"""The growth of one search's trunk: expands leaves, counts nodes, keeps the limits.

Every expander adds its leaves through :meth:`Growth.expand`, so one place knows how many nodes are left, how much time
the next equilibrium needs, and how much memory a trunk takes.

Threads: a batch is divided into small pieces. Each is first *prepared* (children, observations, values: the model's
work, in kernels that release the interpreter's lock), then *attached*, in the order of the leaves. Each thread takes
the next piece until none is left, the first thread only after it has run ``beside`` (the solver's iterations on the
current trunk). One thread at a time attaches, and writes only new entries, the links from the batch's leaves to their
children, and the first sequences of these leaves' infosets. No other thread reads any of that: a piece is prepared from
its leaves' states and the observations on the way there, and the solver has its own arrays, of the trunk without the
batch. The pieces, their expansions and the order of attaching do not depend on the thread that does it. With a node
budget, therefore, every byte is the same on any number of threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from klss.search.budget import Budget
from klss.search.model import Expansion, Model
from klss.search.trunk import Trunk
from klss.search.utilities import Utilities
from klss.support.arrays import Ints, Keys
from klss.support.threads import share

Progress = Callable[[dict[str, float]], None]
"""Called now and then during a search, with ``nodes``, ``depth`` and ``seconds``."""

_BATCH = 64
"""Most leaves that are expanded between two checks of the budget."""

_PIECE = 4
"""Leaves of a piece, which one thread prepares; few, so that all threads end at about the same time. With one thread a
batch is one piece.
"""

_LEAVES_A_SECOND = 250
"""Most leaves of a batch for each second left: even on a slow, busy machine a batch then takes at most a quarter of the
time left.
"""

_BATCH_SHARE = 0.25
"""Largest fraction of the time left that a batch may take, estimated from the batch before: in some games the value of
one leaf costs thousands of playouts.
"""

_NODES_A_LEAF = 32
"""Expected children of a leaf: towards the end of a node budget, batches get smaller accordingly."""

_NATURE_AT_ONCE = 20_000
"""Nodes of a batch after which nature's nodes are left to later batches: a hand of cards dealt one by one has more
outcomes than any trunk could contain.
"""

_BYTES_A_NODE = 1000
"""Bytes of memory for each node, rounded up: measured in a trunk of Fog of War chess of 400,000 nodes, including the
linear program and HiGHS's arrays.
"""


@dataclass
class Growth:
    """Expands leaves of one search's trunk within its limits."""

    trunk: Trunk
    model: Model
    budget: Budget
    history: Keys  # keys of player 0's observations in the game so far, sorted, with repeats
    memory_mb: int  # growth stops when the trunk and its programs are estimated at this many megabytes
    reserve_s: Callable[[Trunk, Budget], float]  # seconds to keep for the next equilibrium, within a budget
    rng: np.random.Generator  # for an expander's random draws
    utilities: Utilities  # on the trunk, for the other parts of the search too
    threads: int = 1
    progress: Progress | None = None  # called by tell
    added: int = 0  # nodes so far, including nodes that were only visited
    most: float = float("inf")  # limit of ``added``, whatever the budget
    starts: Ints | None = None  # nodes below which the trunk grows first; None: the roots
    played: int = -1  # player 0's sequence at the root infoset below which alone the trunk should grow; −1: everywhere
    leaf_s: float | None = None  # seconds of a leaf in the last batch; None before the first, and without a clock

    @property
    def room(self) -> float:
        """Number of nodes that may still be added."""
        return min(self.budget.nodes_left(self.added), self.most - self.added)

    @property
    def spent(self) -> bool:
        """Whether nodes, time or memory are used up."""
        full = self.trunk.node_count * _BYTES_A_NODE >= self.memory_mb * 1_000_000
        late = self.budget.left() <= self.reserve_s(self.trunk, self.budget)
        return self.room <= 0 or late or full

    def open_roots(self) -> None:
        """Expand the unexpanded roots within the limits, those at player 0's present infoset first. If none of these is
        expanded yet, one is expanded whatever the limits, so that player 0 has actions.
        """
        trunk = self.trunk
        unopened = np.flatnonzero(trunk.open_leaf[: trunk.root_count])
        elsewhere = trunk.nodes.infoset[unopened, 0] != 0
        here = len(unopened) - int(elsewhere.sum())
        unopened = unopened[np.argsort(elsewhere, kind="stable")]
        self.expand(unopened, at_least=1 if here == len(trunk.members(0)) else 0)

    def expand(self, leaves: Ints, *, at_least: int = 0, beside: Callable[[], None] | None = None) -> None:
        """Expand ``leaves`` (int64[n], distinct open leaves) in batches within the limits, but ``at_least`` that many
        of them. ``beside`` is run once while the first batch is expanded: it must not read the trunk, which grows.
        """
        at = 0
        while at < len(leaves) and (at < at_least or not self.spent):
            # A batch that most likely stays within the nodes left and takes only a fraction of the time left.
            room = self.room
            size = _BATCH if room == float("inf") else max(1, min(_BATCH, int(room) // _NODES_A_LEAF))
            if self.budget.seconds is not None:
                left, began = self.budget.left(), self.budget.elapsed()
                affordable = 1 if self.leaf_s is None else int(_BATCH_SHARE * left / max(self.leaf_s, 1e-9))
                size = max(1, min(size, int(_LEAVES_A_SECOND * left), affordable))
            batch = leaves[at : at + size]
            self.added += self._expand(batch, beside)
            # Measure a leaf's time only if nothing else ran in parallel.
            if self.budget.seconds is not None and beside is None:
                self.leaf_s = (self.budget.elapsed() - began) / len(batch)
            at, beside = at + size, None

    def _expand(self, leaves: Ints, beside: Callable[[], None] | None) -> int:
        """Prepare and attach ``leaves``; return the number of nodes added."""
        # A node of nature should not stay a leaf: its children belong to the batch, up to a bound.
        before = self.trunk.node_count
        while len(leaves) and self.trunk.node_count - before <= _NATURE_AT_ONCE:
            start = self.trunk.node_count
            nature = self._attach(leaves, beside)
            leaves, beside = self.trunk.nature_since(start) if nature else leaves[:0], None
        return self.trunk.node_count - before

    def _attach(self, leaves: Ints, beside: Callable[[], None] | None) -> int:
        """Prepare ``leaves`` in pieces and attach these in order; return how many of the children are nature's."""
        size = len(leaves) if self.threads == 1 else _PIECE
        pieces = [leaves[at : at + size] for at in range(0, len(leaves), size)]
        expansions: dict[int, Expansion] = {}  # prepared, not yet attached
        attaching, attached, nature = threading.Lock(), 0, 0

        def prepare(at: int) -> None:
            nonlocal attached, nature
            expansions[at] = self.trunk.prepare(pieces[at], self.model, self.history)
            # Attach what is next. If another thread is at it, it looks once more after it has released the lock.
            while attached in expansions and attaching.acquire(blocking=False):
                try:
                    while (expansion := expansions.pop(attached, None)) is not None:
                        nature += self.trunk.attach(pieces[attached], expansion)
                        attached += 1
                finally:
                    attaching.release()

        share(prepare, len(pieces), self.threads, beside)
        return nature

    def tell(self, depth: int) -> None:
        """Report progress: nodes, depth and seconds."""
        if self.progress is not None:
            self.progress({"nodes": float(self.added), "depth": float(depth), "seconds": self.budget.elapsed()})
