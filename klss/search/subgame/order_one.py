"""1-KLSS: player 0's infoset alone, nested, with particles from the belief in addition to the carried roots (App. E,
lines 11–19).

Deviations, and points that the text leaves open:

* At most ``max_carried`` roots of I' are carried on, first those that player 1 is expected to reach; particles fill up
  to L. The paper sets no limit, but a trunk with thousands of roots is one ply deep when its time is up.
* After a move that the plan never plays (a forced or an obvious move made without a search) the next search starts
  afresh, because player 0's reach, by which sections are divided, is 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from klss.search.likelihood import Uniform
from klss.search.model import Belief, Drawn, Model
from klss.search.parts import Likelihood, SearchedSubgame, SearchState, Strategies
from klss.search.profile import utility_at
from klss.search.subgame.carrying import next_trunk
from klss.search.subgame.sections import CarriedSubtree, likeliest, merge_transpositions, sections_at
from klss.search.trunk import Roots, Trunk
from klss.support.arrays import Floats, Ints, States

_NODES_A_ROOT = 32
"""Nodes that expanding a root is expected to add."""

_LEAST_ROOTS = 16
"""Least number of roots in a short search."""


@dataclass(frozen=True)
class OrderOne:
    """Builds the subgame of I alone."""

    particles: int = 200  # L: sample the belief up to this many roots
    max_carried: int = 100  # most roots carried on from the previous trunk
    nested: bool = True  # whether the previous trunk is carried on; if not, every search starts afresh
    # Largest fraction of the move's nodes that goes into expanding roots; at most half of these roots are carried ones.
    # Infinite: only the two limits above hold.
    root_node_fraction: float = math.inf
    likelihood: Likelihood = field(default_factory=Uniform)  # how roots are drawn and weighed

    def build(
        self, standing: SearchState | None, belief: Belief, model: Model, rng: np.random.Generator, nodes: float
    ) -> SearchedSubgame:
        # The rest of the last trunk at player 0's infoset (App. E, lines 11–16).
        seeds = [int(seed) for seed in rng.integers(0, 2**63, size=3)]
        particles, max_carried = self._limits(nodes)
        sections, estimate = self._carried(standing, model, max_carried, seeds[0])
        previous = standing if sections else None
        kept = np.concatenate([np.zeros(0, dtype=np.int64), *(section.nodes for section in sections)])
        own = np.zeros((0, model.state_width), dtype=np.uint64)
        if previous is not None:
            own = previous.trunk.states[kept[previous.trunk.nodes.infoset[kept, 0] == previous.infoset]]
        # Particles: states of the belief that are not carried, up to the wanted number of roots (lines 17–19).
        wanted = particles - len(kept)
        more = wanted > 0 and len(own) < belief.size
        nothing = Drawn.certain(own[:0])
        drawn = self.likelihood.sample(belief, wanted, own, seeds[1]) if more else nothing
        fresh = fresh_roots(drawn.states, model, estimate, seeds[2], belief)
        # One trunk of both, and the probability that player 1 reaches each of its root infosets.
        if previous is None:
            trunk, origin = Trunk.from_roots(fresh), None
        else:
            trunk, origin = next_trunk(previous.trunk, previous.infoset, sections, fresh)
        carried = len(trunk.members(0)) - len(drawn.states)
        # The carried roots come first; they were not drawn, so each counts once.
        inclusion = np.concatenate([np.ones(carried), drawn.inclusion])
        prior = self._prior(belief, trunk, inclusion, previous, sections)
        roots = trunk.members(0)
        group = trunk.nodes.sequence[roots, 1].astype(np.int64) - 1
        feared = np.bincount(group, weights=model.threats(trunk.states[roots]), minlength=trunk.group_count) > 0
        return SearchedSubgame(trunk, carried, len(drawn.states), prior, _strategies(previous, origin), feared)

    def _limits(self, nodes: float) -> tuple[int, int]:
        """Return the limits of all roots and of carried roots in a search of ``nodes``."""
        if math.isinf(self.root_node_fraction):
            return self.particles, self.max_carried
        particles = min(self.particles, max(_LEAST_ROOTS, int(self.root_node_fraction * nodes / _NODES_A_ROOT)))
        return particles, min(self.max_carried, (particles + 1) // 2)

    def _prior(
        self, belief: Belief, trunk: Trunk, inclusion: Floats, previous: SearchState | None,
        sections: list[CarriedSubtree],
    ) -> Floats:  # fmt: skip
        """Return the prior of the root infosets J, the carried ones first: ½(y(J)s(J)/Σys + w(J)/Σw)/s(J), normalised.

        Half is player 1's last plan y (as in Obscuro, arXiv 2506.01242, where w is uniform), half the roots' weights w;
        if nothing is carried, the weights alone. s(J) is the part of J at player 0's present infoset (1 in 1-KLSS);
        dividing by it makes the roots there have those weights.
        """
        # Weights of the roots at player 0's infoset, summed by root infoset of player 1 (sequence 1 + j leads to j).
        own = trunk.members(0)
        states, group = trunk.states[own], trunk.nodes.sequence[own, 1].astype(np.int64) - 1
        groups = trunk.group_count
        weights = self.likelihood.weights(belief, Drawn(states, inclusion), trunk.nodes.value[own])
        at_hers = np.bincount(group, weights=trunk.nodes.chance[own], minlength=groups)
        summed = np.bincount(group, weights=weights, minlength=groups)
        prior = np.asarray(summed / summed.sum())
        # Half of the prior by player 1's last plan, if there is one.
        if previous is not None:
            expected = np.zeros(groups)
            at = previous.trunk.nodes.sequence
            expected[: len(sections)] = [previous.profile.y[at[section.nodes[0], 1]] for section in sections]
            expected *= at_hers
            total = float(expected.sum())
            prior = np.asarray(0.5 * (expected / total + prior)) if total > 0.0 else prior
        prior = np.asarray(prior / at_hers)
        return np.asarray(prior / prior.sum())

    def _carried(
        self, standing: SearchState | None, model: Model, most: int, seed: int
    ) -> tuple[list[CarriedSubtree], float]:
        """Return the sections that are carried on, and û; if there are none, infinity."""
        if standing is None or not self.nested or standing.infoset < 0 or not (sections := self.sections(standing)):
            return [], np.inf
        sections = merge_transpositions(standing.trunk, sections, model, seed)
        estimate = utility_at(standing.trunk, standing.profile, standing.infoset)
        return likeliest(standing.trunk, standing.profile.y, sections, most, seed), estimate

    def sections(self, standing: SearchState) -> list[CarriedSubtree]:
        """Return the rest of the previous trunk at player 0's infoset there, by player 1's infosets."""
        return sections_at(standing.trunk, standing.profile.x, standing.infoset)


def _strategies(previous: SearchState | None, origin: tuple[Ints, Ints] | None) -> Strategies | None:
    """Return the previous trunk's strategies on the carried sequences of the new trunk; 0 on the others."""
    if previous is None or origin is None or previous.strategies is None:
        return None
    own, theirs = (
        np.where(old >= 0, strategy[old], 0.0) for strategy, old in zip(previous.strategies, origin, strict=True)
    )
    return own, theirs


def fresh_roots(states: States, model: Model, estimate: float, seed: int, belief: Belief | None = None) -> Roots:
    """Return newly sampled particles as roots, grouped by the model's infosets of player 1. The alternate value is
    min(û, ũ(h)) (App. E, line 19), its weighted mean over an infoset; weights in an infoset are the belief's.
    """
    # Groups by player 1's infosets, and weights in them; all equal if each state is a group of its own.
    count = len(states)
    values = model.values(states) if count else np.zeros(0)
    group = model.groups(states)
    groups = int(group.max(initial=-1)) + 1
    logs = belief.log_weights(states) if belief is not None and groups < count else np.zeros(count)
    weight = np.exp(logs - logs.max(initial=-np.inf)) if count else np.zeros(0)
    weight /= np.bincount(group, weights=weight, minlength=groups)[group]
    # These roots have no observation history in the trunk: random keys make their infosets distinct.
    keys = np.random.default_rng(seed).integers(0, 2**64, size=groups, dtype=np.uint64)
    return Roots(
        states=states,
        movers=model.movers(states),
        values=values,
        group=group.astype(np.int32),
        weight=weight,
        keys=keys,
        alternate=np.asarray(
            np.bincount(group, weights=weight * np.minimum(estimate, values), minlength=groups), dtype=np.float64
        ),
        key=int(keys[0]) if count else 0,
    )
