"""One player's treeplex, and strategies on it: realization plans and behaviours.

Source: Koller, Megiddo & von Stengel (STOC 1994). Letters: ``I`` infosets, ``S`` sequences of one player.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from klss.errors import GameError
from klss.support.arrays import Floats, Ints
from klss.theory._kernels import treeplex as kernels

# An infoset whose plan sums to at most this counts as not reached: HiGHS's vertices are exact to about 1e-14.
_REACHED = 1e-12


class TreeplexArrays(NamedTuple):
    """The arrays of a treeplex that kernels read; see :class:`Treeplex`."""

    parent_sequence: Ints  # [I]
    first_sequence: Ints  # [I]
    action_count: Ints  # [I]


@dataclass(frozen=True, eq=False)
class Treeplex:
    """One player's infosets and sequences.

    Sequence 0 is the empty one; the sequences of an infoset are contiguous, in the order of its actions; infosets are
    in the order of their sequences and after their parents, so that ``parent_sequence[i] < first_sequence[i]`` and
    ``first_sequence[i + 1] == first_sequence[i] + action_count[i]``; a GameError is raised otherwise.
    """

    parent_sequence: Ints  # int64[I]: the sequence that leads to each infoset
    first_sequence: Ints  # int64[I]: the sequence of each infoset's first action
    action_count: Ints  # int64[I]: the number of actions, at least 1

    def __post_init__(self) -> None:
        for name in ("parent_sequence", "first_sequence", "action_count"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=np.int64))
        # Kernels read the arrays without checks of their own.
        count, first = self.action_count, 1 + np.cumsum(self.action_count) - self.action_count
        ordered = (self.parent_sequence >= 0) & (self.parent_sequence < first) & (count >= 1)
        if not (np.array_equal(self.first_sequence, first) and ordered.all()):
            raise GameError("treeplex: got arrays out of order, expected parents first, sequences in infoset order")

    @property
    def arrays(self) -> TreeplexArrays:
        """The three arrays."""
        return TreeplexArrays(self.parent_sequence, self.first_sequence, self.action_count)

    @property
    def infoset_count(self) -> int:
        """Number of infosets."""
        return int(self.action_count.size)

    @cached_property
    def sequence_count(self) -> int:
        """Number of sequences, the empty one included."""
        return int(self.action_count.sum()) + 1

    @cached_property
    def infoset_of_sequence(self) -> Ints:
        """int64[S]: the infoset at which each sequence's last action is taken; -1 for the empty sequence."""
        return np.concatenate([[-1], np.repeat(np.arange(self.infoset_count), self.action_count)]).astype(np.int64)

    @cached_property
    def parent_of_sequence(self) -> Ints:
        """int64[S]: each sequence without its last action; -1 for the empty sequence."""
        return np.concatenate([[-1], np.repeat(self.parent_sequence, self.action_count)]).astype(np.int64)


def uniform_behaviour(treeplex: Treeplex) -> Floats:
    """Return the uniform behaviour, float64[S]; 1 for the empty sequence."""
    return np.concatenate([[1.0], np.repeat(1.0 / treeplex.action_count, treeplex.action_count)])


def realization(treeplex: Treeplex, probabilities: Floats) -> Floats:
    """Return the realization plan (float64[S]) of a behaviour strategy: the probability of all the player's actions in
    each sequence, 1 for the empty one. ``probabilities`` (float64[S]) are those of each sequence at its infoset; entry
    0 is not read.
    """
    plan = np.empty(treeplex.sequence_count)
    plan[0] = 1.0
    weights = np.ascontiguousarray(probabilities, dtype=np.float64)
    kernels.realise(treeplex.arrays, weights, plan)
    return plan


def behaviour(treeplex: Treeplex, plan: Floats, fallback: Floats | None = None) -> Floats:
    """Return the behaviour strategy of a realization plan (or of any non-negative weights of the sequences):
    float64[S], which sums to 1 at every infoset; 1 for the empty sequence. Negative entries of ``plan`` (a solver's
    rounding) count as 0; at infosets that it does not reach the behaviour is that of ``fallback``, uniform by default.
    """
    out = np.empty(treeplex.sequence_count)
    out[0] = 1.0
    other = uniform_behaviour(treeplex) if fallback is None else np.ascontiguousarray(fallback, dtype=np.float64)
    weights = np.ascontiguousarray(plan, dtype=np.float64)
    kernels.normalise(treeplex.arrays, weights, other, _REACHED, out)
    return out
