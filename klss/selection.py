"""Choosing among the optima of a Maxmargin gadget: one rule, and the alternatives it was measured against.

A Maxmargin program pins the least margin only; its optima form a face, and which of them is taken decides how
exploitable the joined strategy of nested k-KLSS is. The rule used (``"response"``): *among the strategies that maximise
the least margin, the one that earns most against the opponent's equilibrium strategy, less a toll on every probability
moved away from the blueprint*,

    maximise  u(x', y*)  -  TOLL * sum over sequences Ia of |x'(Ia) - b(a|I) x'(I)|,

with y* player 1's part of the equilibrium from which the blueprint was taken, normalised to reaching the subgame, and b
the blueprint's behaviour. Its first half is safe opponent exploitation (Ganzfried & Sandholm, TEAC 2015) with y* as the
model of the opponent; its second half is a proximal term (Rockafellar 1976) in the L1 norm, so that the whole is a
linear program. Where the blueprint is optimal and a best response to y*, as it is when it is an equilibrium and no
margin can be gained, the rule keeps it.

Alternatives: ``"first"`` takes what the solver returns; ``"sum"`` maximises the sum of all margins; ``"nearest"``
minimises the L1 distance alone; ``"proximal"`` maximises the mean margin (weights D) less the toll.

Source: the gadget is Zhang & Sandholm's (NeurIPS 2021); the paper does not say which optimum it takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from klss._highs import LinearProgram, LpResult, Model
from klss.equilibrium import Program, build_program, read_back
from klss.errors import GameError, SolverError
from klss.sequence_form import sequence_form
from klss.subgame import Subgame

__all__ = ["RULES", "TOLL", "Choice", "Rule", "select"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

Rule = Literal["response", "first", "sum", "nearest", "proximal"]
RULES: tuple[Rule, ...] = get_args(Rule)

TOLL = 0.01
"""Utility (largest one 1) that moving a probability of 1 away from the blueprint has to bring, per sequence it leaves
or enters.
"""

# The least margin may sink by this much in the second program: ten times the solver's own tolerance.
_SLACK = 1e-8
# Simplex iterations per row and column after which a run counts as stalled.
_PATIENCE = 30


@dataclass(frozen=True, eq=False)
class Choice:
    """A subgame's strategy: plan float64[S0] of the gadget, the least margin, and whether the second program was
    solved.
    """

    plan: Floats
    margin: float
    refined: bool


def select(subgame: Subgame, rule: Rule, *, blueprint: Floats, opponent: Floats, floor: Floats | None = None) -> Choice:
    """A strategy that maximises the least margin, chosen among all such by ``rule``.

    Parameters
    ----------
    subgame : Subgame
        A Maxmargin gadget.
    rule : Rule
    blueprint : float64[S0]
        Behaviour of the blueprint in the gadget.
    opponent : float64[S1]
        Weights of player 1's sequences in the gadget: her equilibrium plan, normalised.
    floor : float64[S0], optional
        Least behaviour probability of each of player 0's sequences.

    Raises
    ------
    GameError
        When the rule is unknown or the gadget is not Maxmargin.
    SolverError
        When the gadget's program can't be solved.
    """
    if rule not in RULES:
        raise GameError(f"rule {rule!r}: expected one of {', '.join(RULES)}")
    if subgame.kind != "maxmargin":
        raise GameError(f"gadget of kind {subgame.kind!r}: expected maxmargin; convert it first")
    form = sequence_form(subgame.game)
    program = build_program(form, floor)
    count = form.treeplexes[0].sequence_count
    lp = program.program if rule in ("first", "sum") else _with_distances(program, blueprint)
    model = Model(lp)
    first = _run(model, lp)
    if first.status != "optimal":
        raise SolverError(f"Maxmargin program of {lp.row_lower.size} rows: {first.status}; no method solved it")
    margin, refined, result = first.objective, False, first
    if rule != "first":
        # Column `count` is the value of player 1's root infoset, the least margin.
        model.set_column_bounds(np.array([count]), np.array([margin - _SLACK]), np.array([np.inf]))
        cost = np.zeros(lp.cost.size)
        if rule == "response":
            cost[:count] = form.payoff @ opponent
            cost[0] = 0.0
        elif rule in ("sum", "proximal"):
            share = np.ones(subgame.roots.size) if rule == "sum" else subgame.scale / subgame.scale.sum()
            rows = form.treeplexes[0].infoset_count - 1 + subgame.root_sequences
            weights = np.zeros(program.program.row_lower.size)
            weights[rows] = share
            cost[: program.program.cost.size] = _matrix(program.program).T @ weights
            cost[count] = 0.0
        cost[program.program.cost.size :] = -1.0 if rule == "nearest" else -TOLL
        model.set_costs(cost)
        second = _run(model, lp)
        if second.status == "optimal":
            result, refined = second, True
    plan, _, _, _ = read_back(program, result)
    return Choice(plan, margin, refined)


def _matrix(lp: LinearProgram) -> sparse.csc_array:
    return sparse.csc_array((lp.value, lp.index, lp.starts), shape=(lp.row_lower.size, lp.cost.size))


def _with_distances(program: Program, blueprint: Floats) -> LinearProgram:
    """Add a column d >= |x(Ia) - b(a|I) x(I)| for every non-empty sequence."""
    lp = program.program
    t0 = program.form.treeplexes[0]
    count = t0.sequence_count - 1
    columns = lp.cost.size
    sequence, above, share = np.arange(1, count + 1), t0.parent_of_sequence[1:], blueprint[1:]
    row = np.arange(count)
    distance = columns + row
    one = np.ones(count)
    extra = sparse.coo_array(
        (
            np.concatenate([one, -share, one, -one, share, one]),
            (
                np.concatenate([row, row, row, row + count, row + count, row + count]),
                np.concatenate([sequence, above, distance, sequence, above, distance]),
            ),
        ),
        shape=(2 * count, columns + count),
    )
    top = sparse.csc_array(
        (lp.value, lp.index, np.concatenate([lp.starts, np.full(count, lp.starts[-1])])),
        shape=(lp.row_lower.size, columns + count),
    )
    matrix = sparse.vstack([top, extra.tocsc()], format="csc")
    return LinearProgram(
        starts=matrix.indptr.astype(np.int32),
        index=matrix.indices.astype(np.int32),
        value=matrix.data,
        cost=np.concatenate([lp.cost, np.zeros(count)]),
        column_lower=np.concatenate([lp.column_lower, np.zeros(count)]),
        column_upper=np.concatenate([lp.column_upper, np.full(count, np.inf)]),
        row_lower=np.concatenate([lp.row_lower, np.zeros(2 * count)]),
        row_upper=np.concatenate([lp.row_upper, np.full(2 * count, np.inf)]),
        maximise=True,
    )


def _run(model: Model, lp: LinearProgram) -> LpResult:
    limit = 1000 + _PATIENCE * (lp.cost.size + lp.row_lower.size)
    result = model.solve("simplex", iteration_limit=limit)
    if result.status != "optimal":
        model.forget()
        result = model.solve("simplex", iteration_limit=limit, presolve=False)
    if result.status != "optimal":
        model.forget()
        result = model.solve("ipm", iteration_limit=500 + limit // 10)
    return result
