"""Exact optima of a sequence-form program: from a basis of the floating-point solver, in fractions.

The vertex of a basis is the solution of two square systems, for the plan and for the duals. Both are solved in rational
numbers, by sparse elimination with Markowitz's rule; the systems of games are so nearly triangular that hardly any
entry is filled in. If that vertex is not optimal, simplex pivots in fractions follow: few from the basis of a good
solver, many from a pure plan, where the pivots begin if the solver failed.

Source: Koch, "The final NETLIB-LP results" (Oper. Res. Letters 32, 2004): bases of a floating-point solver, checked in
rational arithmetic. Pivots by Dantzig's rule, after :data:`_STALLED` of them without a gain by Bland's.

Symbols: ``c`` columns of the program, M its matrix, ``s`` the slacks of its rows.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from klss.theory.highs import BASIC, Basis, LinearProgram
from klss.theory.sequence_form import SequenceForm

Payoffs = Mapping[tuple[int, int], Fraction]
"""Player 0's payoff at each pair of sequences that has one."""

_WORK = 200_000
"""Most pivots times rows and columns; a pivot takes about a microsecond for each of them."""

_STALLED = 20
"""Number of pivots without a gain after which Bland's rule, which can't cycle, chooses."""

_Vector = list[Fraction]
_Row = dict[int, Fraction]
_ZERO, _ONE = Fraction(0), Fraction(1)


class _Factors:
    """A square sparse matrix after elimination, row by row."""

    def __init__(self, rows: Sequence[_Row]) -> None:
        """Eliminate; raises ZeroDivisionError if the matrix is singular."""
        self._rows = [dict(row) for row in rows]
        self._steps: list[tuple[int, int, list[tuple[int, Fraction]]]] = []  # pivot's row and column, (row, factor)
        where: list[set[int]] = [set() for _ in rows]
        for i, row in enumerate(self._rows):
            for j in row:
                where[j].add(i)
        waiting = [(len(row), i) for i, row in enumerate(self._rows)]
        heapq.heapify(waiting)
        done = [False] * len(rows)
        while waiting:
            # The shortest row, and in it the shortest column: little fill-in. Entries of the heap may be outdated.
            size, i = heapq.heappop(waiting)
            if done[i] or size != len(self._rows[i]):
                continue
            if not size:
                raise ZeroDivisionError
            done[i] = True
            pivot = self._rows[i]
            j = min(pivot, key=lambda column: len(where[column]))
            for column in pivot:
                where[column].discard(i)
            others = []
            for k in where[j]:
                row = self._rows[k]
                factor = row.pop(j) / pivot[j]
                others.append((k, factor))
                for column, value in pivot.items():
                    if column != j:
                        left = row.get(column, _ZERO) - factor * value
                        if left:
                            row[column] = left
                            where[column].add(k)
                        elif column in row:
                            del row[column]
                            where[column].discard(k)
                heapq.heappush(waiting, (len(row), k))
            where[j] = set()
            self._steps.append((i, j, others))

    def solve(self, right: Sequence[Fraction]) -> _Vector:
        """Return the vector whose product with the matrix is ``right``."""
        left = list(right)
        for i, _, others in self._steps:
            if left[i]:
                for k, factor in others:
                    left[k] -= factor * left[i]
        found = [_ZERO] * len(left)
        for i, j, _ in reversed(self._steps):
            row = self._rows[i]
            found[j] = (left[i] - sum(value * found[q] for q, value in row.items() if q != j)) / row[j]
        return found

    def solve_transposed(self, right: Sequence[Fraction]) -> _Vector:
        """Return the vector whose product with the transposed matrix is ``right``."""
        left, found = list(right), [_ZERO] * len(right)
        for i, j, _ in self._steps:
            row = self._rows[i]
            found[i] = left[j] / row[j]
            if found[i]:
                for q, value in row.items():
                    left[q] -= value * found[i]
        for i, _, others in reversed(self._steps):
            found[i] -= sum(factor * found[k] for k, factor in others)
        return found


class RationalProgram:
    """Player 0's program (``klss.theory.equilibrium.build_program``) in fractions: maximise the cost, M c - s = 0."""

    def __init__(self, lp: LinearProgram, form: SequenceForm, payoffs: Payoffs) -> None:
        """A copy of ``lp``, the program of ``form``, with ``payoffs`` in place of the rounded ones."""
        self._form = form
        self._first = form.treeplexes[0].infoset_count - 1  # row of player 1's sequence s: this plus s
        self._height, width = lp.row_lower.size, lp.cost.size
        # The variables: c, then the rows' slacks s.
        self._columns: list[_Row] = []
        for j in range(width):
            entries = range(int(lp.starts[j]), int(lp.starts[j + 1]))
            self._columns.append({int(lp.index[k]): Fraction(float(lp.value[k])) for k in entries if lp.value[k]})
        self._columns += [{i: -_ONE} for i in range(self._height)]
        self._cost = [_ONE if j >= form.a.shape[0] and value else _ZERO for j, value in enumerate(lp.cost)]
        self._cost += [_ZERO] * self._height
        for (mine, yours), payoff in payoffs.items():
            if not yours:
                self._cost[mine] = payoff
            elif payoff:
                self._columns[mine][self._first + yours] = payoff
            else:
                self._columns[mine].pop(self._first + yours, None)
        # Variables are at least 0, free, or held at one value: 1 for the empty sequence, 0 for slacks of equalities.
        self._free = [*np.isneginf(lp.column_lower).tolist(), *([False] * self._height)]
        self._held = [True, *([False] * (width - 1)), *(lp.row_lower == lp.row_upper).tolist()]

    def optimum(self, basis: Basis | None, plan: Sequence[float]) -> tuple[_Vector, _Vector] | None:
        """Return both players' plans of an optimum; None if it would take too long. Pivots begin at ``basis``; without
        one, or if its vertex is infeasible, at the best pure plan near ``plan``, weights of player 0's sequences.
        """
        found = None
        if basis is not None:
            basic = np.flatnonzero(np.concatenate([basis.columns, basis.rows]) == BASIC).tolist()
            found = self._pivoted(basic) if len(basic) == self._height else None
        return self._pivoted(self._pure(plan)) if found is None else found

    def _pivoted(self, basic: list[int]) -> tuple[_Vector, _Vector] | None:
        """Return the plans of the optimum reached from basic variables; None if they are infeasible, or it is far."""
        stalled = 0
        for _ in range(1 + _WORK // len(self._columns)):
            # The vertex: values of the basic variables, and the rows' duals.
            place = {j: k for k, j in enumerate(basic)}
            rows: list[_Row] = [{} for _ in basic]
            for k, j in enumerate(basic):
                for i, value in self._columns[j].items():
                    rows[i][k] = value
            try:
                factors = _Factors(rows)
            except ZeroDivisionError:
                return None
            fixed = _ZERO if 0 in place else _ONE
            values = factors.solve(self._dense(0, -fixed))
            duals = factors.solve_transposed([self._cost[j] for j in basic])
            for j, value in zip(basic, values, strict=True):
                if (self._held[j] and value != (j == 0)) or (value < 0 and not self._free[j]):
                    return None
            # The variable that gains most enters; if none gains, the vertex is optimal.
            gains = []
            for j, column in enumerate(self._columns):
                if j not in place and not self._held[j]:
                    gain = self._cost[j] - sum(duals[i] * value for i, value in column.items())
                    if gain > 0 or (gain and self._free[j]):
                        gains.append((abs(gain), j, 1 if gain > 0 else -1))
            if not gains:
                mine, yours = (treeplex.sequence_count for treeplex in self._form.treeplexes)
                plan = [values[place[j]] if j in place else _ZERO for j in range(mine)]
                plan[0] = _ONE
                return plan, [_ONE, *(-dual for dual in duals[self._first + 1 : self._first + yours])]
            _, enters, direction = min(gains, key=lambda each: each[1]) if stalled > _STALLED else max(gains)
            # The first variable to reach its bound leaves.
            change = factors.solve(self._dense(enters, -direction))
            length, leaves = min(
                (_ZERO if self._held[j] else -value / moved, j)
                for j, value, moved in zip(basic, values, change, strict=True)
                if not self._free[j] and (moved < 0 or (moved and self._held[j]))
            )
            stalled = 0 if length else stalled + 1
            basic[place[leaves]] = enters
        return None

    def _dense(self, j: int, factor: Fraction | int) -> _Vector:
        """Return a variable's column of the program times ``factor``, with its zeros."""
        column = self._columns[j]
        return [factor * column.get(i, _ZERO) for i in range(self._height)]

    def _pure(self, plan: Sequence[float]) -> list[int]:
        """Return the basis of the pure plan that plays the likeliest actions, and of a best response to it."""
        t0, t1 = self._form.treeplexes
        width = len(self._columns) - self._height
        basic, nonbasic, reached = [], set(range(t0.infoset_count)), {0}
        for parent, first, size in zip(*(part.tolist() for part in t0.arrays), strict=True):
            chosen = max(range(first, first + size), key=lambda s: plan[s])
            basic.append(chosen)
            if parent in reached:
                reached.add(chosen)
        worth = [_ZERO] * t1.sequence_count
        for mine in reached:
            for row, payoff in self._columns[mine].items():
                if 0 < row - self._first < t1.sequence_count:
                    worth[row - self._first] += payoff
        for parent, first, size in reversed(list(zip(*(part.tolist() for part in t1.arrays), strict=True))):
            least = min(range(first, first + size), key=lambda s: worth[s])
            worth[parent] += worth[least]
            nonbasic.add(self._first + least)
        basic += range(len(plan), len(plan) + t1.infoset_count)
        return basic + [width + i for i in range(self._height) if i not in nonbasic]
