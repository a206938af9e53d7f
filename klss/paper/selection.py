"""The choice among the optima of a gadget.

A Maxmargin program determines only the least margin. Its optima form a face, and the optimum taken decides how
exploitable the joined strategy of nested k-KLSS is. The rule: *among the strategies that maximise the least margin, the
one with the largest mean margin, minus a toll on every probability moved away from the blueprint*,

    maximise  sum over I0 of D(I0) / sum(D) * margin(I0)  -  TOLL * sum over sequences Ia of |x(Ia) - b(a|I) x(I)|,

with b the blueprint's behaviour and D as in :mod:`klss.paper.subgame`. The second term is proximal (Rockafellar
1976), in the L1 norm so that the program stays linear. Ties are broken by :func:`klss.theory.highs.generic_objective`.

The same rule chooses in Resolve, where every strategy without a negative margin is optimal, if there is one.

Of a gadget ``-prior`` the rule has no toll. That is the limit, for e to 0, of the optima if player 1's choice in the
gadget is with probability e drawn from a prior: the root I0 in Maxmargin, Play in Resolve. The value then is (1 - e)
times the gadget's plus e times the mean margin; so a small e keeps the gadget's optima and takes the largest mean
margin among them. Kubíček, Lisý & Sandholm (arXiv 2601.17131) choose so as far as their text could be read: the
abstract, and others' summaries, by which they perturb the gadget's own choices towards a positive prior from the
blueprint. The prior here is D, since player 1 has no blueprint. Their programs and their change of CFR are not here.

Sources: the gadgets are Zhang & Sandholm's (NeurIPS 2021); the paper does not say which optimum it takes.
:mod:`klss.paper.subgame` makes Maxmargin as a game; Resolve is MaxmarginToResolve of Appendix E. Its form is that of
Maxmargin with another treeplex of player 1: a sequence of the new treeplex represents one of the old with a weight, so
payoffs are multiplied by one matrix float64[S1, S1'].

Legend: ``N`` root infosets I0.

Deviation: in Resolve, Exit pays 0 and Play pays the margin divided by N. The whole payoff is scaled by 1/N, also the
information term (there is none in these games).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from klss.paper.methods import GADGETS
from klss.paper.subgame import Gadget, Subgame
from klss.support.arrays import Floats, Ints
from klss.theory.equilibrium import Program, build_program, read_back
from klss.theory.highs import LinearProgram, generic_objective, lexicographic
from klss.theory.sequence_form import SequenceForm, sequence_form
from klss.theory.treeplex import Treeplex

TOLL = 0.01
"""Utility (the largest is 1) that moving a probability of 1 away from the blueprint must gain, for each sequence that
it leaves or enters.
"""


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


@dataclass(frozen=True, eq=False)
class Choice:
    """A subgame's strategy: plan float64[S0] of the gadget, and the gadget's value (Maxmargin: the least margin)."""

    plan: Floats
    margin: float


def select(
    subgame: Subgame,
    *,
    blueprint: Floats,
    floor: Floats | None = None,
    gadget: str = "maxmargin",
) -> Choice:
    """Return the chosen strategy of a Maxmargin gadget, ``gadget`` on top by its name in :mod:`klss.paper.methods`.

    ``blueprint`` (float64[S0]) is the blueprint's behaviour in it, ``floor`` (float64[S0]) the least behaviour
    probability of each of player 0's sequences. Raises SolverError: one of the programs can't be solved.
    """
    # The gadget's program, among whose exact optima the choice is made.
    top = gadget_form(subgame, GADGETS[gadget].kind)
    program = build_program(top.form, floor)
    # The rule: the largest mean margin, minus a toll (without a prior) on each probability moved from the blueprint.
    lp = program.program if GADGETS[gadget].prior else _with_distances(program, blueprint)
    rule = np.full(lp.cost.size, -TOLL)
    rule[: program.program.cost.size] = _mean_margin(program, top)
    # Break the remaining ties by fixed weights, so that the result does not depend on the solver.
    tied = generic_objective(lp.cost.size, program.form.treeplexes[0].sequence_count)
    first, last = lexicographic(lp, [rule, tied])
    return Choice(read_back(program, last)[0], first.objective)


def _mean_margin(program: Program, top: GadgetForm) -> Floats:
    """Return the mean margin over the roots as an objective, float64[C]."""
    t0 = program.form.treeplexes[0]
    weights = np.zeros(program.program.row_lower.size)
    weights[t0.infoset_count - 1 + top.enter] = top.weights / top.factor
    objective: Floats = program.program.matrix.T @ weights
    # A root's row compares its margin with the value of the gadget's own infoset; leave that value out.
    objective[t0.sequence_count : t0.sequence_count + top.stops] = 0.0
    return objective


def _with_distances(program: Program, blueprint: Floats) -> LinearProgram:
    """Add a column d >= |x(Ia) - b(a|I) x(I)| for every non-empty sequence, by two rows each."""
    # d + x(Ia) - b x(I) >= 0 and d - x(Ia) + b x(I) >= 0: a negative cost of d then makes it the absolute value.
    lp = program.program
    t0 = program.form.treeplexes[0]
    count = t0.sequence_count - 1
    columns = lp.cost.size
    sequence, above, share = np.arange(1, count + 1), t0.parent_of_sequence[1:], blueprint[1:]
    row = np.arange(count)
    distance = columns + row
    one = np.ones(count)
    base = lp.matrix.tocoo()
    below, above_it = lp.row_lower.size + row, lp.row_lower.size + count + row
    return LinearProgram.of_entries(
        [
            (base.row, base.col, base.data),
            (below, sequence, one), (below, above, -share), (below, distance, one),
            (above_it, sequence, -one), (above_it, above, share), (above_it, distance, one),
        ],
        cost=np.concatenate([lp.cost, np.zeros(count)]),
        column_bounds=(
            np.concatenate([lp.column_lower, np.zeros(count)]),
            np.concatenate([lp.column_upper, np.full(count, np.inf)]),
        ),
        row_bounds=(
            np.concatenate([lp.row_lower, np.zeros(2 * count)]),
            np.concatenate([lp.row_upper, np.full(2 * count, np.inf)]),
        ),
    )  # fmt: skip


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
