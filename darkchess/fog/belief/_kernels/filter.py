"""The filter's kernels: the weight that each source gives to its successors.

:func:`darkchess.fog.belief._kernels.position_set.successors` has already made the set; nothing here changes it. Its
positions are stored in the order of their hashes. A *directory* divides the hashes into equal ranges and says where
each begins, so that a position is found in two steps.

Sources and sums keep one fixed order, so that the same set and weights give the same bytes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from darkchess.board.kernels.bits import bit, popcount
from darkchess.board.kernels.board import KING, PAWN, WHITE
from darkchess.board.kernels.enemy_moves import lifted
from darkchess.board.kernels.halves import castled, decode_passed, with_code
from darkchess.board.kernels.moves import MAX_MOVES
from darkchess.board.kernels.position_table import half_hash, prefetch
from darkchess.fog.belief._kernels.policy import GROUPS, PLAIN, describe, multiplied
from darkchess.fog.belief._kernels.position_set import CAPTURED, EMPTY, EP_LANDING, EP_REPORTED, FORBIDDEN
from klss.support.kernel import kernel


class Sources(NamedTuple):
    """The set before the enemy's move.

    Attributes
    ----------
    halves, weights
        uint64[n, 2], float64[n].
    own_row
        uint64[9]: the viewer's half, seen as White's, the enemy to move.
    captors, passed
        Squares from which an enemy pawn may capture en passant, and the bits of META that say so.
    """

    halves: Any
    weights: Any
    own_row: Any
    captors: Any
    passed: Any


class Likelihood(NamedTuple):
    """How likely each enemy move is.

    Attributes
    ----------
    groups, multipliers
        How many groups of :mod:`darkchess.fog.belief._kernels.policy` are used, the first ones (0: all moves are
        equally likely), and their factors.
    uniform_mix
        Share of the likelihood that is spread evenly over all moves.
    bonus, offsets
        float64[m], int64[·]: a factor for each move of each source, and where each source's begin; or both of length 0.
    """

    groups: int
    multipliers: Any
    uniform_mix: float
    bonus: Any
    offsets: Any


class Directory(NamedTuple):
    """The set after the move, with its directory.

    Attributes
    ----------
    positions, key
        uint64[m, 2] in canonical order, and the key of their hash.
    first, top
        See :func:`directory`.
    """

    positions: Any
    key: Any
    first: Any
    top: Any


_AHEAD = 64
"""Gains that :func:`add` looks ahead, to prefetch."""


@kernel(inline="always")
def _bucket(value: Any, top: Any, buckets: int) -> Any:
    """Return the range in which a hash lies; ``buckets`` if its upper half is above ``top``, the largest hash's."""
    high = value >> np.uint64(32)
    if high > top:
        return buckets
    return np.int64(high * np.uint64(buckets) // (top + np.uint64(1)))


@kernel(allocates=False)
def directory(positions: Any, start: int, stop: int, key: Any, top: Any, first: Any) -> None:
    """Fill ``first`` (int64[buckets + 1, 1]) with the index in ``positions`` (canonical order) at which each range of
    hashes begins, as far as the positions ``start … stop − 1`` say it. ``top`` (uint64): the upper half of the largest
    hash.
    """
    buckets = first.shape[0] - 1
    reached = 0
    if start:
        reached = 1 + _bucket(half_hash(positions[start - 1, 0], positions[start - 1, 1], key), top, buckets)
    for i in range(start, stop):
        at = _bucket(half_hash(positions[i, 0], positions[i, 1], key), top, buckets)
        while reached <= at:
            first[reached, 0] = i
            reached += 1
    if stop == positions.shape[0]:
        while reached <= buckets:
            first[reached, 0] = stop
            reached += 1


@kernel(inline="always")
def _find(enemy: Any, codes: Any, positions: Any, key: Any, first: Any, top: Any) -> int:
    """Return the index of a half in ``positions``, −1 if it is not there."""
    buckets = first.shape[0] - 1
    at = _bucket(half_hash(enemy, codes, key), top, buckets)
    found = -1
    if at < buckets:
        for i in range(first[at, 0], first[at + 1, 0]):
            if positions[i, 0] == enemy and positions[i, 1] == codes:
                found = i
                break
    return found


@kernel(allocates=False)
def find_all(halves: Any, positions: Any, key: Any, first: Any, top: Any, out: Any) -> None:
    """Write the index in ``positions`` of each of ``halves`` (uint64[n, 2]) into ``out`` (int64[n]), −1 for none."""
    for i in range(halves.shape[0]):
        out[i] = _find(halves[i, 0], halves[i, 1], positions, key, first, top)


@kernel(allocates=False)
def find_few(halves: Any, positions: Any, key: Any, out: Any) -> None:
    """:func:`find_all` by bisection, without a directory."""
    for k in range(halves.shape[0]):
        value = half_hash(halves[k, 0], halves[k, 1], key)
        # Bisect to the first position with this hash; several may have the same.
        low, high = 0, positions.shape[0]
        while low < high:
            middle = (low + high) // 2
            if half_hash(positions[middle, 0], positions[middle, 1], key) < value:
                low = middle + 1
            else:
                high = middle
        out[k] = -1
        while low < positions.shape[0] and half_hash(positions[low, 0], positions[low, 1], key) == value:
            if positions[low, 0] == halves[k, 0] and positions[low, 1] == halves[k, 1]:
                out[k] = low
                break
            low += 1


@kernel(inline="always")
def _half_after(enemy: Any, codes: Any, piece: Any, origin: int, target: int, promotion: int) -> Any:
    """Return the enemy half after the enemy's move."""
    if piece == KING and (origin - target == 2 or target - origin == 2):
        after, moved = castled(enemy, codes, target > origin)
    else:
        mask = bit(origin)
        place = popcount(enemy & (mask - np.uint64(1)))
        rest, code = lifted(codes, place, (codes >> np.uint64(4 * place)) & np.uint64(15))
        if promotion:
            code = np.uint64(promotion)
        after = (enemy ^ mask) | bit(target)
        moved = with_code(enemy ^ mask, rest, bit(target), code)
    return after, moved


@kernel
def propagate(
    sources: Any, start: int, stop: int, likelihood: Any, masks: Any, tables: Any, found: Any, indices: Any, gains: Any,
    out: Any,
) -> int:  # fmt: skip
    """Add to ``out`` (float64[size, 1]) the weight that the sources ``start … stop − 1`` give to each position; or, if
    there are ``indices`` (int64[·]) and ``gains`` (float64[·]), write it there, in the same order, for :func:`add`, and
    return how many there are.

    A source's weight is shared among *all* its legal moves by their likelihood; the shares of moves that the view rules
    out are lost.

    Parameters
    ----------
    sources
        :class:`Sources`.
    likelihood
        :class:`Likelihood`.
    masks
        Those of the view after the move (:mod:`darkchess.fog.belief._kernels.position_set`).
    found
        :class:`Directory`.
    """
    row = np.empty(9, dtype=np.uint64)
    codes = np.empty(MAX_MOVES, dtype=np.int32)
    index = np.empty((MAX_MOVES, GROUPS), dtype=np.int16)
    likely = np.empty(MAX_MOVES, dtype=np.float64)
    pieces = np.empty(64, dtype=np.int8)
    maps = np.empty(12, dtype=np.uint64)
    halves = np.empty((MAX_MOVES, 2), dtype=np.uint64)
    ranges = np.empty(MAX_MOVES, dtype=np.int64)
    shares = np.empty(MAX_MOVES, dtype=np.float64)
    # Fields are unpacked before the loops: taking an array out of a tuple costs a reference count each time.
    sets, weights = sources.halves, sources.weights
    positions, first, key, top = found.positions, found.first, found.key, found.top
    buckets = first.shape[0] - 1
    reported, landing, captured = masks[EP_REPORTED], masks[EP_LANDING], masks[CAPTURED]
    groups, uniform_mix = likelihood.groups, likelihood.uniform_mix
    multipliers, bonus, offsets = likelihood.multipliers, likelihood.bonus, likelihood.offsets
    later, end = indices.shape[0] > 0, 0
    for i in range(start, stop):
        weight = weights[i]
        if not weight > 0.0:
            continue
        # The likelihoods of all moves, consistent or not: their sum is the denominator of each share.
        enemy, enemy_codes = sets[i, 0], sets[i, 1]
        decode_passed(enemy, enemy_codes, sources.own_row, False, sources.captors, sources.passed, row)
        own = row[WHITE]
        count = describe(row, groups <= PLAIN, tables, codes, index, pieces, maps)
        total = 0.0
        for k in range(count):
            value = multiplied(index[k], groups, multipliers)
            if bonus.shape[0]:
                value *= bonus[offsets[i] + k]
            likely[k] = value
            total += value
        # The successors that pass the view's cheap tests, their shares, and the range in which each may be. Those that
        # are inconsistent all the same are not in the set, so the look-up below drops them.
        wanted = 0
        for k in range(count):
            origin, target, promotion = codes[k] >> 9, (codes[k] >> 3) & 63, codes[k] & 7
            mask, piece = bit(target), pieces[origin]
            steps_twice = piece == PAWN and origin - target == 16
            if reported != np.uint64(0):
                # The reported double step.
                if not steps_twice or bit(origin - 8) != reported:
                    continue
            elif landing != np.uint64(0):
                # An en passant capture.
                if piece != PAWN or mask != landing or own & mask != np.uint64(0) or (origin - target) & 7 == 0:
                    continue
            else:
                # It captured exactly the missing piece; it was neither a double step that would have been reported nor
                # a capture en passant.
                if mask & masks[EMPTY] != np.uint64(0) or (own & mask) != captured:
                    continue
                if piece == PAWN:
                    if steps_twice and masks[FORBIDDEN] & mask != np.uint64(0):
                        continue
                    if (origin - target) & 7 != 0 and own & mask == np.uint64(0):
                        continue
            after, moved = _half_after(enemy, enemy_codes, piece, origin, target, promotion)
            at = _bucket(half_hash(after, moved, key), top, buckets)
            if at == buckets:
                continue
            prefetch(first, at)
            halves[wanted, 0] = after
            halves[wanted, 1] = moved
            ranges[wanted] = at
            shares[wanted] = weight * ((1.0 - uniform_mix) * likely[k] / total + uniform_mix / count)
            wanted += 1
        # Each successor misses the cache three times, so all are prefetched before the first one is used.
        for k in range(wanted):
            prefetch(positions, first[ranges[k], 0])
        # Find each in its range, which has two positions on average.
        for k in range(wanted):
            at = ranges[k]
            ranges[k] = -1
            for j in range(first[at, 0], first[at + 1, 0]):
                if positions[j, 0] == halves[k, 0] and positions[j, 1] == halves[k, 1]:
                    ranges[k] = j
                    prefetch(out, j)
                    break
        # Add in the order of the moves, so that the sums are the same on any machine.
        for k in range(wanted):
            if ranges[k] >= 0:
                if later:
                    indices[end] = ranges[k]
                    gains[end] = shares[k]
                    end += 1
                else:
                    out[ranges[k], 0] += shares[k]
    return end


@kernel(allocates=False)
def add(indices: Any, gains: Any, low: int, high: int, out: Any) -> None:
    """Add ``gains`` (float64[n]), in order, to ``out[indices]`` (float64[size, 1]), where ``low ≤ index < high``."""
    count = indices.shape[0]
    for i in range(count):
        later = indices[min(i + _AHEAD, count - 1)]
        if low <= later < high:
            prefetch(out, later)
        index = indices[i]
        if low <= index < high:
            out[index, 0] += gains[i]
