"""Kernels of regret minimisation on a trunk (:mod:`klss.search.equilibrium.pcfr`).

Arrays are indexed by sequences. A *side* is a player's treeplex (:class:`klss.search.utilities.TrunkTreeplex`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from klss.search._kernels.utilities import against
from klss.support.kernel import kernel
from klss.theory._kernels.regrets import PREDICTIVE, improve


@kernel
def start(
    player: int, nodes: Any, known: int, count: int, have: int, side: Any, acting: int, seed: float, regret: Any,
    strategy: Any,
) -> None:  # fmt: skip
    """Start each of ``side``'s new infosets on its best child by evaluation: the greatest Σ chance · value over the
    nodes ``known`` … ``count`` − 1. New are those from place ``acting`` on whose sequences are not below ``have``.
    """
    # The value of each new sequence's children to the player, kept in the place of its strategy.
    sign = 1.0 - 2.0 * player
    for node in range(known, count):
        s = nodes.sequence[node, player]
        parent = nodes.parent[node]
        if s >= have and parent >= 0 and s != nodes.sequence[parent, player]:
            strategy[s] += sign * nodes.chance[node] * nodes.value[node]
    # Play the best one. A tiny regret keeps it in the strategy until the first step.
    for k in range(acting, side.first_sequence.shape[0]):
        first = side.first_sequence[k]
        if first < have:
            continue
        best = first
        for s in range(first + 1, first + side.action_count[k]):
            if strategy[s] > strategy[best]:
                best = s
        for s in range(first, first + side.action_count[k]):
            strategy[s] = 0.0
        strategy[best] = 1.0
        regret[best] = seed


@kernel
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
        first = side.first_sequence[k]
        stop = first + side.action_count[k]
        if above > 0.0:
            live[k] = True
            for s in range(first, stop):
                plan[s] = above * strategy[s]
            if summed:
                for s in range(first, stop):
                    total[s] += weight * plan[s]
        elif live[k]:  # otherwise the plan is 0 already
            live[k] = False
            for s in range(first, stop):
                plan[s] = 0.0


@kernel
def set_roots(maxmargin_share: float, top: Any, plan: Any) -> None:
    """Write player 1's probability of each root infoset into the plan's root sequences. ``maxmargin_share`` is
    Maxmargin's share; the rest is nature's.
    """
    for j in range(top.prior.shape[0]):
        plan[1 + j] = (1.0 - maxmargin_share) * top.prior[j] + maxmargin_share * top.chosen[j]


@kernel
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
