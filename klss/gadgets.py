"""Sequence forms of gadgets: Maxmargin, Resolve, and either one against an opponent with few strategies.

Sources: :mod:`klss.subgame` makes the Maxmargin gadget as a game; Resolve is MaxmarginToResolve of Zhang & Sandholm
(NeurIPS 2021), Appendix E; the limited opponent is this library's reading of OLSS (:mod:`klss.methods`).

Each form is the Maxmargin gadget's form with another treeplex of player 1. A sequence of the new treeplex represents a
weighted sum of the gadget's sequences: payoffs are multiplied by one matrix float64[S1, S1'].

Legend: ``N`` root infosets I0, ``n`` strategies of a limited opponent.

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
from klss.treeplex import Treeplex, realization

__all__ = ["GadgetForm", "Opponents", "gadget_form"]


@dataclass(frozen=True, eq=False)
class Opponents:
    """The strategies of a limited opponent in a Maxmargin gadget."""

    ranges: Floats  # float64[n, N]: probability with which each reaches each I0; rows sum to 1
    behaviours: Floats  # float64[n, S1]: the behaviour of each from there on (entries of the gadget's root are ignored)


@dataclass(frozen=True, eq=False)
class GadgetForm:
    """A gadget's sequence form, and the places of its margins in it."""

    form: SequenceForm
    enter: Ints  # int64[M]: player 1's sequence that enters each root (an I0, or a range of a limited opponent)
    stops: int  # number of player 1's first infosets that are the gadget's own
    factor: float  # factor of a margin in ``form``
    weights: Floats  # float64[M]: weight of each root in the mean margin; they sum to 1


def gadget_form(subgame: Subgame, kind: Gadget = "maxmargin", opponents: Opponents | None = None) -> GadgetForm:
    """Return the form of a Maxmargin ``subgame`` under the gadget ``kind``; against ``opponents``, if given."""
    form = sequence_form(subgame.game)
    weights = subgame.scale / subgame.scale.sum()
    if opponents is not None:
        form = _limited(form, opponents)
        weights = np.full(len(opponents.ranges), 1.0 / len(opponents.ranges))
    count = weights.size
    if kind == "maxmargin":
        return GadgetForm(form, 1 + np.arange(count), 1, 1.0, weights)
    return GadgetForm(_resolve(form, count), 2 + 2 * np.arange(count), count, 1.0 / count, weights)


def _through(form: SequenceForm, treeplex: Treeplex, entries: tuple[Ints, Ints, Floats]) -> SequenceForm:
    """Return the form in which player 1 has ``treeplex``; ``entries``: old sequence, new sequence, weight."""
    shape = (form.treeplexes[1].sequence_count, treeplex.sequence_count)
    row, column, value = (np.concatenate([[first], rest]) for first, rest in zip((0, 0, 1.0), entries, strict=True))
    stands_for = sparse.csr_array((value, (row, column)), shape=shape)
    return SequenceForm((form.treeplexes[0], treeplex), form.a @ stands_for, form.b @ stands_for, form.unit, form.least)


def _resolve(form: SequenceForm, count: int) -> SequenceForm:
    """Replace the choice among roots by one infoset for each root, with the actions Exit and Play."""
    # Sequences 2j − 1 and 2j are Exit and Play at root j, from 1 on; all later sequences move up by the N new ones.
    t = form.treeplexes[1]
    place = np.arange(t.sequence_count) + count
    place[: 1 + count] = 2 * np.arange(1 + count)
    counts = np.concatenate([np.full(count, 2), t.action_count[1:]])
    parents = np.concatenate([np.zeros(count, np.int64), place[t.parent_sequence[1:]]])
    treeplex = Treeplex(parents, 1 + np.cumsum(counts) - counts, counts)
    old = np.arange(1, t.sequence_count)
    return _through(form, treeplex, (old, place[1:], np.full(old.size, 1.0 / count)))


def _limited(form: SequenceForm, opponents: Opponents) -> SequenceForm:
    """Let player 1 choose a range, and then at each I0 the strategy with which it goes on."""
    t = form.treeplexes[1]
    n, count = opponents.ranges.shape
    # The I0 above each of the gadget's sequences: follow the parents (pointer doubling) up to a sequence of the root.
    root = t.parent_of_sequence.copy()
    root[: 1 + count] = np.arange(1 + count)
    while (further := root[root]).tolist() != root.tolist():
        root = further
    # The plan of each strategy from an I0 on.
    onward = opponents.behaviours.copy()
    onward[:, : 1 + count] = 1.0
    plans = [realization(t, each) for each in onward]
    # Infoset 0 is the choice of a range; then follows one infoset for each range and I0.
    counts = np.concatenate([[n], np.full(n * count, n)])
    parents = np.concatenate([[0], np.repeat(1 + np.arange(n), count)])
    first = 1 + np.cumsum(counts) - counts
    above, deep = 1 + np.arange(count), np.arange(1 + count, t.sequence_count)
    # A range enters each I0 with its share; after that, each strategy's plan is weighted by the share of its I0.
    parts = []
    for i, share in enumerate(opponents.ranges):
        parts.append((above, np.full(count, 1 + i), share))
        at = first[i * count + root[deep]]
        parts.extend((deep, at + j, share[root[deep] - 1] * plan[deep]) for j, plan in enumerate(plans))
    row, column, value = (np.concatenate([part[k] for part in parts]) for k in range(3))
    return _through(form, Treeplex(parents, first, counts), (row, column, value))
