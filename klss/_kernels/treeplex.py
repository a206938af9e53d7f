"""Passes over a treeplex whose infosets stand in order of their first sequence (parents first)."""

from __future__ import annotations

from typing import Any

from klss.support.kernel import kernel

__all__ = ["best_response", "normalise", "realise"]

Array = Any


@kernel
def best_response(
    parent_sequence: Array,
    first_sequence: Array,
    action_count: Array,
    sign: float,
    floor: Array,
    sequence_value: Array,
    infoset_value: Array,
    choice: Array,
) -> None:
    """Backward induction. ``sequence_value`` holds the utilities on entry and the values on return; ``sign`` +1
    maximises, -1 minimises.
    """
    for i in range(parent_sequence.shape[0] - 1, -1, -1):
        s0 = first_sequence[i]
        best = sign * sequence_value[s0]
        arg = s0
        rest = 1.0 - floor[s0]
        mixed = floor[s0] * sequence_value[s0]
        for s in range(s0 + 1, s0 + action_count[i]):
            rest -= floor[s]
            mixed += floor[s] * sequence_value[s]
            if sign * sequence_value[s] > best:
                best = sign * sequence_value[s]
                arg = s
        choice[i] = arg
        infoset_value[i] = mixed + rest * sign * best
        sequence_value[parent_sequence[i]] += infoset_value[i]


@kernel
def realise(parent_sequence: Array, first_sequence: Array, action_count: Array, behaviour: Array, plan: Array) -> None:
    """Multiply behaviour probabilities down the treeplex into ``plan`` (``plan[0]`` is given)."""
    for i in range(parent_sequence.shape[0]):
        reach = plan[parent_sequence[i]]
        for s in range(first_sequence[i], first_sequence[i] + action_count[i]):
            plan[s] = reach * behaviour[s]


@kernel
def normalise(
    first_sequence: Array, action_count: Array, plan: Array, fallback: Array, threshold: float, behaviour: Array
) -> None:
    """Behaviour of each infoset from weights, negative ones cut; where the sum is <= ``threshold`` the fallback's."""
    for i in range(first_sequence.shape[0]):
        s0 = first_sequence[i]
        s1 = s0 + action_count[i]
        total = 0.0
        for s in range(s0, s1):
            if plan[s] > 0.0:
                total += plan[s]
        if total > threshold:
            for s in range(s0, s1):
                behaviour[s] = plan[s] / total if plan[s] > 0.0 else 0.0
        else:
            for s in range(s0, s1):
                behaviour[s] = fallback[s]
