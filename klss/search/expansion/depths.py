"""What every expander does and tells alike."""

from __future__ import annotations

import numpy as np

from klss.search.growth import Growth
from klss.search.trunk import Trunk

__all__ = ["leaf_depths", "open_roots"]


def open_roots(growth: Growth) -> None:
    """Expand the roots that are not yet, while the limits last; where none is expanded, one whatever the limits."""
    trunk = growth.trunk
    unopened = np.flatnonzero(trunk.open_leaf[: trunk.root_count])
    growth.expand(unopened, at_least=1 if len(unopened) == trunk.root_count else 0)


def leaf_depths(trunk: Trunk) -> tuple[int, float]:
    """The largest and the mean distance of a trunk's leaves from its root."""
    depth = trunk.nodes.depth[: trunk.node_count][trunk.leaf]
    return int(depth.max(initial=0)), float(depth.mean()) if len(depth) else 0.0
