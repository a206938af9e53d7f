"""The kernel of :mod:`klss.support.drawing`."""

from __future__ import annotations

from typing import Any

import numpy as np

from klss.support.kernel import kernel


@kernel
def ahead(weights: Any, hashes: Any, scale: float, out: Any) -> int:
    """Write into ``out`` (int64[n]) the indices i with 1 − u ≤ scale · weights[i], where u is the uniform number of the
    hash; return their number.
    """
    found = 0
    for i in range(weights.shape[0]):
        # u is a multiple of 2⁻⁵³ plus half of that; subtracting 2 · 2⁻⁵³ keeps the test on the safe side.
        rest = np.float64((np.uint64(1) << np.uint64(53)) - (hashes[i] >> np.uint64(11))) - 2.0
        if rest * 2.0**-53 <= scale * weights[i]:
            out[found] = i
            found += 1
    return found
