"""The choice among the optima of a gadget.

A Maxmargin program determines only the least margin. Its optima form a face, and the optimum taken decides how
exploitable the joined strategy of nested k-KLSS is. The rule: *among the strategies that maximise the least margin, the
one with the largest mean margin, minus a toll on every probability moved away from the blueprint*,

    maximise  sum over I0 of D(I0) / sum(D) * margin(I0)  -  TOLL * sum over sequences Ia of |x(Ia) - b(a|I) x(I)|,

with b the blueprint's behaviour and D as in :mod:`klss.subgame`. The second term is proximal (Rockafellar 1976), in the
L1 norm so that the program stays linear. Ties are broken by :func:`klss.lexicographic.generic_objective`.

The same rule chooses in Resolve, where every strategy without a negative margin is optimal, if there is one.

Source: the gadget is Zhang & Sandholm's (NeurIPS 2021); the paper does not say which optimum it takes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klss._highs import LinearProgram
from klss.equilibrium import Program, build_program, read_back
from klss.errors import GameError
from klss.gadgets import GadgetForm, gadget_form
from klss.lexicographic import generic_objective, lexicographic
from klss.methods import GadgetChoice
from klss.methods import gadget as gadget_by_name
from klss.subgame import Subgame
from klss.support.arrays import Floats

TOLL = 0.01
"""Utility (the largest is 1) that moving a probability of 1 away from the blueprint must gain, for each sequence that
it leaves or enters.
"""


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
    gadget: str | GadgetChoice = "maxmargin",
) -> Choice:
    """Return the chosen strategy.

    Parameters
    ----------
    subgame : Subgame
        A Maxmargin gadget.
    blueprint : float64[S0]
        Behaviour of the blueprint in the gadget.
    floor : float64[S0], optional
        Least behaviour probability of each of player 0's sequences.
    gadget : str or GadgetChoice
        The gadget on top.

    Raises
    ------
    GameError
        The subgame's gadget is not Maxmargin.
    SolverError
        One of the programs can't be solved.
    """
    if subgame.gadget != "maxmargin":
        raise GameError(f"gadget: got {subgame.gadget!r}, expected maxmargin")
    # The gadget's program, among whose exact optima the choice is made.
    top = gadget_form(subgame, gadget_by_name(gadget).kind)
    program = build_program(top.form, floor)
    # The rule: the largest mean margin, minus a toll on each probability moved away from the blueprint.
    lp = _with_distances(program, blueprint)
    rule = np.full(lp.cost.size, -TOLL)
    rule[: program.program.cost.size] = _mean_margin(program, top)
    # Break the remaining ties by fixed weights, so that the result does not depend on the solver.
    tied = generic_objective(lp.cost.size, program.form.treeplexes[0].sequence_count)
    first, last = lexicographic(lp, [rule, tied])
    plan, _, _, _ = read_back(program, last)
    return Choice(plan, first.objective)


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
