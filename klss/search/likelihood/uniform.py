"""All states of a belief alike: what the 2021 paper takes."""

from __future__ import annotations

import numpy as np

from klss.search.model import Belief, Drawn
from klss.search.parts import Likelihood
from klss.support.arrays import Floats, States

__all__ = ["Uniform"]


class Uniform(Likelihood):
    """Draws and weighs all alike."""

    def sample(self, belief: Belief, count: int, exclude: States, seed: int) -> Drawn:
        """See :class:`klss.search.parts.Likelihood`."""
        return Drawn.certain(belief.sample(count, exclude, seed))

    def weights(self, belief: Belief, drawn: Drawn, values: Floats) -> Floats:
        """See :class:`klss.search.parts.Likelihood`."""
        return np.ones(len(drawn.states))
