"""Node locking: the behaviour at some infosets is given, and the rest is solved.

A given infoset is no choice any more. The plan of its sequences is their parent's times a number, so they leave the
sequence form: x = E x', where x' is a plan of the smaller treeplex and each row of E has one entry, the product of the
given probabilities since the last free action. The smaller game is an ordinary one: every method can solve it, and
infosets of both players can be given.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from klss.support.arrays import Floats
from klss.theory.folding import Smaller, shrunk
from klss.theory.sequence_form import SequenceForm
from klss.theory.treeplex import Treeplex


def lock(form: SequenceForm, given: tuple[Floats, Floats]) -> Smaller:
    """Return the game of the free infosets; the exploitability of its solutions counts only deviations there.

    Parameters
    ----------
    form : SequenceForm
    given : (float64[S0], float64[S1])
        Each sequence's probability at its infoset (:func:`klss.theory.policies.behaviour_of`); NaN at infosets that are
        free.
    """
    (t0, e0), (t1, e1) = (_without(treeplex, each) for treeplex, each in zip(form.treeplexes, given, strict=True))
    return Smaller(shrunk(form, (t0, t1), (e0, e1)), form, (e0, e1), measured=False)


def _without(treeplex: Treeplex, given: Floats) -> tuple[Treeplex, sparse.csr_array]:
    """Return the treeplex of the free infosets, and E."""
    # Parents come first. A given sequence inherits its parent's place in the smaller treeplex, with its weight; a free
    # one gets a place of its own.
    free = np.isnan(given[treeplex.first_sequence]) if treeplex.infoset_count else np.zeros(0, bool)
    weight = np.ones(treeplex.sequence_count)
    target = np.zeros(treeplex.sequence_count, np.int64)  # in the smaller treeplex
    parents, count = [], 1
    for i, (parent, first, size) in enumerate(zip(*(part.tolist() for part in treeplex.arrays), strict=True)):
        here = slice(first, first + size)
        if free[i]:
            weight[here], target[here] = weight[parent], np.arange(count, count + size)
            parents.append(target[parent])
            count += size
        else:
            weight[here], target[here] = weight[parent] * given[here], target[parent]
    sizes = treeplex.action_count[free]
    left = Treeplex(np.array(parents, np.int64), 1 + np.cumsum(sizes) - sizes, sizes)
    return left, sparse.csr_array((weight, (np.arange(weight.size), target)), shape=(weight.size, count))
