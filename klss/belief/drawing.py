"""Draw from weighted states without replacement, so that neither the order of storage nor threads change what is drawn.

Gumbel top-k: the states with the largest log w + G, G a standard Gumbel number made of the state's own keyed hash
(Vieira 2014; Kool, van Hoof & Welling 2019, "Stochastic Beams and Where to Find Them"): a draw one by one with
probability ∝ w among those that are left. Given the (k+1)-th largest key κ, a state is in with probability
1 − exp(−exp(log w − κ)), and a sum over all states is estimated without bias by that over the drawn ones, each divided
by it (the same, §4.2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klss.belief._kernels import drawing as kernels
from klss.belief.greatest import greatest
from klss.support.arrays import Floats, Ints, Keys

__all__ = ["Draw", "draw", "gumbel"]

_STRIDE = 16
"""Of so many states one gives a bound, where they are that many."""

_MARGIN = 1.0 + 1e-9
"""For what is rounded."""


@dataclass(frozen=True)
class Draw:
    """What was drawn."""

    indices: Ints  # [k], by falling key
    threshold: float  # κ; −inf where everything was drawn

    def inclusion(self, weights: Floats) -> Floats:
        """With what probability a state of that weight is among the drawn ones: float64, as ``weights``."""
        if self.threshold == -np.inf:
            return np.ones_like(weights)
        return -np.expm1(-np.exp(np.minimum(_log(weights) - self.threshold, 700.0)))


def gumbel(hashes: Keys) -> Floats:
    """Standard Gumbel numbers of uniform hashes (uint64[n]): float64[n]."""
    uniform = ((hashes >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    return np.asarray(-np.log(-np.log(uniform)))


def draw(weights: Floats, hashes: Keys, count: int) -> Draw:
    """``count`` states, or all of them where there are no more.

    Parameters
    ----------
    weights
        float64[n] ≥ 0, of any scale; 0: never drawn before another.
    hashes
        uint64[n], uniform and independent: a keyed hash of each state. Ties go by it, then by index.
    count
        From 0 on.

    Examples
    --------
    >>> draw(np.array([0.2, 0.8]), np.array([7 << 60, 9 << 60], dtype=np.uint64), 1).indices.tolist()
    [1]
    """
    if count >= len(weights):
        return Draw(np.lexsort((hashes, -_keys(weights, hashes))), -np.inf)
    # One key more than is drawn, the threshold; as many as tie with it are sorted with the rest.
    among = _ahead(weights, hashes, count + 1)
    keys = _keys(weights[among], hashes[among])
    first = np.flatnonzero(keys >= keys[greatest(keys, count + 1)].min())
    order = first[np.lexsort((hashes[among[first]], -keys[first]))]
    return Draw(among[order[:count]], float(keys[order[count]]))


def _ahead(weights: Floats, hashes: Keys, count: int) -> Ints:
    """Indices, ascending, among which are those of the ``count`` largest keys.

    Two logarithms for each state are most of what a draw takes, and nearly all of them are spared: the count-th largest
    key of some states is at most that of all, κ, and log w − log(−log u) ≥ κ only where 1 − u ≤ −log u ≤ w · exp(−κ).
    """
    # Some states' keys give a bound; where they would be too few, or the bound of no use, all states are ahead.
    stride = min(_STRIDE, len(weights) // (4 * count))
    if stride > 1:
        keys = _keys(weights[::stride], hashes[::stride])
        least = float(keys[greatest(keys, count)].min())
        found = np.empty(len(weights), dtype=np.int64)
        if least > -700.0:
            size = kernels.ahead(weights, hashes, np.exp(-least) * _MARGIN, found)
            if size >= count:
                return found[:size]
    return np.arange(len(weights))


def _keys(weights: Floats, hashes: Keys) -> Floats:
    return np.asarray(_log(weights) + gumbel(hashes))


def _log(weights: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(weights))
