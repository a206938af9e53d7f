"""The worth of a sense before it is made: the partitions of a position set by the 36 windows.

The possible results of a window divide the set into classes of positions that it does not tell apart. If the weights w
sum to 1 and the classes have weights W_r, the expected share of the weight that is left after the sense is Σ W_r².
(Bertram, Fürnkranz, Müller 2023: their agent chooses the largest Σ W_r (1 − W_r), which is the same order.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from darkchess.rbc.belief._kernels import senses as kernels
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.game.observation import INNER
from klss.support.arrays import Floats, Int32s, Ints


@dataclass(frozen=True)
class Partitions:
    """The classes into which each window divides some positions."""

    # int32[36, n]: the class of each position, for each middle in ``darkchess.rbc.game.observation.INNER``
    classes: Int32s
    counts: Ints  # int64[36]: number of classes

    def left_over(self, weights: Floats) -> Floats:
        """Return Σ W_r² of each window: float64[36], from 0 to 1; the weights (float64[n]) sum to 1."""
        return np.array([(np.bincount(classes, weights) ** 2).sum() for classes in self.classes])

    def best_values(self, values: Floats, weights: Floats) -> Floats:
        """Return the expected value of the best request after each sense, from the values of requests (float64[n, m]):
        the sum, over the classes, of the largest Σ w · value. float64[36]; the weights as above.
        """
        found = np.empty(len(INNER))
        kernels.best_sums(self.classes, self.counts, weights[:, None] * values, found)
        return found


def partitions(known: PositionSet, indices: Ints) -> Partitions:
    """Return the partitions of the positions ``indices`` (int64[n]) of a set.

    Windows are in the order of :data:`INNER`, by the squares of the real board.
    """
    classes = np.empty((len(INNER), indices.shape[0]), dtype=np.int32)
    counts = np.empty(len(INNER), dtype=np.int64)
    kernels.partitions(known.halves, indices, classes, counts)
    if known.flipped:
        turned = [INNER.index(square ^ 56) for square in INNER]
        return Partitions(classes[turned], counts[turned])
    return Partitions(classes, counts)
