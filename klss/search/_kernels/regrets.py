"""Kernels of regret minimisation on a trunk (:mod:`klss.search.equilibrium.pcfr`): gradients, PCFR+ updates, plans.

All work on sequences. ``acting`` lists a player's infosets that have sequences, in the order of their first ones, so
that parents come before children; ``expanded`` the nodes that have children, in the order of creation.
"""

from __future__ import annotations

from typing import Any

from klss.kernel import kernel

__all__ = ["best_plan", "gradient", "improve", "realize", "values"]


@kernel
def gradient(
    player: int, nodes: Any, root_count: int, expanded: Any, other_plan: Any, utility: Any, reach: Any
) -> None:
    """What each sequence of ``player`` brings player 0 against the other's plan, at the leaves that follow it before
    her next action.

    Parameters
    ----------
    utility : float64[S]
        Added to.
    reach : float64[I]
        Of ``player``'s infosets: nature's and the other's part of the probability of the nodes at which she acts; added
        to.
    """
    other = 1 - player
    for node in range(root_count):
        if nodes.first_child[node] < 0:
            utility[nodes.sequence[node, player]] += (
                nodes.chance[node] * other_plan[nodes.sequence[node, other]] * nodes.value[node]
            )
    for k in range(expanded.shape[0]):
        node = expanded[k]
        weight = nodes.chance[node] * other_plan[nodes.sequence[node, other]]
        if weight <= 0.0:
            continue
        if nodes.mover[node] == player:
            reach[nodes.infoset[node, player]] += weight
        first = nodes.first_child[node]
        for child in range(first, first + nodes.child_count[node]):
            if nodes.first_child[child] < 0:
                utility[nodes.sequence[child, player]] += (
                    nodes.chance[child] * other_plan[nodes.sequence[child, other]] * nodes.value[child]
                )


@kernel
def improve(acting: Any, infosets: Any, sign: float, utility: Any, regret: Any, strategy: Any) -> None:
    """One step of PCFR+ at every infoset, from the leaves up; ``utility`` becomes the counterfactual utility of each
    sequence (for player 0). Where nothing depends on what is played, nothing is changed.

    Parameters
    ----------
    acting : int64[A]
    sign : float
        1 for player 0, −1 for player 1.
    utility, regret, strategy : float64[S]
    """
    for k in range(acting.shape[0] - 1, -1, -1):
        infoset = acting[k]
        first = infosets.first[infoset]
        stop = first + infosets.size[infoset]
        value = 0.0
        touched = False
        for s in range(first, stop):
            value += strategy[s] * utility[s]
            touched = touched or utility[s] != 0.0
        if touched:
            total = 0.0
            for s in range(first, stop):
                instant = sign * (utility[s] - value)
                regret[s] = max(0.0, regret[s] + instant)
                strategy[s] = max(0.0, regret[s] + instant)  # the prediction: the next one is like this one
                total += strategy[s]
            if total > 0.0:
                for s in range(first, stop):
                    strategy[s] /= total
            else:
                best = first
                for s in range(first + 1, stop):
                    if sign * utility[s] > sign * utility[best]:
                        best = s
                for s in range(first, stop):
                    strategy[s] = 0.0
                strategy[best] = 1.0
        utility[infosets.sequence[infoset]] += value


@kernel
def best_plan(acting: Any, infosets: Any, sign: float, utility: Any) -> None:
    """As :func:`improve`, for a best response instead: ``utility`` becomes what each sequence brings if she goes on
    best.
    """
    for k in range(acting.shape[0] - 1, -1, -1):
        infoset = acting[k]
        first = infosets.first[infoset]
        best = utility[first]
        for s in range(first + 1, first + infosets.size[infoset]):
            if sign * utility[s] > sign * best:
                best = utility[s]
        utility[infosets.sequence[infoset]] += best


@kernel
def values(acting: Any, infosets: Any, plan: Any, utility: Any, reach: Any, quality: Any) -> None:
    """What each sequence is worth per unit of ``reach`` under ``plan``, into ``quality`` where the reach is positive;
    ``utility`` is used up.
    """
    for k in range(acting.shape[0] - 1, -1, -1):
        infosets_first = infosets.first[acting[k]]
        stop = infosets_first + infosets.size[acting[k]]
        mass = 0.0
        value = 0.0
        total = 0.0
        for s in range(infosets_first, stop):
            mass += plan[s]
            value += plan[s] * utility[s]
            total += utility[s]
        value = value / mass if mass > 0.0 else total / (stop - infosets_first)
        weight = reach[acting[k]]
        if weight > 0.0:
            for s in range(infosets_first, stop):
                quality[s] = utility[s] / weight
        utility[infosets.sequence[acting[k]]] += value


@kernel
def realize(acting: Any, infosets: Any, strategy: Any, plan: Any) -> None:
    """The plan of a strategy, float64[S]; ``plan`` holds that of the sequences that no infoset has."""
    for k in range(acting.shape[0]):
        infoset = acting[k]
        above = plan[infosets.sequence[infoset]]
        for s in range(infosets.first[infoset], infosets.first[infoset] + infosets.size[infoset]):
            plan[s] = above * strategy[s]
