"""Infosets whose best action does not depend on the opponent, taken out of a game in sequence form."""

from __future__ import annotations

from typing import Any

import numpy as np

from klss.support.kernel import kernel

__all__ = ["fold"]

_UNSEEN, _MANY = -1, -2
"""In place of the opponent's one sequence that an infoset's payoffs belong to: none seen yet, more than one."""


@kernel
def fold(
    sequences: Any, values: Any, count: int, infoset_of: Any, parent: Any, first: Any, size: Any, alive: Any,
    choice: Any,
) -> int:  # fmt: skip
    """Take out every infoset all of whose payoffs belong to one sequence of the opponent, from the leaves up.

    Parameters
    ----------
    sequences : int64[2, N]
        Sequences of player 0 and player 1 of each payoff; the entries that are left come first on return. N has room
        for one entry more for each infoset.
    values : float64[N]
        The payoffs to player 0; likewise.
    count : int
        How many payoffs there are.
    infoset_of : (int64[S0], int64[S1])
        The infoset of each sequence, −1 where it has none that may go.
    parent, first, size : (int64[I0], int64[I1]) each
        Parent sequence, first sequence and number of sequences of each infoset.
    alive : (bool[I0], bool[I1])
        All True on entry; which infosets are left on return.
    choice : (int64[I0], int64[I1])
        On return the best sequence of each infoset that is gone.

    Returns
    -------
    int
        How many entries are left; an infoset that is gone has given its parent sequence what it is worth.
    """
    # ``idle``: turns in a row that took nothing out; after one of each player's nothing more can go.
    idle = 0
    player = 0
    sums = (np.zeros(infoset_of[0].shape[0]), np.zeros(infoset_of[1].shape[0]))
    while idle < 2:
        sign = 1.0 if player == 0 else -1.0
        infosets, living, worth = infoset_of[player], alive[player], sums[player]
        # The one sequence of the opponent at which each infoset is paid; what has infosets below it has many.
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
        # Add up the payoffs of decided infosets, and close the gaps that they leave among the entries.
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
        # A decided infoset is its best sequence, whose worth becomes an entry of the parent sequence. The players take
        # turns until neither has a decided infoset left: what goes for one may decide something for the other.
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
