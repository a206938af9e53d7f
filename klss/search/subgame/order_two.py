"""2-KLUSS: knowledge-limited *unfrozen* subgame solving of order 2 (Zhang & Sandholm, arXiv 2506.01242), nested, with
particles in addition to the carried roots.

The subgame keeps the nodes of player 0's infoset I *and* all nodes that player 1 can't tell from them: every infoset J
of player 1 that meets I, as a whole. Below all these nodes player 0's strategy is solved anew, also at its infosets
other than I: nothing of the last strategy is frozen, nothing is folded in. A section's alternate value is that of the
last *profile*, not of a best response, minus the gift

    ĝ(J) = Σ max(0, u(x, y | J'a') − u(x, y | J')) / D(J'),        J'a' on the way to J,

where D(J') is the probability with which nature and player 0 reach J': a loss given that J' is reached.

Particles are positions that player 1 is assumed to know, as in :mod:`klss.search.subgame.order_one`.

Unlike 1-KLSS at one infoset, it is not safe, not even in small games: at its other infosets player 0 will not play the
strategy found here, since it solves another subgame at each of them (docs/tables.md has the cost of that).

Decided here:

* Every quantity of J but the gift is divided by the probability with which nature and player 0 reach J, including its
  nodes outside I. A node outside I stays only if its share of J is 1e-3 or more.
* After actions that player 1's plan never plays, player 1's value is that of a best response.
* In games where player 1 can't count turns, only those of J's nodes are kept that are as deep as player 0's.
* Transpositions are merged only if player 1 knows the position: a section of one node and no other at its infoset.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klss.search.parts import SearchState
from klss.search.profile import Profile, reach_of
from klss.search.subgame.order_one import OrderOne
from klss.search.subgame.sections import CarriedSubtree, alternate_values, leaf_values, reached_members
from klss.search.trunk import Trunk
from klss.theory.movers import TERMINAL

_LEAST_SHARE = 1e-3
"""Least share of J's probability at which a node outside player 0's infoset is kept."""


@dataclass(frozen=True)
class OrderTwo(OrderOne):
    """Builds the subgame of I and of the nodes that player 1 can't tell from it."""

    def sections(self, standing: SearchState) -> list[CarriedSubtree]:
        return unfrozen_sections(standing.trunk, standing.profile, standing.infoset)


def unfrozen_sections(trunk: Trunk, profile: Profile, infoset: int) -> list[CarriedSubtree]:
    """Return sections as :func:`klss.search.subgame.sections.sections_at` does, but by both players' plans: they also
    have nodes of other infosets of player 0, and nothing is folded in.
    """
    # Nature's and player 0's part of the probability of every node.
    nodes, count, infoset_count = trunk.nodes, trunk.node_count, trunk.infoset_count(1)
    probability = reach_of(0, trunk, profile.x)
    members = reached_members(trunk, probability, infoset)
    if not len(members):
        return []

    # The nodes of player 1's infosets that meet I, those at the depth of I only.
    meets = np.zeros(infoset_count, dtype=np.bool_)
    meets[nodes.infoset[members, 1]] = True
    around = np.flatnonzero(meets[nodes.infoset[:count, 1]] & (probability > 0.0))
    level = np.full(infoset_count, -1, dtype=np.int64)
    level[nodes.infoset[members, 1]] = nodes.depth[members]
    around = around[(nodes.depth[around] == level[nodes.infoset[around, 1]]) | (nodes.infoset[around, 0] == infoset)]
    around = around[nodes.mover[around] != TERMINAL]
    # Each node's share of its infoset; a node outside I with a tiny share is not worth its cost.
    whole = np.bincount(nodes.infoset[around, 1], weights=probability[around], minlength=infoset_count)
    share = probability[around] / whole[nodes.infoset[around, 1]]
    kept = (share >= _LEAST_SHARE) | (nodes.infoset[around, 0] == infoset)
    around, share = around[kept], share[kept]
    # Sort by player 1's infoset, so that each section's nodes are a range.
    at = nodes.infoset[around, 1]
    order = np.argsort(at, kind="stable")
    around, share = around[order], share[order]
    meeting = np.flatnonzero(meets)
    bounds = np.searchsorted(at[order], np.append(meeting, infoset_count))
    scale = np.asarray(whole[meeting], np.float64)
    alternate = alternate_values(trunk, probability, profile.y, leaf_values(trunk, probability), meeting, scale)
    nobody, nothing = np.zeros(0, dtype=np.int64), np.zeros(0)
    sections = []
    for j, their in enumerate(meeting.tolist()):
        own = slice(bounds[j], bounds[j + 1])
        weight = share[own] / share[own].sum()
        sections.append(CarriedSubtree(their, around[own], weight, float(alternate[j]), nobody, nothing))
    return sections
