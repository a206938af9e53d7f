"""Which leaves an iteration expands (App. E, lines 32–42; D.2, D.3).

Decided here, where the text leaves it open: lines 33 and 35 test the supports at the *parent* h, as App. E has it
(D.2's prose tests the child's); line 42 tests the leaf's own. A leaf deeper than the iteration's number waits unless
both players reach the leaf itself (D.3). Leaves come in the order of the trunk, those that both players reach first,
so that a budget that runs out cuts off the less wanted.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from klss.search.trunk import Trunk

__all__ = ["SUPPORT", "leaves_to_expand"]

SUPPORT = 1e-9
"""A probability above this is in the support; the plans come from simplex vertices, where the others are zero up
to rounding.
"""


def leaves_to_expand(
    trunk: Trunk, x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], iteration: int
) -> npt.NDArray[np.int64]:
    """Open leaves that this iteration expands: int64[n], the most wanted first.

    Parameters
    ----------
    trunk : Trunk
    x, y : float64[S0], float64[S1]
        The players' plans.
    iteration : int
        The iteration's number d ≥ 1.
    """
    nodes, count = trunk.nodes, trunk.node_count
    reached0 = x[nodes.sequence[:count, 0]] > SUPPORT
    reached1 = y[nodes.sequence[:count, 1]] > SUPPORT
    open_leaf = trunk.open_leaf
    both = reached0 & reached1
    either = reached0 | reached1
    wanted = open_leaf & either & ((nodes.depth[:count] <= iteration) | both)

    parent = nodes.parent[:count]
    is_root = parent < 0  # the gadget's own node above a root has one child: the most interesting one
    parent_both = np.where(is_root, True, both[parent])
    full = wanted & parent_both
    candidates = np.flatnonzero(open_leaf & ~parent_both & either[parent])
    best = np.zeros(0, dtype=np.int64)
    if len(candidates):
        order = np.lexsort((candidates, -nodes.interest[candidates], parent[candidates]))
        ranked = candidates[order]
        first = np.ones(len(ranked), dtype=np.bool_)
        first[1:] = parent[ranked[1:]] != parent[ranked[:-1]]
        best = ranked[first]
        best = np.sort(best[wanted[best]])
    doubly = np.flatnonzero(full & both)
    singly = np.flatnonzero(full & ~both)
    return np.concatenate([doubly, singly, best])
