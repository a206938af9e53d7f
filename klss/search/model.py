"""What a game hands to :mod:`klss.search`: batches of children, and a belief to draw positions from. Nothing here
knows any game.

Player 0 (⊕) searches, whichever seat it has at the table; values are player 0's. A *state* is a row of
uint64 that only the game reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from klss.movers import CHANCE, TERMINAL
from klss.support.arrays import Bools, Floats, Int8s, Int32s, Ints, Keys, States

__all__ = ["CHANCE", "TERMINAL", "Belief", "Drawn", "Expansion", "Model", "Past"]


@dataclass(frozen=True)
class Expansion:
    """All children of a batch of n states, m in all; the children of state i are rows ``offsets[i]:offsets[i + 1]``,
    in the order of their actions' codes.

    Attributes
    ----------
    offsets : int64[n + 1]
    states : uint64[m, w]
    actions : int32[m]
        Code ≥ 0 of the action that leads to the child. Nodes of one infoset of the mover have the same codes in the
        same order.
    movers : int8[m]
        Who acts at the child: 0, 1, :data:`CHANCE` or :data:`TERMINAL`.
    probabilities : float64[m]
        Nature's probability of the child where nature acts at its parent, else 1.
    observations : uint64[m, 2]
        Key of what each player observes on reaching the child. Equal keys mean equal observations; 0 means none at all,
        so that a player who waits does not know that anything was played.
    values : float64[m]
        Utility for player 0: exact at a terminal child, an estimate at any other.
    interest : float64[m]
        How interesting the child is to look at first (D.2): only its order among siblings counts.
    ceilings : float64[m]
        Most that the child, and all below it, may be worth to player 0; infinite where nothing limits it. (A draw that
        player 0 can't rule out is a ceiling of 0; B.1.)
    """

    offsets: Ints
    states: States
    actions: Int32s
    movers: Int8s
    probabilities: Floats
    observations: Keys
    values: Floats
    interest: Floats
    ceilings: Floats


class Past(Protocol):
    """What player 0 observed on the way to a batch of states: in the game so far, and in the trunk."""

    def times(self, offsets: Ints, observations: Keys) -> Ints:
        """Number of times that player 0 has made an observation before, for each child: int64[m].

        Parameters
        ----------
        offsets : int64[n + 1]
            As in :class:`Expansion`.
        observations : uint64[m]
            Player 0's observation on reaching each child.
        """
        ...


class Model(Protocol):
    """A game as the search sees it. What it says of a state's children depends on that state (and its past) alone, not
    on the others of the batch.
    """

    @property
    def state_width(self) -> int:
        """Number of uint64 in a state's row (w)."""
        ...

    def expand(self, states: States, past: Past | None = None) -> Expansion:
        """All children of each of ``states`` (uint64[n, w]; none of them terminal); ``past``: what led to them, None
        where nothing is known of it.
        """
        ...

    def movers(self, states: States) -> Int8s:
        """Who acts at each of ``states``: int8[n]."""
        ...

    def values(self, states: States) -> Floats:
        """Estimated utility for player 0 of each of ``states``: float64[n]."""
        ...

    def groups(self, states: States) -> Ints:
        """Player 1's infoset at each of ``states``, of player 0's belief, numbered from 0 on: int64[n]; each has its
        own where player 1 is taken to know the state.
        """
        ...

    def threats(self, states: States) -> Bools:
        """Whether player 0 should fear each of ``states``, of its belief, more than its probability says (the share of
        Maxmargin beside nature goes to these alone): bool[n]; all, where the game knows no better.
        """
        ...

    def identities(self, states: States) -> States:
        """Rows that are equal iff the states are transpositions (paper, §2): uint64[n, any]."""
        ...


class Drawn(NamedTuple):
    """States of a belief, and the probability with which each was drawn."""

    states: States  # [n, w]
    inclusion: Floats  # [n], above 0; 1 for a state that nothing else could have replaced

    @staticmethod
    def certain(states: States) -> Drawn:
        """States that all count once: drawn uniformly, or not drawn at all."""
        return Drawn(states, np.ones(len(states)))


class Belief(Protocol):
    """Every state that player 0 can't rule out, transpositions merged: the paper's I."""

    @property
    def size(self) -> int:
        """Number of states."""
        ...

    @property
    def capped_by(self) -> str | None:
        """Reason why the states are a sample of the possible ones; None: they are all."""
        ...

    @property
    def weighted(self) -> bool:
        """Whether it carries weights (:meth:`log_weights`)."""
        ...

    def sample(self, count: int, exclude: States, seed: int) -> States:
        """At most ``count`` states uniformly at random without replacement, none that equals a row of ``exclude``
        (both uint64[., w]).
        """
        ...

    def draw(self, count: int, exclude: States, seed: int, uniform_mix: float) -> Drawn:
        """As :meth:`sample`, but by weight: one by one among those that are left, a part ``uniform_mix`` (above 0,
        to 1) of all weight spread evenly.
        """
        ...

    def log_weights(self, states: States) -> Floats:
        """Logarithms of how likely each of ``states`` is, all but for one constant: float64[n]. All alike where nothing
        is known of that.
        """
        ...

    def information(self, actions: Int32s) -> Floats:
        """Entropy, in bits, of player 0's next observation after each action, the state being uniform over the
        belief: float64[len(actions)].
        """
        ...
