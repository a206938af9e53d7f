"""Kernels of :mod:`klss.search.utilities`: what sequences are worth against the other's plan."""

from __future__ import annotations

from typing import Any

from klss.kernel import kernel

__all__ = ["TRIFLE", "against", "values"]

TRIFLE = 1e-250
"""A reach that counts as one only in that it is not 0."""


@kernel
def against(player: int, tree: Any, other_plan: Any, utility: Any, reach: Any) -> None:
    """See :meth:`klss.search.utilities.Utilities.against`; ``utility`` float64[S] and ``reach`` float64[I] are added
    to.
    """
    other = 1 - player
    for node in range(tree.roots):
        if tree.first_child[node] < 0:
            utility[tree.sequence[node, player]] += tree.payoff[node] * other_plan[tree.sequence[node, other]]
    for k in range(tree.expanded.shape[0]):
        node = tree.expanded[k]
        plan = other_plan[tree.sequence[node, other]]
        if plan <= 0.0:
            continue
        first = tree.first_child[node]
        count = tree.child_count[node]
        mover = tree.mover[node]
        if mover == player:
            reach[tree.infoset[node, player]] += tree.chance[node] * plan
            own = tree.sequence[first, player]  # siblings' sequences follow one another
            for c in range(count):
                utility[own + c] += plan * tree.payoff[first + c]
        else:
            total = 0.0
            if mover == other:
                theirs = tree.sequence[first, other]
                for c in range(count):
                    total += tree.payoff[first + c] * other_plan[theirs + c]
            else:
                for c in range(count):
                    total += tree.payoff[first + c]
                total *= plan
            utility[tree.sequence[node, player]] += total
    if player == 1:
        for j in range(tree.alternate.shape[0]):
            utility[1 + j] -= tree.alternate[j]
        for k in range(tree.folded_sequence.shape[0]):
            utility[tree.folded_sequence[k]] += tree.folded_value[k]


@kernel
def values(side: Any, plan: Any, utility: Any, reach: Any, quality: Any) -> None:
    """What each sequence is worth per unit of ``reach`` under ``plan``, into ``quality`` where the reach is positive;
    ``utility`` is used up.
    """
    for k in range(side.first.shape[0] - 1, -1, -1):
        first = side.first[k]
        stop = first + side.size[k]
        weight = reach[side.infoset[k]]
        if weight <= 0.0:
            continue
        mass = 0.0
        value = 0.0
        total = 0.0
        for s in range(first, stop):
            mass += plan[s]
            value += plan[s] * utility[s]
            total += utility[s]
        value = value / mass if mass > 0.0 else total / (stop - first)
        if weight > TRIFLE:
            for s in range(first, stop):
                quality[s] = utility[s] / weight
        utility[side.parent[k]] += value
