"""The filter: a weight for every position of a set, so that the set is an exact Bayes filter under a policy of moves.

At an enemy move a position's weight is the sum, over its predecessors in the set, of their weights times the
likelihood of the move there (:mod:`darkchess.fog.belief.policy`), normalised over all legal moves, seen or not. An
observation drops positions, and weights with them; transpositions add. Under the policy the weights are then the
posterior, exactly.

How the likelihood is made goes by the time that there is (*allowance*): with values where the set is small; else the
likeliest positions get values, and the rest features, if all of it can have them, or tables, the likeliest first. What
even those don't reach is spread evenly over all that is possible after the move (*reached* says how much is not). Where
nothing is reached all positions are alike again (``restarts`` counts that, and the weights say nothing of what was
before). In a set that was cut the weights are those of the positions kept.

Source of the scheme: docs/belief.md. The set itself is not touched.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from darkchess.board.kernels.tables import TABLES
from darkchess.evaluation.evaluator import Evaluator
from darkchess.fog.belief._kernels import filter as kernels
from darkchess.fog.belief.policy import LEVELS, Level, Policy
from klss.belief.greatest import greatest
from klss.support.arrays import Floats, Ints, Words
from klss.support.threads import each

__all__ = ["Crossing", "Filter", "find"]

SECONDS: dict[Level, float] = {"tables": 1.2e-6, "features": 2.2e-6, "values": 100e-6}
"""What a source takes on one thread of a common machine; an allowance is spent by these, never by a clock."""

_FAR_S, _NEAR = 2e-6, 50_000
"""What a source takes more, at the most, where the set after the move outgrows the caches; so many positions do not."""

MOST_VALUED = 500
"""Most sources that are ever given values."""

_FOR_VALUES = 0.8
"""Of an allowance, where not all sources can have values: a few valued positions tell more than many by tables. From
.6 to .9 it makes no difference.
"""

_TOGETHER = 1 << 14
"""From so many sources on they are treated in two halves, whose sums are added: on two threads or on one."""

_FEW = 64
"""One in so many positions is looked up without a directory of them all."""

_NOTHING = np.empty(0, dtype=np.float64)
_NOWHERE = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Crossing:
    """An enemy move as the set's update saw it.

    Attributes
    ----------
    sources, weights
        uint64[n, 2], float64[n]: the set before it.
    own_row
        uint64[9]: the viewer's half before it, seen as White's, the enemy to move.
    captors, passed
        uint64: from where the viewer's double step could be taken en passant, and its bits of META.
    masks
        uint64[MASKS]: of the view after it.
    positions
        uint64[m, 2]: the set after it, in canonical order.
    key
        Of the set's hash.
    threads
        1 or 2.
    """

    sources: Words
    weights: Floats
    own_row: Words
    captors: np.uint64
    passed: np.uint64
    masks: Words
    positions: Words
    key: np.uint64
    threads: int

    def of(self, chosen: Ints) -> Crossing:
        """That of the chosen sources alone."""
        if len(chosen) == len(self.weights):
            return self
        return replace(self, sources=self.sources[chosen], weights=self.weights[chosen])


class Filter:
    """Takes weights across enemy moves.

    Parameters
    ----------
    policy : Policy
    evaluator : Evaluator, optional
        For the level of values; without one there is none.

    Attributes
    ----------
    level
        Of the last move, by which most of the weight went on; None where the weights were reset.
    reached : float
        Part of the weight that went on then; the rest was spread evenly.
    restarts
        Number of resets.
    log_total
        Logarithm of the likelihood of all observations since the last reset.
    """

    def __init__(self, policy: Policy, evaluator: Evaluator | None = None) -> None:
        """See the class."""
        self.policy = policy
        self.level: Level | None = None
        self.reached = 0.0
        self.restarts = 0
        self.log_total = 0.0
        self._evaluator = evaluator

    def affordable(self, sources: int, allowance: float, positions: int = 0) -> Level | None:
        """The dearest level that so many sources can all have in ``allowance`` seconds of one thread, where there are
        ``positions`` after the move; None: none.
        """
        for level in reversed(LEVELS[1:]):
            if level == "values" and (self._evaluator is None or sources > MOST_VALUED):
                continue
            if sources * _seconds(level, positions) <= allowance:
                return level
        return None

    def shared_out(self, weights: Floats, allowance: float, positions: int = 0) -> dict[Level, Ints]:
        """Which sources (indices, ascending) are treated at which level within ``allowance`` seconds of one thread.

        Parameters
        ----------
        weights
            float64[n], of the sources: the likeliest get the dearest level, and among equals the first, which in a
            set's canonical order are any.
        allowance
            In seconds.
        positions
            How many there are after the move.
        """
        count = len(weights)
        if self.affordable(count, allowance, positions) == "values":
            return {"values": np.arange(count)}
        dear = _seconds("values", positions)
        valued = 0 if self._evaluator is None else int(min(MOST_VALUED, count, _FOR_VALUES * allowance / dear))
        left, rest = allowance - valued * dear, count - valued
        level = self.affordable(rest, left, positions)
        if level is None:
            level, rest = "tables", int(left / _seconds("tables", positions))
        elif level == "values":  # more than ever get them
            level = "features"
        reached = greatest(weights, valued + rest)
        first = greatest(weights[reached], valued)
        shared: dict[Level, Ints] = {"values": reached[first], level: np.delete(reached, first)}
        return {level: sources for level, sources in shared.items() if len(sources)}

    def across(self, crossing: Crossing, allowance: float = math.inf) -> Floats:
        """The weights after an enemy move: float64[m], summing to 1."""
        count, weights = crossing.positions.shape[0], crossing.weights
        shared = self.shared_out(weights, allowance, count)
        parts = {level: float(weights[sources].sum()) for level, sources in shared.items()}
        self.reached = sum(parts.values()) / float(weights.sum())
        if self.reached <= 0.0:
            self.level = None
            return self.reset(count)
        heaviest: Level = max(shared, key=parts.__getitem__)
        self.level = heaviest
        first, top = _directory(crossing.positions, crossing.key)
        out = np.zeros(count)
        for level, sources in shared.items():
            self._propagate(crossing.of(sources), level, first, top, out)
        if len(weights) == sum(len(sources) for sources in shared.values()):
            return self.normalised(out)
        out /= self.reached
        found = self.normalised(out)
        found *= self.reached
        found += (1.0 - self.reached) / count
        return found

    def normalised(self, weights: Floats) -> Floats:
        """``weights`` (float64[n], of any scale), summing to 1; uniform again where all are 0."""
        total = float(weights.sum())
        if not total > 0.0:
            return self.reset(len(weights))
        self.log_total += math.log(total)
        return np.asarray(weights / total)

    def reset(self, count: int) -> Floats:
        """All positions alike again: float64[count]."""
        self.restarts += 1
        self.log_total = 0.0
        return np.full(count, 1.0 / count)

    def _propagate(self, crossing: Crossing, level: Level, first: Ints, top: np.uint64, out: Floats) -> None:
        """Add to ``out`` (float64[m]) the weight that the crossing's sources give to their successors."""
        stage = self.policy.stages[level]
        sources = kernels.Sources(
            crossing.sources, crossing.weights, crossing.own_row, crossing.captors, crossing.passed
        )
        bonus, offsets = self._bonus(sources, stage.slope) if stage.slope else (_NOTHING, _NOWHERE)
        likelihood = kernels.Likelihood(
            stage.groups, stage.multipliers, self.policy.uniform_mix, self.policy.counts, bonus, offsets
        )
        found = kernels.Directory(crossing.positions, crossing.key, first, top)
        # Two halves with sums of their own, so that two threads and one add in the same order.
        count = crossing.sources.shape[0]
        middle = count // 2 if count >= _TOGETHER else count
        bounds = ((0, middle), (middle, count))
        sums = (out[:, None], np.zeros((len(out), 1)) if middle < count else _NOTHING)

        def propagate(share: int) -> None:
            if bounds[share][0] == bounds[share][1]:
                return
            kernels.propagate(sources, *bounds[share], likelihood, crossing.masks, TABLES, found, sums[share])

        each(propagate, crossing.threads if middle < count else 1)
        if middle < count:
            out += sums[1][:, 0]

    def _bonus(self, sources: kernels.Sources, slope: float) -> tuple[Floats, Ints]:
        """exp(slope · value of the position after the move, for the enemy) of each move of each source."""
        assert self._evaluator is not None
        offsets = np.empty(sources.halves.shape[0] + 1, dtype=np.int64)
        kernels.count_moves(sources, TABLES, offsets)
        children = np.empty((int(offsets[-1]), 9), dtype=np.uint64)
        alive = np.empty(len(children), dtype=np.bool_)
        kernels.family(sources, TABLES, offsets, children, alive)
        values = np.ones(len(children))
        values[alive] = -self._evaluator.values(children[alive])
        return np.exp(slope * (values - 1.0)), offsets


def _seconds(level: Level, positions: int) -> float:
    """What a source takes, where there are so many positions after the move."""
    return SECONDS[level] + _FAR_S * max(0, positions - _NEAR) / (positions + 3 * _NEAR)


def _directory(positions: Words, key: np.uint64) -> tuple[Ints, np.uint64]:
    first = np.empty((max(1, positions.shape[0] // 2) + 1, 1), dtype=np.int64)
    top = kernels.directory(positions, key, first)
    return first, np.uint64(top)


def find(halves: Words, positions: Words, key: np.uint64) -> Ints:
    """Where each of ``halves`` (uint64[n, 2]) is in ``positions``, which are in canonical order: int64[n], −1 where it
    is not.
    """
    out = np.empty(halves.shape[0], dtype=np.int64)
    if _FEW * halves.shape[0] < positions.shape[0]:
        kernels.find_few(halves, positions, key, out)
    else:
        first, top = _directory(positions, key)
        kernels.find_all(halves, positions, key, first, top, out)
    return out
