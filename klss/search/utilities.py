"""What each sequence of a player is worth on a growing trunk against the other's plan: what regret minimisers and
walks work with.

A pass goes over the *expanded* nodes only (one in some thirty), and reads their leaves' payoffs one after the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klss.search._kernels import utilities as kernels
from klss.search._kernels.trunk import mark_above
from klss.search.trunk import Trunk, doubled, grown
from klss.support.arrays import Floats, Int8s, Int32s

__all__ = ["ExpandedNodes", "Tree", "TrunkTreeplex", "Utilities"]


_NOBODY = np.zeros(0, dtype=np.int32)


class TrunkTreeplex(NamedTuple):
    """A player's treeplex on a trunk: the infosets that have sequences, parents first. The arrays that kernels read
    are named as in :class:`klss.treeplex.TreeplexArrays`; player 1's root sequences belong to no infoset.
    """

    infoset: Int32s  # [A], its number in the trunk
    parent_sequence: Int32s  # [A]
    first_sequence: Int32s  # [A]
    action_count: Int32s  # [A]


class ExpandedNodes(NamedTuple):
    """The nodes that have children, in the order of these; what a pass reads of them lies side by side."""

    chance: Floats  # [X]
    first: Int32s  # [X], first child
    children: Int32s  # [X], how many
    mover: Int8s  # [X]
    own: Int32s  # [X], player 0's last sequence on the way here
    theirs: Int32s  # [X], player 1's
    acting: Int32s  # [X], the place of the mover's infoset in its treeplex
    moves: Int32s  # [X], the mover's first sequence here


class Tree(NamedTuple):
    """What a pass reads of a trunk."""

    opened: ExpandedNodes
    payoff: Floats  # [N], chance · value at leaves, 0 elsewhere
    roots: int
    first_child: Int32s  # [N], as in klss.search.trunk.NodeArrays
    sequence: Int32s  # [N, 2], likewise
    alternate: Floats  # [J]
    folded_sequence: Int32s  # [E], player 1's
    folded_value: Floats  # [E]


class Utilities:
    """Utilities on one move's trunk; :meth:`take_in` follows its growth in time proportional to what is new. One serves
    a whole search: who needs what has grown takes it in.

    Attributes
    ----------
    known, opened_count : int
        How many nodes were taken in, and how many of them have children.
    sides : (TrunkTreeplex, TrunkTreeplex)
        Both players' infosets that have sequences.
    tree : Tree
        What the kernels read. Both as far as they were taken in.
    """

    def __init__(self, trunk: Trunk) -> None:
        self._trunk = trunk
        self.known = 0
        self.opened_count = 0
        self._sequences = [1, 1 + trunk.group_count]
        self._counts = [0, 0]
        self._opened = ExpandedNodes(
            np.zeros(0), _NOBODY, _NOBODY, np.zeros(0, dtype=np.int8), _NOBODY, _NOBODY, _NOBODY, _NOBODY
        )
        self._payoff = np.zeros(0)
        self._sides = [TrunkTreeplex(_NOBODY, _NOBODY, _NOBODY, _NOBODY) for _ in range(2)]
        self._places = [_NOBODY, _NOBODY]  # [I], of each infoset in its side
        self._least = [np.zeros(0), np.zeros(0)]  # [A]
        self._folded = trunk.infosets[1].sequence[trunk.folded_infoset]
        self._always = _above(trunk, trunk.folded_infoset)
        self.sides, self.tree = self._views()

    def take_in(self) -> None:
        """Follow the trunk's growth."""
        trunk, known, count = self._trunk, self.known, self._trunk.node_count
        if count == known:
            return
        if len(self._payoff) < count:
            (self._payoff,) = grown((self._payoff,), doubled(count, len(self._payoff)))
        for player, start in enumerate(self._sequences):
            infosets, sequences = trunk.infosets[player], trunk.sequences[player]
            end, have = trunk.sequence_count(player), self._counts[player]
            added = int(kernels.count_acting(infosets, sequences, start, end))
            if len(self._sides[player].infoset) < have + added:
                room = doubled(have + added, have)
                self._sides[player] = TrunkTreeplex._make(grown(self._sides[player], room))
                (self._least[player],) = grown((self._least[player],), room)
            if len(self._places[player]) < trunk.infoset_count(player):
                room = doubled(trunk.infoset_count(player), len(self._places[player]))
                (self._places[player],) = grown((self._places[player],), room)
            side = self._sides[player]
            kernels.take_in_acting(infosets, sequences, start, end, side, have, self._places[player])
            if player == 1:
                new = side.infoset[have : have + added]
                old = new < len(self._always)
                self._least[1][have : have + added][old] = self._always[new[old]]
            self._counts[player], self._sequences[player] = have + added, end
        have, opened = self.opened_count, int(kernels.count_opened(trunk.nodes, known, count))
        if len(self._opened.first) < have + opened:
            self._opened = ExpandedNodes._make(grown(self._opened, doubled(have + opened, have)))
        places = (self._places[0], self._places[1])
        kernels.take_in_opened(trunk.nodes, known, count, places, self._payoff, self._opened, have)
        self.opened_count, self.known = have + opened, count
        self.sides, self.tree = self._views()

    def _views(self) -> tuple[tuple[TrunkTreeplex, TrunkTreeplex], Tree]:
        """Of what was taken in, without the room behind it."""
        trunk = self._trunk
        own, theirs = (TrunkTreeplex(*(a[:n] for a in side)) for side, n in zip(self._sides, self._counts, strict=True))
        tree = Tree(
            opened=ExpandedNodes._make(a[: self.opened_count] for a in self._opened),
            payoff=self._payoff,
            roots=trunk.root_count,
            first_child=trunk.nodes.first_child,
            sequence=trunk.nodes.sequence,
            alternate=trunk.alternate,
            folded_sequence=self._folded,
            folded_value=trunk.folded_value,
        )
        return (own, theirs), tree

    def least_reach(self, player: int) -> Floats:
        """What reaches start from, float64[A]: positive where entries are folded in below, whatever the other plays."""
        return self._least[player][: self._counts[player]]

    def against(self, player: int, other: Floats) -> tuple[Floats, Floats]:
        """Utilities of the sequences of ``player``: what each brings player 0 at the leaves that follow it before the
        next own action, the other playing the plan ``other``, float64[S]; and what of the probability of coming to each
        infoset is nature's and the other's: float64[A].

        A root sequence of player 1's brings its margin: the alternate value is taken off.
        """
        utility, reach = np.zeros(self._trunk.sequence_count(player)), self.least_reach(player).copy()
        kernels.against(player, self.tree, other, utility, reach)
        return utility, reach


def _above(trunk: Trunk, infosets: Int32s) -> Floats:
    """A trifle at ``infosets`` of player 1 and at all above them, 0 elsewhere: float64[I], as it stands."""
    marked = np.zeros(trunk.infoset_count(1), dtype=np.bool_)
    marked[infosets] = True
    mark_above(trunk.infosets[1].parent, len(marked), marked)
    return np.where(marked, kernels.TRIFLE, 0.0)
