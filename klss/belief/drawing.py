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

from klss.arrays import Floats, Ints, Keys

__all__ = ["Draw", "draw", "gumbel"]


@dataclass(frozen=True)
class Draw:
    """What was drawn.

    Attributes
    ----------
    indices
        int64[k], by falling key.
    threshold
        κ; −inf where everything was drawn.
    """

    indices: Ints
    threshold: float

    def inclusion(self, log_weights: Floats) -> Floats:
        """With what probability a state of that weight is among the drawn ones: float64, as ``log_weights``."""
        if self.threshold == -np.inf:
            return np.ones_like(log_weights)
        return -np.expm1(-np.exp(np.minimum(log_weights - self.threshold, 700.0)))


def gumbel(hashes: Keys) -> Floats:
    """Standard Gumbel numbers of uniform hashes (uint64[n]): float64[n]."""
    uniform = ((hashes >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    return np.asarray(-np.log(-np.log(uniform)))


def draw(log_weights: Floats, hashes: Keys, count: int) -> Draw:
    """``count`` states, or all of them where there are no more.

    Parameters
    ----------
    log_weights
        float64[n], of any scale; −inf: never drawn before another.
    hashes
        uint64[n], uniform and independent: a keyed hash of each state. Ties go by it, then by index.
    count
        From 0 on.

    Examples
    --------
    >>> draw(np.log([0.2, 0.8]), np.array([7 << 60, 9 << 60], dtype=np.uint64), 1).indices.tolist()
    [1]
    """
    keys = log_weights + gumbel(hashes)
    size = len(keys)
    if count >= size:
        return Draw(np.lexsort((hashes, -keys)), -np.inf)
    first = np.argpartition(-keys, count)[: count + 1]
    order = first[np.lexsort((hashes[first], -keys[first]))]
    return Draw(order[:count], float(keys[order[count]]))
