"""Passes over a treeplex (:class:`klss.theory.treeplex.TreeplexArrays`), in which parents come first."""

from __future__ import annotations

from typing import Any

from klss.support.kernel import kernel


@kernel
def realise(treeplex: Any, behaviour: Any, plan: Any) -> None:
    """Multiply behaviour probabilities down the treeplex into ``plan`` (``plan[0]`` is set on entry)."""
    for i in range(treeplex.first_sequence.shape[0]):
        reach = plan[treeplex.parent_sequence[i]]
        first = treeplex.first_sequence[i]
        for s in range(first, first + treeplex.action_count[i]):
            plan[s] = reach * behaviour[s]


@kernel
def normalise(treeplex: Any, plan: Any, fallback: Any, threshold: float, behaviour: Any) -> None:
    """Compute the behaviour at each infoset from the weights ``plan``, negative ones counted as 0; if their sum is <=
    ``threshold``, it is the fallback's.
    """
    for i in range(treeplex.first_sequence.shape[0]):
        s0 = treeplex.first_sequence[i]
        s1 = s0 + treeplex.action_count[i]
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
