"""The gadget's linear program over a growing trunk, solved from the basis of the last one.

First the game is reduced: infosets at which the best action does not depend on the opponent are decided without a
program (:mod:`klss.search.equilibrium.reduction`). The rest has one layout for both gadgets, so that switching the
gadget changes only bounds and costs:

* columns: one value, of Maxmargin's root or of the exit in a cautious Resolve; the capped values of Resolve's root
  infosets (≤ 0, player 1 may exit); player 0's sequences; the values of player 1's infosets;
* rows: a response for each of player 1's sequences; a flow equation for each of player 0's infosets.

The last basis is carried over by the numbers of sequences and infosets, which a trunk's growth never changes within a
search. New columns and rows get a status by hand (docs/notebook/search.md, "Linear programs"): at a
new infoset of player 0 the best action against the last plans is basic; at a new infoset of player 1 its value is
basic, and every response but the least. From there dual simplex (devex) needs few steps. It can stall, so its
iterations are limited; after that the program is solved cold, by simplex with presolve and by interior point with
crossover. Every answer is judged by its saddle gap, recomputed in the whole game.

Simplex does not scale rows and columns: all entries are 1 or payoffs of at most 1, in which small ones matter little.
With HiGHS's scaling, which enlarges these, warm and cold starts stall now and then (above 6,000 iterations for 200).

A *cautious* Resolve is ours. The paper's nature draws a root infoset uniformly, but player 1 need not reach all of them
with the same probability. With caution c player 1 chooses the weights, each at most c/J, at most 1 in sum: c = 1 is
Resolve, c = J is Maxmargin with an exit. In between player 0 maximises the mean of the worst J/c margins, those above 0
counted as 0 (conditional value at risk; Rockafellar & Uryasev, Journal of Risk 2, 2000). For every c the value is 0
exactly if no margin is negative, so Resolve's guarantee stays.

At each step a new HiGHS object gets the whole program as arrays, and the basis. That takes a few milliseconds at 50,000
nodes; changing thousands of single coefficients of an old object from Python takes longer.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from klss.paper.subgame import Gadget
from klss.search.equilibrium.reduction import Reduction, favourites, reduced
from klss.search.gadget import gadget_form
from klss.search.profile import Profile
from klss.search.trunk import Trunk
from klss.support.arrays import Bools, Floats, Int8s, Ints
from klss.theory.best_response import best_response
from klss.theory.highs import AT_LOWER, AT_UPPER, BASIC, Attempt, Basis, LinearProgram, LinearSolver, LpResult, attempts
from klss.theory.treeplex import behaviour, realization

GAP = 1e-7
"""An answer with a larger recomputed saddle gap is no equilibrium (payoffs are within [−1, 1])."""

_WARM_PATIENCE = (0.1, 300)
"""Limit of simplex iterations of a warm start: for each row and column of the program, and its least value."""

_COLD_PATIENCE = (0.5, 1000)
"""The same, of a cold start."""


@dataclass(frozen=True)
class Answer:
    """A profile and the solver's statistics.

    Margins are player 1's best-response values at the root infosets against x, alternate values subtracted. The
    profile's margin is the least of them in Maxmargin, and :func:`resolve_value` of them in Resolve.
    """

    profile: Profile
    fallbacks: int  # how many methods failed before one answered
    solve_s: float  # seconds in the solver
    edit_s: float  # seconds in everything else: forms, reductions, programs, bases, reading plans


@dataclass(frozen=True)
class _Layout:
    """The columns and rows of the sequences and infosets of a reduced game; −1 for those that were reduced away."""

    roots: int
    columns: Ints  # of player 0's sequences
    rows: Ints  # of player 1's sequences
    values: Ints  # columns of player 1's infosets
    flows: Ints  # rows of player 0's infosets
    column_count: int
    row_count: int

    @classmethod
    def of(cls, game: Reduction) -> _Layout:
        """Return the layout of a reduced game."""
        ours, theirs = (game.kept(player) for player in range(2))
        first = 1 + game.roots
        columns = _numbered(ours, first)
        values = _numbered(game.alive[1], first + int(ours.sum()))
        rows = _numbered(theirs, -1)
        flows = _numbered(game.alive[0], int(theirs.sum()) - 1)
        width = first + int(ours.sum()) + int(game.alive[1].sum())
        height = int(theirs.sum()) - 1 + int(game.alive[0].sum())
        return cls(game.roots, columns, rows, values, flows, width, height)


def _numbered(kept: Bools, first: int) -> Ints:
    """Return consecutive numbers where ``kept``, from ``first`` on; −1 elsewhere."""
    return np.where(kept, np.cumsum(kept) - 1 + first, -1)


@dataclass(frozen=True)
class _Carried:
    """The start of the next program."""

    basis: Basis
    layout: _Layout
    profile: Profile


@dataclass
class GadgetProgram:
    """The programs of one search; :meth:`solve` is called with the same trunk, which grows in between."""

    # Whether the game is reduced first. If not, this is the reference of benchmarks and tests: the whole game's program
    # by simplex with presolve, from scratch and without our limits of iterations.
    reduce: bool = True
    caution: float = 1.0  # c ≥ 1 of Resolve, see the module
    _carried: _Carried | None = None

    def solve(
        self,
        trunk: Trunk,
        gadget: Gadget,
        penalty: Floats | None = None,
        *,
        iteration_limit: int | None = None,
        time_limit_s: float | None = None,
    ) -> Answer:
        """Return an equilibrium of the gadget, or the best profile found; never raises if the solver fails.

        ``penalty`` as in :func:`klss.search.gadget.gadget_form`; ``iteration_limit`` is that of a cold attempt,
        ``time_limit_s`` that of all attempts together.
        """
        # The program of the reduced game, and the basis to start from.
        began = time.perf_counter()
        form = gadget_form(trunk, penalty)
        game = reduced(form, trunk.group_count, fully=self.reduce)
        layout = _Layout.of(game)
        program = _assemble(game, layout, gadget, self.caution)
        start = self._start(game, layout, gadget)
        # Attempts: a warm start with few iterations, then from scratch, then interior point, then without our limit.
        warm, cold = (int(max(least, share * program.size)) for share, least in (_WARM_PATIENCE, _COLD_PATIENCE))
        plan = [
            Attempt("simplex", cold if iteration_limit is None else min(cold, iteration_limit)),
            Attempt("ipm", iteration_limit),
            Attempt("simplex", iteration_limit),
        ]
        if not self.reduce:
            plan = [Attempt("simplex", iteration_limit)]
        elif start is not None:
            plan.insert(0, Attempt("simplex", warm, basis=start))
        # Take the first that is solved, otherwise the one with the smallest gap. Keep only a solved program's basis.
        best: Profile | None = None
        solver = LinearSolver(program, scaled=False)
        solve_s, tried = 0.0, 0
        left = None if time_limit_s is None else time_limit_s - (time.perf_counter() - began)
        for _, result in attempts(solver, plan, left):
            tried += 1
            solve_s += result.seconds
            if not result.valid:
                continue
            profile = _read(game, layout, gadget, self.caution, result)
            if best is None or profile.gap < best.gap:
                best = profile
            if profile.solved:
                basis = solver.basis()
                self._carried = None if basis is None else _Carried(basis, layout, profile)
                break
        if best is None:
            best = _read(game, layout, gadget, self.caution, None)
        return Answer(best, max(0, tried - 1), solve_s, time.perf_counter() - began - solve_s)

    def _start(self, game: Reduction, layout: _Layout, gadget: Gadget) -> Basis | None:
        """Return the last basis, extended by hand to the present game; None if there is no usable one."""
        if self._carried is None or self._carried.layout.roots != layout.roots:
            return None
        basis, old = self._carried.basis, self._carried.layout
        # Defaults of new columns and rows: sequences at 0, responses slack, flows tight, values basic.
        columns = np.full(layout.column_count, AT_LOWER, dtype=np.int8)
        rows = np.full(layout.row_count, BASIC, dtype=np.int8)
        columns[layout.values[game.alive[1]]] = BASIC
        rows[layout.flows[game.alive[0]]] = AT_LOWER
        # Columns and rows that the last program had keep their status.
        columns[: 1 + layout.roots] = basis.columns[: 1 + layout.roots]
        for statuses, places, before, places_before in (
            (columns, layout.columns, basis.columns, old.columns),
            (columns, layout.values, basis.columns, old.values),
            (rows, layout.rows, basis.rows, old.rows),
            (rows, layout.flows, basis.rows, old.flows),
        ):
            lasting = np.flatnonzero((places_before >= 0) & (places[: len(places_before)] >= 0))
            statuses[places[lasting]] = before[places_before[lasting]]
        # At each new infoset one sequence is basic, or its row tight: the best against the last profile.
        fresh = (_fresh(layout.flows, old.flows), _fresh(layout.values, old.values))
        best, least = favourites(game, fresh, self._carried.profile.x, self._carried.profile.y)
        columns[layout.columns[best]] = BASIC
        rows[layout.rows[least]] = AT_LOWER
        if gadget != self._carried.profile.gadget:
            _switch(columns, rows, layout.roots, gadget, self.caution)
        # A basis has as many basic variables as rows; infosets reduced away since may have taken some with them.
        if int((columns == BASIC).sum() + (rows == BASIC).sum()) != layout.row_count:
            return None
        return Basis(columns, rows)


def _fresh(places: Ints, before: Ints) -> Bools:
    """Return which infosets of a layout had no place in the one before."""
    fresh = np.ones(len(places), dtype=np.bool_)
    fresh[: len(before)] = before < 0
    return fresh


def _switch(columns: Int8s, rows: Int8s, roots: int, gadget: Gadget, caution: float) -> None:
    """Change the root's part of a basis from the other gadget's to that of ``gadget``, in place."""
    # The number of basic variables must stay the same: each one taken out of the basis is replaced.
    capped = slice(1, 1 + roots)
    if gadget == "resolve":
        basic_root = columns[0] == BASIC
        columns[0] = AT_UPPER if caution > 1.0 else AT_LOWER
        tight = np.flatnonzero(rows[:roots] != BASIC)
        columns[capped] = AT_UPPER
        if basic_root and len(tight):
            columns[1 + tight[0]] = BASIC
    else:
        freed = np.flatnonzero(columns[capped] == BASIC)
        columns[capped] = AT_LOWER
        rows[freed] = BASIC
        if len(freed) and columns[0] != BASIC:
            rows[freed[0]] = AT_LOWER
            columns[0] = BASIC


def _assemble(game: Reduction, layout: _Layout, gadget: Gadget, caution: float) -> LinearProgram:
    """Return the gadget's program of the reduced game.

    ::

        maximise    w  +  (c/J) Σ_j m(j)  +  Σ_s x(s) u(s, ∅)               (Maxmargin has no m, a plain Resolve no w)
        subject to  x(∅) = 1,  x ≥ 0,  v free
                    Σ_s x(s) u(s, j)  +  Σ_{K after j} v(K)  −  w  −  m(j)  ≥ 0     for each root infoset j
                    Σ_s x(s) u(s, Ka)  +  Σ_{L after Ka} v(L)  −  v(K)      ≥ 0     for each action a at each other K
                    Σ_a x(Ia)  −  x(p(I))                                   = 0     at each infoset I of player 0
        Maxmargin   m = 0,  w free                                          w is the least margin
        Resolve     m ≤ 0,  w ≤ 0 if c > 1, otherwise w = 0                 m(j) is a margin, 0 if it is positive

    x(s) is the plan of player 0's sequence s, p(I) the sequence that leads to its infoset I, Ia its sequence of action
    a; u(s, t) the payoff of the gadget (alternate values are in u(∅, j)); v(K) player 1's least payoff from its infoset
    K on, "K after t" its infosets right after sequence t; J the number of root infosets, c the caution. The duals of
    the rows of j and Ka are player 1's plan.
    """
    # Payoffs at player 1's empty sequence are costs of player 0's sequences, all others are entries of response rows.
    roots = layout.roots
    at_root = game.columns == 0
    later = ~at_root
    payoff_column = layout.columns[game.rows]
    root = np.arange(roots)
    (own_parent, own_first, own_size), (parent, first, size) = (
        tuple(part[game.alive[player]] for part in game.infosets(player)) for player in range(2)
    )
    flow, value = layout.flows[game.alive[0]], layout.values[game.alive[1]]
    own, their = _sequences(own_first, own_size), _sequences(first, size)
    parts = [
        # responses: payoff + values of the infosets that follow − value of the sequence's infoset ≥ 0
        (layout.rows[game.columns[later]], payoff_column[later], game.values[later]),
        (root, np.zeros(roots, dtype=np.int64), np.full(roots, -1.0)),
        (root, 1 + root, np.full(roots, -1.0)),
        (layout.rows[their], np.repeat(value, size), np.full(len(their), -1.0)),
        (layout.rows[parent], value, np.ones(len(value))),
        # flow of player 0
        (np.repeat(flow, own_size), layout.columns[own], np.ones(len(own))),
        (flow, layout.columns[own_parent], np.full(len(flow), -1.0)),
    ]
    # Player 0's sequences are at least 0, the empty one is 1; values of infosets are free.
    lower, upper = np.full(layout.column_count, -np.inf), np.full(layout.column_count, np.inf)
    cost = np.zeros(layout.column_count)
    np.add.at(cost, payoff_column[at_root], game.values[at_root])
    lower[layout.columns[layout.columns >= 0]] = 0.0
    lower[layout.columns[0]] = upper[layout.columns[0]] = 1.0
    # The root: in Maxmargin the least margin counts, in Resolve each negative margin with weight at most caution/J.
    # Column 0 limits the weights' sum to 1, which a plain Resolve does not need.
    cost[0] = 1.0
    if gadget == "maxmargin":
        lower[1 : 1 + roots] = upper[1 : 1 + roots] = 0.0
    else:
        lower[0], upper[0] = (0.0 if caution <= 1.0 else -np.inf), 0.0
        upper[1 : 1 + roots] = 0.0
        cost[1 : 1 + roots] = caution / roots
    # Flow rows are equalities, response rows at least 0.
    row_upper = np.full(layout.row_count, np.inf)
    row_upper[flow] = 0.0
    return LinearProgram.of_entries(
        parts, cost=cost, column_bounds=(lower, upper), row_bounds=(np.zeros(layout.row_count), row_upper)
    )


def _sequences(first: Ints, size: Ints) -> Ints:
    """Return the sequences of some infosets, one infoset after the other."""
    ends = np.cumsum(size)
    return np.repeat(first - ends + size, size) + np.arange(int(ends[-1]) if len(ends) else 0)


def resolve_value(margins: Floats, caution: float = 1.0) -> float:
    """Return the value of Resolve with this caution at these margins (float64[J]): ≤ 0, and 0 iff none is negative.

    Examples
    --------
    >>> margins = np.array([-0.6, -0.2, 0.1, 0.5])
    >>> [round(resolve_value(margins, caution), 3) for caution in (1.0, 2.0, 4.0)]
    [-0.2, -0.4, -0.6]
    """
    share = min(1.0, caution / len(margins))
    weights = np.clip(1.0 - share * np.arange(len(margins)), 0.0, share)
    return float(np.sort(np.minimum(margins, 0.0)) @ weights)


def _read(game: Reduction, layout: _Layout, gadget: Gadget, caution: float, result: LpResult | None) -> Profile:
    """Return the profile of primal values and row duals, with its margin and saddle gap.

    Without a result player 1 plays uniformly, and player 0 a best response: a profile to move by, not an equilibrium.
    """
    # Player 0's plan is the primal values, player 1's the duals of the response rows.
    form, roots = game.form, layout.roots
    ours, theirs = form.treeplexes
    primal, duals = np.zeros(ours.sequence_count), np.zeros(theirs.sequence_count)
    if result is not None:
        ours_kept, theirs_kept = layout.columns >= 0, layout.rows >= 0
        primal[ours_kept] = result.primal[layout.columns[ours_kept]]
        duals[theirs_kept] = np.abs(result.row_dual[layout.rows[theirs_kept]])
        duals[0] = 1.0
    # Infosets that the reduction took out play their best sequence.
    played = behaviour(theirs, duals, game.fallback(1))
    # In Resolve the root sequences' weights need not sum to 1 (player 1 may exit), so they are not normalised.
    if gadget == "resolve" and result is not None:
        played[1 : 1 + roots] = np.clip(duals[1 : 1 + roots], 0.0, min(1.0, caution / roots))
    y = realization(theirs, played)
    if result is not None:
        x = realization(ours, behaviour(ours, primal, game.fallback(0)))
    else:
        x = best_response(ours, form.payoff @ y, maximize=True).plan
    response = best_response(theirs, form.payoff_transposed @ x, maximize=False)
    margins = response.sequence_value[1 : 1 + roots]
    safe = float(margins.min()) if gadget == "maxmargin" else resolve_value(margins, caution)
    first = float((form.payoff_transposed @ x)[0])
    upper = best_response(ours, form.payoff @ y, maximize=True).value
    gap = upper - (first + safe)
    return Profile(gadget, x, y, safe, first + safe, gap, pure=gadget == "resolve", solved=gap <= GAP)
