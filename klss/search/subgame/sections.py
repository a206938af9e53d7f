"""The sections of the next subgame: the rest of the previous trunk at player 0's infoset, one section for each infoset
of player 1 that meets it (MakeSubgame of App. E, k = 1).

Γ is the previous trunk with its gadget, x player 0's plan in it, I' player 0's infoset now. For each infoset J of
player 1 that meets I':

* D = Σ_{h ∈ J∩I'} p(h)x(h); every quantity of J is divided by it (docs/search.md, "Slips and mends": line 21), except
  for gifts;
* the alternate value is player 1's counterfactual best-response value at J against x, *all* of J counted;
* the gift lowers the alternate value (mend of line 22): Σ (u*(x|J'a') − u*(x|J'))/D(J') over player 1's actions on the
  way to J, where D(J') is the probability Σ p(h)x(h) of the infoset at which the action was taken;
* leaves below J but not below I' can no longer be reached, but player 1 does not know that: their values, fixed by x,
  are folded into its observation tree (line 27). Entries folded in earlier are copied (lines 24–25), at every sequence
  below J, even if no node has that sequence any more.

Deviations, in addition to the mends: the gadget's choice at the root is not an action of player 1 in the game, so it
gives no gift. Folded-in leaves are leaves of the *trunk*: their estimates are never refined. Of two roots that are
transpositions one is dropped, as in §4, item 3: the one whose top-row entries are all at least as large, since it is
dominated for player 1; if neither is dominated, a random one. Entries are compared by observation sequence, although
the trees below may be expanded differently.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klss.search._kernels import trunk as kernels
from klss.search.model import Model
from klss.search.profile import reach_of
from klss.search.trunk import Trunk
from klss.support.arrays import Floats, Ints
from klss.theory._kernels.responses import observation_gifts, observation_values
from klss.theory.movers import TERMINAL


@dataclass(frozen=True)
class CarriedSubtree:
    """The part of the next subgame below one infoset J of player 1."""

    infoset: int  # J, in the previous trunk
    nodes: Ints  # [r], of J ∩ I'
    weight: Floats  # [r], their shares p(h)x(h)/D
    alternate: float  # the alternate value, gift subtracted; it is subtracted from player 0's payoff below J
    folded_infoset: Ints  # [e], infosets of the entries folded in below J, all different, in the previous trunk
    folded_value: Floats  # [e], divided by D


def reached_members(trunk: Trunk, probability: Floats, infoset: int) -> Ints:
    """Return the nodes of an infoset of player 0 that are not terminal and have a positive ``probability`` (float64[N],
    nature's and player 0's part): int64[n].
    """
    members = trunk.members(infoset)
    return np.asarray(members[(probability[members] > 0.0) & (trunk.nodes.mover[members] != TERMINAL)])


def alternate_values(
    trunk: Trunk, probability: Floats, y: Floats, leaves: Floats, around: Ints, scale: Floats
) -> Floats:
    """Return the alternate values (float64[n]) of the infosets ``around`` (int64[n]) of player 1: its values there,
    divided by the probabilities ``scale`` (float64[n], positive), minus the gifts on the way there.

    ``probability`` (float64[N]) is nature's and player 0's part of each node's probability, ``y`` (float64[S1]) player
    1's plan; where it is 0, a best response counts. ``leaves`` are :func:`leaf_values`.
    """
    theirs, count = trunk.infosets[1], trunk.infoset_count(1)
    nodes, infoset = trunk.nodes, trunk.nodes.infoset[: trunk.node_count, 1]
    value = np.bincount(infoset, weights=leaves, minlength=count)
    value += np.bincount(trunk.folded_infoset, weights=trunk.folded_value, minlength=count)
    sequence_value, decision_value, gift = np.zeros(trunk.sequence_count(1)), np.zeros(count), np.zeros(count)
    observation_values(theirs, count, y, sequence_value, value, decision_value)
    acts = nodes.mover[: trunk.node_count] == 1
    mass = np.bincount(infoset[acts], weights=probability[acts], minlength=count)
    observation_gifts(theirs, count, sequence_value, decision_value, mass, gift)
    return np.asarray(value[around] / scale - gift[around])


def leaf_values(trunk: Trunk, probability: Floats) -> Floats:
    """Return each leaf's value for player 0 times ``probability`` (float64[N]), 0 at other nodes: float64[N]."""
    return np.where(trunk.leaf, probability * trunk.nodes.value[: trunk.node_count], 0.0)


def sections_at(trunk: Trunk, x: Floats, infoset: int) -> list[CarriedSubtree]:
    """Return the sections of the next subgame at I', an ``infoset`` of player 0 in ``trunk`` with its plan ``x``
    (float64[S0]), in the order of player 1's infosets; none if no node of I' has a positive probability p(h)x(h).
    """
    # Nature's and player 0's part of the probability of every node, and player 1's values against it.
    nodes, count = trunk.nodes, trunk.node_count
    theirs, infoset_count = trunk.infosets[1], trunk.infoset_count(1)
    probability = reach_of(0, trunk, x)
    members = reached_members(trunk, probability, infoset)
    if not len(members):
        return []

    # Player 1's infosets that meet I': one section each, divided by its probability D.
    meeting, group = np.unique(nodes.infoset[members, 1], return_inverse=True)
    denominator = np.asarray(np.bincount(group, weights=probability[members]), np.float64)
    # With a plan of zeros, player 1's values are those of a best response everywhere.
    nothing, contribution = np.zeros(trunk.sequence_count(1)), leaf_values(trunk, probability)
    alternate = alternate_values(trunk, probability, nothing, contribution, meeting, denominator)
    # For each infoset of player 1 the section above it; for each node whether it is below I'.
    above = np.full(infoset_count, -1, dtype=np.int64)
    above[meeting] = np.arange(len(meeting))
    kernels.spread_down(theirs.parent, infoset_count, above)
    below = np.full(count, -1, dtype=np.int64)
    below[members] = 0
    trunk.spread_down(below)

    # Leaves below a meeting infoset but not below I' can't be reached, but player 1 does not know that: their values
    # are folded into player 1's observation tree, added to the entries folded in before.
    outside = np.flatnonzero((below < 0) & (contribution != 0.0) & (above[nodes.infoset[:count, 1]] >= 0))
    at = np.concatenate([nodes.infoset[outside, 1].astype(np.int64), trunk.folded_infoset.astype(np.int64)])
    value = np.concatenate([contribution[outside], trunk.folded_value])
    folded = np.bincount(at, weights=value, minlength=infoset_count)
    entries = np.flatnonzero((folded != 0.0) & (above >= 0))
    # Sort entries by section, so that each section's are a range.
    entries = entries[np.argsort(above[entries], kind="stable")]
    bounds = np.searchsorted(above[entries], np.arange(len(meeting) + 1))
    sections = []
    for j, their in enumerate(meeting):
        own = members[group == j]
        mine = entries[bounds[j] : bounds[j + 1]]
        weight, value = probability[own] / denominator[j], folded[mine] / denominator[j]
        sections.append(CarriedSubtree(int(their), own, weight, float(alternate[j]), mine, value))
    return sections


def merge_transpositions(trunk: Trunk, sections: list[CarriedSubtree], model: Model, seed: int) -> list[CarriedSubtree]:
    """Keep one of the sections whose roots are transpositions; sections with several roots are not merged."""
    # Sections of one root, grouped by position.
    single = [i for i, section in enumerate(sections) if len(section.nodes) == 1]
    if len(single) < 2:
        return sections
    identities = model.identities(trunk.states[[sections[i].nodes[0] for i in single]])
    by_state: dict[bytes, list[int]] = {}
    for i, row in zip(single, identities, strict=True):
        by_state.setdefault(row.tobytes(), []).append(i)
    # In each group, compare the section kept so far with each next one.
    rng = np.random.default_rng(seed)
    dropped: set[int] = set()
    for same in by_state.values():
        kept, row = same[0], None
        for other in same[1:]:
            row, other_row = row or _top_row(trunk, sections[kept]), _top_row(trunk, sections[other])
            if _kept_of(row, other_row, rng) == 0:
                dropped.add(other)
            else:
                dropped.add(kept)
                kept, row = other, other_row
    return [section for i, section in enumerate(sections) if i not in dropped]


def likeliest(trunk: Trunk, y: Floats, sections: list[CarriedSubtree], most: int, seed: int) -> list[CarriedSubtree]:
    """Return as many sections as have at most ``most`` roots together, those first that player 1's plan reaches with
    the largest probability; in their old order.
    """
    sizes = np.array([len(section.nodes) for section in sections])
    if not len(sections) or sizes.sum() <= most:
        return sections
    # Sort by player 1's plan, ties at random. At least one section is kept, even if it is too large.
    reached = np.array([y[trunk.nodes.sequence[section.nodes[0], 1]] for section in sections])
    drawn = np.random.default_rng(seed).random(len(sections))
    order = np.lexsort((drawn, -reached))
    kept = order[np.cumsum(sizes[order]) <= most]
    return [sections[i] for i in np.sort(kept if len(kept) else order[:1])]


def _top_row(trunk: Trunk, section: CarriedSubtree) -> dict[int, float]:
    """Return the top-row entries of a section by player 1's observation sequence from the section's root on."""
    # Sections are different trees, so infosets are compared by a hash of the observations since the section's root.
    # Key 0 is the section's root, whose entry is the alternate value.
    theirs = trunk.infosets[1]
    row = {0: -section.alternate}
    paths: dict[int, int] = {section.infoset: 0}

    def path(infoset: int) -> int:
        if infoset not in paths:
            paths[infoset] = hash((path(int(theirs.parent[infoset])), int(theirs.label[infoset]))) & (1 << 64) - 1
        return paths[infoset]

    for infoset, value in zip(section.folded_infoset.tolist(), section.folded_value.tolist(), strict=True):
        key = path(infoset)
        row[key] = row.get(key, 0.0) + value
    return row


def _kept_of(first: dict[int, float], second: dict[int, float], rng: np.random.Generator) -> int:
    """Return 0 to keep the first of two sections, 1 to keep the second. Player 1 minimises, so the section whose
    entries are all at most as large dominates the other for it.
    """
    keys = first.keys() | second.keys()
    if all(first.get(key, 0.0) <= second.get(key, 0.0) for key in keys):
        return 0
    if all(second.get(key, 0.0) <= first.get(key, 0.0) for key in keys):
        return 1
    return int(rng.integers(2))  # neither dominates the other
