"""Draw from weighted states without replacement; neither the order of storage nor threads change the result.

Gumbel top-k: take the states with the largest keys log w + G, where G is a standard Gumbel number made from the state's
own keyed hash (Vieira 2014; Kool, van Hoof & Welling 2019, "Stochastic Beams and Where to Find Them"). This equals
drawing one by one with probability ∝ w among the states that are left. Given the (k+1)-th largest key κ, a state is
drawn with probability 1 − exp(−exp(log w − κ)). A sum over all states is estimated without bias by the sum over the
drawn states, each divided by that probability (the same, §4.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from klss.support.arrays import Floats, Ints, Keys
from klss.support.greatest import greatest
from klss.support.kernel import kernel

_STRIDE = 16
"""One of this many states is used for a bound on the keys, if there are enough states."""

_MARGIN = 1.0 + 1e-9
"""Factor that makes the bound safe against rounding."""


@dataclass(frozen=True)
class Draw:
    """The drawn states."""

    indices: Ints  # [k], by decreasing key
    threshold: float  # κ; −inf if everything was drawn

    def inclusion(self, weights: Floats) -> Floats:
        """Return the probability that a state of each weight is drawn: float64, as ``weights``."""
        if self.threshold == -np.inf:
            return np.ones_like(weights)
        return -np.expm1(-np.exp(np.minimum(_log(weights) - self.threshold, 700.0)))


def gumbel(hashes: Keys) -> Floats:
    """Return standard Gumbel numbers from uniform hashes (uint64[n]): float64[n]."""
    uniform = ((hashes >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    return np.asarray(-np.log(-np.log(uniform)))


def draw(weights: Floats, hashes: Keys, count: int) -> Draw:
    """Draw ``count`` states, at least 0, or all of them if there are no more.

    ``weights`` (float64[n] ≥ 0) are of any scale; states of weight 0 come after all others. ``hashes`` (uint64[n]) are
    uniform and independent: a keyed hash of each state. Ties are broken by it, then by index.

    >>> draw(np.array([0.2, 0.8]), np.array([7 << 60, 9 << 60], dtype=np.uint64), 1).indices.tolist()
    [1]
    """
    if count >= len(weights):
        return Draw(np.lexsort((hashes, -_keys(weights, hashes))), -np.inf)
    # Find one key more than is drawn: the threshold. Sort all states whose keys are at least that.
    among = _ahead(weights, hashes, count + 1)
    keys = _keys(weights[among], hashes[among])
    first = np.flatnonzero(keys >= keys[greatest(keys, count + 1)].min())
    order = first[np.lexsort((hashes[among[first]], -keys[first]))]
    return Draw(among[order[:count]], float(keys[order[count]]))


def _ahead(weights: Floats, hashes: Keys, count: int) -> Ints:
    """Return indices, ascending, that include those of the ``count`` largest keys.

    Two logarithms for each state are most of a draw's time. Nearly all of them are avoided: the count-th largest key κ'
    of some states is at most that of all, and log w − log(−log u) ≥ κ' only if 1 − u ≤ −log u ≤ w · exp(−κ').
    """
    # Get the bound from every stride-th state. If these are too few, or the bound is useless, return all states.
    stride = min(_STRIDE, len(weights) // (4 * count))
    if stride > 1:
        keys = _keys(weights[::stride], hashes[::stride])
        least = float(keys[greatest(keys, count)].min())
        found = np.empty(len(weights), dtype=np.int64)
        if least > -700.0:
            size = _likely(weights, hashes, np.exp(-least) * _MARGIN, found)
            if size >= count:
                return found[:size]
    return np.arange(len(weights))


@kernel
def _likely(weights: Any, hashes: Any, scale: float, out: Any) -> int:
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


def _keys(weights: Floats, hashes: Keys) -> Floats:
    return np.asarray(_log(weights) + gumbel(hashes))


def _log(weights: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(weights))
