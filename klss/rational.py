"""Exact optima of a sequence-form program: from a basis of the floating-point solver, in fractions.

The vertex of a basis is the solution of two square systems, for the plan and for the duals. Both are solved in rational
numbers, by sparse elimination with Markowitz's rule; the systems of games are so nearly triangular that hardly any
entry is filled in. If that vertex is not optimal, simplex pivots in fractions follow: few from the basis of a good
solver, many from a pure plan, where the pivots begin if the solver failed.

Source: Koch, "The final NETLIB-LP results" (Oper. Res. Letters 32, 2004): bases of a floating-point solver, checked in
rational arithmetic. Pivots by Dantzig's rule, after :data:`_STALLED` of them without a gain by Bland's.

Symbols: ``c`` columns of the program, M its matrix, π its row duals. A row that is *tight* is not basic.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from klss._highs import BASIC, Basis, LinearProgram
from klss.sequence_form import SequenceForm

__all__ = ["Payoffs", "RationalProgram"]

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
    """Player 0's program (:func:`klss.equilibrium.build_program`) in fractions."""

    def __init__(self, lp: LinearProgram, form: SequenceForm, payoffs: Payoffs) -> None:
        """A copy of ``lp``, the program of ``form``, with ``payoffs`` in place of the rounded ones."""
        self._form = form
        self._first = form.treeplexes[0].infoset_count - 1  # row of player 1's sequence s: this plus s
        self._columns: list[_Row] = []
        for j in range(lp.cost.size):
            entries = range(int(lp.starts[j]), int(lp.starts[j + 1]))
            self._columns.append({int(lp.index[k]): Fraction(float(lp.value[k])) for k in entries if lp.value[k]})
        self._cost = [_ONE if j >= form.a.shape[0] and value else _ZERO for j, value in enumerate(lp.cost)]
        for (mine, yours), payoff in payoffs.items():
            if not yours:
                self._cost[mine] = payoff
            elif payoff:
                self._columns[mine][self._first + yours] = payoff
            else:
                self._columns[mine].pop(self._first + yours, None)
        self._rows: list[_Row] = [{} for _ in range(lp.row_lower.size)]
        for j, column in enumerate(self._columns):
            for i, value in column.items():
                self._rows[i][j] = value
        self._equality = (lp.row_lower == lp.row_upper).tolist()
        self._free = np.isneginf(lp.column_lower).tolist()

    def optimum(self, basis: Basis | None, plan: Sequence[float]) -> tuple[_Vector, _Vector] | None:
        """Return both players' plans of an optimum; None if it would take too long.

        Parameters
        ----------
        basis : Basis, optional
            Where to begin. If its vertex is infeasible, the best pure plan near ``plan`` is taken.
        plan : S0 of float
            Weights of player 0's sequences.
        """
        found = None
        if basis is not None:
            basic, tight = np.flatnonzero(basis.columns == BASIC), np.flatnonzero(basis.rows != BASIC)
            if basic.size == tight.size:
                found = self._pivoted(basic.tolist(), tight.tolist())
        return self._pivoted(*self._pure(plan)) if found is None else found

    def _pivoted(self, basic: list[int], tight: list[int]) -> tuple[_Vector, _Vector] | None:
        """Return the plans of the optimum reached from a basis; None if it is infeasible, or the optimum far."""
        stalled = 0
        for _ in range(1 + _WORK // (len(self._rows) + len(self._columns))):
            # The vertex.
            place = {j: k for k, j in enumerate(basic)}
            line = {i: k for k, i in enumerate(tight)}
            try:
                factors = _Factors([{place[j]: v for j, v in self._rows[i].items() if j in place} for i in tight])
            except ZeroDivisionError:
                return None
            fixed = _ZERO if 0 in place else _ONE
            columns = self._spread(factors.solve([-fixed * self._rows[i].get(0, _ZERO) for i in tight]), basic)
            columns[0] += fixed
            duals = [_ZERO] * len(self._rows)
            for i, dual in zip(tight, factors.solve_transposed([self._cost[j] for j in basic]), strict=True):
                duals[i] = dual
            slack = self._product(columns)
            if not self._feasible(columns, slack):
                return None
            # The column, or the slack of a row, that gains most; none: the vertex is optimal.
            gains: list[tuple[Fraction, int, int]] = []  # gain, column (or -1 - row), direction
            for j, column in enumerate(self._columns):
                if j and j not in place:
                    gain = self._cost[j] - sum(duals[i] * value for i, value in column.items())
                    if gain > 0 or (gain and self._free[j]):
                        gains.append((abs(gain), j, 1 if gain > 0 else -1))
            gains += [(duals[i], -1 - i, 1) for i in tight if duals[i] > 0 and not self._equality[i]]
            if not gains:
                size = self._form.treeplexes[1].sequence_count
                mine = columns[: self._form.treeplexes[0].sequence_count]
                return mine, [_ONE, *(-dual for dual in duals[self._first + 1 : self._first + size])]
            _, enters, direction = min(gains, key=lambda each: each[1]) if stalled > _STALLED else max(gains)
            # How everything changes with it, and what is the first to reach its bound.
            if enters >= 0:
                right = [-direction * self._columns[enters].get(i, _ZERO) for i in tight]
            else:
                right = [_ONE if i == -1 - enters else _ZERO for i in tight]
            change = self._spread(factors.solve(right), basic)
            if enters >= 0:
                change[enters] += direction
            bounded = [(j, columns[j], change[j]) for j in basic if change[j] and not self._free[j]]
            bounded += [
                (-1 - i, slack[i], moved) for i, moved in enumerate(self._product(change)) if moved and i not in line
            ]
            length, leaves = min(
                (_ZERO if self._held(name) else -value / moved, name)
                for name, value, moved in bounded
                if moved < 0 or self._held(name)
            )
            stalled = 0 if length else stalled + 1
            for name, entering in ((leaves, False), (enters, True)):
                if name >= 0:
                    basic.append(name) if entering else basic.remove(name)
                else:
                    tight.remove(-1 - name) if entering else tight.append(-1 - name)
        return None

    def _held(self, name: int) -> bool:
        """Whether a column or (-1 - row) a row's slack can't move: the empty sequence's, or of an equality."""
        return name == 0 or (name < 0 and self._equality[-1 - name])

    def _spread(self, values: _Vector, basic: Sequence[int]) -> _Vector:
        columns = [_ZERO] * len(self._columns)
        for j, value in zip(basic, values, strict=True):
            columns[j] = value
        return columns

    def _product(self, columns: _Vector) -> _Vector:
        """Return M times ``columns``."""
        return [sum((value * columns[j] for j, value in row.items() if columns[j]), _ZERO) for row in self._rows]

    def _feasible(self, columns: _Vector, slack: _Vector) -> bool:
        return (
            columns[0] == 1
            and all(free or value >= 0 for free, value in zip(self._free, columns, strict=True))
            and all(not value if equal else value >= 0 for equal, value in zip(self._equality, slack, strict=True))
        )

    def _pure(self, plan: Sequence[float]) -> tuple[list[int], list[int]]:
        """Return the basis of the pure plan that plays the likeliest actions, and of a best response to it."""
        t0, t1 = self._form.treeplexes
        basic, tight = [], list(range(t0.infoset_count))
        reached = {0}
        for parent, first, size in zip(*(part.tolist() for part in t0.arrays), strict=True):
            chosen = max(range(first, first + size), key=lambda s: plan[s])
            basic.append(chosen)
            if parent in reached:
                reached.add(chosen)
        value = [_ZERO] * t1.sequence_count
        for mine in reached:
            for row, payoff in self._columns[mine].items():
                if row > self._first:
                    value[row - self._first] += payoff
        for j, (parent, first, size) in reversed(
            list(enumerate(zip(*(part.tolist() for part in t1.arrays), strict=True)))
        ):
            least = min(range(first, first + size), key=lambda s: value[s])
            value[parent] += value[least]
            basic.append(len(plan) + j)
            tight.append(self._first + least)
        return basic, tight
