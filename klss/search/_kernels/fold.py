"""Infosets whose best action does not depend on the opponent, taken out of a game in sequence form."""

from __future__ import annotations

from typing import Any

import numpy as np

from klss.support.kernel import kernel

_UNSEEN, _MANY = -1, -2
"""Instead of the opponent's only sequence among an infoset's payoffs: none seen yet, more than one seen."""


@kernel
def fold(
    sequences: Any, values: Any, count: int, infoset_of: Any, parent: Any, first: Any, size: Any, alive: Any,
    choice: Any,
) -> int:  # fmt: skip
    """Take out every infoset all of whose payoffs belong to one sequence of the opponent, from the leaves up.

    Parameters
    ----------
    sequences : int64[2, N]
        Sequences of player 0 and player 1 of each payoff; on return the entries that are left come first. N includes
        room for one more entry for each infoset.
    values : float64[N]
        The payoffs to player 0; on return likewise.
    count : int
        Number of payoffs.
    infoset_of : (int64[S0], int64[S1])
        The infoset of each sequence, −1 if it has none that may be taken out.
    parent, first, size : (int64[I0], int64[I1]) each
        Parent sequence, first sequence and number of sequences of each infoset.
    alive : (bool[I0], bool[I1])
        All True on entry; on return, which infosets are left.
    choice : (int64[I0], int64[I1])
        On return, the best sequence of each infoset taken out.

    Returns
    -------
    int
        Number of entries left; each infoset taken out has added its value as an entry of its parent sequence.
    """
    # ``idle``: consecutive turns that took nothing out; after one turn of each player nothing more can change.
    idle = 0
    player = 0
    sums = (np.zeros(infoset_of[0].shape[0]), np.zeros(infoset_of[1].shape[0]))
    while idle < 2:
        sign = 1.0 if player == 0 else -1.0
        infosets, living, worth = infoset_of[player], alive[player], sums[player]
        # The opponent's only sequence among each infoset's payoffs; an infoset with others below it counts as many.
        only = np.full(living.shape[0], _UNSEEN, dtype=np.int64)
        for i in range(living.shape[0]):
            if living[i]:
                above = infosets[parent[player][i]]
                if above >= 0:
                    only[above] = _MANY
        for k in range(count):
            i = infosets[sequences[player, k]]
            if i >= 0 and only[i] != sequences[1 - player, k]:
                only[i] = sequences[1 - player, k] if only[i] == _UNSEEN else _MANY
        # Sum the payoffs of decided infosets by sequence, and close the gaps that they leave among the entries.
        left = 0
        for k in range(count):
            i = infosets[sequences[player, k]]
            if i >= 0 and only[i] != _MANY:
                worth[sequences[player, k]] += values[k]
            else:
                sequences[0, left] = sequences[0, k]
                sequences[1, left] = sequences[1, k]
                values[left] = values[k]
                left += 1
        count = left
        # Replace a decided infoset by its best sequence's sum, as an entry of the parent sequence. The players take
        # turns, because taking out one player's infosets may decide infosets of the other.
        idle += 1
        for i in range(living.shape[0]):
            if living[i] and only[i] != _MANY:
                best = first[player][i]
                for s in range(best + 1, best + size[player][i]):
                    if sign * worth[s] > sign * worth[best]:
                        best = s
                choice[player][i] = best
                living[i] = False
                idle = 0
                if worth[best] != 0.0:
                    sequences[player, count] = parent[player][i]
                    sequences[1 - player, count] = only[i]
                    values[count] = worth[best]
                    count += 1
        player = 1 - player
    return count
