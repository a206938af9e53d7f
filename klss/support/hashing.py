"""One mixer of 64-bit hashes, for the kernels of all packages."""

from __future__ import annotations

from typing import Any

import numpy as np

from klss.support.kernel import kernel


@kernel(inline="always")
def mix64(value: Any) -> Any:
    """Mix a uint64 by a bijection that spreads every input bit: the finaliser of SplitMix64 (Steele, Lea, Flood 2014).

    The generator's first number from the seed 0:

    >>> hex(mix64(np.uint64(0x9E3779B97F4A7C15)))
    '0xe220a8397b1dcdaf'
    """
    value = np.uint64(value)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))
