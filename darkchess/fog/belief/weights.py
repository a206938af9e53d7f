"""What a player's beliefs say of the positions that it holds possible: the filter's weights, the Siamese's, or both.

The filter goes along with the set, move by move (:mod:`darkchess.fog.belief.filter`); the Siamese looks at the last
views and at the set as it stands (:mod:`darkchess.fog.belief.siamese`). Where both are asked they are multiplied, each
with an exponent that held-out games chose (``python -m experiments.belief rank``): both know much of the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.belief.siamese import Observer, Siamese
from klss.support.arrays import Floats, Ints

__all__ = ["BOTH", "PARTS", "Belief", "BeliefSettings", "Weights"]

Belief = Literal["both", "filter", "siamese", "uniform"]

PARTS: dict[Belief, tuple[str, ...]] = {
    "both": ("filter", "siamese"), "filter": ("filter",), "siamese": ("siamese",), "uniform": (),
}  # fmt: skip
"""What is asked for each belief."""


@dataclass(frozen=True)
class BeliefSettings:
    """Which weights a player's search gets, and what they may cost.

    Attributes
    ----------
    belief
        ``filter``, ``siamese`` or ``both``; ``value``: none, so that positions are weighed by their value alone.
    filtering
        The part of a move's time, 0 or more, that the filter may take.
    """

    belief: Literal["value", "filter", "siamese", "both"] = "value"
    filtering: float = 0.15

    @property
    def parts(self) -> tuple[str, ...]:
        """What is asked; see :data:`PARTS`."""
        return PARTS["uniform" if self.belief == "value" else self.belief]


BOTH = (0.6, 0.5)
"""Exponents of the filter's weights and of the Siamese's where both are asked."""

_LEAST = 1e-300


class Weights:
    """The weights of one player's position set.

    Parameters
    ----------
    known : PositionSet
        With a weigher where the filter is to be asked.
    observer : Observer, optional
        Given the same views; None: the Siamese is not asked.
    threads : int
        1 or 2.
    filtered : bool
        Whether the filter is asked, where one goes along.
    """

    def __init__(
        self, known: PositionSet, observer: Observer | None = None, *, threads: int = 1, filtered: bool = True
    ) -> None:
        """See the class."""
        self._known = known
        self._filtered = filtered and known.weigher is not None
        self._observer = observer
        self._threads = threads

    def log_weights(self, indices: Ints | None = None) -> Floats:
        """Logarithms of the weights of some members (int64[n]; None: all), but for one constant; those of −1, which are
        no members, get the mean of the others (a sample may have lost what a trunk still holds).
        """
        chosen = np.arange(self._known.size) if indices is None else indices
        members = chosen >= 0
        out = np.zeros(len(chosen))
        if self._filtered:
            exponent = BOTH[0] if self._observer is not None else 1.0
            out[members] += exponent * np.log(np.maximum(self._known.weights[chosen[members]], _LEAST))
        if self._observer is not None and members.any():
            exponent = BOTH[1] if self._filtered else 1.0
            out[members] += exponent * Siamese.packaged().log_weights(
                self._known, self._observer, chosen[members], threads=self._threads
            )
        if not members.all():
            out[~members] = np.log(np.exp(out[members] - out.max()).mean()) + out.max() if members.any() else 0.0
        return out

    def shares(self) -> Floats:
        """The weights of all members, summing to 1: float64[size]."""
        if self._filtered and self._observer is None:
            return self._known.weights
        log_weights = self.log_weights()
        weights = np.exp(log_weights - log_weights.max())
        return np.asarray(weights / weights.sum())
