"""What every expander does and tells alike."""

from __future__ import annotations

import numpy as np

from klss.search.growth import Growth
from klss.search.trunk import Trunk

__all__ = ["leaf_depths", "open_roots"]


def open_roots(growth: Growth) -> None:
    """Expand the roots that are not yet, while the limits last, those at player 0's own infoset first; where none of
    these is expanded, one whatever the limits, so that player 0 has moves.
    """
    trunk = growth.trunk
    unopened = np.flatnonzero(trunk.open_leaf[: trunk.root_count])
    elsewhere = trunk.nodes.infoset[unopened, 0] != 0
    here = len(unopened) - int(elsewhere.sum())
    unopened = unopened[np.argsort(elsewhere, kind="stable")]
    growth.expand(unopened, at_least=1 if here == len(trunk.members(0)) else 0)


def leaf_depths(trunk: Trunk) -> tuple[int, float]:
    """The largest and the mean distance of a trunk's leaves from its root."""
    depth = trunk.nodes.depth[: trunk.node_count][trunk.leaf]
    return int(depth.max(initial=0)), float(depth.mean()) if len(depth) else 0.0
