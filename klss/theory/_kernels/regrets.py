"""Regret matching over a treeplex, for whole games (:mod:`klss.theory.first_order`) and for the trunk of a search."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from klss.support.kernel import kernel
from klss.theory._kernels.treeplex import realise

_NOWHERE = np.zeros(0)
"""An empty reach, with which :func:`improve` skips no infoset."""


class Rule(NamedTuple):
    """How regrets are discounted after a step, and how they give the next strategy."""

    positive: float
    """Factor of a positive regret."""
    negative: float
    """Factor of a negative regret."""
    prediction: float
    """Weight of the last step's regret in the next strategy, as a prediction of the next step's."""
    uniform: bool
    """Whether an infoset without positive regret plays uniformly, as published, or its best action."""


PREDICTIVE = Rule(1.0, 0.0, 1.0, False)
"""PCFR+ (Farina, Kroer & Sandholm, AAAI 2021): the next step's regrets are predicted to be the last step's."""


@kernel(allocates=False)
def improve(side: Any, sign: float, rule: Any, utility: Any, reach: Any, learned: Any) -> None:
    """Make one step at every infoset, from the leaves up; ``utility`` becomes the counterfactual utility of each
    sequence (for player 0).

    Parameters
    ----------
    side
        A treeplex (:class:`klss.theory.treeplex.TreeplexArrays`, or with the same fields).
    sign : float
        1 for player 0, −1 for player 1.
    rule : Rule
    reach : float64[I] or float64[0]
        The opponent's part of each infoset's probability; infosets with 0 or less are skipped. Empty: none is skipped.
    learned
        With ``regret`` and ``strategy``, float64[S].
    """
    regret, strategy = learned.regret, learned.strategy
    skips = reach.shape[0] > 0
    for k in range(side.first_sequence.shape[0] - 1, -1, -1):
        if skips and reach[k] <= 0.0:
            continue
        first = np.uint64(side.first_sequence[k])  # unsigned, so that numba does not check for negative indices
        size = np.uint64(side.action_count[k])
        # The present strategy's value here.
        value = 0.0
        for a in range(size):
            value += strategy[first + a] * utility[first + a]
        # Regrets, and the next strategy before it is normalised.
        for a in range(size):
            instant = sign * (utility[first + a] - value)
            kept = regret[first + a] + instant
            kept *= rule.positive if kept > 0.0 else rule.negative
            regret[first + a] = kept
            strategy[first + a] = max(0.0, kept + rule.prediction * instant)
        total = 0.0
        for a in range(size):
            total += strategy[first + a]
        # Without any positive regret the rule says what to play.
        if total > 0.0:
            for a in range(size):
                strategy[first + a] /= total
        elif rule.uniform:
            for a in range(size):
                strategy[first + a] = 1.0 / size
        else:
            best = np.uint64(0)
            for a in range(size):
                strategy[first + a] = 0.0
                if sign * utility[first + a] > sign * utility[first + best]:
                    best = np.uint64(a)
            strategy[first + best] = 1.0
        utility[side.parent_sequence[k]] += value


@kernel
def step(done: Any, who: int, discount: float, rule: Any, power: float, side: Any, utility: Any, learned: Any) -> None:
    """Make player ``who``'s part, 0 or 1, of iteration ``done[0]`` + 1: a step, the new plan, and the plan into the
    average; see :func:`improve` and :func:`iterate`. Player 1's part ends the iteration, and counts it.
    """
    t = done[0] + 1
    now = rule
    if discount > 0.0:
        share = np.float64(t) ** discount
        now = Rule(share / (share + 1.0), rule.negative, rule.prediction, rule.uniform)
    weight = np.float64(t) ** power
    improve(side, 1.0 - 2.0 * who, now, utility, _NOWHERE, learned)
    realise(side, learned.strategy, learned.plan)
    plan, average = learned.plan, learned.total
    for s in range(plan.shape[0]):
        average[s] += weight * plan[s]
    done[0] += who


@kernel
def iterate(times: int, done: Any, discount: float, rule: Any, power: float, sides: Any, payoffs: Any, learned: Any,
            work: Any) -> None:  # fmt: skip
    """Run ``times`` iterations on a sequence form, player 0 first, player 1 against player 0's new plan.

    Parameters
    ----------
    done : int64[1]
        Number of iterations so far; updated.
    discount : float
        If it is positive, ``rule.positive`` of iteration t is t^discount / (t^discount + 1) instead.
    power : float
        The plans of iteration t have weight t^power in the averages.
    sides : (TreeplexArrays, TreeplexArrays)
    payoffs : two of (int32[S + 1], int32[nonzeros], float64[nonzeros])
        Each player's sequences by rows, the other's by columns.
    learned : (RegretState, RegretState) of :mod:`klss.theory.first_order`
    work : (float64[S0], float64[S1])
        Overwritten.
    """
    for _ in range(times):
        for player in range(2):
            # Utilities of the sequences against the other's plan.
            starts, index, value = payoffs[player]
            other, utility = learned[1 - player].plan, work[player]
            for s in range(utility.shape[0]):
                total = 0.0
                for k in range(starts[s], starts[s + 1]):
                    total += value[k] * other[index[k]]
                utility[s] = total
            step(done, player, discount, rule, power, sides[player], utility, learned[player])
