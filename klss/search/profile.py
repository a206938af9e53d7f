"""A profile: what both players do on a trunk, and what it is worth in the gadget on top of it.

Whoever makes profiles (:mod:`klss.search.equilibrium`), whoever reads them (expansion, choice, the next subgame, an
analysis) sees plans in the trunk's own numbering of sequences; how they came about is not kept here.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from klss.search.trunk import Trunk
from klss.subgame import Gadget
from klss.support.arrays import Floats, Int32s

__all__ = ["SUPPORT", "Profile", "extended", "reach_of", "strategy_at", "utility_at"]

SUPPORT = 1e-9
"""A probability above this is in the support; exact plans are vertices, where the others are zero up to rounding."""


@dataclass(frozen=True)
class Profile:
    """Both players' plans on a trunk."""

    gadget: Gadget  # that the margin is of
    x: Floats  # [S0], player 0's plan
    # [S1], player 1's; entry 1 + j is the probability of root infoset j (in Resolve: of coming there, by nature or by a
    # cautious one's choice, and playing on).
    y: Floats
    # Maxmargin: the least margin over the root infosets, information penalty left out. Resolve: the gadget's value,
    # likewise (≤ 0; 0: all margins safe).
    margin: float
    objective: float  # what x is sure of in the gadget, penalty included
    gap: float  # recomputed saddle gap
    # Whether purification leaves the likeliest action alone: player 1 is brought to the root infosets by nature, or
    # leaves them in Resolve, so that nothing holds the mixture together.
    pure: bool
    solved: bool  # whether the solver finished; if not, x and y are what there is


def reach_of(player: int, trunk: Trunk, plan: Floats) -> Floats:
    """Nature's and the player's part of the probability of each node: float64[N]."""
    count = trunk.node_count
    return np.asarray(trunk.nodes.chance[:count] * plan[trunk.nodes.sequence[:count, player]])


def strategy_at(trunk: Trunk, profile: Profile, infoset: int = 0) -> tuple[Int32s, Floats]:
    """Player 0's actions at an infoset (codes), the root's unless another is named, and their probabilities; empty
    where it has none there, or never comes.
    """
    first, count = int(trunk.infosets[0].first[infoset]), int(trunk.infosets[0].size[infoset])
    probabilities = profile.x[first : first + count].copy()
    probabilities[probabilities <= SUPPORT] = 0.0
    if first < 0 or not probabilities.any():
        return np.zeros(0, dtype=np.int32), np.zeros(0)
    return trunk.sequences[0].action[first : first + count].copy(), probabilities / probabilities.sum()


def utility_at(trunk: Trunk, profile: Profile, infoset: int) -> float:
    """û: the profile's expected utility at an infoset of player 0 (the A part only; App. E, line 13).

    Where player 1 never goes there (line 13 then divides zero by zero), the profile's utility at the root stands in.
    """
    # The probability of each node, and what the leaves pay by it.
    nodes, count = trunk.nodes, trunk.node_count
    reach = reach_of(0, trunk, profile.x) * profile.y[nodes.sequence[:count, 1]]
    utility = np.where(trunk.leaf, reach * nodes.value[:count], 0.0)
    members = trunk.members(infoset)
    total = float(reach[members].sum())
    if total <= 0.0:
        whole = float(reach[: trunk.root_count].sum())
        return float(utility.sum()) / whole if whole > 0.0 else np.inf
    # The leaves below the infoset, given that it is reached.
    below = np.full(count, -1, dtype=np.int64)
    below[members] = 0
    trunk.spread_down(below)
    return float(utility[below == 0].sum()) / total


def _liking(trunk: Trunk, player: int) -> Floats:
    """Evaluation of each sequence of ``player``, from its point of view: Σ chance·value of the children it leads to,
    float64[S]; only the order among the sequences of one infoset counts.
    """
    nodes, count = trunk.nodes, trunk.node_count
    parent, sequence = np.maximum(nodes.parent[:count], 0), nodes.sequence[:count, player]
    after = sequence != nodes.sequence[parent, player]  # the children of the player's own nodes
    weights = nodes.chance[:count][after] * nodes.value[:count][after]
    sums = np.bincount(sequence[after], weights=weights, minlength=trunk.sequence_count(player))
    return np.asarray(sums if player == 0 else -sums)


def extended(trunk: Trunk, profile: Profile) -> Profile:
    """An earlier profile on a trunk that has grown since: at infosets that are new, the action whose children the
    evaluator likes best for the mover (as Obscuro starts new infosets, arXiv 2506.01242). Not ``solved``.
    """
    plans = []
    for player, plan in ((0, profile.x), (1, profile.y)):
        infosets, liked = trunk.infosets[player], _liking(trunk, player)
        longer = np.concatenate([plan, np.zeros(trunk.sequence_count(player) - len(plan))])
        active = np.flatnonzero(infosets.first[: trunk.infoset_count(player)] >= len(plan))
        for infoset in active[np.argsort(infosets.first[active])]:
            reached = longer[infosets.sequence[infoset]]
            if reached > 0.0:  # most are not
                first, size = int(infosets.first[infoset]), int(infosets.size[infoset])
                longer[first + int(np.argmax(liked[first : first + size]))] = reached
        plans.append(longer)
    return dataclasses.replace(profile, x=plans[0], y=plans[1], solved=False)
