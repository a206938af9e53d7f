"""The gadget's linear program over a growing trunk, solved from the basis of the last one.

One layout serves both gadgets, so that switching changes bounds and costs only, and so that a trunk's growth appends to
each block of columns and rows (its numbers never change within a search):

* columns: the value of Maxmargin's root; the capped values of Resolve's root infosets (≤ 0, player 1 may exit);
  player 0's sequences; the values of player 1's infosets;
* rows: a response for each of player 1's sequences; a flow equation for each of player 0's infosets.

New entries get a basis by hand (algorithms.md §3): at a new infoset of player 0 the best action by the children's
values is basic; at a new infoset of player 1 its value is, and every response but the least one's. From there dual
simplex (devex) needs few steps. It can stall, so it is capped; then the program is solved cold, by simplex with
presolve and by interior point with crossover. Whatever comes back is judged by its recomputed saddle gap.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from klss._highs import AT_LOWER, AT_UPPER, BASIC, Basis, LinearProgram, LpResult, Model
from klss.best_response import best_response
from klss.search.trunk import Trunk
from klss.sequence_form import SequenceForm, behaviour, realization

__all__ = ["Answer", "GadgetProgram", "Kind"]

Float = npt.NDArray[np.float64]
Kind = Literal["maxmargin", "resolve"]

GAP = 1e-7
"""An answer with a larger recomputed saddle gap is no equilibrium (payoffs are within [−1, 1])."""

_WARM_PATIENCE = (0.25, 500)
_COLD_PATIENCE = (0.5, 1000)


@dataclass(frozen=True)
class Answer:
    """Plans read back, in the trunk's numbering, and how they came about.

    Attributes
    ----------
    x, y : float64[S0], float64[S1]
        As in :class:`klss.search.gadget.Equilibrium`.
    root_values : float64[J]
        Player 1's best-response value at each root infoset against x, alternate value subtracted: the margins.
    gap : float
    solved : bool
    attempts : int
        Methods tried.
    solve_s, edit_s : float
        Seconds in the solver, and in building programs and bases.
    """

    x: Float
    y: Float
    root_values: Float
    gap: float
    solved: bool
    attempts: int
    solve_s: float
    edit_s: float


@dataclass(frozen=True)
class _Layout:
    roots: int
    sequences0: int
    sequences1: int
    infosets0: npt.NDArray[np.int64]
    infosets1: npt.NDArray[np.int64]

    @property
    def first_sequence(self) -> int:
        return 1 + self.roots

    @property
    def first_value(self) -> int:
        return self.first_sequence + self.sequences0

    @property
    def columns(self) -> int:
        return self.first_value + len(self.infosets1)

    @property
    def first_flow(self) -> int:
        return self.sequences1 - 1

    @property
    def rows(self) -> int:
        return self.first_flow + len(self.infosets0)


def _acting(trunk: Trunk, player: int) -> npt.NDArray[np.int64]:
    """Infosets of ``player`` with sequences, in the order of these."""
    first = trunk.infosets[player].first[: trunk.infoset_count(player)]
    acting = np.flatnonzero(first >= 0)
    return acting[np.argsort(first[acting])]


@dataclass
class GadgetProgram:
    """The programs of one search; :meth:`solve` is called with the same trunk, which grows in between."""

    _basis: Basis | None = None
    _layout: _Layout | None = None
    _kind: Kind = "maxmargin"
    _scratch: dict[str, float] = field(default_factory=dict)

    def solve(
        self,
        trunk: Trunk,
        form: SequenceForm,
        kind: Kind,
        *,
        iteration_limit: int | None = None,
        time_limit_s: float | None = None,
    ) -> Answer:
        """An equilibrium of the gadget.

        Parameters
        ----------
        trunk : Trunk
        form : SequenceForm
            The trunk's *Maxmargin* form, whatever ``kind`` is.
        kind : "maxmargin" or "resolve"
        iteration_limit : int, optional
            Most simplex iterations of a cold attempt.
        time_limit_s : float, optional
            Most seconds of all attempts together.
        """
        began = time.perf_counter()
        layout = _Layout(
            trunk.group_count, trunk.sequence_count(0), trunk.sequence_count(1), _acting(trunk, 0), _acting(trunk, 1)
        )
        program = _assemble(trunk, form, layout, kind)
        start = self._start(trunk, layout, kind)
        size = layout.rows + layout.columns
        warm, cold = (int(max(least, share * size)) for share, least in (_WARM_PATIENCE, _COLD_PATIENCE))
        plan: list[tuple[Literal["warm", "simplex", "ipm"], int | None]] = [
            ("simplex", cold if iteration_limit is None else min(cold, iteration_limit)),
            ("ipm", iteration_limit),
            ("simplex", iteration_limit),
        ]
        if start is not None:
            plan.insert(0, ("warm", warm))
        best: Answer | None = None
        solve_s, attempts = 0.0, 0
        for method, limit in plan:
            left = None if time_limit_s is None else time_limit_s - (time.perf_counter() - began)
            if left is not None and left <= 0.0 and attempts:
                break
            model = Model(program)
            if method == "warm":
                assert start is not None
                model.use_devex()
                if not model.set_basis(start):
                    continue
            result = model.solve(
                "simplex" if method == "warm" else method,
                iteration_limit=limit,
                time_limit_s=left,
                presolve=method != "warm",
            )
            attempts += 1
            solve_s += result.seconds
            if not result.valid:
                continue
            answer = _read(form, layout, kind, result)
            if best is None or answer.gap < best.gap:
                best = answer
            if answer.gap <= GAP:
                self._basis, self._layout, self._kind = model.basis(), layout, kind
                break
        if best is None:
            best = _read(form, layout, kind, None)
        return Answer(
            best.x,
            best.y,
            best.root_values,
            best.gap,
            best.gap <= GAP,
            attempts,
            solve_s,
            time.perf_counter() - began - solve_s,
        )

    def _start(self, trunk: Trunk, layout: _Layout, kind: Kind) -> Basis | None:
        """The last basis, grown by hand to the trunk as it stands."""
        if self._basis is None or self._layout is None or self._layout.roots != layout.roots:
            return None
        old = self._layout
        columns = np.full(layout.columns, AT_LOWER, dtype=np.int8)
        rows = np.full(layout.rows, BASIC, dtype=np.int8)
        columns[layout.first_value :] = BASIC
        rows[layout.first_flow :] = AT_LOWER
        columns[: old.first_sequence] = self._basis.columns[: old.first_sequence]
        columns[layout.first_sequence : layout.first_sequence + old.sequences0] = self._basis.columns[
            old.first_sequence : old.first_value
        ]
        columns[layout.first_value : layout.first_value + len(old.infosets1)] = self._basis.columns[old.first_value :]
        rows[: old.first_flow] = self._basis.rows[: old.first_flow]
        rows[layout.first_flow : layout.first_flow + len(old.infosets0)] = self._basis.rows[old.first_flow :]
        best, least = _favourites(trunk, layout, len(old.infosets0), len(old.infosets1))
        columns[layout.first_sequence + best] = BASIC
        rows[least - 1] = AT_LOWER
        if kind != self._kind:
            _switch(columns, rows, layout.roots, kind)
        if int((columns == BASIC).sum() + (rows == BASIC).sum()) != layout.rows:
            return None
        return Basis(columns, rows)


def _switch(columns: npt.NDArray[np.int8], rows: npt.NDArray[np.int8], roots: int, kind: Kind) -> None:
    """Turn the root's part of a basis from the other gadget's into one of ``kind``, in place."""
    capped = slice(1, 1 + roots)
    if kind == "resolve":
        basic_root = columns[0] == BASIC
        columns[0] = AT_LOWER
        tight = np.flatnonzero(rows[:roots] != BASIC)
        columns[capped] = AT_UPPER
        if basic_root and len(tight):
            columns[1 + tight[0]] = BASIC
    else:
        freed = np.flatnonzero(columns[capped] == BASIC)
        columns[capped] = AT_LOWER
        rows[freed] = BASIC
        if len(freed):
            rows[freed[0]] = AT_LOWER
            columns[0] = BASIC


def _favourites(
    trunk: Trunk, layout: _Layout, old0: int, old1: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """At each infoset new since then, the sequence whose children are worth most (player 0) or least (player 1)."""
    nodes, count = trunk.nodes, trunk.node_count
    inner = np.flatnonzero(nodes.parent[:count] >= 0)
    movers = nodes.mover[nodes.parent[inner]]
    chosen = []
    for player, acting, sign in ((0, layout.infosets0[old0:], 1.0), (1, layout.infosets1[old1:], -1.0)):
        mine = inner[movers == player]
        sequences = trunk.sequence_count(player)
        worth = np.bincount(nodes.sequence[mine, player], weights=sign * nodes.value[mine], minlength=sequences)
        first = trunk.infosets[player].first[acting].astype(np.int64)
        size = trunk.infosets[player].size[acting].astype(np.int64)
        owner = np.repeat(np.arange(len(acting)), size)
        sequence = np.repeat(first - np.cumsum(size) + size, size) + np.arange(int(size.sum()))
        order = np.lexsort((sequence, -worth[sequence], owner))
        leading = np.ones(len(order), dtype=np.bool_)
        leading[1:] = owner[order][1:] != owner[order][:-1]
        chosen.append(sequence[order][leading])
    return chosen[0], chosen[1]


def _assemble(trunk: Trunk, form: SequenceForm, layout: _Layout, kind: Kind) -> LinearProgram:
    roots, infosets0, infosets1 = layout.roots, layout.infosets0, layout.infosets1
    payoff = form.payoff.tocoo()
    at_root = payoff.col == 0
    mine, theirs = trunk.infosets
    root = np.arange(roots)
    own = np.repeat(np.arange(len(infosets0)), mine.size[infosets0])
    their = np.repeat(np.arange(len(infosets1)), theirs.size[infosets1])
    later = ~at_root
    parts = [
        # responses: payoff + values of the infosets that follow − value of the sequence's infoset ≥ 0
        (payoff.col[later] - 1, layout.first_sequence + payoff.row[later], payoff.data[later]),
        (root, np.zeros(roots, dtype=np.int64), np.full(roots, -1.0)),
        (root, 1 + root, np.full(roots, -1.0)),
        (np.arange(roots, layout.first_flow), layout.first_value + their, np.full(len(their), -1.0)),
        (theirs.sequence[infosets1] - 1, layout.first_value + np.arange(len(infosets1)), np.ones(len(infosets1))),
        # flow of player 0
        (layout.first_flow + own, layout.first_sequence + 1 + np.arange(len(own)), np.ones(len(own))),
        (
            layout.first_flow + np.arange(len(infosets0)),
            layout.first_sequence + mine.sequence[infosets0],
            np.full(len(infosets0), -1.0),
        ),
    ]
    row, column, value = (np.concatenate([part[k] for part in parts]) for k in range(3))
    matrix = sparse.csc_array((value, (row, column)), shape=(layout.rows, layout.columns))
    lower, upper = np.full(layout.columns, -np.inf), np.full(layout.columns, np.inf)
    cost = np.zeros(layout.columns)
    sequences = slice(layout.first_sequence, layout.first_value)
    lower[sequences] = 0.0
    lower[layout.first_sequence] = upper[layout.first_sequence] = 1.0
    np.add.at(cost, layout.first_sequence + payoff.row[at_root], payoff.data[at_root])
    if kind == "maxmargin":
        lower[1 : 1 + roots] = upper[1 : 1 + roots] = 0.0
        cost[0] = 1.0
    else:
        lower[0] = upper[0] = 0.0
        upper[1 : 1 + roots] = 0.0
        cost[1 : 1 + roots] = 1.0 / roots
    responses = np.zeros(layout.rows)
    row_upper = np.full(layout.rows, np.inf)
    row_upper[layout.first_flow :] = 0.0
    return LinearProgram(
        starts=matrix.indptr.astype(np.int32),
        index=matrix.indices.astype(np.int32),
        value=matrix.data,
        cost=cost,
        column_lower=lower,
        column_upper=upper,
        row_lower=responses,
        row_upper=row_upper,
    )


def _read(form: SequenceForm, layout: _Layout, kind: Kind, result: LpResult | None) -> Answer:
    """Plans from primal values and row duals (uniform ones without a result), margins and the saddle gap."""
    ours, theirs = form.treeplexes
    roots = layout.roots
    if result is None:
        primal, duals = np.zeros(layout.sequences0), np.zeros(layout.sequences1)
    else:
        primal = result.primal[layout.first_sequence : layout.first_value]
        duals = np.concatenate([[1.0], np.abs(result.row_dual[: layout.first_flow])])
    x = realization(ours, behaviour(ours, primal))
    played = behaviour(theirs, duals)
    if kind == "resolve":
        played[1 : 1 + roots] = np.clip(duals[1 : 1 + roots], 0.0, 1.0 / roots)
    y = realization(theirs, played)
    response = best_response(theirs, form.payoff_transposed @ x, maximize=False)
    margins = response.sequence_value[1 : 1 + roots]
    safe = float(margins.min()) if kind == "maxmargin" else float(np.minimum(margins, 0.0).mean())
    first = float((form.payoff_transposed @ x)[0])
    upper = best_response(ours, form.payoff @ y, maximize=True).value
    return Answer(x, y, margins, upper - (first + safe), False, 0, 0.0, 0.0)
