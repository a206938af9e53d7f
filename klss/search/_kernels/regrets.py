"""Kernels of regret minimisation on a trunk (:mod:`klss.search.equilibrium.pcfr`).

Arrays are indexed by sequences. A *side* is a player's treeplex (:class:`klss.search.utilities.TrunkTreeplex`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from klss.search._kernels.utilities import against
from klss.support.kernel import kernel
from klss.theory._kernels.regrets import PREDICTIVE, improve


@kernel(allocates=False)
def start(nodes: Any, known: int, count: int, have: Any, acting: Any, seed: float, sides: Any, learned: Any) -> None:
    """Start both players' new infosets on their best child by evaluation: the greatest Σ chance · value over the nodes
    ``known`` … ``count`` − 1. New are those from place ``acting`` on whose sequences are not below ``have``; both are
    one number for each player.
    """
    for player in range(2):
        regret, strategy = learned[player].regret, learned[player].strategy
        side, old = sides[player], have[player]
        # The value of each new sequence's children to the player, kept in the place of its strategy.
        sign = 1.0 - 2.0 * player
        for node in range(known, count):
            s = nodes.sequence[node, player]
            parent = nodes.parent[node]
            if s >= old and parent >= 0 and s != nodes.sequence[parent, player]:
                strategy[s] += sign * nodes.chance[node] * nodes.value[node]
        # Play the best one. A tiny regret keeps it in the strategy until the first step.
        for k in range(acting[player], side.first_sequence.shape[0]):
            first = side.first_sequence[k]
            if first < old:
                continue
            best = first
            for s in range(first + 1, first + side.action_count[k]):
                if strategy[s] > strategy[best]:
                    best = s
            for s in range(first, first + side.action_count[k]):
                strategy[s] = 0.0
            strategy[best] = 1.0
            regret[best] = seed
        learned[player].plan[0] = 1.0


@kernel(allocates=False)
def realise(side: Any, weight: float, learned: Any) -> None:
    """Compute the plan of a strategy, and add ``weight`` times the plan to the sum, if one is kept. Infosets whose plan
    stays 0 are skipped. On entry the plan must be set at the sequences of no infoset (the empty one, player 1's root
    sequences).
    """
    plan, strategy = learned.plan, learned.strategy
    total, live = learned.total, learned.live
    # The sequences of no infoset come before the first infoset's.
    acting, summed = side.first_sequence.shape[0], total.shape[0] > 0
    if summed:
        for s in range(side.first_sequence[0] if acting else plan.shape[0]):
            total[s] += weight * plan[s]
    for k in range(acting):
        above = plan[side.parent_sequence[k]]
        first = np.uint64(side.first_sequence[k])  # unsigned, so that numba does not check for negative indices
        size = np.uint64(side.action_count[k])
        if above > 0.0:
            live[k] = True
            for a in range(size):
                plan[first + a] = above * strategy[first + a]
            if summed:
                for a in range(size):
                    total[first + a] += weight * plan[first + a]
        elif live[k]:  # otherwise the plan is 0 already
            live[k] = False
            for a in range(size):
                plan[first + a] = 0.0


@kernel(allocates=False)
def realise_both(sides: Any, maxmargin_share: float, top: Any, learned: Any) -> None:
    """Compute both players' plans (:func:`realise`) with the roots' probabilities (:func:`set_roots`)."""
    realise(sides[0], 0.0, learned[0])
    set_roots(maxmargin_share, top, learned[1].plan)
    realise(sides[1], 0.0, learned[1])


@kernel(allocates=False)
def set_roots(maxmargin_share: float, top: Any, plan: Any) -> None:
    """Write player 1's probability of each root infoset into the plan's root sequences. ``maxmargin_share`` is
    Maxmargin's share; the rest is nature's.
    """
    for j in range(top.prior.shape[0]):
        plan[1 + j] = (1.0 - maxmargin_share) * top.prior[j] + maxmargin_share * top.chosen[j]


@kernel(allocates=False)
def improve_roots(top: Any, utility: Any) -> None:
    """Make a PCFR+ step of Maxmargin's choice at the roots; ``utility[1 + j]`` are the margins under both plans."""
    # Player 1 minimises: regrets have the opposite sign. Maxmargin is one infoset with J actions.
    roots = top.prior.shape[0]
    value = 0.0
    least = -1
    for j in range(roots):
        value += top.chosen[j] * utility[1 + j]
        if top.feared[j] and (least < 0 or utility[1 + j] < utility[1 + least]):
            least = j
    total = 0.0
    for j in range(roots):
        margin = utility[1 + j]
        instant = value - margin
        if top.feared[j]:
            top.margin_regret[j] = max(0.0, top.margin_regret[j] + instant)
            top.chosen[j] = max(0.0, top.margin_regret[j] + instant)
            total += top.chosen[j]
    # Normalise; without any positive regret choose the least margin.
    for j in range(roots):
        if total > 0.0:
            top.chosen[j] /= total
        else:
            top.chosen[j] = 1.0 if j == least else 0.0


@kernel
def iterate(times: int, before: int, maxmargin_share: float, game: Any, learned: Any, top: Any, work: Any) -> None:
    """Run ``times`` iterations: player 0 against player 1's plan, then player 1 against player 0's new plan.

    One iteration of a player, whose plan is π, whose strategy is σ, and whose sequences have the regrets Q::

        against        u(s)  = Σ chance(z) · value(z) · π′(s′)    over the leaves z right after s; π′, s′: the other's
        improve        at each infoset I, from the leaves up:
                         v     = Σ_a σ(a) u(Ia)
                         r(a)  = u(Ia) − v for player 0, v − u(Ia) for player 1
                         Q(a)  ← max(0, Q(a) + r(a))
                         σ(a)  ∝ max(0, Q(a) + r(a))              predicts the next regret to be the last one; the best
                                                                  action, if all are 0
                         u(p)  ← u(p) + v                         p: the sequence that leads to I
        improve_roots  the same step of Maxmargin's choice among the root infosets j, by their margins u(j)
        set_roots      π(j)  = (1 − share) · prior(j) + share · that choice
        realise        π(Ia) = π(p) σ(a), from the roots down; t² π is added to the sum, if one is kept

    Parameters
    ----------
    before : int
        Number of iterations so far: the plans of iteration t have weight t² in the sums.
    maxmargin_share : float
        See :func:`set_roots`.
    game : klss.search.utilities.IteratedGame
    learned : (RegretState, RegretState)
    top : RootState
    work : klss.search.equilibrium.pcfr.Scratch
        Overwritten by every iteration.
    """
    for t in range(before + 1, before + times + 1):
        weight = np.float64(t) ** 2
        for player in range(2):
            # Utilities of the player's sequences against the other's plan.
            utility, reach = work.utilities[player], work.reaches[player]
            utility[:] = 0.0
            reach[:] = game.least[player]
            against(player, game.tree, learned[1 - player].plan, utility, reach)
            # A step at every infoset and, for player 1, at the roots; then the new plan.
            improve(game.sides[player], 1.0 - 2.0 * player, PREDICTIVE, utility, reach, learned[player])
            if player == 1:
                improve_roots(top, utility)
                set_roots(maxmargin_share, top, learned[1].plan)
            realise(game.sides[player], weight, learned[player])
