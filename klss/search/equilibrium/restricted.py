"""The restricted game inside a trunk: what both players use of it, and what they answer each other by.

A trunk is mostly what nobody plays: of a million nodes at the start position both players' strategies of a hundred
iterations come to 27,000. In the game of their sequences alone an iteration costs a tenth of one on the trunk, and its
equilibrium is that of the trunk as soon as neither player has a better response outside: the responses that there are
are let in, and it is solved on.

Source: double oracle in sequence form (Bošanský, Kiekintveld, Lisý & Pěchouček, *An exact double-oracle algorithm for
zero-sum extensive-form games with imperfect information*, JAIR 51, 2014). Otherwise than there: what it begins with is
what the players have used; a best response is let in at every infoset that it may come to, not only where it leads; and
the game is not solved before it grows, but made better (:mod:`klss.search.equilibrium.pcfr`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klss._kernels.responses import best_response
from klss.search._kernels import restricted as kernels
from klss.search.utilities import ExpandedNodes, Tree, TrunkTreeplex, Utilities
from klss.support.arrays import Bools, Floats, Ints

__all__ = ["Restricted", "RestrictedGame"]


_NO_FLOOR = np.zeros(0)


class Restricted(NamedTuple):
    """A game of some of a trunk's sequences, which stand in their old order: as arrays such as a whole trunk's."""

    tree: Tree
    sides: tuple[TrunkTreeplex, TrunkTreeplex]
    sequences: tuple[Ints, Ints]  # [S], of each sequence its number in the trunk
    least: tuple[Floats, Floats]  # [A], see klss.search.utilities.Utilities.least_reach


class RestrictedGame:
    """Which sequences of a trunk are in it, and how it grows. The trunk must not, meanwhile.

    Parameters
    ----------
    utilities : Utilities
        On the trunk, all of which they have taken in.
    used : (bool[S0], bool[S1])
        The sequences that are in it at first, with each all those before it. They are written.
    """

    def __init__(self, utilities: Utilities, used: tuple[Bools, Bools]) -> None:
        self._utilities = utilities
        self._allowed = used
        used[0][0] = True
        used[1][: 1 + len(utilities.tree.alternate)] = True  # the empty one, and the root sequences

    def answer(self, player: int, other: Floats, penalty: Floats, at: int, strategy: Floats) -> None:
        """Let in ``player``'s best response to ``other`` (float64[S], the other's plan on the trunk), and the player's
        ``strategy`` (float64[S]) at infosets that are new in the game. ``penalty`` (float64[n]) is taken off player 0's
        sequences from ``at`` on.
        """
        utility, reach = self._utilities.against(player, other)
        if player == 0:
            utility[at : at + len(penalty)] -= penalty
        side = self._utilities.sides[player]
        best = np.empty(len(side.first_sequence), dtype=np.int64)
        best_response(side, 1.0 - 2.0 * player, _NO_FLOOR, reach, utility, np.empty(len(best)), best)
        kernels.admit(side, best, strategy, self._allowed[player])

    def game(self) -> Restricted:
        """As it stands."""
        # New numbers of the sequences that are in it; then of each player the infosets that follow one of them.
        tree, allowed = self._utilities.tree, self._allowed
        places = (kernels.numbered(allowed[0]), kernels.numbered(allowed[1]))
        sides, acting, least = [], [], []
        for player, side in enumerate(self._utilities.sides):
            found = TrunkTreeplex(*(np.empty_like(array) for array in side))
            kept, places_of = (
                np.empty(len(side.first_sequence), dtype=np.int64),
                np.zeros(len(side.first_sequence), dtype=np.int32),
            )
            count = kernels.cut_side(side, places[player], found, kept, places_of)
            sides.append(TrunkTreeplex(*(array[:count] for array in found)))
            acting.append(places_of)
            least.append(self._utilities.least_reach(player)[kept[:count]])
        # The expanded nodes to which both players' allowed sequences lead, with the children that are still theirs.
        opened = tree.opened
        nodes = np.flatnonzero(allowed[0][opened.own] & allowed[1][opened.theirs])
        cut = ExpandedNodes(*(np.empty(len(nodes), dtype=array.dtype) for array in opened))
        payoff = np.empty(tree.roots + int(opened.children[nodes].sum()))
        paid = kernels.cut_tree(
            opened, tree.payoff, tree.roots, nodes, places, (acting[0], acting[1]), cut, payoff
        )  # fmt: skip
        # Entries folded in stay where player 1's sequence does.
        folded = allowed[1][tree.folded_sequence]
        return Restricted(
            tree=tree._replace(
                opened=cut,
                payoff=payoff[:paid],
                folded_sequence=places[1][tree.folded_sequence[folded]],
                folded_value=tree.folded_value[folded],
            ),
            sides=(sides[0], sides[1]),
            sequences=(np.flatnonzero(allowed[0]), np.flatnonzero(allowed[1])),
            least=(least[0], least[1]),
        )
