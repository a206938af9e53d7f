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

from darkchess.evaluation.kernels.features import FEATURES
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
def _column(feature: int, count: int) -> Any:
    """Where the row of a feature begins in the packed weights, and how often it counts."""
    if count < 0:
        return np.uint64(_FIRST + (feature + FEATURES) * FIRST), np.float32(-count)
    return np.uint64(_FIRST + feature * FIRST), np.float32(count)


@kernel
def forward(index: Any, count: Any, n: int, model: Any, units: Any) -> Any:
    """Output of the network (float32, pawns) for ``n`` features; leaves the hidden units, not yet rectified, in
    ``units`` (float32[UNITS]).

    ``model`` is the packed weights, float32[PACKED_SIZE].
    """
    # Unsigned indices throughout: numba then looks for no negative ones, and the loops become vector instructions.
    width = np.uint64(FIRST)
    narrow = np.uint64(SECOND)
    for j in range(width):
        units[j] = model[np.uint64(_FIRST_BIAS) + j]
    for i in range(n, n + 3):
        index[i] = 0
        count[i] = 0
    # Four rows at a time: the sum goes through memory once for all four.
    for i in range(0, n, 4):
        a, times_a = _column(index[i], count[i])
        b, times_b = _column(index[i + 1], count[i + 1])
        c, times_c = _column(index[i + 2], count[i + 2])
        d, times_d = _column(index[i + 3], count[i + 3])
        for j in range(width):
            units[j] += (times_a * model[a + j] + times_b * model[b + j]) + (
                times_c * model[c + j] + times_d * model[d + j]
            )
    for k in range(narrow):
        units[width + k] = model[np.uint64(_SECOND_BIAS) + k]
    for j in range(width):
        unit = max(units[j], np.float32(0.0))
        start = np.uint64(_SECOND) + j * narrow
        for k in range(narrow):
            units[width + k] += unit * model[start + k]
    out = np.float32(0.0)
    for k in range(narrow):
        out += max(units[width + k], np.float32(0.0)) * model[np.uint64(_LAST) + k]
    return out
