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
from klss.search.model import Belief, Drawn
from klss.search.parts import Likelihood
from klss.support.arrays import Floats, States

__all__ = ["DRAW_UNIFORM_MIX", "ByWeight"]

DRAW_UNIFORM_MIX = 0.3
"""The part of all weight that is spread evenly before states are drawn by it."""


@dataclass(frozen=True)
class ByWeight(Likelihood):
    """Weighs by the belief's weights and by value.

    Attributes
    ----------
    belief_exponent : float
        a ≥ 0: the exponent of the belief's weights.
    value_beta : float
        β ≥ 0.
    uniform_mix : float
        The part of the weight, from 0 to 1, that is spread evenly.
    sample_by_weight : bool
        Whether states are drawn by weight, :data:`DRAW_UNIFORM_MIX` of it spread evenly.
    """

    belief_exponent: float = 1.0
    value_beta: float = 5.0
    uniform_mix: float = 0.2
    sample_by_weight: bool = False

    def sample(self, belief: Belief, count: int, exclude: States, seed: int) -> Drawn:
        """See :class:`klss.search.parts.Likelihood`."""
        if self.sample_by_weight and belief.weighted:
            return belief.draw(count, exclude, seed, DRAW_UNIFORM_MIX)
        return Drawn.certain(belief.sample(count, exclude, seed))

    def weights(self, belief: Belief, drawn: Drawn, values: Floats) -> Floats:
        """See :class:`klss.search.parts.Likelihood`."""
        if not belief.weighted:
            return ByValue(self.value_beta, self.uniform_mix).weights(belief, drawn, values)
        if not len(values):
            return np.zeros(0)
        exponents = -self.value_beta * values
        if self.belief_exponent:
            exponents += self.belief_exponent * belief.log_weights(drawn.states)
        likelihood = np.exp(exponents - exponents.max())
        # A state that was drawn with probability p stands for 1/p states of its weight.
        stands_for = 1.0 / drawn.inclusion
        likelihood *= stands_for
        likelihood = (1.0 - self.uniform_mix) * likelihood / likelihood.sum()
        return np.asarray(likelihood + self.uniform_mix * stands_for / stands_for.sum())
