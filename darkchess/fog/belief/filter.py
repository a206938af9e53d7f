"""The filter: a weight for every position of a set, so that the set is an exact Bayes filter under a policy of moves.

At an enemy move, a position's weight is the sum over its predecessors in the set: each gives its weight times the
likelihood of the move there (:mod:`darkchess.fog.belief.policy`), normalised over all its legal moves, also those that
the view rules out. An observation drops positions with their weights. If the policy is true, the weights are exactly
the posterior.

The time that there is (*allowance*) decides how the likelihood is computed. In a small set all positions get the level
``values``. Otherwise the likeliest positions get it; the rest get ``features`` if all of them can, else ``tables``, the
likeliest first. The weight of positions that even this does not reach is spread evenly over the set after the move. If
nothing is reached, all positions get the same weight again, and what the weights said before is lost. A set that was
cut keeps the weights of the positions that it keeps.

Source of the scheme: docs/position_set.md, "The filter". The filter does not change the set.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np

from darkchess.board.kernels.board import BLACK, KING, WIDTH
from darkchess.board.kernels.halves import decode_halves
from darkchess.board.kernels.moves import MAX_MOVES, count_moves, make_all
from darkchess.board.kernels.position_table import half_hash
from darkchess.board.kernels.tables import TABLES
from darkchess.evaluation.evaluator import BuiltinEvaluator, Evaluator
from darkchess.fog.belief._kernels import filter as kernels
from darkchess.fog.belief.policy import Level, Policy
from darkchess.fog.belief.tower import Tower
from klss.support.arrays import Floats, Ints, Words
from klss.support.greatest import greatest
from klss.support.threads import share

SECONDS: dict[Level, float] = {"tables": 1.2e-6, "features": 2.2e-6, "values": 100e-6}
"""Time of a source, in seconds of one thread on a common machine. An allowance is spent by these numbers and never by a
clock, so that the weights do not depend on the machine.
"""

_FAR_S, _NEAR = 2e-6, 50_000
"""Most time that cache misses add to a source, in seconds, and the number of positions after the move up to which the
set fits the caches and nothing is added.
"""

MOST_VALUED = 500
"""Most sources that ever get the level ``values``."""

_FOR_VALUES = 0.8
"""Share of an allowance for the level ``values``, if not all sources can have it: a few sources by values tell more
than many by tables. Any share from .6 to .9 does as well.
"""

_HALVED = 1 << 14
"""Number of sources from which on each half of them has its own sums, which are added in the end."""

_PIECE = 1 << 11
"""Sources that one thread treats at a time."""

_FEW = 64
"""If at most one in so many positions is looked up, bisection is quicker than building a directory first."""

_NOTHING = np.empty(0, dtype=np.float64)
_NOWHERE = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Crossing:
    """An enemy move, as the set's update reports it to the filter."""

    sources: kernels.Sources  # the set before it
    masks: Words  # uint64[MASKS]: those of the view after it
    positions: Words  # uint64[m, 2]: the set after it, in canonical order
    key: np.uint64  # of the set's hash
    threads: int

    def of(self, chosen: Ints) -> Crossing:
        """Return this crossing with the chosen sources only."""
        held = self.sources
        if len(chosen) == len(held.weights):
            return self
        return replace(self, sources=held._replace(halves=held.halves[chosen], weights=held.weights[chosen]))


class Filter:
    """Carries weights across enemy moves.

    Parameters
    ----------
    policy : Policy
    evaluator : Evaluator, optional
        For the level ``values``, which is not used without one.
    tower : Tower, optional
        What corrects the weights at the player's turns (:mod:`darkchess.fog.belief.tower`). The filter itself carries
        its own weights on, not the corrected ones.

    Attributes
    ----------
    level
        The level that carried most of the weight across the last enemy move; None if the weights were reset there.
    """

    def __init__(self, policy: Policy, evaluator: Evaluator | None = None, tower: Tower | None = None) -> None:
        self.policy = policy
        self.tower = tower
        self.level: Level | None = None
        self._evaluator = evaluator

    @staticmethod
    def packaged(threads: int = 1) -> Filter:
        """Return the one that players have: with the packaged policy and weights, and the evaluator whose values they
        were learned with.
        """
        return Filter(Policy.packaged(), BuiltinEvaluator(threads=threads), Tower.packaged())

    def shared_out(self, weights: Floats, allowance: float, positions: int = 0) -> dict[Level, Ints]:
        """Return the sources (indices, ascending) of each level, within ``allowance`` seconds of one thread.

        Parameters
        ----------
        weights
            float64[n], of the sources: the likeliest get the most expensive level; of equal ones the first, which in
            the set's canonical (hash) order is as good as random.
        allowance
            In seconds.
        positions
            Number of positions after the move.
        """
        count, dear = len(weights), _seconds("values", positions)
        values = self._evaluator is not None
        if values and count <= MOST_VALUED and count * dear <= allowance:
            return {"values": np.arange(count)}
        # Values for the likeliest first; then one cheaper level for as many of the rest as the time allows.
        valued = int(min(MOST_VALUED, count, _FOR_VALUES * allowance / dear)) if values else 0
        left, rest = allowance - valued * dear, count - valued
        level: Level = "features"
        if rest * _seconds(level, positions) > left:
            level = "tables"
            if rest * _seconds(level, positions) > left:
                rest = int(left / _seconds(level, positions))
        reached = greatest(weights, valued + rest)
        first = greatest(weights[reached], valued)
        shared: dict[Level, Ints] = {"values": reached[first], level: np.delete(reached, first)}
        return {level: sources for level, sources in shared.items() if len(sources)}

    def across(self, crossing: Crossing, allowance: float = math.inf) -> Floats:
        """Return the weights after an enemy move: float64[m], summing to 1."""
        count, weights = crossing.positions.shape[0], crossing.sources.weights
        shared = self.shared_out(weights, allowance, count)
        parts = {level: float(weights[sources].sum()) for level, sources in shared.items()}
        reached = sum(parts.values()) / float(weights.sum())  # the share of the weight that is not spread evenly
        if reached <= 0.0:
            self.level = None
            return np.full(count, 1.0 / count)
        heaviest: Level = max(shared, key=parts.__getitem__)
        self.level = heaviest
        directory = _directory(crossing.positions, crossing.key, crossing.threads)
        out = np.zeros(count)
        for level, sources in shared.items():
            self._propagate(crossing.of(sources), level, directory, out)
        if len(weights) == sum(len(sources) for sources in shared.values()):
            return self.normalised(out)
        # The weight that was not reached goes to all positions evenly, since no likelihood is known for its successors.
        out /= reached
        found = self.normalised(out)
        found *= reached
        found += (1.0 - reached) / count
        return found

    def normalised(self, weights: Floats) -> Floats:
        """Return ``weights`` (float64[n], of any scale) scaled to sum 1; uniform again if all are 0."""
        total = float(weights.sum())
        if not total > 0.0:
            return np.full(len(weights), 1.0 / len(weights))
        return np.asarray(weights / total)

    def _propagate(self, crossing: Crossing, level: Level, directory: tuple[Ints, np.uint64], out: Floats) -> None:
        """Add to ``out`` (float64[m]) the weight that the crossing's sources give to their successors."""
        stage, sources = self.policy.stages[level], crossing.sources
        bonus, offsets = self._bonus(sources, stage.slope) if stage.slope else (_NOTHING, _NOWHERE)
        likelihood = kernels.Likelihood(stage.groups, stage.multipliers, self.policy.uniform_mix, bonus, offsets)
        found = kernels.Directory(crossing.positions, crossing.key, *directory)
        # Each half has its own sums, on one thread too: the order of additions is the same, and so is every bit.
        count, threads = sources.halves.shape[0], crossing.threads
        bounds = (0, count // 2, count) if count >= _HALVED else (0, count)
        sums = [out[:, None], *[np.zeros((len(out), 1))] * (len(bounds) - 2)]

        def propagate(half: int, start: int, stop: int, indices: Ints = _NOWHERE, gains: Floats = _NOTHING) -> int:
            given: int = kernels.propagate(
                sources, start, stop, likelihood, crossing.masks, TABLES, found, indices, gains, sums[half]
            )
            return given

        if threads <= 2 or len(sums) == 1:
            share(lambda half: propagate(half, bounds[half], bounds[half + 1]), len(sums), threads)
        else:
            for half, (first, stop) in enumerate(pairwise(bounds)):
                _by_rounds(partial(propagate, half), first, stop, sums[half], threads)
        if len(sums) > 1:
            out += sums[1][:, 0]

    def _bonus(self, sources: kernels.Sources, slope: float) -> tuple[Floats, Ints]:
        """Return exp(slope · (value after the move, for the enemy, − 1)) of each move of each source, and where the
        moves of each source begin; float64[m], int64[n + 1].
        """
        assert self._evaluator is not None
        count = sources.halves.shape[0]
        rows, offsets = np.empty((count, WIDTH), dtype=np.uint64), np.empty(count + 1, dtype=np.int64)
        decode_halves(
            sources.halves, np.arange(count), sources.own_row, False, sources.captors, sources.passed, rows
        )  # fmt: skip
        count_moves(rows, TABLES, offsets)
        children = np.empty((int(offsets[-1]), WIDTH), dtype=np.uint64)
        make_all(rows, TABLES, offsets, children)
        alive = children[:, KING] & ~children[:, BLACK] != 0
        # A move that takes the viewer's king is worth 1; the others are valued from the viewer's side.
        values = np.ones(len(children))
        values[alive] = -self._evaluator.values(children[alive])
        return np.exp(slope * (values - 1.0)), offsets


def _by_rounds(propagate: Callable[..., int], first: int, stop: int, sums: Floats, threads: int) -> None:
    """Add to ``sums`` what the sources ``first … stop − 1`` give. In a round each thread writes what a piece of the
    sources gives, then adds what all these pieces give to a range of the sums: in the order of the sources.
    """
    room = MAX_MOVES * _PIECE
    indices, gains = np.empty((threads, room), dtype=np.int64), np.empty((threads, room))
    given, size = [0] * threads, len(sums)

    def write(piece: int) -> None:
        start = min(first + piece * _PIECE, stop)
        given[piece] = propagate(start, min(start + _PIECE, stop), indices[piece], gains[piece])

    def add(part: int) -> None:
        for piece, end in enumerate(given):
            low, high = size * part // threads, size * (part + 1) // threads
            kernels.add(indices[piece, :end], gains[piece, :end], low, high, sums)

    while first < stop:
        share(write, threads, threads)
        share(add, threads, threads)
        first += threads * _PIECE


def _seconds(level: Level, positions: int) -> float:
    """Return the time of a source, in seconds of one thread, with so many positions after the move."""
    return SECONDS[level] + _FAR_S * max(0, positions - _NEAR) / (positions + 3 * _NEAR)


def _directory(positions: Words, key: np.uint64, threads: int = 1) -> tuple[Ints, np.uint64]:
    count = positions.shape[0]
    parts = max(1, min(threads, count // _NEAR))
    first = np.empty((max(1, count // 2) + 1, 1), dtype=np.int64)
    top = np.uint64(int(half_hash(positions[-1, 0], positions[-1, 1], key)) >> 32)

    def fill(part: int) -> None:
        kernels.directory(positions, count * part // parts, count * (part + 1) // parts, key, top, first)

    share(fill, parts, threads)
    return first, top


def find(halves: Words, positions: Words, key: np.uint64) -> Ints:
    """Return the index of each of ``halves`` (uint64[n, 2]) in ``positions``, which are in canonical order: int64[n],
    −1 for one that is not there.
    """
    out = np.empty(halves.shape[0], dtype=np.int64)
    if _FEW * halves.shape[0] < positions.shape[0]:
        kernels.find_few(halves, positions, key, out)
    else:
        first, top = _directory(positions, key)
        kernels.find_all(halves, positions, key, first, top, out)
    return out
