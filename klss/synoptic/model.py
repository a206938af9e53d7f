"""What a game and a network provide to :mod:`klss.synoptic`. Nothing here depends on a particular game.

Seat 0 is the planner, seat 1 its opponent, whichever colours they have. A *state* is the full true state, a row of
uint64; a *member* is a state as a set stores it: the part that the set's owner does not know. A *synopsis* is a
network's input for a set: a row of uint64, one bit plane each. A *choice* is an option at a set: one action, or several
equivalent ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from klss.support.arrays import Bools, Float32s, Floats, Int8s, Int32s, Ints, Keys, States, Words


class Sets(NamedTuple):
    """The states that one seat holds possible, in each of n worlds."""

    members: States  # uint64[n, most, h]: rows from ``counts[i]`` on are unused. The order has no meaning
    counts: Ints  # int64[n]
    memories: Words  # uint64[n, k]: what else the seat remembers; only the game interprets it

    def take(self, indices: Ints) -> Sets:
        """Return copies of the sets of some worlds."""
        return Sets(self.members[indices], self.counts[indices], self.memories[indices])


@dataclass(frozen=True)
class Worlds:
    """n worlds: in each a true state, and the sets of states that the two seats hold possible. Advanced in place."""

    states: States  # uint64[n, w]
    sets: tuple[Sets, Sets]  # by seat. The true state is a member of both

    def __len__(self) -> int:
        return int(self.states.shape[0])

    def take(self, indices: Ints) -> Worlds:
        """Return copies of some worlds."""
        return Worlds(self.states[indices], (self.sets[0].take(indices), self.sets[1].take(indices)))

    def put(self, indices: Ints, others: Worlds) -> None:
        """Overwrite some worlds with others."""
        self.states[indices] = others.states
        for mine, theirs in zip(self.sets, others.sets, strict=True):
            for array, values in zip(mine, theirs, strict=True):
                array[indices] = values

    @staticmethod
    def joined(parts: Sequence[Worlds]) -> Worlds:
        """Concatenate one or more batches of worlds."""
        seats = zip(*(part.sets for part in parts), strict=True)
        first, second = (Sets(*map(np.concatenate, zip(*sets, strict=True))) for sets in seats)
        return Worlds(np.concatenate([part.states for part in parts]), (first, second))


@dataclass(frozen=True)
class Looks:
    """n sets as seen by the player that acts there. The choices of set i are rows ``offsets[i]:offsets[i + 1]``, in an
    order that depends only on the set.
    """

    synopses: Words  # uint64[n, p]
    keys: Keys  # uint64[n]: a hash of the set and its owner, independent of the order of the members
    offsets: Ints  # int64[n + 1]: there is at least one choice at each set
    actions: Int32s  # int32[m]: one action of each choice
    listing: Ints  # int64[m + 1]: bounds of each choice's actions in ``alike``
    alike: Int32s  # int32[l]: all actions of each choice; a policy's probability of a choice is the sum of theirs
    # int8[n]: 1 if the player that acts surely wins, −1 if it surely loses, 0 if neither is sure
    forced: Int8s


CHUNK = 8
"""Synopses that a network computes together; two threads do not divide so many."""


class Model(Protocol):
    """A game as the planner sees it. Results for a world depend on that world alone, not on the rest of the batch."""

    @property
    def action_count(self) -> int:
        """Number of actions; they are numbered from 0."""
        ...

    def alone(self, states: States, most: int) -> Worlds:
        """Return worlds in which both seats know the truth and remember nothing, with room for ``most`` members."""
        ...

    def acting(self, states: States) -> Int8s:
        """Return the seat that acts, 0 or 1, or :data:`klss.theory.movers.TERMINAL`: int8[n]."""
        ...

    def results(self, states: States) -> Floats:
        """Return the values of terminal states for seat 0: float64[n], arbitrary for the others."""
        ...

    def advance(self, worlds: Worlds, actions: Int32s, keys: Keys, most: Ints) -> None:
        """In each world take an action of the player that acts, one of its choices there. Both sets become those that
        are consistent with their owner's observations if the action is taken at the true state.

        ``most`` (int64[2, n]) are most members of each seat's set, of which the true state is always one; ``keys``
        (uint64[n]) are those of the hash by which the members to keep are chosen uniformly if there are too many.
        """
        ...

    def after(self, states: States, actions: Int32s, keys: Keys) -> States:
        """Return the state to which the action leads from each of ``states``, as in :meth:`advance`: uint64[n, w]."""
        ...

    def look(self, worlds: Worlds) -> Looks:
        """Return the sets of the player that acts in each world; none of the worlds is over."""
        ...


class Belief(Protocol):
    """Every state that the planner holds possible at one time."""

    @property
    def size(self) -> int:
        """Number of states."""
        ...

    def contains(self, states: States) -> Bools:
        """Return which of ``states`` (uint64[n, w]) are in the belief: bool[n]."""
        ...

    def sample(self, count: int, seed: int) -> States:
        """Draw up to ``count`` states uniformly without replacement: uint64[n, w]."""
        ...

    def members(self, count: int, seed: int) -> States:
        """Draw as :meth:`sample` does, as members of a set of seat 0: uint64[n, h]."""
        ...

    def member(self, states: States) -> States:
        """Return ``states`` as members of a set of seat 0: uint64[n, h]."""
        ...

    def memory(self) -> Words:
        """Return the memory of seat 0: uint64[k]."""
        ...

    def before(self, later: Belief) -> Belief | None:
        """Return the states that have a successor in ``later``, the planner's belief one action later. None if all have
        one, if there are too many to check, or if none has one (``later`` is then a sample that was repaired).
        """
        ...


class Network(Protocol):
    """A policy and a value for synopses."""

    def infer(self, synopses: Words) -> tuple[Float32s, Float32s]:
        """Return the policy's logits (float32[n, action_count]) of all actions, whether or not they can be chosen, and
        the values (float32[n], in [−1, 1], for the player that acts) of synopses (uint64[n, p]). Each row depends on
        its synopsis alone, to the last bit.
        """
        ...
