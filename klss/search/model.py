"""What a game provides to :mod:`klss.search`: batches of children, and a belief to draw positions from. Nothing here
depends on a particular game.

Player 0 (⊕) searches, whichever side it plays; values are player 0's. A *state* is a row of uint64 that only the game
interprets.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from klss.support.arrays import Bools, Floats, Int8s, Int32s, Ints, Keys, States


class Expansion(NamedTuple):
    """All children of a batch of n states, m in all; the children of state i are rows ``offsets[i]:offsets[i + 1]``,
    in the order of their actions' codes.
    """

    offsets: Ints  # int64[n + 1]
    states: States  # uint64[m, w]
    # int32[m]: code ≥ 0 of the action that leads to the child. Nodes of one infoset of the mover have the same codes in
    # the same order
    actions: Int32s
    movers: Int8s  # int8[m]: mover at the child: 0, 1, CHANCE or TERMINAL
    probabilities: Floats  # float64[m]: nature's probability of the child if nature acts at its parent, otherwise 1
    # uint64[m, 2]: key of what each player observes on reaching the child. Equal keys mean equal observations. 0 means
    # no observation at all: a player who does not move then does not know that anything was played
    observations: Keys
    values: Floats  # float64[m]: utility for player 0, exact at a terminal child, an estimate at any other
    interest: Floats  # float64[m]: priority of the child for expansion (D.2): only its order among siblings counts
    # float64[m]: upper bound on the value to player 0 of the child and of all nodes below it; infinite where there is
    # none. (A draw that player 0 can't rule out is a ceiling of 0; B.1.)
    ceilings: Floats


class Past(Protocol):
    """Player 0's observations on the way to a batch of states: in the game so far, and in the trunk."""

    def times(self, offsets: Ints, observations: Keys) -> Ints:
        """Return how many times player 0 has made each child's observation before: int64[m].

        Parameters
        ----------
        offsets : int64[n + 1]
            As in :class:`Expansion`.
        observations : uint64[m]
            Player 0's observation on reaching each child.
        """
        ...


class Model(Protocol):
    """A game as the search sees it. The children of a state depend only on that state and its past, not on the other
    states of the batch.
    """

    @property
    def state_width(self) -> int:
        """Number of uint64 in a state's row (w)."""
        ...

    def expand(self, states: States, past: Past | None = None) -> Expansion:
        """Return all children of each of ``states`` (uint64[n, w]; none of them terminal). ``past``: the observations
        that led to them; None if unknown.
        """
        ...

    def movers(self, states: States) -> Int8s:
        """Return the mover at each of ``states``: int8[n]."""
        ...

    def values(self, states: States) -> Floats:
        """Estimated utility for player 0 of each of ``states``: float64[n]."""
        ...

    def groups(self, states: States) -> Ints:
        """Return player 1's infoset at each of ``states`` (states of player 0's belief), numbered from 0: int64[n]. By
        default player 1 is assumed to know the state: each has its own infoset.
        """
        return np.arange(len(states))

    def threats(self, states: States) -> Bools:
        """Return which of ``states`` (of player 0's belief) player 0 should fear more than their probability says:
        bool[n]. Only these get Maxmargin's share beside nature. By default all.
        """
        return np.ones(len(states), dtype=np.bool_)

    def identities(self, states: States) -> States:
        """Rows that are equal iff the states are transpositions (paper, §2): uint64[n, any]. By default no two are."""
        return states


class Drawn(NamedTuple):
    """States of a belief, and the probability with which each was drawn."""

    states: States  # [n, w]
    inclusion: Floats  # [n], above 0; 1 for a state that was certain to be drawn

    @staticmethod
    def certain(states: States) -> Drawn:
        """Return states with equal weight in sums: drawn uniformly, or not drawn at all."""
        return Drawn(states, np.ones(len(states)))


class Belief(Protocol):
    """Every state that player 0 can't rule out, transpositions merged: the paper's I. By default it has no weights, and
    actions have no information penalty.
    """

    @property
    def size(self) -> int:
        """Number of states."""
        ...

    @property
    def capped_by(self) -> str | None:
        """Reason why the states are a sample of the possible ones; None: they are all."""
        return None

    @property
    def weighted(self) -> bool:
        """Whether the belief has weights (:meth:`log_weights`)."""
        return False

    def sample(self, count: int, exclude: States, seed: int) -> States:
        """Draw at most ``count`` states uniformly without replacement, none that equals a row of ``exclude`` (both
        uint64[., w]).
        """
        ...

    def draw(self, count: int, exclude: States, seed: int, uniform_mix: float) -> Drawn:
        """Draw as :meth:`sample` does, but by weight, one state after the other without replacement. The fraction
        ``uniform_mix`` (above 0, at most 1) of all weight is spread evenly.
        """
        return Drawn.certain(self.sample(count, exclude, seed))

    def log_weights(self, states: States) -> Floats:
        """Return the log-probability of each of ``states`` up to a common constant: float64[n]. All equal if the belief
        has no weights.
        """
        return np.zeros(len(states))

    def information(self, actions: Int32s) -> Floats:
        """Return the entropy, in bits, of player 0's next observation after each action if the state is uniform over
        the belief: float64[len(actions)]; infinite: no penalty.
        """
        return np.full(len(actions), np.inf)
