"""One-sided growing-tree expansion (Zhang & Sandholm, arXiv 2506.01242; GT-CFR: Schmid et al., Science Advances 2023).

Walks from the roots, the explorers taking turns: the explorer plays, half the time, uniformly over her support, else
the action of the largest

    u(I, a) + C·σ(I, a)·√N(I) / (1 + N(I, a)),

u the expected utility of the profile after the action, σ² the variance of the values that the action had at earlier
visits and of two more, −1 and 1; the other plays as she does in the profile. The leaf at the end gets all its children.

Decided here: the roots are expanded first (an unexpanded one counts the same for every action). Utilities are taken
once for every batch of walks; where the other does not go, an action keeps the one it had. Player 1's choice of a root
infoset is an action like any other, worth its margin.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klss.arrays import Floats
from klss.search._kernels import regrets, walk
from klss.search.expansion.depths import leaf_depths, open_roots
from klss.search.growth import Growth
from klss.search.profile import Profile

__all__ = ["OneSided"]

_SUPPORT = 1e-3
"""Of an infoset's probability: what is played less is not in the support."""

_FRUITLESS = 200
"""Rounds without a leaf after which nothing is left to grow."""


@dataclass(frozen=True)
class OneSided:
    """Grows where one player explores and the other plays.

    Attributes
    ----------
    exploration : float
        C.
    walks : int
        Between two looks at the profile.
    """

    exploration: float = 1.0
    walks: int = 8

    def begin(self, growth: Growth) -> _Walking:
        """See :class:`klss.search.parts.Expander`."""
        open_roots(growth)
        return _Walking(growth, self)


class _Walking:
    """See :class:`klss.search.parts.Growing`."""

    def __init__(self, growth: Growth, rule: OneSided) -> None:
        self.iterations = 1
        self._growth, self._rule = growth, rule
        self._state = np.array([len(growth.history) + 1], dtype=np.uint64)
        self._statistics = [np.zeros((4, 0)), np.zeros((4, 0))]  # quality, visits, sums, squares of each sequence
        self._leaves = np.zeros(rule.walks, dtype=np.int64)

    def depths(self) -> tuple[int, float]:
        """See :class:`klss.search.parts.Growing`."""
        return leaf_depths(self._growth.trunk)

    def grow(self, profile: Profile) -> bool:
        """See :class:`klss.search.parts.Growing`."""
        for _ in range(_FRUITLESS):
            self.iterations += 1
            found = self._walk(self.iterations & 1, profile)
            if found:
                self._growth.expand(self._leaves[:found])
                return True
        return False

    def _walk(self, explorer: int, profile: Profile) -> int:
        trunk, plans = self._growth.trunk, (profile.x, profile.y)
        statistics = self._statistics[explorer]
        more = trunk.sequence_count(explorer) - statistics.shape[1]
        if more:
            statistics = np.concatenate([statistics, np.zeros((4, more))], axis=1)
            self._statistics[explorer] = statistics
        self._take_quality(explorer, profile, statistics[0])
        return int(
            walk.walks(
                explorer, trunk.nodes, trunk.root_count, trunk.infosets, plans, *statistics, _SUPPORT,
                self._rule.exploration, self._state, self._leaves,
            )
        )  # fmt: skip

    def _take_quality(self, player: int, profile: Profile, quality: Floats) -> None:
        """u(I, a) of each of the explorer's sequences, where the other goes."""
        trunk, own = self._growth.trunk, (profile.x, profile.y)[player]
        infosets, nodes = trunk.infosets[player], trunk.nodes
        utility, reach = np.zeros(trunk.sequence_count(player)), np.zeros(trunk.infoset_count(player))
        other = (profile.y, profile.x)[player]
        regrets.gradient(player, nodes, trunk.root_count, trunk.expanded, other, utility, reach)
        if player == 1:
            np.add.at(utility, infosets.sequence[trunk.folded_infoset], trunk.folded_value)
        regrets.values(trunk.acting(player), infosets, own, utility, reach, quality)
        if player == 1:  # the gadget's root: what coming to each root infoset costs her
            roots = slice(1, 1 + trunk.group_count)
            quality[roots] = utility[roots] - trunk.alternate
