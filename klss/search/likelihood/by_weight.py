"""A state is as likely as the belief's own weights say, made sharper or blunter, and the likelier the better it is for
the opponent: w^a · exp(−β·u), u its estimated utility for player 0; and a part of all weight is spread evenly.

The belief's weights are what has been learned of how opponents move (docs/belief.md); a belief without any
is weighed as :mod:`klss.search.likelihood.by_value` does. States may be drawn by weight too; what each then weighs is
divided by the probability with which it was drawn (:mod:`klss.belief.drawing`), so that the draw changes no sum on
average.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klss.search.likelihood.by_value import ByValue
from klss.search.model import Belief
from klss.search.parts import Likelihood
from klss.support.arrays import Floats, States

__all__ = ["DRAWN_EVENLY", "ByWeight"]

DRAWN_EVENLY = 0.3
"""The part of all weight that is spread evenly before states are drawn by it."""


@dataclass(frozen=True)
class ByWeight(Likelihood):
    """Weighs by the belief's weights and by value.

    Attributes
    ----------
    sharpness : float
        a ≥ 0: the exponent of the belief's weights.
    slope : float
        β ≥ 0.
    even : float
        The part of the weight, from 0 to 1, that is spread evenly.
    drawn : bool
        Whether states are drawn by weight, :data:`DRAWN_EVENLY` of it spread evenly.
    """

    sharpness: float = 1.0
    slope: float = 5.0
    even: float = 0.2
    drawn: bool = False

    def sample(self, belief: Belief, count: int, exclude: States, seed: int) -> States:
        """See :class:`klss.search.parts.Likelihood`."""
        if self.drawn and belief.weighted:
            return belief.draw(count, exclude, seed, DRAWN_EVENLY)
        return belief.sample(count, exclude, seed)

    def weights(self, belief: Belief, states: States, values: Floats) -> Floats:
        """See :class:`klss.search.parts.Likelihood`."""
        if not belief.weighted:
            return ByValue(self.slope, self.even).weights(belief, states, values)
        if not len(values):
            return np.zeros(0)
        exponents = -self.slope * values
        if self.sharpness:
            exponents += self.sharpness * belief.log_weights(states)
        likelihood = np.exp(exponents - exponents.max())
        inclusion = belief.inclusion(states) if self.drawn else np.ones(len(values))
        stands_for = 1.0 / inclusion  # so many states of that weight
        likelihood *= stands_for
        likelihood = (1.0 - self.even) * likelihood / likelihood.sum()
        return np.asarray(likelihood + self.even * stands_for / stands_for.sum())
