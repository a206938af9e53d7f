"""Sequence forms of gadgets: Maxmargin and Resolve.

Sources: :mod:`klss.subgame` makes the Maxmargin gadget as a game; Resolve is MaxmarginToResolve of Zhang & Sandholm
(NeurIPS 2021), Appendix E.

Resolve's form is that of Maxmargin with another treeplex of player 1. A sequence of the new treeplex represents a
sequence of the old one with a weight: payoffs are multiplied by one matrix float64[S1, S1'].

Legend: ``N`` root infosets I0.

Deviation: in Resolve, Exit pays 0 and Play pays the margin divided by N. The whole payoff is scaled by 1/N, also the
information term (there is none in these games).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from klss.sequence_form import SequenceForm, sequence_form
from klss.subgame import Gadget, Subgame
from klss.support.arrays import Floats, Ints
from klss.treeplex import Treeplex


@dataclass(frozen=True, eq=False)
class GadgetForm:
    """A gadget's sequence form, and the places of its margins in it."""

    form: SequenceForm
    enter: Ints  # int64[N]: player 1's sequence that enters each root
    stops: int  # number of player 1's first infosets that are the gadget's own
    factor: float  # factor of a margin in ``form``
    weights: Floats  # float64[N]: weight of each root in the mean margin; they sum to 1


def gadget_form(subgame: Subgame, kind: Gadget = "maxmargin") -> GadgetForm:
    """Return the form of a Maxmargin ``subgame`` under the gadget ``kind``."""
    form = sequence_form(subgame.game)
    weights = subgame.scale / subgame.scale.sum()
    count = weights.size
    if kind == "maxmargin":
        return GadgetForm(form, 1 + np.arange(count), 1, 1.0, weights)
    return GadgetForm(_resolve(form, count), 2 + 2 * np.arange(count), count, 1.0 / count, weights)


def _resolve(form: SequenceForm, count: int) -> SequenceForm:
    """Replace the choice among roots by one infoset for each root, with the actions Exit and Play."""
    # Sequences 2j − 1 and 2j are Exit and Play at root j, from 1 on; all later sequences move up by the N new ones.
    t = form.treeplexes[1]
    place = np.arange(t.sequence_count) + count
    place[: 1 + count] = 2 * np.arange(1 + count)
    counts = np.concatenate([np.full(count, 2), t.action_count[1:]])
    parents = np.concatenate([np.zeros(count, np.int64), place[t.parent_sequence[1:]]])
    treeplex = Treeplex(parents, 1 + np.cumsum(counts) - counts, counts)
    # Each new sequence, Exit apart, stands for 1/N of an old one; the empty sequence for itself.
    weights = np.full(t.sequence_count, 1.0 / count)
    weights[0] = 1.0
    shape = (t.sequence_count, treeplex.sequence_count)
    stands_for = sparse.csr_array((weights, (np.arange(t.sequence_count), place)), shape=shape)
    return SequenceForm((form.treeplexes[0], treeplex), form.a @ stands_for, form.b @ stands_for, form.unit, form.least)
