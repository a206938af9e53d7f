"""The gadget's game without the infosets at which the best action does not depend on the opponent.

If all payoffs below an infoset belong to one sequence of the opponent, the best action is the one with the largest sum,
whatever the opponent plays: the infoset is taken out, and its parent sequence gets that payoff. In a dark-chess trunk
three of four infosets are like that (for example because a capture has shown a player what the other did), so the
linear program is a fraction of the game. Every equilibrium of the rest, with those actions, is one of the whole game.
Unlike a solver's presolve it keeps the numbers of sequences and infosets, so that a basis can be carried over when the
trunk has grown.

All numbers are those of the gadget's form (:func:`klss.search.gadget.gadget_form`); infosets are the acting infosets in
the order of their sequences, without player 1's choice among root infosets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klss.search._kernels.fold import fold
from klss.support.arrays import Bools, Floats, Ints
from klss.theory._kernels.responses import best_response
from klss.theory.best_response import ALL
from klss.theory.sequence_form import SequenceForm
from klss.theory.treeplex import Treeplex, behaviour, realization, uniform_behaviour

Pair = tuple[Ints, Ints]

_UNREACHED = 1e-6
"""Weight of the opponent's unplayed sequences in :func:`favourites`, for infosets that its plan does not reach."""


@dataclass(frozen=True)
class Reduction:
    """A reduced game."""

    form: SequenceForm  # the whole game
    roots: int  # number of root infosets of player 1 (J)
    rows: Ints  # [N], player 0's sequence of each payoff; payoffs of one pair are to be summed
    columns: Ints  # [N], player 1's
    values: Floats  # [N]
    alive: tuple[Bools, Bools]  # [I] each, which infosets are left
    choice: Pair  # [I] each, the best sequence of each infoset taken out

    def infosets(self, player: int) -> tuple[Ints, Ints, Ints]:
        """Return parent sequence, first sequence and number of sequences of every infoset of ``player``."""
        return _infosets(self.form.treeplexes[player], player)

    def kept(self, player: int) -> Bools:
        """Return which sequences are left: bool[S]."""
        treeplex = self.form.treeplexes[player]
        size = self.infosets(player)[2]
        # The sequences that belong to none of these infosets: the empty one and player 1's root sequences.
        head = treeplex.sequence_count - int(size.sum())
        return np.concatenate([np.ones(head, dtype=np.bool_), np.repeat(self.alive[player], size)])

    def fallback(self, player: int) -> Floats:
        """Return a behaviour, float64[S]: the best sequence at infosets taken out, uniform at the others."""
        probabilities = uniform_behaviour(self.form.treeplexes[player])
        gone = ~self.alive[player]
        probabilities[~self.kept(player)] = 0.0
        probabilities[self.choice[player][gone]] = 1.0
        return probabilities


def _infosets(treeplex: Treeplex, player: int) -> tuple[Ints, Ints, Ints]:
    return treeplex.parent_sequence[player:], treeplex.first_sequence[player:], treeplex.action_count[player:]


def reduced(form: SequenceForm, roots: int, *, fully: bool = True) -> Reduction:
    """Take all decided infosets out of ``form`` (Maxmargin); none unless ``fully``."""
    # Start with the payoffs as entries, and with every infoset.
    payoff = form.payoff.tocoo()
    infosets = [_infosets(treeplex, player) for player, treeplex in enumerate(form.treeplexes)]
    alive = (np.ones(len(infosets[0][0]), dtype=np.bool_), np.ones(len(infosets[1][0]), dtype=np.bool_))
    choice = (np.zeros(len(alive[0]), dtype=np.int64), np.zeros(len(alive[1]), dtype=np.int64))
    sequences = np.stack([payoff.row, payoff.col]).astype(np.int64)
    values = payoff.data.astype(np.float64)
    if fully:
        # Player 1's first infoset, its choice among the roots, is never taken out and not counted. Each infoset taken
        # out may add one entry at its parent sequence, so make room for that.
        ours, theirs = (treeplex.infoset_of_sequence - player for player, treeplex in enumerate(form.treeplexes))
        theirs[0] = -1
        parent, first, size = zip(*infosets)
        room = len(alive[0]) + len(alive[1])
        sequences = np.concatenate([sequences, np.zeros((2, room), dtype=np.int64)], axis=1)
        values = np.concatenate([values, np.zeros(room)])
        count = fold(sequences, values, len(payoff.data), (ours, theirs), parent, first, size, alive, choice)
        sequences, values = sequences[:, :count], values[:count]
    return Reduction(form, roots, sequences[0], sequences[1], values, alive, choice)


def favourites(game: Reduction, fresh: tuple[Bools, Bools], x: Floats, y: Floats) -> Pair:
    """Return the best sequence of each infoset that is left and marked in ``fresh``, against earlier plans.

    ``x`` and ``y`` are plans on an earlier, smaller trunk. At infosets that are new since then player 0 is assumed to
    play uniformly, and player 1 a best response to that.
    """
    # Player 1 answers player 0's old plan, continued uniformly.
    ours, theirs = game.form.treeplexes
    plan = realization(ours, behaviour(ours, _longer(x, ours), game.fallback(0)))
    utility = _against(plan, game.values, game.rows, game.columns, theirs)
    response = _choices(theirs, utility, -1.0)[1:]
    # Player 0 answers player 1's old plan, continued by that answer.
    other = game.fallback(1)
    new = fresh[1] & game.alive[1]
    size = game.infosets(1)[2]
    other[theirs.sequence_count - int(size.sum()) :][np.repeat(new, size)] = 0.0
    other[response[new]] = 1.0
    plan = realization(theirs, behaviour(theirs, _longer(y, theirs), other))
    utility = _against(plan, game.values, game.columns, game.rows, ours)
    best = _choices(ours, utility, 1.0)
    return best[fresh[0] & game.alive[0]], response[new]


def _against(plan: Floats, values: Floats, played: Ints, sequences: Ints, treeplex: Treeplex) -> Floats:
    """Return the payoff of each sequence of ``treeplex`` if the opponent plays ``plan`` plus a little of everything."""
    utility = np.zeros(treeplex.sequence_count)
    np.add.at(utility, sequences, values * (plan[played] + _UNREACHED))
    return utility


def _longer(plan: Floats, treeplex: Treeplex) -> Floats:
    return np.concatenate([plan, np.zeros(treeplex.sequence_count - len(plan))])


def _choices(treeplex: Treeplex, utility: Floats, sign: float) -> Ints:
    """Return the first optimal sequence of each infoset for ``utility`` (which is overwritten)."""
    count = treeplex.infoset_count
    choice = np.zeros(count, dtype=np.int64)
    best_response(treeplex.arrays, sign, ALL, utility, np.zeros(count), choice)
    return choice
