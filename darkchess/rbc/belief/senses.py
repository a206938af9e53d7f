"""What a sense is worth before it is made: the partitions of a position set by the 36 windows.

What a window shows divides the set; the likelier two positions in one class are, the less the sense tells. For weights
w summing to 1 and classes of weight W_r the expected part that is left over is Σ W_r² (Bertram, Fürnkranz, Müller 2023,
the sense of their agent, choose the largest Σ W_r (1 − W_r), the same order).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from darkchess.rbc.belief._kernels import senses as kernels
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.game.observation import INNER
from klss.support.arrays import Floats, Int32s, Ints

__all__ = ["Partitions", "partitions"]


@dataclass(frozen=True)
class Partitions:
    """How each window divides some positions."""

    # int32[36, n]: the class of each position, by the middles of ``darkchess.rbc.game.observation.INNER``
    classes: Int32s
    counts: Ints  # int64[36]: how many classes

    def weights(self, window: int, weights: Floats) -> Floats:
        """Weight of each class of a window, of weights (float64[n]) of the positions: float64[counts[window]]."""
        return np.asarray(np.bincount(self.classes[window], weights, int(self.counts[window])), dtype=np.float64)

    def left_over(self, weights: Floats) -> Floats:
        """Σ W_r² of each window, weights (float64[n]) summing to 1: float64[36], from 0 to 1."""
        return np.array([(self.weights(window, weights) ** 2).sum() for window in range(len(INNER))])

    def bits(self, weights: Floats) -> Floats:
        """−Σ W_r log₂ W_r of each window, weights (float64[n]) summing to 1: float64[36]."""
        found = np.zeros(len(INNER))
        for window in range(len(INNER)):
            shares = self.weights(window, weights)
            shares = shares[shares > 0.0]
            found[window] = -(shares * np.log2(shares)).sum()
        return found


def partitions(known: PositionSet, indices: Ints) -> Partitions:
    """The partitions of some positions (int64[n]) of a set.

    Windows are given by the squares of the real board: :data:`INNER` in its order.
    """
    classes = np.empty((len(INNER), indices.shape[0]), dtype=np.int32)
    counts = np.empty(len(INNER), dtype=np.int64)
    kernels.partitions(known.halves, indices, classes, counts)
    if known.flipped:
        turned = [INNER.index(square ^ 56) for square in INNER]
        return Partitions(classes[turned], counts[turned])
    return Partitions(classes, counts)
