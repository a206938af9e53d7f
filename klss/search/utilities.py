"""Utilities of a player's sequences on a growing trunk against the other's plan, for regret minimisers and walks.

A pass visits the *expanded* nodes only (about one node in thirty), and reads their leaves' payoffs in sequence.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klss.search._kernels import utilities as kernels
from klss.search._kernels.trunk import mark_above
from klss.search.trunk import Trunk, grown
from klss.support.arrays import Floats, Int8s, Int32s, Ints

_NOBODY = np.zeros(0, dtype=np.int32)


class TrunkTreeplex(NamedTuple):
    """A player's treeplex on a trunk: the infosets that have sequences, parents first. The arrays that kernels read
    have the names of :class:`klss.theory.treeplex.TreeplexArrays`; player 1's root sequences belong to no infoset.
    """

    infoset: Int32s  # [A], the infoset's number in the trunk
    parent_sequence: Int32s  # [A]
    first_sequence: Int32s  # [A]
    action_count: Int32s  # [A]


class ExpandedNodes(NamedTuple):
    """The nodes that have children, in the order of their children. Copied, so that a pass reads contiguous memory."""

    chance: Floats  # [X]
    first: Int32s  # [X], first child
    children: Int32s  # [X], number of children
    mover: Int8s  # [X]
    own: Int32s  # [X], player 0's last sequence on the way here
    theirs: Int32s  # [X], player 1's
    acting: Int32s  # [X], the place of the mover's infoset in its treeplex
    moves: Int32s  # [X], the mover's first sequence here


class Tree(NamedTuple):
    """The arrays of a trunk that a pass reads."""

    opened: ExpandedNodes
    payoff: Floats  # [N], chance · value at leaves, 0 elsewhere
    roots: int
    first_child: Int32s  # [R], as in klss.search.trunk.NodeArrays
    sequence: Int32s  # [N, 2], likewise
    alternate: Floats  # [J]
    folded_sequence: Int32s  # [E], player 1's
    folded_value: Floats  # [E]


class IteratedGame(NamedTuple):
    """The arrays of a trunk, or of a part of it, that iterations read."""

    tree: Tree
    sides: tuple[TrunkTreeplex, TrunkTreeplex]
    least: tuple[Floats, Floats]  # [A] each, see Utilities.least_reach


class Utilities:
    """Utilities on one move's trunk, shared by all parts of a search. :meth:`take_in` adds the trunk's new nodes, in
    time proportional to their number; a part calls it before it needs them.
    """

    def __init__(self, trunk: Trunk) -> None:
        self._trunk = trunk
        self.known = 0  # number of nodes taken in
        # Numbers of what is taken in: both players' infosets with sequences, sequences, and expanded nodes.
        self._taken = np.array([0, 0, 1, 1 + trunk.group_count, 0])
        self._spare = 0  # number of nodes that certainly fit into all arrays
        self._opened = ExpandedNodes(
            np.zeros(0), _NOBODY, _NOBODY, np.zeros(0, dtype=np.int8), _NOBODY, _NOBODY, _NOBODY, _NOBODY
        )
        self._payoff = np.zeros(0)
        nobody = TrunkTreeplex(_NOBODY, _NOBODY, _NOBODY, _NOBODY)
        self._sides, self._places = (nobody, nobody), (_NOBODY, _NOBODY)  # [I], of each infoset in its side
        self._least = (np.zeros(0), np.zeros(0))  # [A]
        self._folded = trunk.infosets[1].sequence[trunk.folded_infoset]
        # Old infosets above folded-in entries have a least reach; later ones have no entries.
        self._always = (np.zeros(0), _above(trunk, trunk.folded_infoset))
        # Of the nodes taken in: both players' infosets that have sequences, and the arrays that the kernels read.
        self.sides, self.tree = self._views()

    def take_in(self) -> None:
        """Follow the trunk's growth."""
        trunk, known, count = self._trunk, self.known, self._trunk.node_count
        if count == known:
            return
        self._spare -= count - known
        if self._spare < 0:
            self._make_room()
        # New sequences and nodes are at the end, and a first child is always among the new nodes: only these are read.
        kernels.take_in(
            trunk.nodes, trunk.infosets, trunk.sequences, known, count, self._taken, trunk.counts, self._sides,
            self._places, self._always, self._least, self._payoff, self._opened,
        )  # fmt: skip
        self.known = count
        self.sides, self.tree = self._views()

    def _make_room(self) -> None:
        """Make room for twice the trunk's nodes, each with one entry in every array: rooms unused take no memory."""
        needed = max(self._trunk.node_count, *self._trunk.counts.tolist())
        room = 2 * needed
        self._opened = ExpandedNodes._make(grown(self.tree.opened, room))
        own, theirs = (TrunkTreeplex._make(grown(side, room)) for side in self.sides)
        least, places = grown((self.least_reach(0), self.least_reach(1)), room), grown(self._places, room)
        self._sides, self._least, self._places = (own, theirs), (least[0], least[1]), (places[0], places[1])
        (self._payoff,) = grown((self._payoff[: self.known],), room)
        self._spare = room - needed

    def _views(self) -> tuple[tuple[TrunkTreeplex, TrunkTreeplex], Tree]:
        """Return views of the arrays, without the unused room at their ends."""
        trunk, (acting, responding, _, _, opened) = self._trunk, self._taken.tolist()
        own = TrunkTreeplex._make([array[:acting] for array in self._sides[0]])
        theirs = TrunkTreeplex._make([array[:responding] for array in self._sides[1]])
        tree = Tree(
            opened=ExpandedNodes._make([array[:opened] for array in self._opened]),
            payoff=self._payoff,
            roots=trunk.root_count,
            first_child=trunk.nodes.first_child[: trunk.root_count].copy(),  # the trunk may grow while a pass reads
            sequence=trunk.nodes.sequence,
            alternate=trunk.alternate,
            folded_sequence=self._folded,
            folded_value=trunk.folded_value,
        )
        return (own, theirs), tree

    def least_reach(self, player: int) -> Floats:
        """Return the initial reach of each infoset, float64[A]. It is positive above folded-in entries, which count
        whatever the other player plays.
        """
        return self._least[player][: self._taken[player]]

    def freeze(self, infosets: Ints) -> None:
        """Fix player 0's strategies at ``infosets`` (int64[n]), which have sequences: a reach of −∞ makes the kernels
        skip them.
        """
        self._least[0][self._places[0][infosets]] = -np.inf

    def against(self, player: int, other: Floats) -> tuple[Floats, Floats]:
        """Return the utilities of ``player``'s sequences and the reaches of its infosets against the plan ``other``.

        The utility of a sequence, float64[S], is player 0's payoff at the leaves that follow it before the next own
        action. For a root sequence of player 1 the alternate value is subtracted, so that it is the margin. The reach
        of an infoset, float64[A], is nature's and the other's part of its probability.
        """
        utility, reach = np.zeros(self._trunk.sequence_count(player)), self.least_reach(player).copy()
        kernels.against(player, self.tree, other, utility, reach)
        return utility, reach


def _above(trunk: Trunk, infosets: Int32s) -> Floats:
    """Return :data:`TRIFLE` at ``infosets`` of player 1 and at all infosets above them, 0 elsewhere: float64[I]."""
    marked = np.zeros(trunk.infoset_count(1), dtype=np.bool_)
    marked[infosets] = True
    mark_above(trunk.infosets[1].parent, len(marked), marked)
    return np.where(marked, kernels.TRIFLE, 0.0)
