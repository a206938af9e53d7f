"""The bandit's kernels: counts of (set, action) in a table whose entries are replaced, and the choice by them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from klss.support.hashing import mix64
from klss.support.kernel import kernel

VIRTUAL_LOSS = 1.0
"""Losses that count for a choice until its first value comes back; the number is the source's."""


@kernel(inline="always")
def tag(key: Any, action: int) -> Any:
    """Return the hash (uint64, never 0) of an action at the set with hash ``key``."""
    return mix64(key ^ (np.uint64(action + 1) * np.uint64(0xD1342543DE82EF95))) | np.uint64(1)


@kernel
def policies(logits: Any, offsets: Any, listing: Any, alike: Any, out: Any) -> None:
    """Write each choice's share of the softmax over all actions that can be chosen (float64[m])."""
    for i in range(offsets.shape[0] - 1):
        first = offsets[i]
        last = offsets[i + 1]
        # Subtract the greatest logit, so that no exponential overflows.
        top = -np.inf
        for j in range(listing[first], listing[last]):
            top = max(top, logits[i, alike[j]])
        total = 0.0
        for k in range(first, last):
            share = 0.0
            for j in range(listing[k], listing[k + 1]):
                share += math.exp(logits[i, alike[j]] - top)
            out[k] = share
            total += share
        for k in range(first, last):
            out[k] /= total


@kernel(allocates=False)
def _met(tags: Any, table: Any, key: Any, first: int, last: int, actions: Any) -> Any:
    """Return how often the choices of a set were taken, and the sum of their values."""
    number = 0.0
    total = 0.0
    for k in range(first, last):
        mark = tag(key, actions[k])
        slot = np.int64(mark & np.uint64(tags.shape[0] - 1))
        if tags[slot] == mark:
            number += table[slot, 0]
            total += table[slot, 1]
    return number, total


@kernel(allocates=False)
def _bound(
    tags: Any, table: Any, key: Any, first: int, last: int, actions: Any, policy: Any, number: float, total: float,
    exploration: float,
) -> int:  # fmt: skip
    """Return the choice with the largest bound; an untried one has the mean of the tried ones."""
    rest = total / number if number > 0.0 else 0.0
    best = -1
    most = 0.0
    for k in range(first, last):
        mark = tag(key, actions[k])
        slot = np.int64(mark & np.uint64(tags.shape[0] - 1))
        tried = table[slot, 0] if tags[slot] == mark else 0.0
        mean = table[slot, 1] / tried if tried > 0.0 else rest
        worth = mean + exploration * policy[k] * math.sqrt(math.log(max(number, 2.0)) / max(tried, 1.0))
        if best < 0 or worth > most:
            best = k
            most = worth
    return best


@kernel(allocates=False)
def _by_policy(mixing: float, number: float) -> float:
    """Return the probability of playing the policy at a set with ``number`` visits."""
    # ∞ · 0 is not a number: an infinite m never plays the policy, not even at a new set.
    return math.exp(-mixing * number) if mixing < math.inf else 0.0


@kernel(allocates=False)
def shares(
    tags: Any, table: Any, keys: Any, offsets: Any, actions: Any, policy: Any, mixing: float, exploration: float,
    out: Any,
) -> None:  # fmt: skip
    """Write the probability of each choice (float64[m]), from which :func:`choose` draws."""
    for i in range(keys.shape[0]):
        first = offsets[i]
        last = offsets[i + 1]
        number, total = _met(tags, table, keys[i], first, last, actions)
        played = _by_policy(mixing, number)
        for k in range(first, last):
            out[k] = played * policy[k]
        if played < 1.0:
            best = _bound(tags, table, keys[i], first, last, actions, policy, number, total, exploration)
            out[best] += 1.0 - played


@kernel(allocates=False)
def choose(
    tags: Any, table: Any, keys: Any, offsets: Any, actions: Any, policy: Any, draws: Any, mixing: float,
    exploration: float, chosen: Any, places: Any,
) -> None:  # fmt: skip
    """Make a choice at each of n sets, one after the other; each leaves a virtual loss.

    Parameters
    ----------
    tags, table
        uint64[size], float64[size, 2]: the counts: numbers and sums of values. ``size`` is a power of two.
    keys, offsets, actions, policy
        Of the sets and their choices.
    draws
        float64[n, 2], uniform: one decides whether the policy is played, the other draws from it.
    mixing
        m: the policy is played with probability exp(−m · number of visits of the set); infinite: never.
    chosen, places
        int64[n], uint64[n], written: the choice and its tag.
    """
    for i in range(keys.shape[0]):
        first = offsets[i]
        last = offsets[i + 1]
        number, total = _met(tags, table, keys[i], first, last, actions)
        # The policy's draw, or the largest bound.
        if _by_policy(mixing, number) > draws[i, 0]:
            best = first
            left = draws[i, 1]
            for k in range(first, last):
                best = k
                left -= policy[k]
                if left < 0.0:
                    break
        else:
            best = _bound(tags, table, keys[i], first, last, actions, policy, number, total, exploration)
        # Note its tag, and leave a virtual loss for the sets that come after.
        chosen[i] = best - first
        mark = tag(keys[i], actions[best])
        places[i] = mark
        add(tags, table, mark, VIRTUAL_LOSS, -VIRTUAL_LOSS)


@kernel(allocates=False)
def add(tags: Any, table: Any, mark: Any, number: float, total: float) -> None:
    """Add to the counts of a tag; the counts of another tag in the same slot are dropped."""
    slot = np.int64(mark & np.uint64(tags.shape[0] - 1))
    if tags[slot] != mark:
        tags[slot] = mark
        table[slot, 0] = 0.0
        table[slot, 1] = 0.0
    table[slot, 0] += number
    table[slot, 1] += total


@kernel(allocates=False)
def back_up(
    tags: Any, table: Any, places: Any, seats: Any, fresh: Any, value: float, seat: int, times: float,
) -> None:  # fmt: skip
    """Add a value, for ``seat``, ``times`` times to the actions of one playout.

    Parameters
    ----------
    places, seats, fresh
        uint64[d], int8[d], bool[d]: tags of the playout's actions from its first in the table on, the seats that took
        them, and whether their virtual loss still counts, which is then removed.
    """
    for i in range(places.shape[0]):
        # Zero-sum: the value for the other seat is negated.
        own = value if seats[i] == seat else -value
        loss = VIRTUAL_LOSS if fresh[i] else 0.0
        fresh[i] = False
        add(tags, table, places[i], times - loss, times * own + loss)
