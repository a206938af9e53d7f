"""Passes over a game tree in preorder (``parent[h] < h``), linear in the number of nodes."""

from __future__ import annotations

from typing import Any

from klss.support.kernel import kernel


@kernel
def node_passes(parent: Any, probability: Any, reach: Any, end: Any) -> None:
    """Compute chance's reach and the end of every subtree's range; ``reach`` and ``end`` are filled in place."""
    # Forward: reach. Backward: a subtree ends where its last child's does.
    n = parent.shape[0]
    for h in range(n):
        end[h] = h + 1
        reach[h] = probability[h] if parent[h] < 0 else probability[h] * reach[parent[h]]
    for h in range(n - 1, 0, -1):
        p = parent[h]
        if end[h] > end[p]:
            end[p] = end[h]


@kernel
def arrival_points(
    parent: Any, player: Any, action: Any, infoset: Any, first_point: Any, who: int, points: Any
) -> None:
    """Compute the point (observation sequence) of player ``who`` on arriving at each node, before it observes anything
    there."""
    for h in range(parent.shape[0]):
        p = parent[h]
        if p < 0:
            points[h] = 0
        elif player[p] < 0:
            points[h] = points[p]
        elif player[p] == who:
            points[h] = first_point[infoset[p]] + action[h]
        elif infoset[p] < 0:  # a wait at which nothing is observed
            points[h] = points[p]
        else:
            points[h] = first_point[infoset[p]]


@kernel
def owners(parent_infoset: Any, root_index: Any, owner: Any) -> None:
    """Compute for each infoset of an observation tree the index of the topmost marked infoset at or above it, -1 for
    none (``owner``, in place).
    """
    for j in range(parent_infoset.shape[0]):
        p = parent_infoset[j]
        if p >= 0 and owner[p] >= 0:
            owner[j] = owner[p]
        else:
            owner[j] = root_index[j]


@kernel
def component_balls(
    infosets: Any, starts: Any, members: Any, count: int, radius: float, stamp: Any, mark: int, queue: Any, sizes: Any
) -> int:
    """Search the infoset hypergraph breadth first from the first ``count`` vertices of ``queue`` up to the distance
    ``radius``; return the largest distance met.

    ``infosets[i]`` (int64[2, vertices]) are the vertices' hyperedges of player i (-1: none), ``starts[i]`` and
    ``members[i]`` the hyperedges' vertices. ``sizes[d]`` gets the number of vertices at distance <= d, its last entry
    that of all visited. These are left in ``queue``; ``stamp`` marks them with ``mark``, and has room for the vertices,
    then the edges of player 0, then those of player 1.
    """
    head, tail, depth = 0, count, 0
    for k in range(count):
        stamp[queue[k]] = mark
    sizes[0] = count
    # Level by level: unvisited vertices that share an infoset with a vertex of this level are the next level.
    while head < tail and depth < radius:
        stop = tail
        while head < stop:
            v = queue[head]
            head += 1
            # The vertices of both players' infosets; each infoset is visited only once.
            before = infosets.shape[1]
            for i in range(2):
                e = infosets[i, v]
                if e >= 0 and stamp[before + e] != mark:
                    stamp[before + e] = mark
                    for k in range(starts[i][e], starts[i][e + 1]):
                        w = members[i][k]
                        if stamp[w] != mark:
                            stamp[w] = mark
                            queue[tail] = w
                            tail += 1
                before += starts[i].shape[0] - 1
        if tail == stop:
            break
        depth += 1
        if depth < sizes.shape[0] - 1:
            sizes[depth] = tail
    # Beyond the last level a ball is the whole component.
    for d in range(depth + 1, sizes.shape[0]):
        sizes[d] = tail
    sizes[-1] = tail
    return depth
