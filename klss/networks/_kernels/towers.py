"""Kernel of :mod:`klss.networks.towers`: scores of states that are given by their features."""

from __future__ import annotations

from typing import Any

import numpy as np

from klss.support.kernel import kernel

__all__ = ["POINT", "UNITS", "score_states"]

UNITS = 64
"""Width of the states' hidden layer."""
POINT = 16
"""Width of a state's vector. Both are constants, for a compiler that knows them makes the loops twice as fast."""


@kernel(fastmath={"contract", "nsz"})
def score_states(
    rows: Any, counts: Any, logits: Any, point: Any, embedding: Any, first_bias: Any, second: Any, second_bias: Any,
    scores: Any,
) -> int:  # fmt: skip
    """Write into ``scores`` (float32[n]) for each state the sum of ``logits`` (float32[features]) over its features,
    less the squared distance of its vector to ``point`` (float32[POINT]).

    ``rows`` (uint16[n or more, w]) holds its features, the first ``counts`` (int64[n]) of each row. The vector is
    ReLU(first_bias + sum of rows of ``embedding`` (float32[features, UNITS])) · ``second`` (float32[UNITS, POINT]) +
    ``second_bias``. With a ``point`` of no numbers there is no distance. No state's score depends on another state.

    Returns −1, or the first state with a feature that ``logits`` has not; the scores from there on are not written.
    """
    zero = np.float32(0)
    distances = point.shape[0] != 0
    inner = np.empty(UNITS, dtype=np.float32)
    vector = np.empty(POINT, dtype=np.float32)
    for i in range(counts.shape[0]):
        # The map: the sum over the features.
        total = zero
        for k in range(counts[i]):
            if rows[i, k] >= logits.shape[0]:
                return i
            total += logits[rows[i, k]]
        # The hidden layer.
        if distances:
            for j in range(UNITS):
                inner[j] = first_bias[j]
            # Two rows, or eight units, at a time, added up as a tree: half the loads, and no sum waits for the last.
            odd = counts[i] & 1
            if odd:
                one = rows[i, 0]
                for j in range(UNITS):
                    inner[j] += embedding[one, j]
            for k in range(odd, counts[i], 2):
                one, other = rows[i, k], rows[i, k + 1]
                for j in range(UNITS):
                    inner[j] += embedding[one, j] + embedding[other, j]
            # The vector, as its difference to the point; eight units at a time.
            for d in range(POINT):
                vector[d] = second_bias[d] - point[d]
            for j in range(0, UNITS, 8):
                a0, a1, a2, a3 = (
                    max(inner[j], zero),
                    max(inner[j + 1], zero),
                    max(inner[j + 2], zero),
                    max(inner[j + 3], zero),
                )
                a4, a5, a6, a7 = (
                    max(inner[j + 4], zero),
                    max(inner[j + 5], zero),
                    max(inner[j + 6], zero),
                    max(inner[j + 7], zero),
                )
                for d in range(POINT):
                    left = (a0 * second[j, d] + a1 * second[j + 1, d]) + (a2 * second[j + 2, d] + a3 * second[j + 3, d])
                    right = (a4 * second[j + 4, d] + a5 * second[j + 5, d]) + (
                        a6 * second[j + 6, d] + a7 * second[j + 7, d]
                    )
                    vector[d] += left + right
            # Less the squared distance.
            for d in range(0, POINT, 2):
                total -= vector[d] * vector[d] + vector[d + 1] * vector[d + 1]
        scores[i] = total
    return -1
