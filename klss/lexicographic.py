"""Lexicographic optima of a linear program with all ties broken: the same point from every solver.

A program's optima form a face, and which of them a solver returns depends on its version, method and start. Here every
objective after the first is maximised over the optima of those before it, and a generic last objective leaves one
vertex. :meth:`klss._highs.LinearSolver.hold_optimum` finds the face without giving up any of the objective.

Source: lexicographic optimality as in Ehrgott, *Multicriteria Optimization* (2005), chapter 5; the face of optima by
complementary slackness.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from klss._highs import Attempt, LinearProgram, LinearSolver, LpResult, attempts
from klss.errors import SolverError
from klss.support.arrays import Floats

# Simplex iterations per row and column, and at least, after which a run counts as stalled.
_PATIENCE, _PATIENCE_LEAST = 30, 1000


def lexicographic(program: LinearProgram, objectives: Sequence[Floats]) -> tuple[LpResult, LpResult]:
    """Maximise the program's own objective, then each of ``objectives`` among the optima of all before it.

    Parameters
    ----------
    program : LinearProgram
    objectives : sequence of float64[C]
        The last one should be :func:`generic_objective` if the optimum has to be unique.

    Returns
    -------
    first, last : LpResult
        Results for the program's own objective, and for the last one.

    Raises
    ------
    SolverError
        When no method solves one of the programs.
    """
    solver = LinearSolver(program)
    first = last = _optimum(solver, program)
    for objective in objectives:
        solver.hold_optimum()
        solver.set_costs(objective)
        last = _optimum(solver, program)
    return first, last


def generic_objective(columns: int, count: int) -> Floats:
    """Return fixed pseudo-random weights in [0, 1) for columns 1 to ``count`` - 1, 0 for all others: float64[columns].

    Two vertices tie only by a coincidence of these numbers, so the weighted columns of the optimum are unique. Column 0
    belongs to the empty sequence, which is constant.
    """
    weights = np.zeros(columns)
    # numpy's legacy generator, because numpy promises never to change its stream (NEP 19).
    weights[1:count] = np.random.RandomState(0).random_sample(count - 1)
    return weights


def _optimum(solver: LinearSolver, program: LinearProgram) -> LpResult:
    """Return the first run that ends with an optimum."""
    limit = _PATIENCE_LEAST + _PATIENCE * program.size
    plan = [Attempt("simplex", limit), Attempt("simplex", limit, presolve=False), Attempt("ipm", limit // 10)]
    statuses = []
    for attempt, result in attempts(solver, plan):
        if result.status == "optimal":
            return result
        statuses.append(f"{attempt.method}: {result.status}")
    raise SolverError(f"linear program of {program.row_lower.size} rows: no method solved it ({', '.join(statuses)})")
