"""Kernels of :mod:`klss.support.greatest` and :mod:`klss.support.drawing`."""

from __future__ import annotations

from typing import Any

import numpy as np

from klss.support.kernel import kernel

_DIGITS = 1 << 16
"""Number of values of a digit of 16 bits."""


@kernel
def threshold(values: Any, count: int) -> Any:
    """Return the ``count``-th greatest of ``values`` (float64[n], 1 ≤ count ≤ n, no NaN), by radix selection with
    digits of 16 bits, so that equal numbers cost nothing (quickselect is hundreds of times slower if most are equal).
    """
    top = np.uint64(1) << np.uint64(63)
    left = np.empty(values.shape[0], dtype=np.uint64)
    for i in range(values.shape[0]):
        bits = values[i : i + 1].view(np.uint64)[0]
        left[i] = ~bits if bits & top else bits | top  # unsigned integers in the same order as the floats
    # Find the number's digits from the highest on, by counting from the top; keep only the numbers with that digit.
    size = left.shape[0]
    tally = np.empty(_DIGITS, dtype=np.int64)
    wanted = count
    for digit in range(3, -1, -1):
        shift = np.uint64(16 * digit)
        tally[:] = 0
        for i in range(size):
            tally[(left[i] >> shift) & np.uint64(_DIGITS - 1)] += 1
        # ``wanted`` becomes the number's rank among those that have all digits so far.
        at = _DIGITS - 1
        while tally[at] < wanted:
            wanted -= tally[at]
            at -= 1
        if tally[at] == size:
            continue
        kept = 0
        for i in range(size):
            if np.int64((left[i] >> shift) & np.uint64(_DIGITS - 1)) == at:
                left[kept] = left[i]
                kept += 1
        size = kept
    bits = left[0]
    left[0] = bits & ~top if bits & top else ~bits
    return left[:1].view(np.float64)[0]


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
