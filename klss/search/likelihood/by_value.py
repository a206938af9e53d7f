"""A state is the likelier the better it is for the opponent, since she chose her moves: exp(−β·u), u its estimated
utility for player 0, and a part of all weight spread evenly, for opponents who did not choose that well.

States are drawn uniformly: it is the weight that counts, not the draw (docs/notebook/2026-11-24-search-measured.md,
"What the belief is worth").
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klss.search.model import Belief
from klss.search.parts import Likelihood, SearchConfigurationError
from klss.support.arrays import Floats, States

__all__ = ["ByValue", "check_likelihood"]


def check_likelihood(slope: float, even: float) -> None:
    """Refuse numbers that make no sense."""
    if not slope >= 0.0:
        raise SearchConfigurationError(f"slope is {slope}, expected a number from 0 on")
    if not 0.0 <= even <= 1.0:
        raise SearchConfigurationError(f"even is {even}, expected a number from 0 to 1")


@dataclass(frozen=True)
class ByValue(Likelihood):
    """Weighs by value.

    Attributes
    ----------
    slope : float
        β ≥ 0; 0: all alike.
    even : float
        The part of the weight, from 0 to 1, that is spread evenly.
    """

    slope: float = 5.0
    even: float = 0.2

    def sample(self, belief: Belief, count: int, exclude: States, seed: int) -> States:
        """See :class:`klss.search.parts.Likelihood`."""
        return belief.sample(count, exclude, seed)

    def weights(self, belief: Belief, states: States, values: Floats) -> Floats:
        """See :class:`klss.search.parts.Likelihood`."""
        if not len(values):
            return np.zeros(0)
        likelihood = np.exp(-self.slope * (values - values.min()))
        return np.asarray((1.0 - self.even) * likelihood / likelihood.sum() + self.even / len(values))
