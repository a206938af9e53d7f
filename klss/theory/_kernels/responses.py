"""Passes that value a player's choices against a fixed opponent: over a treeplex, and over an observation tree.

They go from the last infoset to the first, so that an infoset's value is complete before it is added to its parent's.
"""

from __future__ import annotations

from typing import Any

from klss.support.kernel import kernel


@kernel
def best_response(treeplex: Any, sign: float, reach: Any, sequence_value: Any, infoset_value: Any, choice: Any) -> None:
    """Compute a best response on a treeplex (:class:`klss.theory.treeplex.TreeplexArrays`, or with the same fields).

    Parameters
    ----------
    treeplex
        Infosets after their parents.
    sign : float
        1 maximises, −1 minimises.
    reach : float64[I] or float64[0]
        The opponent's part of the probability of each infoset. An infoset with 0 is left out and adds nothing to its
        parent. Empty: none is left out.
    sequence_value : float64[S]
        Utilities on entry, values on return.
    infoset_value : float64[I]
        Filled in.
    choice : int64[I]
        On return the first optimal sequence of each infoset, −1 if it was left out.
    """
    for i in range(treeplex.first_sequence.shape[0] - 1, -1, -1):
        choice[i] = -1
        infoset_value[i] = 0.0
        if reach.shape[0] > 0 and reach[i] <= 0.0:
            continue
        # The first of the best sequences.
        first = treeplex.first_sequence[i]
        stop = first + treeplex.action_count[i]
        best = first
        for s in range(first + 1, stop):
            if sign * sequence_value[s] > sign * sequence_value[best]:
                best = s
        choice[i] = best
        infoset_value[i] = sequence_value[best]
        sequence_value[treeplex.parent_sequence[i]] += infoset_value[i]


@kernel
def observation_values(
    infosets: Any, infoset_count: int, plan: Any, sequence_value: Any, infoset_value: Any, decision_value: Any
) -> None:
    """Compute counterfactual values of the minimising player on its observation tree under ``plan``; at infosets that
    the plan never reaches, those of a best response (with a plan of zeros: everywhere).

    Parameters
    ----------
    infosets : klss.search.trunk.InfosetArrays
        Every infoset of the tree, whether or not the player acts there.
    infoset_count : int
    plan : float64[S]
    sequence_value : float64[S]
        0 on entry; on return the value of each sequence (sequence 0: the sum over the roots).
    infoset_value : float64[I]
        On entry the payoffs at each infoset itself, on return its value.
    decision_value : float64[I]
        Filled in: the value of the player's own choice at each infoset.
    """
    for infoset in range(infoset_count - 1, -1, -1):
        # The player's own choice: by the plan, or the least value (the player minimises).
        first = infosets.first[infoset]
        if first >= 0:
            mass = 0.0
            value = 0.0
            best = sequence_value[first]
            for s in range(first, first + infosets.size[infoset]):
                mass += plan[s]
                value += plan[s] * sequence_value[s]
                best = min(best, sequence_value[s])
            decision_value[infoset] = value / mass if mass > 0.0 else best
            infoset_value[infoset] += decision_value[infoset]
        # Add the value to the sequence that led here, or to the parent infoset if the player did not act there.
        parent = infosets.parent[infoset]
        if parent < 0:
            sequence_value[0] += infoset_value[infoset]
        elif infosets.first[parent] >= 0 and infosets.sequence[infoset] != infosets.sequence[parent]:
            sequence_value[infosets.sequence[infoset]] += infoset_value[infoset]
        else:
            infoset_value[parent] += infoset_value[infoset]


@kernel
def observation_gifts(
    infosets: Any, infoset_count: int, sequence_value: Any, decision_value: Any, mass: Any, gift: Any
) -> None:
    """Compute the gifts of the minimising player's own actions on the way to each infoset, by the values of
    :func:`observation_values`: Σ max(0, u(I'a') − u(I')) / D(I'), into ``gift`` (float64[I]). ``mass`` (float64[I]) is
    D: nature's and the other player's part of the probability of the nodes at which the player acts.
    """
    for infoset in range(infoset_count):
        parent = infosets.parent[infoset]
        gift[infoset] = 0.0
        if parent < 0:
            continue
        # The parent's gifts, and that of the player's own action there.
        gift[infoset] = gift[parent]
        acted = infosets.first[parent] >= 0 and infosets.sequence[infoset] != infosets.sequence[parent]
        if acted and mass[parent] > 0.0:
            lost = sequence_value[infosets.sequence[infoset]] - decision_value[parent]
            gift[infoset] += max(0.0, lost) / mass[parent]
