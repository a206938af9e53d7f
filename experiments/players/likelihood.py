"""The true state, given from outside: it is among the roots, and player 1's root infoset that holds it has a prior that
is given. What remains is drawn and shared out as another likelihood has it.

So experiments ask what a better belief would be worth (:mod:`experiments.players.oracle`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from klss.search.model import Belief, Drawn
from klss.search.parts import Likelihood
from klss.support.arrays import Bools, Floats, Ints, States

__all__ = ["Oracle"]


@dataclass(frozen=True)
class Oracle(Likelihood):
    """Knows the true state.

    Attributes
    ----------
    other : Likelihood
        For all that the truth does not settle.
    share : float
        The final prior, from 0 to 1, of the root infosets that hold the true state: of one, but where player 1 can
        have come to that state in several ways.
    truth : callable
        The true state now, uint64[1, w].
    identities : callable
        See :meth:`klss.search.model.Model.identities`.
    """

    other: Likelihood
    share: float
    truth: Callable[[], States]
    identities: Callable[[States], States]

    def sample(self, belief: Belief, count: int, exclude: States, seed: int) -> Drawn:
        """See :class:`klss.search.parts.Likelihood`."""
        return self.other.sample(belief, count, exclude, seed)

    def weights(self, belief: Belief, drawn: Drawn, values: Floats) -> Floats:
        """See :class:`klss.search.parts.Likelihood`."""
        return self.other.weights(belief, drawn, values)

    def roots(self, drawn: Drawn, carried: States) -> Drawn:
        """The drawn ones, of which the last gives way to the truth where that is neither drawn nor carried."""
        drawn = self.other.roots(drawn, carried)
        if self._true(drawn.states).any() or self._true(carried).any():
            return drawn
        states = np.concatenate([self.truth(), drawn.states[:-1]])
        return Drawn(states, np.concatenate([[1.0], drawn.inclusion[:-1]]))

    def prior(self, prior: Floats, states: States, group: Ints) -> Floats:
        """See :class:`klss.search.parts.Likelihood`."""
        prior = self.other.prior(prior, states, group)
        holds = np.zeros(len(prior), dtype=np.bool_)
        holds[group[self._true(states)]] = True
        if holds.all() or not holds.any():
            return prior
        return self.share * _among(holds, prior) + (1.0 - self.share) * _among(~holds, prior)

    def _true(self, states: States) -> Bools:
        """Which of ``states`` are the true one."""
        true: Bools = (self.identities(states) == self.identities(self.truth())).all(axis=1)
        return true


def _among(chosen: Bools, prior: Floats) -> Floats:
    """The prior given that one of the ``chosen`` it is; all of them alike where it has none of them."""
    weights = np.where(chosen, prior, 0.0)
    if not weights.sum() > 0.0:
        weights = chosen.astype(np.float64)
    return np.asarray(weights / weights.sum())
