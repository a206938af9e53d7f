"""Kernel of one-sided walks down a trunk (:mod:`klss.search.expansion.one_sided`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from klss.support.hashing import mix64
from klss.support.kernel import kernel

_STEP = 0x9E3779B97F4A7C15
"""The increment of SplitMix64: 2^64 divided by the golden ratio, rounded to an odd number."""


@kernel(allocates=False)
def _draw(state: Any) -> float:
    """Draw a number, uniform in [0, 1), by SplitMix64; ``state`` is uint64[1]."""
    state[0] += np.uint64(_STEP)
    return np.float64(mix64(state[0]) >> np.uint64(11)) * 2.0**-53


@kernel(allocates=False)
def _explore(
    first: int, size: int, sign: float, plan: Any, noted: Any, support: float, exploration: float, state: Any
) -> int:
    """Return the explorer's sequence: half the time one of its support, otherwise the most promising one (PUCT)."""
    # Half the time: a sequence of the support, uniformly.
    if _draw(state) < 0.5:
        total = 0.0
        for s in range(first, first + size):
            total += plan[s]
        count = 0
        for s in range(first, first + size):
            if plan[s] > support * total:
                count += 1
        if count > 0:
            left = int(_draw(state) * count)
            for s in range(first, first + size):
                if plan[s] > support * total:
                    if left == 0:
                        return s
                    left -= 1
    # Otherwise: the sequence with the largest upper bound.
    quality, visits, sums, squares = noted
    visited = 0.0
    for s in range(first, first + size):
        visited += visits[s]
    root = np.sqrt(visited)
    best, most = first, -np.inf
    for s in range(first, first + size):
        count = visits[s] + 2.0  # two more values, −1 and 1, so that a new sequence has a positive deviation
        mean = sums[s] / count
        deviation = np.sqrt(max(0.0, (squares[s] + 2.0) / count - mean * mean))
        worth = sign * quality[s] + exploration * deviation * root / (1.0 + visits[s])
        if worth > most:
            best, most = s, worth
    return best


@kernel(allocates=False)
def _visit(s: int, noted: Any) -> None:
    quality, visits, sums, squares = noted
    visits[s] += 1.0
    sums[s] += quality[s]
    squares[s] += quality[s] * quality[s]


@kernel(allocates=False)
def _start(nodes: Any, starts: Any, plan: Any, chosen: int, state: Any) -> int:
    """Draw one of the nodes ``starts`` by nature's probabilities and player 1's plan, or by nature's alone among those
    of player 1's sequence ``chosen`` (0: none is chosen).
    """
    total = 0.0
    for k in starts:
        s = nodes.sequence[k, 1]
        if chosen == 0 or s == chosen:
            total += nodes.chance[k] * (plan[s] if chosen == 0 else 1.0)
    # If all weights are 0, draw uniformly among all roots.
    even = total <= 0.0
    at = _draw(state) * (np.float64(starts.shape[0]) if even else total)
    last = starts[0]
    for k in starts:
        s = nodes.sequence[k, 1]
        if even or chosen == 0 or s == chosen:
            weight = 1.0 if even else nodes.chance[k] * (plan[s] if chosen == 0 else 1.0)
            last = k
            if at < weight:
                return int(k)
            at -= weight
    return int(last)


@kernel(allocates=False)
def walks(
    explorer: int, nodes: Any, starts: Any, roots: bool, infosets: Any, plans: Any, noted: Any, support: float,
    exploration: float, state: Any, leaves: Any,
) -> int:  # fmt: skip
    """Fill ``leaves`` (int64[n]) with distinct open leaves below the nodes ``starts`` (int64[k]), at most one for each
    walk; return how many were found. ``roots``: whether these are the trunk's roots, among which player 1 chooses.

    The explorer (0 or 1) explores, the other player and nature draw from their plans. A walk that ends at a terminal
    node, or at a leaf that another walk has found, adds only its visits.

    Parameters
    ----------
    plans : (float64[S0], float64[S1])
    noted : ((float64[S0],) * 4, (float64[S1],) * 4)
        Of each player's sequences: quality, visits, sum and sum of squares of the qualities met.
    """
    found = 0
    groups = 0
    for k in starts:
        groups = max(groups, nodes.sequence[k, 1])
    for _ in range(leaves.shape[0]):
        # If player 1 explores, it chooses the root infoset as its first action.
        chosen = 0
        if explorer != 0 and roots:
            chosen = _explore(1, groups, -1.0, plans[1], noted[1], support, exploration, state)
            _visit(chosen, noted[1])
        node = _start(nodes, starts, plans[1], chosen, state)
        # Walk down to a leaf.
        while nodes.first_child[node] >= 0:
            mover = nodes.mover[node]
            begin = nodes.first_child[node]
            if mover == 0 or mover == 1:
                infoset = nodes.infoset[node, mover]
                first, size = infosets[mover].first[infoset], infosets[mover].size[infoset]
                if explorer == mover:
                    sign = 1.0 - 2.0 * mover
                    s = _explore(first, size, sign, plans[mover], noted[mover], support, exploration, state)
                    _visit(s, noted[mover])
                else:  # the other plays: draw from its plan
                    mass = 0.0
                    for c in range(first, first + size):
                        mass += plans[mover][c]
                    at = _draw(state) * mass
                    s = first
                    while s < first + size - 1 and (at >= plans[mover][s] or plans[mover][s] <= 0.0):
                        at -= plans[mover][s]
                        s += 1
                node = begin + (s - first)
            else:  # nature: draw by its probabilities
                at = _draw(state) * nodes.chance[node]
                child = begin
                while child < begin + nodes.child_count[node] - 1 and at >= nodes.chance[child]:
                    at -= nodes.chance[child]
                    child += 1
                node = child
        # Keep the leaf if it can be expanded and no other walk has found it.
        if nodes.mover[node] < -1:  # terminal
            continue
        known = False
        for i in range(found):
            known = known or leaves[i] == node
        if not known:
            leaves[found] = node
            found += 1
    return found
