"""The restricted game of a trunk: the sequences that both players use, and their best responses to each other.

Most of a trunk is never played: of a million nodes at the start position, both players' strategies of a hundred
iterations reach 27,000. In the game of the used sequences alone an iteration costs a tenth of one on the trunk. Its
equilibrium is that of the trunk as soon as neither player has a better response outside; better responses are added,
and the iterations go on.

Source: double oracle in sequence form (Bošanský, Kiekintveld, Lisý & Pěchouček, *An exact double-oracle algorithm for
zero-sum extensive-form games with imperfect information*, JAIR 51, 2014). Deviations: the game begins with the
sequences that the players have used; a best response is added at every infoset of the restricted game, not only where
it leads; and between two additions the game is not solved, only improved (:mod:`klss.search.equilibrium.pcfr`).
"""

from __future__ import annotations

import numpy as np

from klss.search._kernels import restricted as kernels
from klss.search.utilities import ExpandedNodes, IteratedGame, TrunkTreeplex, Utilities
from klss.support.arrays import Bools, Floats, Ints
from klss.theory._kernels.responses import best_response


class RestrictedGame:
    """A growing set of a trunk's sequences. The trunk itself must not grow meanwhile."""

    def __init__(self, utilities: Utilities, used: tuple[Bools, Bools]) -> None:
        """``utilities`` have all nodes of the trunk taken in; ``used`` (bool[S0], bool[S1]) are the sequences of the
        game at first, with all those before each. Modified in place.
        """
        self._utilities = utilities
        self._allowed = used
        used[0][0] = True
        used[1][: 1 + len(utilities.tree.alternate)] = True  # the empty one, and the root sequences

    def answer(self, player: int, other: Floats, strategy: Floats) -> None:
        """Add ``player``'s best response to ``other`` (float64[S], the other's plan on the trunk), and the actions of
        its ``strategy`` (float64[S]).
        """
        utility, reach = self._utilities.against(player, other)
        side = self._utilities.sides[player]
        best = np.empty(len(side.first_sequence), dtype=np.int64)
        best_response(side, 1.0 - 2.0 * player, reach, utility, np.empty(len(best)), best)
        kernels.admit(side, best, strategy, self._allowed[player])

    def game(self) -> tuple[IteratedGame, tuple[Ints, Ints]]:
        """Return the present game as arrays like those of a whole trunk, and the numbers in the trunk of both players'
        sequences in it, in order.
        """
        # New numbers of the game's sequences; then, for each player, the infosets that follow one of them.
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
        # The expanded nodes to which both players' allowed sequences lead, with the children that are left.
        opened = tree.opened
        nodes = np.flatnonzero(allowed[0][opened.own] & allowed[1][opened.theirs])
        cut = ExpandedNodes(*(np.empty(len(nodes), dtype=array.dtype) for array in opened))
        payoff = np.empty(tree.roots + int(opened.children[nodes].sum()))
        paid = kernels.cut_tree(
            opened, tree.payoff, tree.roots, nodes, places, (acting[0], acting[1]), cut, payoff
        )  # fmt: skip
        # A folded-in entry stays if player 1's sequence does.
        folded = allowed[1][tree.folded_sequence]
        part = tree._replace(
            opened=cut,
            payoff=payoff[:paid],
            folded_sequence=places[1][tree.folded_sequence[folded]],
            folded_value=tree.folded_value[folded],
        )
        game = IteratedGame(part, (sides[0], sides[1]), (least[0], least[1]))
        return game, (np.flatnonzero(allowed[0]), np.flatnonzero(allowed[1]))
