"""Which leaves an iteration expands (D.2, D.3; App. E, lines 32–42).

The text has two readings. App. E's is taken here, which tests the supports at the node: if both players reach it, all
its leaves are expanded; if one does, the most interesting leaf. D.2's prose tests them at the leaf: it goes two plies
deeper in the same time and expands less on the way.

Decided here:

* A leaf that neither player reaches is never expanded (line 42). A leaf deeper than the iteration's number waits unless
  both players reach it (D.3).
* Leaves that both players reach come first, the likeliest of them before the others, so that the end of the budget cuts
  off the least wanted. Otherwise half of the roots would be searched two plies deep for every action in the mixture,
  and the other half for none.
* The roots are expanded before the first profile, since line 32 expands them in the first iteration with any plans.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from klss.search.growth import Growth
from klss.search.profile import SUPPORT, Profile
from klss.search.trunk import Trunk
from klss.support.arrays import Floats, Ints

_LAST_ITERATION = 1 << 15
"""An iteration number above any trunk's depth: no leaf waits because of its depth."""


@dataclass(frozen=True)
class SupportDriven:
    """Iterative deepening in the support of the profile."""

    def begin(self, growth: Growth) -> _Deepening:
        growth.open_roots()
        return _Deepening(growth.trunk)


@dataclass
class _Deepening:
    trunk: Trunk
    iterations: int = 1

    def depths(self) -> tuple[int, float]:
        return self.trunk.leaf_depths()

    def grow(self, growth: Growth, profile: Profile, beside: Callable[[], None]) -> bool:
        leaves = leaves_to_expand(self.trunk, profile.x, profile.y, self.iterations)
        # If there are none, a later iteration may expand leaves that wait because of their depth.
        if not len(leaves) and not len(leaves_to_expand(self.trunk, profile.x, profile.y, _LAST_ITERATION)):
            return False
        growth.expand(leaves, beside=beside)
        self.iterations += 1
        return True


def leaves_to_expand(trunk: Trunk, x: Floats, y: Floats, iteration: int) -> Ints:
    """Return the open leaves that iteration number ``iteration`` (1, 2, 3 …) expands by the plans ``x`` (float64[S0])
    and ``y`` (float64[S1]): int64[n], the most wanted first.
    """
    nodes, count = trunk.nodes, trunk.node_count
    # The nodes that each player's plan reaches.
    reached0 = x[nodes.sequence[:count, 0]] > SUPPORT
    reached1 = y[nodes.sequence[:count, 1]] > SUPPORT
    open_leaf = trunk.open_leaf
    both = reached0 & reached1
    # Wanted: reached by one player within this iteration's depth, or by both at any depth.
    wanted = open_leaf & (reached0 | reached1) & ((nodes.depth[:count] <= iteration) | both)
    parent = nodes.parent[:count]
    is_root = parent < 0  # the gadget's node above a root has no other child, so the root is the most interesting one
    # Expanded in full: all leaves of a node that both reach.
    full = wanted & (is_root | both[parent])
    # Of every other node's leaves, only the most interesting one, and only if it is wanted.
    others = np.flatnonzero(open_leaf & (reached0 | reached1) & ~is_root & ~both[parent])
    ranked = others[np.lexsort((others, -nodes.interest[others], parent[others]))]
    best = ranked[np.unique(parent[ranked], return_index=True)[1]]
    best = np.sort(best[wanted[best]])
    # Most wanted first: leaves that both reach, in the order of their probability, then all others.
    doubly = np.flatnonzero(full & both)
    sequences = nodes.sequence[doubly]
    probability = nodes.chance[doubly] * x[sequences[:, 0]] * y[sequences[:, 1]]
    doubly = doubly[np.argsort(-probability, kind="stable")]
    singly = np.flatnonzero(full & ~both)
    return np.concatenate([doubly, singly, best])
