"""The infoset hypergraph, order-k knowledge sets, and their sizes over a whole game.

Source: Zhang & Sandholm (NeurIPS 2021), Definitions 1 and 2, Table 2. Vertices are decision nodes, hyperedges are both
players' infosets; the order-k knowledge set of a set S has the nodes at distance at most k - 1 from S.

Deviation: the numbers of the paper's Table 2 need a hypergraph without infosets whose player has no decision at or
below their nodes; subgames use all infosets, as defined.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from klss.errors import GameError
from klss.support.arrays import Int32s, Ints
from klss.theory._kernels import tree as kernels
from klss.theory.game import Game

_RADII = (1, 2, 3, 4)
"""The ball of radius k has the nodes that are reached through at most k infosets; with radius 1, both players' infosets
of the node.
"""


@dataclass(frozen=True)
class KnowledgeSizes:
    """One row of Table 2."""

    # all nodes (chance nodes and terminals too); infosets at which a player moves, of both players
    nodes: int
    infosets: int
    diameter: int  # the largest radius that any node needs to reach its whole component
    mean: dict[int, float]  # mean size of the ball of radius k around a decision node; key -1 for the whole component


def knowledge_set(game: Game, nodes: Ints, order: float) -> Ints:
    """Return the order-``order`` knowledge set of decision ``nodes`` (int64[n]), ascending: for 1 the nodes themselves,
    for inf the common-knowledge closure.
    """
    hypergraph, stamp, queue = _hypergraph(game, game.infoset)
    start = np.unique(np.asarray(nodes, np.int64))
    queue[: start.size] = start
    sizes = np.empty(2, np.int64)
    kernels.component_balls(*hypergraph, start.size, float(order - 1), stamp, 0, queue, sizes)
    return np.sort(queue[: sizes[-1]])


def knowledge_sizes(game: Game, *, skip_forced: bool = False) -> KnowledgeSizes:
    """Return the mean sizes of the balls around all decision nodes, and the diameter (Table 2). ``skip_forced`` leaves
    out decision nodes with one action whose component is a single node.
    """
    decision = np.flatnonzero(game.player >= 0)
    if (game.infoset[:, decision] < 0).any():
        raise GameError(
            "knowledge: got a game in which a waiting player observes nothing, expected two infosets a node"
        )
    # A breadth-first search from every node, for the sizes of its balls, the last one the whole component. The stamps
    # need not be cleared, since each search has its own mark.
    hypergraph, stamp, queue = _hypergraph(game, _edges(game))
    sizes = np.empty((decision.size, max(_RADII) + 2), np.int64)
    diameter = 0
    for row, v in zip(sizes, decision.tolist(), strict=True):
        queue[0] = v
        diameter = max(diameter, kernels.component_balls(*hypergraph, 1, math.inf, stamp, v, queue, row))
    whole = sizes[:, -1]
    # Means over all nodes, or without those at which there is nothing to know or to decide.
    kept = np.ones(decision.size, bool)
    if skip_forced:
        width = np.bincount(game.parent[1:], minlength=game.node_count)[decision]
        kept = ~((whole == 1) & (width == 1))
    mean = {k: float(sizes[kept, k].mean()) for k in _RADII}
    mean[-1] = float(whole[kept].mean())
    infosets = sum(int(o.turn.sum()) for o in game.observations)
    return KnowledgeSizes(game.node_count, infosets, diameter, mean)


def _hypergraph(game: Game, edges: Int32s) -> tuple[tuple[Any, ...], Ints, Ints]:
    """Return the infoset hypergraph of these infosets (int32[2, N]), and stamps and a queue for a search of it."""
    (start0, nodes0), (start1, nodes1) = game.members
    stamp = np.full(game.node_count + start0.size + start1.size, -1, np.int64)
    return (edges, (start0, start1), (nodes0, nodes1)), stamp, np.empty(game.node_count, np.int64)


def _edges(game: Game) -> Int32s:
    """Return the hyperedge of each node for each player, int32[2, N]; -1 for none."""
    out = []
    for i in (0, 1):
        moves = np.concatenate([[0], np.cumsum(game.player == i)])
        still = moves[game.end] > moves[:-1]
        out.append(np.where(still, game.infoset[i], np.int32(-1)))
    return np.array(out)
