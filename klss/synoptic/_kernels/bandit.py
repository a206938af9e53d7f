"""The bandit's kernels: counts of (set, action) in a table that overwrites, and the choice by them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from klss.support.hashing import mix64
from klss.support.kernel import kernel

__all__ = ["VIRTUAL_LOSS", "add", "back_up", "choose", "policies", "shares", "tag"]

VIRTUAL_LOSS = 1.0
"""Losses that lie on a choice until its first value comes back: as many as in the source."""


@kernel(inline="always")
def tag(key: Any, action: int) -> Any:
    """The hash (uint64, never 0) of an action at the set with that hash."""
    return mix64(key ^ (np.uint64(action + 1) * np.uint64(0xD1342543DE82EF95))) | np.uint64(1)


@kernel
def policies(logits: Any, offsets: Any, listing: Any, alike: Any, out: Any) -> None:
    """Write each choice's share of the softmax over all actions that can be chosen (float64[m])."""
    for i in range(offsets.shape[0] - 1):
        first = offsets[i]
        last = offsets[i + 1]
        # Less the greatest logit, so that no exponential overflows.
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
def _worth(policy: float, number: float, mean: float, numbers: float, exploration: float) -> float:
    """The upper confidence bound of a choice that was taken ``number`` times of the set's ``numbers``."""
    return mean + exploration * policy * math.sqrt(math.log(max(numbers, 2.0)) / max(number, 1.0))


@kernel(allocates=False)
def _met(tags: Any, table: Any, key: Any, first: int, last: int, actions: Any) -> Any:
    """How often the choices of a set were taken, and the sum of their values."""
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
    """The choice with the largest bound; one that was not tried has the mean of those that were."""
    rest = total / number if number > 0.0 else 0.0
    best = -1
    most = 0.0
    for k in range(first, last):
        mark = tag(key, actions[k])
        slot = np.int64(mark & np.uint64(tags.shape[0] - 1))
        tried = table[slot, 0] if tags[slot] == mark else 0.0
        worth = _worth(policy[k], tried, table[slot, 1] / tried if tried > 0.0 else rest, number, exploration)
        if best < 0 or worth > most:
            best = k
            most = worth
    return best


@kernel(allocates=False)
def _by_policy(mixing: float, number: float) -> float:
    """How likely the policy is played at a set that was met so often."""
    # ∞ · 0 is no number: an infinite m never plays the policy, not even at a set that was never met.
    return math.exp(-mixing * number) if mixing < math.inf else 0.0


@kernel(allocates=False)
def shares(
    tags: Any, table: Any, keys: Any, offsets: Any, actions: Any, policy: Any, mixing: float, exploration: float,
    out: Any,
) -> None:  # fmt: skip
    """Write how likely each choice is (float64[m]): what :func:`choose` draws from."""
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
    exploration: float, chosen: Any, places: Any, met: Any,
) -> None:  # fmt: skip
    """A choice at each of n sets, one after the other, which leaves a virtual loss there.

    Parameters
    ----------
    tags, table
        uint64[size], float64[size, 2]: the counts: how often, and the sum of values. ``size`` is a power of two.
    keys, offsets, actions, policy
        Of the sets and their choices.
    draws
        float64[n, 2], uniform: whether the policy is played, and which choice of it.
    mixing
        m: the policy is played with probability exp(−m · how often the set was met); infinite: never.
    chosen, places, met
        int64[n], uint64[n], bool[n], written: which choice, its tag, whether it was chosen before.
    """
    mask = np.uint64(tags.shape[0] - 1)
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
        # Where it is counted, and a virtual loss for the sets that come after.
        chosen[i] = best - first
        mark = tag(keys[i], actions[best])
        places[i] = mark
        slot = np.int64(mark & mask)
        met[i] = tags[slot] == mark and table[slot, 0] > 0.0
        add(tags, table, mark, VIRTUAL_LOSS, -VIRTUAL_LOSS)


@kernel(allocates=False)
def add(tags: Any, table: Any, mark: Any, number: float, total: float) -> None:
    """Count at a place; what another action counted there before is forgotten."""
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
    """Add a value, for ``seat``, so many times to the actions of one playout.

    Parameters
    ----------
    places, seats, fresh
        uint64[d], int8[d], bool[d]: the playout's actions from its first in the table on, who took them, and whether
        their virtual loss still lies on them, which is taken off.
    """
    for i in range(places.shape[0]):
        # Zero-sum: what is good for the other seat counts against this one.
        own = value if seats[i] == seat else -value
        loss = VIRTUAL_LOSS if fresh[i] else 0.0
        fresh[i] = False
        add(tags, table, places[i], times - loss, times * own + loss)
