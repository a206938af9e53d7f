"""A small network over the features: what the tapered sum can't say, because it depends on several of them at once.

Input: the sparse features, those of the side to move and those of the other side apart (2·FEATURES columns); two
hidden layers of rectified units; output in pawns, added to the tapered sum. Trained by
``experiments/tune_evaluation.py``.

Source of the idea: a sparse first layer that sums the rows of the active features (Y. Nasu 2018, NNUE). *Deviation*:
nothing is updated incrementally; the features are computed anyway, and a sum of some ninety short rows takes a
fraction of a microsecond.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess._kernels.features import FEATURES
from klss.kernel import kernel

__all__ = ["FIRST", "LINEAR_SIZE", "OFFSETS", "PACKED_SIZE", "SECOND", "UNITS", "forward"]

FIRST = 32
"""Units of the first hidden layer."""

SECOND = 16
"""Units of the second hidden layer."""

UNITS = FIRST + SECOND

LINEAR_SIZE = 2 * FEATURES
_FIRST_BIAS = LINEAR_SIZE
_FIRST = _FIRST_BIAS + FIRST
_SECOND_BIAS = _FIRST + 2 * FEATURES * FIRST
_SECOND = _SECOND_BIAS + SECOND
_LAST = _SECOND + FIRST * SECOND
PACKED_SIZE = _LAST + SECOND

OFFSETS: dict[str, tuple[int, tuple[int, ...]]] = {
    "linear": (0, (FEATURES, 2)),
    "first_bias": (_FIRST_BIAS, (FIRST,)),
    "first": (_FIRST, (2 * FEATURES, FIRST)),
    "second_bias": (_SECOND_BIAS, (SECOND,)),
    "second": (_SECOND, (FIRST, SECOND)),
    "last": (_LAST, (SECOND,)),
}
"""Where each array of the weights begins in the packed one (float32), and its shape. Without a network only ``linear``
is there.
"""


@kernel
def forward(index: Any, count: Any, n: int, model: Any, units: Any) -> Any:
    """Output of the network (float32, pawns) for ``n`` features; leaves the hidden units, not yet rectified, in
    ``units`` (float32[UNITS]).

    ``model`` is the packed weights, float32[PACKED_SIZE].
    """
    for j in range(FIRST):
        units[j] = model[_FIRST_BIAS + j]
    for i in range(n):
        feature = index[i]
        times = np.float32(count[i])
        if times < np.float32(0.0):
            feature += FEATURES
            times = -times
        start = _FIRST + feature * FIRST
        row = model[start : start + FIRST]  # a view: numba then knows that no index is negative, and vectorises
        for j in range(FIRST):
            units[j] += times * row[j]
    hidden = units[FIRST:UNITS]
    for k in range(SECOND):
        hidden[k] = model[_SECOND_BIAS + k]
    for j in range(FIRST):
        unit = units[j]
        if unit > np.float32(0.0):
            start = _SECOND + j * SECOND
            row = model[start : start + SECOND]
            for k in range(SECOND):
                hidden[k] += unit * row[k]
    out = np.float32(0.0)
    for k in range(SECOND):
        out += max(hidden[k], np.float32(0.0)) * model[_LAST + k]
    return out
