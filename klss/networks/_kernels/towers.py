"""Kernel of :mod:`klss.networks.towers`: scores of states that are given by their features."""

from __future__ import annotations

from typing import Any

import numpy as np

from klss.support.kernel import kernel

__all__ = ["score_states"]


@kernel
def score_states(rows: Any, counts: Any, logits: Any, scores: Any) -> int:
    """Write into ``scores`` (float32[n]) for each state the sum of ``logits`` (float32[features]) over its features.

    ``rows`` (uint16[n or more, w]) holds its features, the first ``counts`` (int64[n]) of each row. No state's score
    depends on another state. Returns −1, or the first state with a feature that ``logits`` has not; the scores from
    there on are not written.
    """
    for i in range(counts.shape[0]):
        total = np.float32(0)
        for k in range(counts[i]):
            if rows[i, k] >= logits.shape[0]:
                return i
            total += logits[rows[i, k]]
        scores[i] = total
    return -1
