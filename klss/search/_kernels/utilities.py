"""Kernels of :mod:`klss.search.utilities`: utilities of sequences against the other's plan."""

from __future__ import annotations

from typing import Any

import numpy as np

from klss.support.kernel import kernel

TRIFLE = 1e-250
"""A reach so small that it has no weight, but is not 0: an infoset with it is not skipped."""


@kernel(allocates=False)
def take_in(
    nodes: Any, infosets: Any, sequences: Any, known: int, count: int, taken: Any, ends: Any, sides: Any, places: Any,
    always: Any, least: Any, payoff: Any, opened: Any,
) -> None:  # fmt: skip
    """Take in the nodes ``known`` … ``count`` − 1 (:meth:`klss.search.utilities.Utilities.take_in`). All arrays have
    room. Those of a player are pairs: infosets, sequences, sides, the infosets' places in these, least reaches.

    ``taken`` is int64[5], updated in place: both players' infosets with sequences, both players' sequences, and the
    expanded nodes taken in so far. ``ends`` are the ``counts`` of :class:`klss.search.trunk.Trunk`. ``always``: the
    least reach of each player's first infosets; that of later ones is 0.
    """
    # Infosets that got their first sequences.
    for player in range(2):
        have, side = taken[player], sides[player]
        for s in range(taken[2 + player], ends[2 + player]):
            infoset = sequences[player].infoset[s]
            if infosets[player].first[infoset] == s:
                places[player][infoset] = have
                side.infoset[have] = infoset
                side.parent_sequence[have] = infosets[player].sequence[infoset]
                side.first_sequence[have] = s
                side.action_count[have] = infosets[player].size[infoset]
                if infoset < always[player].shape[0]:
                    least[player][have] = always[player][infoset]
                have += 1
        taken[player], taken[2 + player] = have, ends[2 + player]
    # Payoffs of all nodes, and the nodes that got children.
    have = taken[4]
    for child in range(known, count):
        payoff[child] = nodes.chance[child] * nodes.value[child]
        node = nodes.parent[child]
        if node >= 0 and nodes.first_child[node] == child:
            payoff[node] = 0.0
            mover = nodes.mover[node]
            player = max(mover, 0)  # at nature's nodes any player will do: what is read for it is not used
            opened.chance[have] = nodes.chance[node]
            opened.first[have] = child
            opened.children[have] = nodes.child_count[node]
            opened.mover[have] = mover
            opened.own[have] = nodes.sequence[node, 0]
            opened.theirs[have] = nodes.sequence[node, 1]
            opened.acting[have] = places[player][nodes.infoset[node, player]] if mover >= 0 else 0
            opened.moves[have] = nodes.sequence[child, player]
            have += 1
    taken[4] = have


@kernel(allocates=False)
def against(player: int, tree: Any, other_plan: Any, utility: Any, reach: Any) -> None:
    """See :meth:`klss.search.utilities.Utilities.against`; ``utility`` float64[S] and ``reach`` float64[A] are added
    to.
    """
    other = 1 - player
    # Roots that are leaves: they have no parent among the expanded nodes.
    for node in range(tree.roots):
        if tree.first_child[node] < 0:
            utility[tree.sequence[node, player]] += tree.payoff[node] * other_plan[tree.sequence[node, other]]
    # Unsigned indices in the inner loops, so that numba does not check for negative ones. Four sums at a time, because
    # with a single one each addition has to wait for the one before.
    opened, payoff, one, four = tree.opened, tree.payoff, np.uint64(1), np.uint64(4)
    sequence, other_sequence = (opened.own, opened.theirs) if player == 0 else (opened.theirs, opened.own)
    # Expanded nodes: each adds its leaves' payoffs, weighted by the other's plan.
    for k in range(opened.first.shape[0]):
        plan = other_plan[other_sequence[k]]
        if plan <= 0.0:
            continue
        first = np.uint64(opened.first[k])
        count = np.uint64(opened.children[k])
        moves = np.uint64(opened.moves[k])  # siblings' sequences follow one another
        mover = opened.mover[k]
        if mover == player:  # each leaf's payoff belongs to the sequence that leads to it
            reach[opened.acting[k]] += opened.chance[k] * plan
            for c in range(count):
                utility[moves + c] += plan * payoff[first + c]
        elif mover == other:  # each leaf is weighted by the plan of the sequence that leads to it
            a, b, e, f = 0.0, 0.0, 0.0, 0.0
            child, response, end = first, moves, first + count
            while child + four <= end:
                a += payoff[child] * other_plan[response]
                b += payoff[child + one] * other_plan[response + one]
                e += payoff[child + one + one] * other_plan[response + one + one]
                f += payoff[child + four - one] * other_plan[response + four - one]
                child += four
                response += four
            while child < end:
                a += payoff[child] * other_plan[response]
                child += one
                response += one
            utility[sequence[k]] += (a + b) + (e + f)
        else:  # nature: its probabilities are in the payoffs
            total = 0.0
            for c in range(count):
                total += payoff[first + c]
            utility[sequence[k]] += total * plan
    # The gadget: alternate values are subtracted, and folded-in entries are paid whatever player 0 plays.
    if player == 1:
        for j in range(tree.alternate.shape[0]):
            utility[1 + j] -= tree.alternate[j]
        for k in range(tree.folded_sequence.shape[0]):
            utility[tree.folded_sequence[k]] += tree.folded_value[k]


@kernel(allocates=False)
def values(
    player: int, tree: Any, side: Any, plan: Any, other_plan: Any, utility: Any, reach: Any, quality: Any
) -> None:
    """Write the value of each sequence of ``player`` under both plans, per unit of reach, into ``quality`` where the
    reach is above :data:`TRIFLE`; player 1's root sequences get their margins. An infoset that the plan never reaches
    counts as played uniformly. ``utility`` and ``reach`` are as for :func:`against`, and overwritten.
    """
    against(player, tree, other_plan, utility, reach)
    # Backwards, so that a sequence's utility includes the infosets after it before its own infoset is valued.
    for k in range(side.first_sequence.shape[0] - 1, -1, -1):
        first = side.first_sequence[k]
        stop = first + side.action_count[k]
        weight = reach[k]
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
        if weight > TRIFLE:  # utilities over a nominal reach would be meaningless
            for s in range(first, stop):
                quality[s] = utility[s] / weight
        utility[side.parent_sequence[k]] += value
    if player == 1:
        for j in range(1, 1 + tree.alternate.shape[0]):
            quality[j] = utility[j]
