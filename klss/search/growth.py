"""The growth of one search's trunk: leaves in, nodes counted, limits kept.

Every expander adds its leaves through :meth:`Growth.expand`; so there is one place that knows how many nodes are left,
how much time the next equilibrium needs, and how much memory a trunk takes.

Threads: a batch is *prepared* (children, observations, values: the model's work, in kernels that release the lock),
then *attached*, in the order of its leaves, by the thread that runs the search. Preparing is shared out in small
pieces: a second thread takes the next piece until none is left, and so does the first, once it has done what goes on
beside (the solver's iterations on the trunk as it stands). While pieces are being prepared nobody writes the trunk:
the solver writes its own arrays, and a piece's expansion is its own. What a piece is, what it comes to, and the order
of attaching do not depend on who prepares it, so that with a node budget every byte is the same on one thread and on
two.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from klss.search.budget import Budget
from klss.search.model import Expansion, Model
from klss.search.trunk import Trunk
from klss.search.utilities import Utilities
from klss.support.arrays import Ints, Keys
from klss.support.threads import both

__all__ = ["Growth", "Progress"]

Progress = Callable[[dict[str, float]], None]

_BATCH = 64
"""Most leaves that are expanded between two checks of the budget."""

_PIECE = 4
"""Leaves of a piece, which one thread prepares; small, so that both threads end together. With one thread a batch is
one piece.
"""

_LEAVES_A_SECOND = 250
"""Most leaves of a batch for each second that is left: on a slow, busy machine a batch then takes at most a quarter of
that time.
"""

_BATCH_SHARE = 0.25
"""The part of the time left that a batch may take, by what the leaves before it took: in some games one is worth
thousands of playouts.
"""

_NODES_A_LEAF = 32
"""Expected children of a leaf, by which batches get smaller towards the end of a node budget."""

_NATURE_AT_ONCE = 20_000
"""Nodes of a batch after which nature's nodes are left to later batches: a hand of cards dealt one by one has more ends
than any trunk.
"""

_BYTES_A_NODE = 1000
"""Bytes of memory for each node: measured in a trunk of Fog of War chess of 400,000 nodes, the linear program and
HiGHS's arrays included, rounded up.
"""


@dataclass
class Growth:
    """How one search's trunk grows."""

    trunk: Trunk
    model: Model
    budget: Budget
    history: Keys  # keys of player 0's observations in the game so far, sorted, with repeats
    memory_mb: int  # growth stops when the trunk and its programs are estimated at so many megabytes
    reserve_s: Callable[[Trunk, Budget], float]  # seconds to keep for the next equilibrium, within a budget
    rng: np.random.Generator  # for what an expander draws
    threads: int = 1  # or 2
    progress: Progress | None = None  # called by tell
    added: int = 0  # nodes so far, those that were only visited included
    most: float = float("inf")  # nodes in all, whatever the budget
    played: int = -1  # player 0's sequence at the root infoset below which alone growth is wanted; −1: everywhere
    shared: Utilities | None = None  # the trunk's, where another part of the search follows it too
    leaf_s: float | None = None  # seconds of a leaf in the last batch; None before the first, and without a clock

    @cached_property
    def utilities(self) -> Utilities:
        """On the trunk."""
        return self.shared or Utilities(self.trunk)

    @property
    def room(self) -> float:
        """Nodes that may still be added."""
        return min(self.budget.nodes_left(self.added), self.most - self.added)

    @property
    def spent(self) -> bool:
        """Whether nodes, time or memory have run out."""
        full = self.trunk.node_count * _BYTES_A_NODE >= self.memory_mb * 1_000_000
        late = self.budget.left() <= self.reserve_s(self.trunk, self.budget)
        return self.room <= 0 or late or full

    def open_roots(self) -> None:
        """Expand the roots that are not yet, while the limits last, those at player 0's own infoset first; where none
        of these is expanded, one whatever the limits, so that player 0 has moves.
        """
        trunk = self.trunk
        unopened = np.flatnonzero(trunk.open_leaf[: trunk.root_count])
        elsewhere = trunk.nodes.infoset[unopened, 0] != 0
        here = len(unopened) - int(elsewhere.sum())
        unopened = unopened[np.argsort(elsewhere, kind="stable")]
        self.expand(unopened, at_least=1 if here == len(trunk.members(0)) else 0)

    def expand(self, leaves: Ints, *, at_least: int = 0, beside: Callable[[], None] | None = None) -> None:
        """Expand ``leaves`` (int64[n], distinct open leaves) in batches while the limits allow, ``at_least`` so many
        of them; run ``beside``, which must not write the trunk, once while the first batch is prepared.
        """
        at = 0
        while at < len(leaves) and (at < at_least or not self.spent):
            # A batch that most likely stays within the nodes that are left, and takes a part of the time that is.
            room = self.room
            size = _BATCH if room == float("inf") else max(1, min(_BATCH, int(room) // _NODES_A_LEAF))
            if self.budget.seconds is not None:
                left, began = self.budget.left(), self.budget.elapsed()
                affordable = 1 if self.leaf_s is None else int(_BATCH_SHARE * left / max(self.leaf_s, 1e-9))
                size = max(1, min(size, int(_LEAVES_A_SECOND * left), affordable))
            batch = leaves[at : at + size]
            self.added += self._expand(batch, beside)
            # What a leaf takes is measured where nothing else was done beside.
            if self.budget.seconds is not None and beside is None:
                self.leaf_s = (self.budget.elapsed() - began) / len(batch)
            at, beside = at + size, None

    def _expand(self, leaves: Ints, beside: Callable[[], None] | None) -> int:
        """Prepare and attach; how many nodes were added, those below nature's nodes among them, up to a bound."""
        # Nature's nodes are no leaves for anybody to stop at: what is below them belongs to the batch.
        before = self.trunk.node_count
        while len(leaves) and self.trunk.node_count - before <= _NATURE_AT_ONCE:
            start = self.trunk.node_count
            for piece, expansion in self._prepared(leaves, beside):
                self.trunk.attach(piece, expansion)
            leaves, beside = self.trunk.nature_since(start), None
        return self.trunk.node_count - before

    def _prepared(self, leaves: Ints, beside: Callable[[], None] | None) -> list[tuple[Ints, Expansion]]:
        """The pieces of ``leaves``, in order, each with its expansion."""
        size = len(leaves) if self.threads == 1 else _PIECE
        pieces = [leaves[at : at + size] for at in range(0, len(leaves), size)]
        expansions: list[Expansion | None] = [None] * len(pieces)
        turn = itertools.count()

        def prepare(thread: int) -> None:
            if thread == 0 and beside is not None:
                beside()
            # The next piece that nobody has taken: counting is one step of the interpreter's, so that no two get one.
            while (at := next(turn)) < len(pieces):
                expansions[at] = self.trunk.prepare(pieces[at], self.model, self.history)

        both(prepare, self.threads)
        return [(piece, found) for piece, found in zip(pieces, expansions, strict=True) if found is not None]

    def tell(self, depth: int) -> None:
        """Report progress: nodes, depth and seconds."""
        if self.progress is not None:
            self.progress({"nodes": float(self.added), "depth": float(depth), "seconds": self.budget.elapsed()})
