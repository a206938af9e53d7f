"""The bandit's kernels: counts of (set, action) in a table that overwrites, and the choice by them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from klss.hashing import mix64
from klss.kernel import kernel

__all__ = ["PUCT", "UCB1", "add", "back_up", "choose", "choose_at_root", "policies", "shares", "tag"]

UCB1, PUCT = 0, 1


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
def _worth(
    policy: float, number: float, total: float, low: float, numbers: float, rest: float,
    exploration: float, paranoia: float, formula: int,
) -> float:  # fmt: skip
    """The bandit's index of a choice."""
    tried = number > 0.0
    mean = total / number if tried else rest
    if paranoia > 0.0:
        mean = (1.0 - paranoia) * mean + paranoia * (low if tried else rest)
    if formula == PUCT:
        return mean + exploration * policy * math.sqrt(numbers) / (1.0 + number)
    return mean + exploration * policy * math.sqrt(math.log(max(numbers, 2.0)) / max(number, 1.0))


@kernel(allocates=False)
def choose_at_root(
    policy: Any, numbers: Any, totals: Any, lows: Any, loss: float, first_play: float,
    exploration: float, paranoia: float, formula: int, out: Any,
) -> None:  # fmt: skip
    """One choice after the other (int64[b]) at the root, each with a virtual loss on those before it.

    ``numbers``, ``totals``, ``lows``: float64[m]; the virtual losses are left on them.
    """
    for i in range(out.shape[0]):
        number = 0.0
        total = 0.0
        for k in range(policy.shape[0]):
            number += numbers[k]
            total += totals[k]
        rest = (total / number if number > 0.0 else 0.0) - first_play
        best = -1
        most = 0.0
        for k in range(policy.shape[0]):
            worth = _worth(policy[k], numbers[k], totals[k], lows[k], number, rest, exploration, paranoia, formula)
            if best < 0 or worth > most:
                best = k
                most = worth
        out[i] = best
        numbers[best] += loss
        totals[best] -= loss


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
    first_play: float, exploration: float, paranoia: float, formula: int,
) -> int:  # fmt: skip
    """The choice with the largest bound."""
    rest = (total / number if number > 0.0 else 0.0) - first_play
    best = -1
    most = 0.0
    for k in range(first, last):
        mark = tag(key, actions[k])
        slot = np.int64(mark & np.uint64(tags.shape[0] - 1))
        if tags[slot] == mark:
            worth = _worth(
                policy[k], table[slot, 0], table[slot, 1], table[slot, 2], number, rest, exploration, paranoia, formula
            )
        else:
            worth = _worth(policy[k], 0.0, 0.0, 0.0, number, rest, exploration, paranoia, formula)
        if best < 0 or worth > most:
            best = k
            most = worth
    return best


@kernel(allocates=False)
def shares(
    tags: Any, table: Any, keys: Any, offsets: Any, actions: Any, policy: Any, mixing: float, first_play: float,
    exploration: float, paranoia: float, formula: int, out: Any,
) -> None:  # fmt: skip
    """Write how likely each choice is (float64[m]): what :func:`choose` draws from."""
    for i in range(keys.shape[0]):
        first = offsets[i]
        last = offsets[i + 1]
        number, total = _met(tags, table, keys[i], first, last, actions)
        played = math.exp(-mixing * number) if mixing >= 0.0 else 0.0
        for k in range(first, last):
            out[k] = played * policy[k]
        if played < 1.0:
            out[
                _bound(
                    tags, table, keys[i], first, last, actions, policy, number, total, first_play, exploration,
                    paranoia, formula,
                )
            ] += 1.0 - played  # fmt: skip


@kernel(allocates=False)
def choose(
    tags: Any, table: Any, keys: Any, offsets: Any, actions: Any, policy: Any, draws: Any, mixing: float, loss: float,
    first_play: float, exploration: float, paranoia: float, formula: int, chosen: Any, places: Any, visits: Any,
) -> None:  # fmt: skip
    """A choice at each of n sets, one after the other.

    Parameters
    ----------
    tags, table
        uint64[size], float64[size, 3]: the counts: how often, the sum of values, the least of them. ``size`` is a power
        of two.
    keys, offsets, actions, policy
        Of the sets and their choices.
    draws
        float64[n, 2], uniform: whether the policy is played, and which choice of it.
    mixing
        m: the policy is played with probability exp(−m · how often the set was met); below 0: never.
    loss
        The virtual loss that is left on what is chosen.
    chosen, places, visits
        int64[n], uint64[n], float64[n], written: which choice, its tag, how often it was chosen before.
    """
    mask = np.uint64(tags.shape[0] - 1)
    for i in range(keys.shape[0]):
        number, total = _met(tags, table, keys[i], offsets[i], offsets[i + 1], actions)
        if mixing >= 0.0 and math.exp(-mixing * number) > draws[i, 0]:
            best = offsets[i]
            left = draws[i, 1]
            for k in range(offsets[i], offsets[i + 1]):
                best = k
                left -= policy[k]
                if left < 0.0:
                    break
        else:
            best = _bound(
                tags, table, keys[i], offsets[i], offsets[i + 1], actions, policy, number, total, first_play,
                exploration, paranoia, formula,
            )  # fmt: skip
        chosen[i] = best - offsets[i]
        mark = tag(keys[i], actions[best])
        places[i] = mark
        slot = np.int64(mark & mask)
        visits[i] = table[slot, 0] if tags[slot] == mark else 0.0
        add(tags, table, mark, loss, -loss, np.inf)


@kernel(allocates=False)
def add(tags: Any, table: Any, mark: Any, number: float, total: float, low: float) -> None:
    """Count at a place; what another action counted there before is forgotten."""
    slot = np.int64(mark & np.uint64(tags.shape[0] - 1))
    if tags[slot] != mark:
        tags[slot] = mark
        table[slot, 0] = 0.0
        table[slot, 1] = 0.0
        table[slot, 2] = np.inf
    table[slot, 0] += number
    table[slot, 1] += total
    table[slot, 2] = min(table[slot, 2], low)


@kernel(allocates=False)
def back_up(
    tags: Any, table: Any, places: Any, seats: Any, fresh: Any, length: int, value: float, seat: int, loss: float,
    times: float,
) -> None:  # fmt: skip
    """Add a value, for ``seat``, so many times to the actions of one playout.

    Parameters
    ----------
    places, seats, fresh
        uint64[d], int8[d], bool[d]: the playout's actions from its first in the table on, who took them, and whether
        their virtual loss still lies on them, which is taken off.
    length
        How many of them.
    """
    for i in range(length):
        own = value if seats[i] == seat else -value
        if fresh[i]:
            fresh[i] = False
            add(tags, table, places[i], times - loss, times * own + loss, own)
        else:
            add(tags, table, places[i], times, times * own, own)
