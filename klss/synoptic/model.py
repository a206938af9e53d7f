"""What a game and a network hand to :mod:`klss.synoptic`. Nothing here knows any game.

Seat 0 is the planner, seat 1 its opponent, whichever colours they have. A *state* is everything that is true, a row of
uint64; a *member* is a state as a set keeps it: what the set's owner does not know of it. A *synopsis* is what a
network sees of a set: a row of uint64, a plane of bits each. A *choice* is what can be chosen at a set: one action, or
several that come to the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from klss.support.arrays import Bools, Float32s, Floats, Int8s, Int32s, Ints, Keys, States, Words

__all__ = ["Belief", "Looks", "Model", "Network", "Sets", "Worlds"]


@dataclass(frozen=True)
class Sets:
    """What one seat holds possible, in each of n worlds."""

    members: States  # uint64[n, most, h]: rows from ``counts[i]`` on mean nothing. The order says nothing
    counts: Ints  # int64[n]
    memories: Words  # uint64[n, k]: what the seat remembers beyond what is possible; only the game reads it

    def take(self, indices: Ints) -> Sets:
        """Copies of the sets of some worlds."""
        return Sets(self.members[indices], self.counts[indices], self.memories[indices])


@dataclass(frozen=True)
class Worlds:
    """n worlds: in each what is true, and what the two seats then hold possible. Advanced in place."""

    states: States  # uint64[n, w]
    sets: tuple[Sets, Sets]  # by seat. The true state is a member of both

    def __len__(self) -> int:
        return int(self.states.shape[0])

    def take(self, indices: Ints) -> Worlds:
        """Copies of some worlds."""
        return Worlds(self.states[indices], (self.sets[0].take(indices), self.sets[1].take(indices)))

    def put(self, indices: Ints, others: Worlds) -> None:
        """Overwrite some worlds by others."""
        self.states[indices] = others.states
        for mine, theirs in zip(self.sets, others.sets, strict=True):
            mine.members[indices] = theirs.members
            mine.counts[indices] = theirs.counts
            mine.memories[indices] = theirs.memories

    @staticmethod
    def joined(parts: Sequence[Worlds]) -> Worlds:
        """All worlds of several, one after the other; at least one."""

        def seat(number: int) -> Sets:
            sets = [part.sets[number] for part in parts]
            return Sets(
                np.concatenate([one.members for one in sets]),
                np.concatenate([one.counts for one in sets]),
                np.concatenate([one.memories for one in sets]),
            )

        return Worlds(np.concatenate([part.states for part in parts]), (seat(0), seat(1)))


@dataclass(frozen=True)
class Looks:
    """n sets as who acts there sees them; the choices of set i are rows ``offsets[i]:offsets[i + 1]``, those of every
    set that is the same in the same order.
    """

    synopses: Words  # uint64[n, p]
    keys: Keys  # uint64[n]: a hash of the set, whatever the order of its members, and of who holds it
    offsets: Ints  # int64[n + 1]: there is at least one choice at each set
    actions: Int32s  # int32[m]: one action of each choice
    listing: Ints  # int64[m + 1]: where each choice's actions stand in ``alike``
    alike: Int32s  # int32[l]: all actions of each choice: a policy's probability of a choice is the sum of theirs
    # int8[n]: 1 where the player that acts surely wins, −1 where it surely loses, 0 where nothing is sure
    forced: Int8s


class Model(Protocol):
    """A game as the planner sees it. What it says of a world depends on that world alone, not on others of a batch."""

    @property
    def action_count(self) -> int:
        """Actions are numbers below it."""
        ...

    def alone(self, states: States, most: int) -> Worlds:
        """Worlds in which both seats know the truth, and remember nothing; with room for ``most`` members a set."""
        ...

    def acting(self, states: States) -> Int8s:
        """Who acts: 0, 1, or :data:`klss.movers.TERMINAL`; int8[n]."""
        ...

    def results(self, states: States) -> Floats:
        """What the states that are over are worth to seat 0: float64[n], anything for the others."""
        ...

    def advance(self, worlds: Worlds, actions: Int32s, keys: Keys, most: Ints) -> None:
        """In each world, the player that acts takes an action that is one of its choices there; both sets keep, or come
        to, what agrees with what their owner observes if it is taken at the true state.

        Parameters
        ----------
        actions : int32[n]
        keys : uint64[n]
            Which members are left where there are too many: a uniform choice by a hash under this key.
        most : int64[2, n]
            Most members of each seat's set; the true state is always one.
        """
        ...

    def after(self, states: States, actions: Int32s, keys: Keys) -> States:
        """What an action leads to in each of ``states``, as :meth:`advance` has it: uint64[n, w]."""
        ...

    def look(self, worlds: Worlds) -> Looks:
        """The sets of who acts in each world, none of which is over."""
        ...


class Belief(Protocol):
    """Every state that the planner holds possible at one time."""

    @property
    def size(self) -> int:
        """How many."""
        ...

    def contains(self, states: States) -> Bools:
        """Which of ``states`` (uint64[n, w]) are among them: bool[n]."""
        ...

    def sample(self, count: int, seed: int) -> States:
        """Up to ``count`` of them, drawn uniformly without replacement: uint64[n, w]."""
        ...

    def members(self, count: int, seed: int) -> States:
        """As :meth:`sample`, as members of a set of seat 0: uint64[n, h]."""
        ...

    def member(self, states: States) -> States:
        """``states`` as members of a set of seat 0: uint64[n, h]."""
        ...

    def memory(self) -> Words:
        """What seat 0 remembers: uint64[k]."""
        ...

    def before(self, later: Belief) -> Belief | None:
        """Those that have a successor among ``later``, which the planner held possible one action later; None where
        they are all, too many to look at, or none: ``later`` is then a sample that was mended.
        """
        ...


class Network(Protocol):
    """A policy and a value for synopses."""

    @property
    def headsets(self) -> Sequence[str]:
        """Whose policies and values it knows."""
        ...

    def infer(self, synopses: Words, policy: str, value: str) -> tuple[Float32s, Float32s]:
        """What to do, and what it is worth.

        Parameters
        ----------
        synopses : uint64[n, p]
        policy, value : str
            Whose: the names of headsets.

        Returns
        -------
        (float32[n, action_count], float32[n])
            Logits of all actions, whether or not they can be chosen; values in [−1, 1] for who acts. Each row of them
            depends on its synopsis alone, to the last bit.
        """
        ...
