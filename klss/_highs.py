"""Linear programs by HiGHS: the one file that imports highspy.

A program goes in by arrays (columns compressed), its primal values and row duals come back as arrays. One
:class:`Model` can be solved again after its costs or bounds were changed, from the last basis.

Source: Huangfu & Hall (2018), HiGHS; options as measured on sequence-form programs.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal

import highspy
import numpy as np
from numpy.typing import NDArray

__all__ = ["AT_LOWER", "AT_UPPER", "BASIC", "Basis", "LinearProgram", "LpMethod", "LpResult", "LpStatus", "Model"]

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]

LpMethod = Literal["simplex", "ipm"]
LpStatus = Literal["optimal", "iteration_limit", "time_limit", "infeasible", "unbounded", "failed"]

_STATUS: dict[Any, LpStatus] = {
    highspy.HighsModelStatus.kOptimal: "optimal",
    highspy.HighsModelStatus.kModelEmpty: "optimal",
    highspy.HighsModelStatus.kIterationLimit: "iteration_limit",
    highspy.HighsModelStatus.kTimeLimit: "time_limit",
    highspy.HighsModelStatus.kInfeasible: "infeasible",
    highspy.HighsModelStatus.kUnbounded: "unbounded",
    highspy.HighsModelStatus.kUnboundedOrInfeasible: "infeasible",
}

# Tighter than HiGHS's 1e-7: saddle gaps are asked for to 1e-6 of payoffs that gadgets scale up.
_TOLERANCE = 1e-9

INFINITY = float("inf")

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
    """``maximise (or minimise) cost @ c`` subject to ``row_lower <= M c <= row_upper`` and
    ``column_lower <= c <= column_upper``.

    Parameters
    ----------
    starts : int32[C + 1], index : int32[nonzeros], value : float64[nonzeros]
        M by columns.
    cost, column_lower, column_upper : float64[C]
    row_lower, row_upper : float64[R]
    maximise : bool
    """

    starts: Ints
    index: Ints
    value: Floats
    cost: Floats
    column_lower: Floats
    column_upper: Floats
    row_lower: Floats
    row_upper: Floats
    maximise: bool = True


@dataclass(frozen=True, eq=False)
class LpResult:
    """One run: status, objective, primal values float64[C], row duals float64[R], iterations (simplex and interior
    point), seconds.

    ``valid`` tells whether there are primal values at all (they need not be optimal).
    """

    status: LpStatus
    objective: float
    primal: Floats
    row_dual: Floats
    iterations: int
    seconds: float
    valid: bool


@dataclass(frozen=True, eq=False)
class Basis:
    """Status of every column and row, int8[C] and int8[R]: `AT_LOWER`, `BASIC`, `AT_UPPER`, or 3 (free, nonbasic)."""

    columns: NDArray[np.int8]
    rows: NDArray[np.int8]


def _nonbasic(lower: Floats, upper: Floats) -> NDArray[np.int8]:
    """Status of what is not basic: at a finite bound, the lower one if there is one."""
    status = np.where(np.isfinite(lower), AT_LOWER, np.where(np.isfinite(upper), AT_UPPER, _FREE))
    return np.asarray(status, dtype=np.int8)


class Model:
    """A linear program inside HiGHS, which can be changed and solved again."""

    def __init__(self, program: LinearProgram) -> None:
        """Pass the program; nothing is solved yet."""
        self._highs: Any = highspy.Highs()
        self._option("output_flag", False)
        self._option("threads", 1)
        self._option("primal_feasibility_tolerance", _TOLERANCE)
        self._option("dual_feasibility_tolerance", _TOLERANCE)
        self._highs.passModel(
            program.cost.size,
            program.row_lower.size,
            program.value.size,
            int(highspy.MatrixFormat.kColwise),
            int(highspy.ObjSense.kMaximize if program.maximise else highspy.ObjSense.kMinimize),
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
        self._column_count = program.cost.size
        self._row_count = program.row_lower.size
        self._program = program

    def _option(self, name: str, value: Any) -> None:
        self._highs.setOptionValue(name, value)

    def solve(
        self,
        method: LpMethod = "simplex",
        *,
        iteration_limit: int | None = None,
        time_limit_s: float | None = None,
        presolve: bool = True,
    ) -> LpResult:
        """Run HiGHS.

        Parameters
        ----------
        method : "simplex" | "ipm"
            Dual simplex, or interior point with crossover to a vertex.
        iteration_limit : int, optional
            Most simplex iterations (crossover's clean-up counts; interior point has a limit of its own kind and takes
            the same number).
        time_limit_s : float, optional
            Most seconds of this run.
        presolve : bool
        """
        highs = self._highs
        self._option("solver", method)
        self._option("run_crossover", "on")
        self._option("presolve", "on" if presolve else "off")
        limit = 2147483647 if iteration_limit is None else max(0, iteration_limit)
        self._option("simplex_iteration_limit", limit)
        self._option("ipm_iteration_limit", limit)
        # HiGHS counts its time limit over the life of the object.
        self._option("time_limit", INFINITY if time_limit_s is None else highs.getRunTime() + max(0.0, time_limit_s))
        begin = time.perf_counter()
        highs.run()
        seconds = time.perf_counter() - begin
        status = _STATUS.get(highs.getModelStatus(), "failed")
        solution, info = highs.getSolution(), highs.getInfo()
        primal = np.array(solution.col_value, dtype=np.float64)
        row_dual = np.array(solution.row_dual, dtype=np.float64)
        valid = bool(solution.value_valid) and primal.size == self._column_count and bool(np.isfinite(primal).all())
        if not valid:
            primal = np.zeros(self._column_count)
        if row_dual.size != self._row_count or not bool(solution.dual_valid) or not np.isfinite(row_dual).all():
            row_dual = np.zeros(self._row_count)
        iterations = max(0, info.simplex_iteration_count) + max(0, info.ipm_iteration_count)
        return LpResult(status, float(info.objective_function_value), primal, row_dual, iterations, seconds, valid)

    def use_devex(self) -> None:
        """Let dual simplex price by devex: cheaper to start from a given basis than steepest edge."""
        self._option("simplex_dual_edge_weight_strategy", 1)

    def basis(self) -> Basis | None:
        """The basis of the last run, None if it left none.

        What is nonbasic and bounded on both sides is said to be at its lower bound, wherever it was.
        """
        status, basic = self._highs.getBasicVariables()
        if status != highspy.HighsStatus.kOk:
            return None
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
        given.alien = False  # the right number is basic: no factorisation to check it, the run makes one anyway
        return bool(self._highs.setBasis(given) == highspy.HighsStatus.kOk)

    def forget(self) -> None:
        """Drop the basis and the solution: the next run starts cold."""
        self._highs.clearSolver()

    def set_costs(self, cost: Floats, maximise: bool = True) -> None:
        """Replace the objective by ``cost`` float64[C]."""
        columns = np.arange(self._column_count, dtype=np.int32)
        self._highs.changeColsCost(self._column_count, columns, np.ascontiguousarray(cost, dtype=np.float64))
        self._highs.changeObjectiveSense(highspy.ObjSense.kMaximize if maximise else highspy.ObjSense.kMinimize)

    def set_column_bounds(self, columns: NDArray[np.int64], lower: Floats, upper: Floats) -> None:
        """Replace the bounds of some columns."""
        self._highs.changeColsBounds(
            columns.size,
            columns.astype(np.int32),
            np.ascontiguousarray(lower, np.float64),
            np.ascontiguousarray(upper, np.float64),
        )

    def set_row_bounds(self, rows: NDArray[np.int64], lower: Floats, upper: Floats) -> None:
        """Replace the bounds of some rows."""
        for row, low, high in zip(rows.tolist(), lower.tolist(), upper.tolist(), strict=True):
            self._highs.changeRowBounds(row, low, high)

    def add_row(self, lower: float, upper: float, columns: NDArray[np.int64], values: Floats) -> int:
        """Append a row; returns its index."""
        self._highs.addRow(
            lower, upper, columns.size, columns.astype(np.int32), np.ascontiguousarray(values, np.float64)
        )
        self._row_count += 1
        return self._row_count - 1
