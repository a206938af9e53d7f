"""Linear programs by HiGHS. Only this file imports highspy, assembles programs, and tries one method after another.

A program is passed as arrays (columns compressed); its primal values and row duals are returned as arrays. One
:class:`LinearSolver` can be solved again, from the last basis, after its costs or bounds were changed.

Source: Huangfu & Hall (2018), HiGHS; options as measured on sequence-form programs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import highspy
import numpy as np
from highspy._core import _Highs
from scipy import sparse

from klss.errors import SolverError
from klss.support.arrays import Floats, Int8s, Int32s, Ints

LpMethod = Literal["simplex", "ipm"]
LpStatus = Literal["optimal", "iteration_limit", "time_limit", "failed"]

_STATUS: dict[Any, LpStatus] = {
    highspy.HighsModelStatus.kOptimal: "optimal",
    highspy.HighsModelStatus.kModelEmpty: "optimal",
    highspy.HighsModelStatus.kIterationLimit: "iteration_limit",
    highspy.HighsModelStatus.kTimeLimit: "time_limit",
}

# Tighter than HiGHS's 1e-7: saddle gaps are needed to 1e-6 of payoffs that gadgets scale up.
_TOLERANCE = 1e-9

# Duals above this are not rounding: a hundred times the tolerance above.
_PRICE = 1e-7

# Simplex iterations per row and column, and at least, after which a run of :func:`lexicographic` counts as stalled.
_PATIENCE, _PATIENCE_LEAST = 30, 1000

# HiGHS's simplex_dual_edge_weight_strategy.
_CHOOSE, _DEVEX = -1, 1

# HiGHS's simplex_scale_strategy.
_NO_SCALE = 0

# Statuses of columns and rows in a basis; these numbers are the places of HiGHS's statuses below.
AT_LOWER, BASIC, AT_UPPER = 0, 1, 2
_FREE = 3
_BASIS_STATUS = np.empty(4, dtype=object)
_BASIS_STATUS[:] = [
    highspy.HighsBasisStatus.kLower,
    highspy.HighsBasisStatus.kBasic,
    highspy.HighsBasisStatus.kUpper,
    highspy.HighsBasisStatus.kZero,
]


@dataclass(frozen=True, eq=False)
class LinearProgram:
    """``maximise cost @ c`` subject to ``row_lower <= M c <= row_upper`` and
    ``column_lower <= c <= column_upper``.
    """

    starts: Int32s  # int32[C + 1]: M by columns, with ``index`` and ``value``
    index: Int32s  # int32[nonzeros]
    value: Floats  # float64[nonzeros]
    cost: Floats  # float64[C]
    column_lower: Floats  # float64[C]
    column_upper: Floats  # float64[C]
    row_lower: Floats  # float64[R]
    row_upper: Floats  # float64[R]

    @classmethod
    def of_entries(
        cls,
        parts: Sequence[tuple[Ints, Ints, Floats]],
        *,
        cost: Floats,
        column_bounds: tuple[Floats, Floats],
        row_bounds: tuple[Floats, Floats],
    ) -> LinearProgram:
        """Return a program from ``parts`` of M: rows, columns and values (int64[n], int64[n], float64[n]); entries at
        the same place are summed. Bounds are lower and upper ones.
        """
        row, column, value = (np.concatenate([part[k] for part in parts]) for k in range(3))
        matrix = sparse.csc_array((value, (row, column)), shape=(row_bounds[0].size, cost.size))
        return cls(
            starts=matrix.indptr.astype(np.int32),
            index=matrix.indices.astype(np.int32),
            value=matrix.data,
            cost=cost,
            column_lower=column_bounds[0],
            column_upper=column_bounds[1],
            row_lower=row_bounds[0],
            row_upper=row_bounds[1],
        )

    @property
    def matrix(self) -> sparse.csc_array:
        """M: csc float64[R, C]."""
        return sparse.csc_array((self.value, self.index, self.starts), shape=(self.row_lower.size, self.cost.size))

    @property
    def size(self) -> int:
        """Number of rows and columns together, to which limits of iterations are proportional."""
        return self.row_lower.size + self.cost.size


@dataclass(frozen=True, eq=False)
class LpResult:
    """The result of one run."""

    status: LpStatus
    objective: float
    primal: Floats  # float64[C]
    row_dual: Floats  # float64[R]
    iterations: int  # of simplex and interior point
    seconds: float
    valid: bool  # whether there are primal values at all (they need not be optimal)


@dataclass(frozen=True, eq=False)
class Basis:
    """Status of every column and row, int8[C] and int8[R]: `AT_LOWER`, `BASIC`, `AT_UPPER`, or 3 (free, nonbasic)."""

    columns: Int8s
    rows: Int8s


def _nonbasic(lower: Floats, upper: Floats) -> Int8s:
    """Return the status of nonbasic variables: at a finite bound, the lower one if there is one."""
    status = np.where(np.isfinite(lower), AT_LOWER, np.where(np.isfinite(upper), AT_UPPER, _FREE))
    return np.asarray(status, dtype=np.int8)


class LinearSolver:
    """A linear program in HiGHS, which can be changed and solved again."""

    def __init__(self, program: LinearProgram, *, scaled: bool = True) -> None:
        """Pass the program; nothing is solved yet. ``scaled``: whether simplex scales rows and columns."""
        # HiGHS's own class instead of highspy.Highs: the constructor of the latter registers callbacks, and from 1.16
        # on that prints a banner to stdout before any option can prevent it.
        self._highs: Any = _Highs()
        self._option("output_flag", False)
        self._option("threads", 1)
        if not scaled:
            self._option("simplex_scale_strategy", _NO_SCALE)
        self._option("primal_feasibility_tolerance", _TOLERANCE)
        self._option("dual_feasibility_tolerance", _TOLERANCE)
        self._highs.passModel(
            program.cost.size,
            program.row_lower.size,
            program.value.size,
            int(highspy.MatrixFormat.kColwise),
            int(highspy.ObjSense.kMaximize),
            0.0,
            program.cost,
            program.column_lower,
            program.column_upper,
            program.row_lower,
            program.row_upper,
            program.starts,
            program.index,
            program.value,
            np.zeros(program.cost.size, dtype=np.int32),  # all variables continuous
        )
        self._program = program
        self._column_bounds = program.column_lower.copy(), program.column_upper.copy()
        self._row_bounds = program.row_lower.copy(), program.row_upper.copy()

    def _option(self, name: str, value: Any) -> None:
        self._highs.setOptionValue(name, value)

    def solve(
        self,
        method: LpMethod = "simplex",
        *,
        iteration_limit: int | None = None,
        time_limit_s: float | None = None,
        presolve: bool = True,
        devex: bool = False,
    ) -> LpResult:
        """Run HiGHS by dual simplex, or by interior point with crossover to a vertex.

        ``iteration_limit`` is for simplex (crossover's clean-up included) and for interior point; ``devex`` chooses
        that pricing in dual simplex, with which it is cheaper to start from a given basis than with steepest edge.
        """
        highs = self._highs
        # Method and pricing. Crossover turns an interior point into a vertex, where unplayed sequences are exactly 0.
        self._option("simplex_dual_edge_weight_strategy", _DEVEX if devex else _CHOOSE)
        self._option("solver", method)
        self._option("run_crossover", "on")
        self._option("presolve", "on" if presolve else "off")
        # Limits: HiGHS's own default is the largest int32.
        limit = 2147483647 if iteration_limit is None else max(0, iteration_limit)
        self._option("simplex_iteration_limit", limit)
        self._option("ipm_iteration_limit", limit)
        # HiGHS counts its time limit over the life of the object.
        self._option("time_limit", math.inf if time_limit_s is None else highs.getRunTime() + max(0.0, time_limit_s))
        begin = time.perf_counter()
        highs.run()
        seconds = time.perf_counter() - begin
        status = _STATUS.get(highs.getModelStatus(), "failed")
        # A run that was cut off may leave values of another size, or not finite ones; these become zeros.
        solution, info = highs.getSolution(), highs.getInfo()
        primal, valid = _sound(solution.col_value, solution.value_valid, self._program.cost.size)
        row_dual, _ = _sound(solution.row_dual, solution.dual_valid, self._program.row_lower.size)
        # HiGHS gives −1 for a method that was not used.
        iterations = max(0, info.simplex_iteration_count) + max(0, info.ipm_iteration_count)
        return LpResult(status, float(info.objective_function_value), primal, row_dual, iterations, seconds, valid)

    def basis(self) -> Basis | None:
        """Return the basis of the last run, None if it left none.

        A nonbasic variable with two bounds gets the status of its lower bound, wherever it was.
        """
        status, basic = self._highs.getBasicVariables()
        if status != highspy.HighsStatus.kOk:
            return None
        # HiGHS numbers column c as c and row r as −1 − r.
        columns = _nonbasic(self._program.column_lower, self._program.column_upper)
        rows = _nonbasic(self._program.row_lower, self._program.row_upper)
        columns[basic[basic >= 0]] = BASIC
        rows[-1 - basic[basic < 0]] = BASIC
        return Basis(columns, rows)

    def set_basis(self, basis: Basis) -> bool:
        """Start the next run from ``basis``, without presolve; False if HiGHS refuses it."""
        given = highspy.HighsBasis()
        given.col_status = _BASIS_STATUS[basis.columns].tolist()
        given.row_status = _BASIS_STATUS[basis.rows].tolist()
        given.valid = True
        given.alien = False  # the number of basic variables is right: skip the check, which would factorise once more
        return bool(self._highs.setBasis(given) == highspy.HighsStatus.kOk)

    def forget(self) -> None:
        """Drop the basis and the solution: the next run starts cold."""
        self._highs.clearSolver()

    def set_costs(self, cost: Floats) -> None:
        """Replace the objective by ``cost`` float64[C]."""
        columns = np.arange(cost.size, dtype=np.int32)
        self._highs.changeColsCost(cost.size, columns, np.ascontiguousarray(cost, dtype=np.float64))

    def hold_optimum(self) -> None:
        """Restrict the program to the optima of its objective; the last run must have found one.

        By complementary slackness, the optima are the feasible points at which each column and each row with a nonzero
        price (reduced cost or dual) is at its bound. One dual solution describes all of them, so any dual solution of
        the solver will do. A bound on the objective would need some slack, which later objectives would use up.
        """
        # Fix columns and rows at their bounds; the bounds kept here say which are fixed by earlier objectives.
        solution = self._highs.getSolution()
        columns, at = _priced(solution.col_value, solution.col_dual, self._column_bounds)
        self._highs.changeColsBounds(columns.size, columns, at, at)
        rows, row_at = _priced(solution.row_value, solution.row_dual, self._row_bounds)
        for row, bound in zip(rows.tolist(), row_at.tolist()):
            self._highs.changeRowBounds(row, bound, bound)


def _sound(values: Sequence[float], said_valid: bool, size: int) -> tuple[Floats, bool]:
    """Return HiGHS's values as float64[size], and whether they are usable; zeros if not."""
    found = np.array(values, dtype=np.float64)
    valid = bool(said_valid) and found.size == size and bool(np.isfinite(found).all())
    return (found if valid else np.zeros(size)), valid


def _priced(value: Sequence[float], price: Sequence[float], bounds: tuple[Floats, Floats]) -> tuple[Int32s, Floats]:
    """Return the columns or rows that have a price and are not fixed yet, and the bound at which each is; ``bounds``
    are updated.
    """
    lower, upper = bounds
    found = np.flatnonzero((np.abs(price) > _PRICE) & (lower < upper)).astype(np.int32)
    here = np.asarray(value, dtype=np.float64)[found]
    at = np.where(np.abs(here - lower[found]) <= np.abs(here - upper[found]), lower[found], upper[found])
    lower[found] = upper[found] = at
    return found, at


@dataclass(frozen=True)
class Attempt:
    """One way to solve a program."""

    method: LpMethod
    iteration_limit: int | None = None
    presolve: bool = True
    basis: Basis | None = None  # from which to start; None: cold


def attempts(
    solver: LinearSolver, plan: Sequence[Attempt], time_limit_s: float | None = None
) -> Iterator[tuple[Attempt, LpResult]]:
    """Try one way after the other and yield the results; the caller judges them and stops when one is good enough.

    The first attempt starts from the state that the solver's last run left, the others start cold; one whose basis is
    refused is left out. ``time_limit_s`` is for all attempts together, from now on; the first one is always made.
    """
    deadline = None if time_limit_s is None else time.perf_counter() + time_limit_s
    tried = False
    for attempt in plan:
        left = None if deadline is None else deadline - time.perf_counter()
        if left is not None and left <= 0.0 and tried:
            return
        # Drop the state of a failed attempt: the next one starts cold, or from a basis of its own.
        if tried:
            solver.forget()
        if attempt.basis is not None and not solver.set_basis(attempt.basis):
            continue
        tried = True
        yield (
            attempt,
            solver.solve(
                attempt.method,
                iteration_limit=attempt.iteration_limit,
                time_limit_s=left,
                presolve=attempt.presolve and attempt.basis is None,
                devex=attempt.basis is not None,
            ),
        )


def lexicographic(program: LinearProgram, objectives: Sequence[Floats]) -> tuple[LpResult, LpResult]:
    """Maximise the program's own objective, then each of ``objectives`` among the optima of all before it.

    A program's optima form a face, and which of them a solver returns depends on its version, method and start. Here
    every objective after the first is maximised over the optima of those before it, and a generic last objective leaves
    one vertex. :meth:`LinearSolver.hold_optimum` finds the face without giving up any of the objective.

    Source: lexicographic optimality as in Ehrgott, *Multicriteria Optimization* (2005), chapter 5; the face of optima
    by complementary slackness.

    The last of ``objectives`` (float64[C] each) should be :func:`generic_objective` if the optimum has to be unique.
    Return the results for the program's own objective, and for the last one. Raises SolverError: no method solves one
    of the programs.
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
