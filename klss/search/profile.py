"""A profile: both players' plans on a trunk, and their value in the gadget on top of it.

Solvers (:mod:`klss.search.equilibrium`) and readers (expansion, choice, the next subgame, analysis) all use plans with
the trunk's own numbers of sequences.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from klss.paper.subgame import Gadget
from klss.search.trunk import Trunk
from klss.support.arrays import Bools, Floats, Int32s

SUPPORT = 1e-9
"""Probability above which an action is in the support. Exact plans are vertices: their other entries are zero up to
rounding.
"""


@dataclass(frozen=True)
class Profile:
    """Both players' plans on a trunk."""

    gadget: Gadget  # the gadget of ``margin``
    x: Floats  # [S0], player 0's plan
    # [S1], player 1's plan. Entry 1 + j is the probability of root infoset j. In Resolve: of reaching it, by nature's
    # or a cautious Resolve's weights, and playing on.
    y: Floats
    # Maxmargin: the least margin over the root infosets. Resolve: the gadget's value (≤ 0; 0: no margin is negative).
    # Both without the information penalty.
    margin: float
    objective: float  # what x guarantees in the gadget, penalty included
    gap: float  # recomputed saddle gap; infinite where it was not
    # Whether purification keeps only the likeliest action. True if nature brings player 1 to the root infosets or
    # player 1 may exit (Resolve): then player 1's choice of a root infoset does not enforce the mixture.
    pure: bool
    solved: bool  # whether the solver finished; if not, x and y are the best available


def reach_of(player: int, trunk: Trunk, plan: Floats) -> Floats:
    """Return nature's and ``player``'s part of the probability of reaching each node: float64[N]."""
    count = trunk.node_count
    return np.asarray(trunk.nodes.chance[:count] * plan[trunk.nodes.sequence[:count, player]])


def strategy_at(trunk: Trunk, profile: Profile, infoset: int = 0) -> tuple[Int32s, Floats]:
    """Return the codes of player 0's actions at ``infoset`` (0: the root's) and their probabilities; both empty if
    player 0 has no actions there or never reaches it.
    """
    played, first = support_at(trunk, profile, infoset), int(trunk.infosets[0].first[infoset])
    here = slice(first, first + len(played))
    probabilities = np.where(played, profile.x[here], 0.0)
    return trunk.sequences[0].action[here].copy(), probabilities / probabilities.sum()


def support_at(trunk: Trunk, profile: Profile, infoset: int) -> Bools:
    """Return which actions have a probability in :func:`strategy_at`; empty where that is empty."""
    first, count = int(trunk.infosets[0].first[infoset]), int(trunk.infosets[0].size[infoset])
    played: Bools = profile.x[first : first + count] > SUPPORT
    return played if first >= 0 and played.any() else played[:0]


def utility_at(trunk: Trunk, profile: Profile, infoset: int) -> float:
    """Return û: the profile's expected utility at an infoset of player 0 (the A part only; App. E, line 13).

    If player 1 never goes there, line 13 would divide zero by zero; then û is the profile's utility at the root.
    """
    # The probability of each node, and the leaves' contributions to the utility.
    nodes, count = trunk.nodes, trunk.node_count
    reach = reach_of(0, trunk, profile.x) * profile.y[nodes.sequence[:count, 1]]
    utility = np.where(trunk.leaf, reach * nodes.value[:count], 0.0)
    members = trunk.members(infoset)
    total = float(reach[members].sum())
    if total <= 0.0:
        whole = float(reach[: trunk.root_count].sum())
        return float(utility.sum()) / whole if whole > 0.0 else np.inf
    # The leaves below the infoset, conditional on reaching it.
    below = np.full(count, -1, dtype=np.int64)
    below[members] = 0
    trunk.spread_down(below)
    return float(utility[below == 0].sum()) / total


def _liking(trunk: Trunk, player: int) -> Floats:
    """Return the evaluation of each sequence of ``player``, from that player's side: Σ chance·value of the children to
    which it leads, float64[S]. Only the order among the sequences of one infoset has a meaning.
    """
    nodes, count = trunk.nodes, trunk.node_count
    parent, sequence = np.maximum(nodes.parent[:count], 0), nodes.sequence[:count, player]
    after = sequence != nodes.sequence[parent, player]  # the children of the player's own nodes
    weights = nodes.chance[:count][after] * nodes.value[:count][after]
    sums = np.bincount(sequence[after], weights=weights, minlength=trunk.sequence_count(player))
    return np.asarray(sums if player == 0 else -sums)


def extended(trunk: Trunk, profile: Profile) -> Profile:
    """Extend an earlier profile to a trunk that has grown since; the result is not ``solved``, and its gap infinite. At
    new infosets the mover plays the action whose children have the best evaluation (as Obscuro starts new infosets,
    arXiv 2506.01242).
    """
    plans = []
    for player, plan in ((0, profile.x), (1, profile.y)):
        infosets, liked = trunk.infosets[player], _liking(trunk, player)
        longer = np.concatenate([plan, np.zeros(trunk.sequence_count(player) - len(plan))])
        active = np.flatnonzero(infosets.first[: trunk.infoset_count(player)] >= len(plan))
        for infoset in active[np.argsort(infosets.first[active])]:
            reached = longer[infosets.sequence[infoset]]
            if reached > 0.0:  # few are
                first, size = int(infosets.first[infoset]), int(infosets.size[infoset])
                longer[first + int(np.argmax(liked[first : first + size]))] = reached
        plans.append(longer)
    return dataclasses.replace(profile, x=plans[0], y=plans[1], gap=np.inf, solved=False)
