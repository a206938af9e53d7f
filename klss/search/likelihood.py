"""How likely each state of the belief is the true one: how roots are drawn, and their weights.

* :class:`Uniform`: all equal, as in the 2021 paper.
* :class:`ByWeight`: w^a · exp(−β·u), where u is the state's estimated utility for player 0, since the opponent chose
  its moves and is likelier where it stands better; w are the belief's own weights, learned from the moves of opponents
  (docs/position_set.md), 1 if it has none. A fraction of all weight is spread evenly: not every opponent chooses that
  well.

States are drawn uniformly by default: the weights matter more than the draw
(docs/notebook/belief.md, "The filter").
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klss.search.model import Belief, Drawn
from klss.search.parts import Likelihood
from klss.support.arrays import Floats, States

UNIFORM_MIX, DRAW_UNIFORM_MIX = 0.2, 0.3
"""Fractions of all weight that are spread evenly: of the roots' weights, and before states are drawn by weight."""


class Uniform(Likelihood):
    """Draws and weighs all states equally."""

    def weights(self, belief: Belief, drawn: Drawn, values: Floats) -> Floats:
        return np.ones(len(drawn.states))


@dataclass(frozen=True)
class ByWeight(Likelihood):
    """Weighs by the belief's weights, if it has any, and by value."""

    value_beta: float = 5.0  # β ≥ 0; 0: values do not count
    # whether states are drawn by weight, with DRAW_UNIFORM_MIX of it spread evenly; otherwise uniformly
    sample_by_weight: bool = False

    def sample(self, belief: Belief, count: int, exclude: States, seed: int) -> Drawn:
        if self.sample_by_weight and belief.weighted:
            return belief.draw(count, exclude, seed, DRAW_UNIFORM_MIX)
        return super().sample(belief, count, exclude, seed)

    def weights(self, belief: Belief, drawn: Drawn, values: Floats) -> Floats:
        if not len(values):
            return np.zeros(0)
        if belief.weighted:
            exponents = belief.log_weights(drawn.states) - self.value_beta * values
            # A state drawn with probability p represents 1/p states of its weight, so that sums over the drawn states
            # are unbiased (klss.support.drawing).
            stands_for = 1.0 / drawn.inclusion
            likelihood = np.exp(exponents - exponents.max()) * stands_for
        else:
            stands_for = np.ones(len(values))
            likelihood = np.exp(-self.value_beta * (values - values.min()))
        likelihood = (1.0 - UNIFORM_MIX) * likelihood / likelihood.sum()
        return np.asarray(likelihood + UNIFORM_MIX * stands_for / stands_for.sum())
