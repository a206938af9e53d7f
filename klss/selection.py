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

from klss._highs import Attempt, LinearProgram, LinearSolver, LpResult, attempts
from klss.arrays import Floats
from klss.equilibrium import Program, build_program, read_back
from klss.errors import GameError, SolverError
from klss.sequence_form import sequence_form
from klss.subgame import Subgame

__all__ = ["RULES", "TOLL", "Choice", "Rule", "select"]

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
    if subgame.gadget != "maxmargin":
        raise GameError(f"gadget: got {subgame.gadget!r}, expected maxmargin; convert it first")
    form = sequence_form(subgame.game)
    program = build_program(form, floor)
    count = form.treeplexes[0].sequence_count
    lp = program.program if rule in ("first", "sum") else _with_distances(program, blueprint)
    solver = LinearSolver(lp)
    first = _run(solver, lp)
    if first.status != "optimal":
        raise SolverError(f"Maxmargin program of {lp.row_lower.size} rows: {first.status}; no method solved it")
    margin, refined, result = first.objective, False, first
    if rule != "first":
        # Column `count` is the value of player 1's root infoset, the least margin.
        solver.set_column_bounds(np.array([count]), np.array([margin - _SLACK]), np.array([np.inf]))
        cost = np.zeros(lp.cost.size)
        if rule == "response":
            cost[:count] = form.payoff @ opponent
            cost[0] = 0.0
        elif rule in ("sum", "proximal"):
            share = np.ones(subgame.roots.size) if rule == "sum" else subgame.scale / subgame.scale.sum()
            rows = form.treeplexes[0].infoset_count - 1 + subgame.root_sequences
            weights = np.zeros(program.program.row_lower.size)
            weights[rows] = share
            cost[: program.program.cost.size] = program.program.matrix.T @ weights
            cost[count] = 0.0
        cost[program.program.cost.size :] = -1.0 if rule == "nearest" else -TOLL
        solver.set_costs(cost)
        second = _run(solver, lp)
        if second.status == "optimal":
            result, refined = second, True
    plan, _, _, _ = read_back(program, result)
    return Choice(plan, margin, refined)


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


def _run(solver: LinearSolver, lp: LinearProgram) -> LpResult:
    """The first result that is optimal, else the last one."""
    limit = 1000 + _PATIENCE * lp.size
    plan = [
        Attempt("simplex", limit), Attempt("simplex", limit, presolve=False), Attempt("ipm", 500 + limit // 10),
    ]  # fmt: skip
    for _, result in attempts(solver, plan):
        if result.status == "optimal":
            break
    return result
