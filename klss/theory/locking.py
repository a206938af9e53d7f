"""Node locking: the behaviour at some infosets is given, and the rest is solved.

A given infoset is no choice any more. The plan of its sequences is their parent's times a number, so they leave the
sequence form: x = E x', where x' is a plan of the smaller treeplex and each row of E has one entry, the product of the
given probabilities since the last free action. The smaller game is an ordinary one: every method can solve it, and
infosets of both players can be given.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from klss.errors import GameError
from klss.support.arrays import Floats, Ints
from klss.theory.equilibrium import Solution
from klss.theory.policies import Named, behaviour_of
from klss.theory.sequence_form import SequenceForm
from klss.theory.treeplex import Treeplex, behaviour, realization


@dataclass(frozen=True, eq=False)
class Locked:
    """A game with given behaviour: its smaller form, and the way back to the whole game."""

    form: SequenceForm
    whole: SequenceForm
    given: tuple[Floats, Floats]
    kept: tuple[Ints, Ints]  # [S'] each: the whole game's number of each sequence of the smaller game

    def restored(self, solution: Solution) -> Solution:
        """Return a solution of the smaller game as one of the whole game. Its exploitability counts only deviations at
        free infosets.
        """
        x, y = (self._plan(player, plan) for player, plan in enumerate((solution.x, solution.y)))
        return replace(solution, x=x, y=y, game=self.whole.game)

    def _plan(self, player: int, plan: Floats) -> Floats:
        treeplex = self.whole.treeplexes[player]
        weights = np.where(np.isnan(self.given[player]), 0.0, self.given[player])
        weights[self.kept[player]] = behaviour(self.form.treeplexes[player], plan)
        return realization(treeplex, weights)


def lock(form: SequenceForm, given: tuple[Floats, Floats]) -> Locked:
    """Return the game of the free infosets.

    Parameters
    ----------
    form : SequenceForm
    given : (float64[S0], float64[S1])
        Each sequence's probability at its infoset; NaN at infosets that are free.

    Raises
    ------
    GameError
        An infoset's probabilities are negative, do not sum to 1, or are given in part.
    """
    smaller = [_without(treeplex, np.asarray(each)) for treeplex, each in zip(form.treeplexes, given, strict=True)]
    (t0, e0, kept0), (t1, e1, kept1) = smaller
    a, b = (sparse.csr_array(e0.T @ matrix @ e1) for matrix in (form.a, form.b))
    return Locked(SequenceForm((t0, t1), a, b, form.unit, form.least), form, given, (kept0, kept1))


def lock_named(form: SequenceForm, named: tuple[Named, Named]) -> Locked:
    """As :func:`lock`, with the behaviour given by names (:func:`klss.theory.policies.behaviour_of`)."""
    if form.game is None:
        raise GameError("lock: a sequence form has no names; expected one made by sequence_form")
    first, second = (behaviour_of(form.game, player, each, partial=True) for player, each in enumerate(named))
    return lock(form, (first, second))


def _without(treeplex: Treeplex, given: Floats) -> tuple[Treeplex, sparse.csr_array, Ints]:
    """Return the treeplex of the free infosets, E, and the whole treeplex's number of each sequence that is kept."""
    # Parents come first. A given sequence inherits its parent's place in the smaller treeplex, with its weight; a free
    # one gets a place of its own.
    free = np.isnan(given[treeplex.first_sequence]) if treeplex.infoset_count else np.zeros(0, bool)
    weight = np.ones(treeplex.sequence_count)
    target = np.zeros(treeplex.sequence_count, np.int64)  # in the smaller treeplex
    parents, kept, count = [], [0], 1
    for i, (parent, first, size) in enumerate(zip(*(part.tolist() for part in treeplex.arrays), strict=True)):
        here = slice(first, first + size)
        if free[i]:
            if not np.isnan(given[here]).all():
                raise GameError(f"lock: infoset {i} is given in part; expected all of its actions or none")
            weight[here], target[here] = weight[parent], np.arange(count, count + size)
            parents.append(target[parent])
            kept += range(first, first + size)
            count += size
        else:
            if not (given[here] >= 0.0).all() or abs(given[here].sum() - 1.0) > 1e-6:
                raise GameError(f"lock: infoset {i} has probabilities {given[here].tolist()}; expected a sum of 1")
            weight[here], target[here] = weight[parent] * given[here], target[parent]
    sizes = treeplex.action_count[free]
    left = Treeplex(np.array(parents, np.int64), 1 + np.cumsum(sizes) - sizes, sizes)
    matrix = sparse.csr_array((weight, (np.arange(weight.size), target)), shape=(weight.size, count))
    return left, matrix, np.array(kept, np.int64)
