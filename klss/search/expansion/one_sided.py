"""One-sided growing-tree expansion (Zhang & Sandholm, arXiv 2506.01242; GT-CFR: Schmid et al., Science Advances 2023).

In each walk from a root one player explores and the other plays as in the profile; the players explore in turns. Half
the time the explorer plays uniformly over its support, otherwise the action with the largest

    u(I, a) + C·σ(I, a)·√N(I) / (1 + N(I, a)),

where u is the profile's expected utility after the action, and σ² the variance of the values that the action had at
earlier visits and of two more, −1 and 1. The leaf at the end of the walk gets all its children.

Decided here:

* The roots are expanded first, because an unexpanded root counts the same for every action.
* Utilities are computed once for every batch of walks. Where the other player does not go, an action keeps its old one.
* Player 1's choice of a root infoset is an action like any other, whose value is its margin.
* A batch grows with the trunk: the solver's work is in proportion to the trunk, and keeps a bounded part of the time.
* Once player 0 has moved, walks from the root infoset begin with the action played.
* When walks find no leaf any more, the leaves that neither player's plan reaches are expanded.
* A search that goes on in the last trunk begins its walks at the nodes of player 0's present infoset.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from klss.search._kernels import utilities as kernels
from klss.search._kernels import walk
from klss.search.growth import Growth
from klss.search.profile import Profile
from klss.search.trunk import doubled, grown
from klss.support.arrays import Ints

_EXPLORATION = 1.0
"""C."""

_SUPPORT = 1e-3
"""Fraction of an infoset's probability; a sequence with less is not in the support."""

_FRUITLESS = 100
"""Batches of walks by each explorer without a new leaf after which walks count as exhausted."""

_EXPANDED_A_WALK = 64
"""Expanded nodes of the trunk for each walk of a batch."""

_LEAST_WALKS = 8
"""Least number of walks of a batch, for which utilities are computed once."""


class OneSided:
    """Grows where one player explores and the other plays."""

    def begin(self, growth: Growth) -> _Walking:
        growth.open_roots()
        return _Walking(growth)


class _Walking:
    def __init__(self, growth: Growth) -> None:
        self.iterations = 1
        self._trunk, self._utilities = growth.trunk, growth.utilities
        self._state = growth.rng.integers(0, 2**63, size=1, dtype=np.uint64)
        # Of each player's sequences, with room for more: quality, visits, sums, squares.
        self._statistics = [tuple(np.zeros((4, 0))), tuple(np.zeros((4, 0)))]
        self._roots = np.arange(growth.trunk.root_count)

    def depths(self) -> tuple[int, float]:
        return self._trunk.leaf_depths()

    def grow(self, growth: Growth, profile: Profile, beside: Callable[[], None]) -> bool:
        # Once player 0 has moved, do not grow below the actions that were not played.
        self._utilities.take_in()
        passed = self._passed(growth.played)
        profile = _without(profile, passed)
        opened = len(self._utilities.tree.opened.first)
        leaves = np.zeros(max(_LEAST_WALKS, opened // _EXPANDED_A_WALK), dtype=np.int64)
        # The explorers take turns; if one finds nothing, the other explores in the same round.
        for turn in (1, 2):
            explorer = (self.iterations + turn) & 1
            self._take_quality(explorer, profile)
            if explorer == 0:
                self._statistics[0][0][passed] = -np.inf
            for _ in range(_FRUITLESS):
                if growth.spent:
                    return False
                found = self._walk(explorer, profile, leaves, growth.starts)
                if found:
                    self.iterations += turn
                    growth.expand(leaves[:found], beside=beside)
                    return True
        # No walk finds a leaf any more: the leaves left are off both players' paths.
        return growth.played < 0 and self._expand_rest(growth, len(leaves), beside)

    def _expand_rest(self, growth: Growth, count: int, beside: Callable[[], None]) -> bool:
        """Expand ``count`` leaves to which no walk leads, the shallowest first; return False if there are none.

        Alternate values of later moves may come from nodes off the path. If the whole game fits into the budget, these
        are then exact too.
        """
        trunk = self._trunk
        left = np.flatnonzero(trunk.open_leaf)
        shallowest = left[np.argsort(trunk.nodes.depth[left], kind="stable")[:count]]
        growth.expand(shallowest, beside=beside)
        return len(shallowest) > 0

    def _passed(self, played: int) -> Ints:
        """Return player 0's sequences at the root infoset other than ``played``; none if that is −1."""
        own = self._trunk.infosets[0]
        if played < 0:
            return np.zeros(0, dtype=np.int64)
        first, size = int(own.first[0]), int(own.size[0])
        return np.delete(np.arange(first, first + size), played - first)

    def _walk(self, explorer: int, profile: Profile, leaves: Ints, starts: Ints | None) -> int:
        trunk, roots = self._trunk, starts is None
        starts = self._roots if starts is None else starts
        return int(
            walk.walks(
                explorer, trunk.nodes, starts, roots, trunk.infosets, (profile.x, profile.y), tuple(self._statistics),
                _SUPPORT, _EXPLORATION, self._state, leaves,
            )
        )  # fmt: skip

    def _take_quality(self, player: int, profile: Profile) -> None:
        """Compute u(I, a) of each of the explorer's sequences that the other player's plan reaches."""
        # Room for new sequences, which have no visits.
        count, have = self._trunk.sequence_count(player), len(self._statistics[player][0])
        if have < count:
            self._statistics[player] = tuple(grown(self._statistics[player], doubled(count, have)))
        own, other = (profile.x, profile.y) if player == 0 else (profile.y, profile.x)
        game, reach = self._utilities, self._utilities.least_reach(player).copy()
        quality = self._statistics[player][0]
        kernels.values(player, game.tree, game.sides[player], own, other, np.zeros(count), reach, quality)


def _without(profile: Profile, passed: Ints) -> Profile:
    """Return ``profile`` with probability 0 at the sequences ``passed`` of player 0."""
    if not len(passed):
        return profile
    x = profile.x.copy()
    x[passed] = 0.0
    return replace(profile, x=x)
