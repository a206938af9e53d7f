"""Kernel of :mod:`klss.networks.towers`: scores of states from their features."""

from __future__ import annotations

from typing import Any

import numpy as np

from klss.support.kernel import kernel


@kernel
def score_states(rows: Any, counts: Any, logits: Any, scores: Any) -> int:
    """Write into ``scores`` (float32[n]) for each state the sum of ``logits`` (float32[features]) over its features.

    The features of a state are the first ``counts`` (int64[n]) entries of its row in ``rows`` (uint16[n or more, w]).
    A state's score does not depend on other states. Return −1, or the first state with a feature outside ``logits``;
    the scores from there on are not written.
    """
    for i in range(counts.shape[0]):
        total = np.float32(0)
        for k in range(counts[i]):
            if rows[i, k] >= logits.shape[0]:
                return i
            total += logits[rows[i, k]]
        scores[i] = total
    return -1
