"""Equilibria of sequence-form games by linear programming: build, solve, read back, and measure the result.

Source: Koller, Megiddo & von Stengel (STOC 1994). The program is player 0's: columns are that player's realization plan
x >= 0 and one free value v per infoset of player 1; rows are flow constraints and one per non-empty sequence of player
1, which says that the sequence can't give player 1 less than its infoset's value. y = the absolute row duals,
renormalised per infoset from the top.

Deviations: the empty sequence of player 1 has no row, it is the objective. At infosets that y or x does not reach the
plan is 0; :func:`klss.theory.treeplex.behaviour` gives a behaviour there, uniform by default. The solver's status is
not trusted: the gap is recomputed by best responses, and if it is too large, another method is tried. The solver's
tolerances are absolute, so that one payoff that is a billion times the others can hide them: then the answer is none,
and :mod:`klss.theory.exact` has it.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np

from klss.errors import GameError
from klss.support.arrays import Floats
from klss.support.memory import check_memory
from klss.support.whole_file import write_whole
from klss.theory.best_response import exploitability
from klss.theory.certificate import ExactStrategy
from klss.theory.game import Game, Named
from klss.theory.highs import Attempt, Basis, LinearProgram, LinearSolver, LpResult, attempts
from klss.theory.sequence_form import SequenceForm
from klss.theory.treeplex import Treeplex, behaviour, realization, uniform_behaviour

T = TypeVar("T")

Status = Literal["optimal", "iteration_limit", "time_limit", "failed"]

_GAP = 1e-7
"""Largest gap of an optimum, as a share of its value or of the least payoff, whatever status the solver reports."""

_PATIENCE, _PATIENCE_LEAST = 0.5, 1000
"""Limit of simplex iterations: for each row and column of the program, and its least value. A run that takes more
probably stalls, as in degenerate games, for which interior point is better.
"""

_BYTES_A_NONZERO, _BYTES_A_LINE, _BYTES_AT_LEAST = 160, 500, 10_000_000
"""Memory of a program while it is solved, in bytes, measured on games of 8,000 to 220,000 nonzeros; a line is a row or
column. Factorisations with much fill-in can take more.
"""

_UNITS = (2.0**-4, 2.0**10)
"""Range of the payoffs outside which they are scaled, because the solver's tolerances are absolute."""


@dataclass(frozen=True)
class SolveStats:
    """The size of the program, and how it was solved."""

    rows: int
    columns: int
    nonzeros: int
    method: str  # that gave the answer
    iterations: int  # of all attempts
    seconds: float  # of all attempts
    attempts: tuple[str, ...]  # methods, and how each ended


@dataclass(frozen=True, eq=False)
class Source:
    """Where a game comes from."""

    name: str = ""
    constant: float = 0.0  # the sum of both players' payoffs, in a file of Gambit
    spiel: Any = None  # the pyspiel.Game, in turns
    implicit: Any = None  # the ImplicitForm of a game that was not listed


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """A strategy profile and its quality. A notebook shows it as a page, with the tree of a small game.

    Attributes
    ----------
    value : float or Fraction
        Player 0's payoff of the profile; a fraction if the solution is exact.
    x : float64[S0], y : float64[S1]
        Realization plans.
    status : "optimal" | "iteration_limit" | "time_limit" | "failed"
        "optimal": the recomputed gap is within tolerance. A limit: the best plans found before it was reached.
        "failed": no method gave an optimum; the plans are the best found (uniform if there are none), with their
        ``exploitability``.
    exploitability : float
        As recomputed by best responses (:func:`klss.theory.best_response.exploitability`).
    stats : SolveStats
    game : Game, optional
        The game solved, if the sequence form has it.
    basis : Basis, optional
        The solver's last basis of the program.
    exact : two of dict of str to dict of str to Fraction, optional
        Both strategies in fractions, if the solution is exact.
    source : Source
        Where the game comes from.
    """

    value: float | Fraction
    x: Floats
    y: Floats
    status: Status
    exploitability: float
    stats: SolveStats
    game: Game | None = None
    basis: Basis | None = None
    exact: tuple[ExactStrategy, ExactStrategy] | None = None
    source: Source = Source()

    def __repr__(self) -> str:
        value = str(self.value) if self.exact else f"{self.value:.6g}"
        return (
            f"<{self.source.name or 'solution'}: value {value} for player 0, exploitability "
            f"{max(0.0, self.exploitability):.2g}, {self.status.replace('_', ' ')} ({self.stats.method})>"
        )

    def _repr_html_(self) -> str:
        from klss.theory.html import page

        title = repr(self)[1:-1]
        return title if self.game is None else page(title, self.game, (self.strategy(0), self.strategy(1)))

    def strategy(self, player: int) -> Named:
        """Return the strategy of ``player``, 0 or 1: infoset's name -> action's name -> probability.

        At infosets that the plan does not reach it is uniform. Probabilities are fractions if the solution is exact.

        Raises
        ------
        GameError
            No such player, or no names, because the sequence form solved has no game.

        >>> import klss
        >>> klss.solve("kuhn_poker").strategy(1)["2b"]
        {'Pass': 0.0, 'Bet': 1.0}
        """
        if player not in (0, 1):
            raise GameError(f"player {player!r}: expected 0 or 1")
        if self.game is None:
            raise GameError("strategy: got a solution of a game that is not listed, so that its infosets have no names")
        if self.exact is not None:
            return self.exact[player]
        weights = behaviour(self.game.treeplex(player), (self.x, self.y)[player])
        return named(self.game, player, weights.tolist())

    def policy(self) -> Any:
        """Return both strategies as OpenSpiel's ``TabularPolicy``. Raises GameError: the game is not OpenSpiel's, or
        its infosets are histories (``recall="history"``).

        >>> import klss
        >>> from open_spiel.python.algorithms.exploitability import nash_conv
        >>> policy = klss.solve("kuhn_poker").policy()
        >>> bool(nash_conv(policy.game, policy) < 1e-9)
        True
        """
        if self.source.spiel is None:
            raise GameError("policy: got a solution of a game that is not OpenSpiel's; strategy() has it by names")
        from klss.openspiel.strategies import tabular

        return tabular(self.source.spiel, (self.strategy(0), self.strategy(1)))

    def save(self, path: str | Path) -> None:
        """Write both strategies as JSON, which :func:`klss.load` reads. Raises OSError."""
        document: dict[str, object] = {"game": self.source.name, "value": self.value, "status": self.status}
        document |= {"method": self.stats.method} | ({} if self.game is None or self.game.whole else {"alike": True})
        document["players"] = [{"infosets": self.strategy(player)} for player in (0, 1)]
        write_whole(Path(path), json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False, default=str) + "\n")


def named(game: Game, player: int, weights: Sequence[T]) -> dict[str, dict[str, T]]:
    """Return a behaviour, one entry a sequence, by names: infoset -> action -> entry."""
    observations, found = game.observations[player], dict[str, dict[str, T]]()
    starts = game.treeplex(player).first_sequence.tolist()
    for first, infoset in zip(starts, observations.turn_infosets.tolist(), strict=True):
        names = observations.action_names[infoset]
        row, key = dict(zip(names, weights[first : first + len(names)], strict=True)), str(observations.keys[infoset])
        found |= dict.fromkeys([key] if observations.alike is None else observations.alike(key), row)
    return found


@dataclass(frozen=True, eq=False)
class Program:
    """Player 0's linear program. Columns: ``x`` (S0), then one value for each infoset of player 1 (I1). Rows: flow
    (I0), responses (S1 - 1), floors.
    """

    program: LinearProgram
    form: SequenceForm
    floor: Floats | None


def build_program(form: SequenceForm, x_floor: Floats | None = None) -> Program:
    """Assemble player 0's program; ``x_floor`` float64[S0] is each sequence's least behaviour probability.

    ::

        maximise    Σ_s x(s) u(s, ∅)  +  Σ_{J after ∅} v(J)
        subject to  x(∅) = 1,  x ≥ 0,  v free
                    Σ_a x(Ia) − x(p(I))                             = 0     at each infoset I of player 0
                    Σ_s x(s) u(s, Ja)  +  Σ_{K after Ja} v(K)  −  v(J)  ≥ 0     for each action a at each J of player 1
                    x(Ia) − floor(Ia) x(p(I))                           ≥ 0     for each Ia that has a floor

    x(s) is the plan of player 0's sequence s, p(I) the sequence that leads to infoset I, Ia its sequence of action a; ∅
    the empty sequence of either player; u(s, t) the payoff A + B at a pair of sequences; v(J) player 1's least payoff
    (to player 0) from its infoset J on, "J after t" its infosets right after sequence t. The duals of the rows of Ja
    are player 1's plan y(Ja).
    """
    t0, t1 = form.treeplexes
    s0, s1, i0, i1 = t0.sequence_count, t1.sequence_count, t0.infoset_count, t1.infoset_count
    # Payoffs at player 1's empty sequence are costs, the others are entries of the responses' rows.
    payoff = form.payoff.tocoo()
    later = payoff.col > 0
    floored = np.flatnonzero(x_floor > 0.0) if x_floor is not None else np.zeros(0, np.int64)
    parts = [
        # flow of player 0: sum of an infoset's sequences = its parent sequence
        (t0.infoset_of_sequence[1:], np.arange(1, s0), np.ones(s0 - 1)),
        (np.arange(i0), t0.parent_sequence, np.full(i0, -1.0)),
        # responses: payoff of the sequence + values of the infosets after it - value of its infoset >= 0
        (i0 - 1 + payoff.col[later], payoff.row[later], payoff.data[later]),
        (i0 + np.arange(s1 - 1), s0 + t1.infoset_of_sequence[1:], np.full(s1 - 1, -1.0)),
    ]
    inner = t1.parent_sequence > 0
    parts.append((i0 - 1 + t1.parent_sequence[inner], s0 + np.flatnonzero(inner), np.ones(int(inner.sum()))))
    if x_floor is not None and floored.size:
        rows = i0 + s1 - 1 + np.arange(floored.size)
        parts.append((rows, floored, np.ones(floored.size)))
        parts.append((rows, t0.parent_of_sequence[floored], -x_floor[floored]))
    # Maximise the values of player 1's first infosets plus the payoffs at its empty sequence.
    row_count = i0 + s1 - 1 + floored.size
    cost = np.zeros(s0 + i1)
    np.add.at(cost, payoff.row[~later], payoff.data[~later])
    cost[s0:][~inner] = 1.0
    # x is a plan: entries at least 0, the empty sequence 1. The infosets' values are free.
    lower = np.concatenate([np.zeros(s0), np.full(i1, -np.inf)])
    upper = np.full(s0 + i1, np.inf)
    lower[0] = upper[0] = 1.0
    program = LinearProgram.of_entries(
        parts,
        cost=cost,
        column_bounds=(lower, upper),
        row_bounds=(np.zeros(row_count), np.concatenate([np.zeros(i0), np.full(row_count - i0, np.inf)])),
    )
    return Program(program, form, x_floor)


def scaling(form: SequenceForm) -> float:
    """Return the factor by which the payoffs are multiplied for the solver; 1 for most games.

    The least payoff decides: a large one that nobody plays for must not make the others vanish in the tolerances.
    """
    if _UNITS[0] <= form.unit <= _UNITS[1]:
        return 1.0
    least, most = math.frexp(form.least)[1], math.frexp(form.unit)[1]
    return math.ldexp(1.0, max(-1000, min(1000, -least, 1000 - most)))  # a power of two: no digit is lost


def tolerance(form: SequenceForm, value: float) -> float:
    """Return the largest gap of an optimum: small beside the value, or beside the least payoff if that is larger."""
    return _GAP * max(abs(value), form.least)


def read_back(program: Program, result: LpResult) -> tuple[Floats, Floats]:
    """Return the plans x and y of a run's primal values and row duals."""
    # Go through the behaviour, so that x and y are plans exactly and not only up to the solver's tolerance.
    t0, t1 = program.form.treeplexes
    weights = behaviour(t0, result.primal[: t0.sequence_count])
    if program.floor is not None:
        weights = _lifted(weights, program.floor, t0)
    first = t0.infoset_count  # the first row of player 1's non-empty sequences
    duals = np.concatenate([[1.0], np.abs(result.row_dual[first : first + t1.sequence_count - 1])])
    return realization(t0, weights), realization(t1, behaviour(t1, duals))


def _lifted(weights: Floats, floor: Floats, treeplex: Treeplex) -> Floats:
    """Return a behaviour with entries below the floor raised to it; the parts above it are scaled to make the sum 1."""
    if not treeplex.infoset_count:
        return weights
    above = np.maximum(weights - floor, 0.0)
    total = np.add.reduceat(above, treeplex.first_sequence)
    rest = 1.0 - np.add.reduceat(floor, treeplex.first_sequence)
    ratio = np.where(total > 0.0, rest / np.where(total > 0.0, total, 1.0), 0.0)
    out: Floats = floor + above * np.concatenate([[0.0], ratio])[treeplex.infoset_of_sequence + 1]
    out[0] = 1.0
    return out


def solve(form: SequenceForm, *, time_limit_s: float | None = None, max_bytes: int | None = None) -> Solution:
    """Return an equilibrium of ``form``: by dual simplex, or by interior point where simplex makes no progress.

    Parameters
    ----------
    form : SequenceForm
    time_limit_s : float, optional
        Most seconds of all attempts together.
    max_bytes : int, optional
        Most bytes of this process; checked before the program is built, by an estimate.

    Raises
    ------
    TooLargeError
        More than ``max_bytes``.
    """
    # Each sequence and each infoset has one entry besides the payoffs.
    lines = sum(treeplex.sequence_count + treeplex.infoset_count for treeplex in form.treeplexes)
    takes = _BYTES_AT_LEAST + _BYTES_A_NONZERO * (int(form.payoff.nnz) + lines) + _BYTES_A_LINE * lines
    check_memory("linear program: solving it", takes, max_bytes)
    begin = time.perf_counter()
    # Scale very large or small payoffs to a size at which the solver's absolute tolerances are sensible.
    factor = scaling(form)
    if factor != 1.0:
        form = replace(form, a=form.a * factor, b=form.b * factor, unit=form.unit * factor, least=form.least * factor)
    program = build_program(form)
    lp = program.program
    # Take the first attempt with a small enough gap, otherwise the best one. Stop at the caller's limit.
    x, y = (realization(treeplex, uniform_behaviour(treeplex)) for treeplex in form.treeplexes)
    gap, status = exploitability(form, x, y), "failed"
    used, iterations, tried = "none", 0, list[str]()
    patience = int(max(_PATIENCE_LEAST, _PATIENCE * lp.size))
    left = None if time_limit_s is None else time_limit_s - (time.perf_counter() - begin)
    solver = LinearSolver(lp)
    basis: Basis | None = None
    plan = [Attempt("simplex", patience), Attempt("ipm"), Attempt("simplex")]
    for attempt, result in attempts(solver, plan, left):
        iterations += result.iterations
        tried.append(f"{attempt.method}: {result.status}")
        if result.valid:
            found = read_back(program, result)
            now = exploitability(form, *found)
            if used == "none" or now < gap:
                (x, y), gap, used, basis = found, now, attempt.method, solver.basis()
            if gap <= tolerance(form, form.value(x, y)):
                status = "optimal"
                break
        if result.status == "time_limit":
            status = result.status
            break
    stats = SolveStats(
        rows=lp.row_lower.size,
        columns=lp.cost.size,
        nonzeros=lp.value.size,
        method=used,
        iterations=iterations,
        seconds=time.perf_counter() - begin,
        attempts=tuple(tried),
    )
    value = form.value(x, y) / factor
    return Solution(value, x, y, status, gap / factor, stats, form.game, basis=basis)  # type: ignore[arg-type]
