"""How likely the truth is to each ranking of the possible positions, in games that nobody learned from.

Of a decision with more than :data:`experiments.rbc_weighting.data.DRAWN` other positions only so many are looked at:
*top-1* is whether the truth is the likeliest of those (equally likely ones share), for a uniform ranking as for all;
the *rank fraction* is the share of the others that are held likelier, and the *rank* what that would be among all. The
*nats* above uniform are ln of the truth's probability among all n, by the correction ln n, times n; NLL is what is left
of ln n.

One factor of each ranking's scores (of two terms: two) is fitted on the validating games, so that no ranking loses by
its scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from darkchess.rbc.belief.siamese import BLOCKS
from experiments.rbc_weighting.decisions import Decisions, fitted, log_shares, rank_fractions
from klss.support.arrays import Bools, Floats, Ints

__all__ = ["LEAST", "Judge", "marginals", "measured", "reliability", "top_shares"]

LEAST = (2, 50)
"""Sizes of sets that are distinguished."""

_SURE = 1e-3
"""What is added to a share before its logarithm is taken."""


def marginals(held: Decisions, chosen: Ints) -> Floats:
    """ln of the product over all squares of how often the set has there what the member has: float64[n, 1 + drawn], up
    to a constant of each decision.
    """
    out = np.zeros(held.rows[chosen].shape[:2])
    for i, index in enumerate(chosen):
        shares = held.numbers[index, BLOCKS["now"]].astype(np.float64).reshape(6, 64)
        empty = np.clip(1 - shares.sum(axis=0), 0, 1)
        terms = np.append((np.log(shares + _SURE) - np.log(empty + _SURE)).reshape(-1), 0.0)
        rows = held.rows[index].astype(np.int64)
        out[i] = terms[np.minimum(rows, 6 * 64)].sum(axis=1)
    return out


def top_shares(scores: npt.ArrayLike, count: Ints) -> Floats:
    """1 where the truth, the first of each row, has the highest score; of k equal ones, 1/k; else 0: float64[n]."""
    found = np.asarray(scores, dtype=np.float64)
    there = np.arange(found.shape[1]) < count[:, None]
    above = ((found > found[:, :1]) & there).any(axis=1)
    return np.asarray(np.where(above, 0.0, 1 / ((found == found[:, :1]) & there).sum(axis=1)))


def measured(scores: npt.ArrayLike, count: Ints, size: Ints, game: Ints) -> dict[str, dict[str, float]]:
    """Of logits on decisions, by least size of the set; see the module. ``standard_error``: of the nats, over games."""
    nats = log_shares(scores, count, size) + np.log(size)
    fractions, tops = rank_fractions(scores, count), top_shares(scores, count)
    found = {}
    for least in LEAST:
        chosen = size >= least
        if not chosen.any():
            continue
        _, which = np.unique(game[chosen], return_inverse=True)
        off = np.bincount(which, weights=nats[chosen] - nats[chosen].mean())
        numbers = {
            "top_1": tops[chosen].mean(),
            "top_1_of_uniform": (1 / count[chosen]).mean(),
            "mean_rank_fraction": fractions[chosen].mean(),
            "median_rank": np.median(1 + fractions[chosen] * (size[chosen] - 1)),
            "nll": (np.log(size) - nats)[chosen].mean(),
            "nats": nats[chosen].mean(),
            "standard_error": np.sqrt((off**2).sum()) / chosen.sum(),
        }
        found[f"n>={least}"] = {
            "decisions": int(chosen.sum()),
            "games": int(which.max()) + 1,
            **{name: round(float(number), 4) for name, number in numbers.items()},
        }
    return found


def reliability(logits: npt.ArrayLike, count: Ints, size: Ints, bins: int = 10) -> dict[str, Any]:
    """Of positions that were given about the same probability: the mean of it, how often they were the truth, and how
    many there were. A drawn member stands for all that were not.
    """
    found = np.array(logits, dtype=np.float64)
    drawn = np.maximum(count - 1, 1)
    stands = np.ones(found.shape) * ((size - 1) / drawn)[:, None]
    stands[:, 0] = 1
    stands[np.arange(found.shape[1]) >= count[:, None]] = 0
    weights = np.exp(found - np.where(stands > 0, found, -np.inf).max(axis=1)[:, None]) * (stands > 0)
    shares = weights / (weights * stands).sum(axis=1)[:, None]
    true = np.zeros(found.shape)
    true[:, 0] = 1
    place = np.minimum((shares * bins).astype(np.int64), bins - 1)
    rows = []
    for each in range(bins):
        mass = stands * (place == each)
        if mass.sum():
            total = float(mass.sum())
            rows.append([float((mass * shares).sum()) / total, float((mass * true).sum()) / total, round(total)])
    return {"columns": ["probability", "truth", "positions"], "rows": rows}


class Judge:
    """Fits factors on the validating decisions and measures on the test decisions.

    Parameters
    ----------
    held
        The decisions.
    validate, test
        Their indices.
    """

    def __init__(self, held: Decisions, validate: Ints, test: Ints) -> None:
        self._held, self._validate, self.test = held, validate, test

    def row(self, name: str, validating: Sequence[npt.ArrayLike], testing: Sequence[npt.ArrayLike]) -> dict[str, Any]:
        """A ranking by the sum of terms, each times its factor; ``logits`` are those of the test decisions."""
        held, judged = self._held, self._validate
        factors = fitted(validating, held.count[judged], held.size[judged]) if validating else []
        logits = np.zeros(held.rows[self.test].shape[:2])
        for factor, term in zip(factors, testing, strict=True):
            logits += factor * np.asarray(term, dtype=np.float64)
        return {
            "ranking": name,
            "factors": [round(factor, 4) for factor in factors],
            "logits": logits,
            **self.measured(logits),
        }

    def measured(self, logits: Floats, wanted: Bools | None = None) -> dict[str, Any]:
        """:func:`measured` on the test decisions, or on some of them."""
        held = self._held
        judged = self.test if wanted is None else self.test[wanted]
        return measured(
            logits if wanted is None else logits[wanted], held.count[judged], held.size[judged], held.game[judged]
        )
