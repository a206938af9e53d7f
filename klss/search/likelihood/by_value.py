"""A state is the likelier the better it is for the opponent, which chose its moves: exp(−β·u), u its estimated
utility for player 0, and a part of all weight spread evenly, for opponents who did not choose that well.

States are drawn uniformly: it is the weight that counts, not the draw (docs/notebook/2026-11-24-search-measured.md,
"What the belief is worth").
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klss.search.model import Belief, Drawn
from klss.search.parts import Likelihood, SearchConfigurationError
from klss.support.arrays import Floats, States

__all__ = ["ByValue", "check_likelihood"]


def check_likelihood(value_beta: float, uniform_mix: float) -> None:
    """Refuse numbers that make no sense."""
    if not value_beta >= 0.0:
        raise SearchConfigurationError(f"value_beta is {value_beta}, expected a number from 0 on")
    if not 0.0 <= uniform_mix <= 1.0:
        raise SearchConfigurationError(f"uniform_mix is {uniform_mix}, expected a number from 0 to 1")


@dataclass(frozen=True)
class ByValue(Likelihood):
    """Weighs by value.

    Attributes
    ----------
    value_beta : float
        β ≥ 0; 0: all alike.
    uniform_mix : float
        The part of the weight, from 0 to 1, that is spread evenly.
    """

    value_beta: float = 5.0
    uniform_mix: float = 0.2

    def sample(self, belief: Belief, count: int, exclude: States, seed: int) -> Drawn:
        """See :class:`klss.search.parts.Likelihood`."""
        return Drawn.certain(belief.sample(count, exclude, seed))

    def weights(self, belief: Belief, drawn: Drawn, values: Floats) -> Floats:
        """See :class:`klss.search.parts.Likelihood`."""
        if not len(values):
            return np.zeros(0)
        likelihood = np.exp(-self.value_beta * (values - values.min()))
        return np.asarray((1.0 - self.uniform_mix) * likelihood / likelihood.sum() + self.uniform_mix / len(values))
