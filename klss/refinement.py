"""An equilibrium that stays best after mistakes: a sequential one, from a perturbed sequence form.

Sources: Selten (1975), whose players tremble at each infoset by itself; Farina & Gatti (AAAI 2017) for the sequence
form of a game with such behavioural trembles; sequential equilibria: Kreps & Wilson (Econometrica 1982). It is not the
quasi-perfect equilibrium of Miltersen & Sørensen (Economic Theory 42, 2010), who perturb plans by powers of a symbol ε.

In the perturbed program both players play every action with probability at least ε, a small number, so that every
infoset is reached and the choice there matters. The actions played with more than ε are those that an equilibrium of
the limit uses. At infosets that the equilibrium reaches, the probabilities are then found exactly, by the unperturbed
program over these actions; elsewhere they are the perturbed ones without their ε.

Deviation: because ε is a number, an infoset after m mistakes has weight ε^m. From about 10⁻⁹ on, the solver's
tolerance, it can't be distinguished from one that is never reached; there a best response to the perturbed opponent is
played.

A gadget has whole faces of equilibria even over the actions that a refined one uses, and only player 0's plan is
needed: there :func:`against_mistakes` adds the perturbed opponent to the program as a second objective.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from klss._highs import LinearProgram, LinearSolver
from klss.best_response import best_response, exploitability
from klss.equilibrium import Program, Solution, build_program, solve, tolerance
from klss.errors import SolverError
from klss.sequence_form import SequenceForm
from klss.support.arrays import Floats
from klss.treeplex import Treeplex, behaviour, realization

MISTAKES = (1e-3, 1e-4, 1e-5)
"""ε, the least probability of an action (less at infosets with very many actions). These values are tried in this order
until an equilibrium follows.
"""

_NOISE, _TOLERANCE = 1e-6, 1e-8
"""An action counts as used if its probability exceeds its floor by more than the larger of the first number and the
second divided by the plan of its infoset."""

_WEIGHT = 1e-8
"""An infoset where the product of both plans is less, relative to the payoffs, is decided by a best response."""


def sequential(form: SequenceForm) -> Solution:
    """Return a sequential equilibrium: exact at infosets that it reaches, best against mistakes elsewhere.

    Parameters
    ----------
    form : SequenceForm

    Returns
    -------
    Solution
        ``off_path`` has both players' behaviour at all infosets.

    Raises
    ------
    SolverError
        A program was not solved, or no ε gave an equilibrium.
    """
    exact = solve(form)
    for mistake in MISTAKES:
        found = _refined(form, exact, mistake)
        if found.status == "optimal":
            return found
    raise SolverError(
        f"refinement: no equilibrium follows from mistakes of {', '.join(f'{mistake:g}' for mistake in MISTAKES)}; the "
        f"last has exploitability {found.exploitability:.3g}"
    )


def against_mistakes(program: Program, mistake: float = MISTAKES[0]) -> tuple[LinearProgram, Floats]:
    """Return a program with a second objective: the value if player 1 plays every action with some probability.

    Maximised over the optima of the program's own objective, it chooses a plan of player 0 that stays best if player 1
    errs. Player 0's own mistakes are left out, since nothing after them could be chosen better.

    Parameters
    ----------
    program : Program
    mistake : float
        ε; m mistakes have the weight ε^m.

    Returns
    -------
    LinearProgram, float64[C]
        The program with further columns and rows, and the objective, scaled by 1/ε.
    """
    lp, form = program.program, program.form
    t0, t1 = form.treeplexes
    own, columns = t0.sequence_count, lp.cost.size
    erring = _perturbed_program(build_program(form), _floor(t1, mistake))
    responses = erring.matrix.tocoo()
    kept = responses.row >= t0.infoset_count
    # Add the response rows of the erring opponent: the plan's columns are shared, its infosets' values get new columns.
    column = np.where(responses.col < own, responses.col, responses.col + columns - own)
    rows, added = lp.row_lower.size, erring.cost.size - own
    count = erring.row_lower.size - t0.infoset_count
    base = lp.matrix.tocoo()
    both = LinearProgram.of_entries(
        [
            (base.row, base.col, base.data),
            (responses.row[kept] - t0.infoset_count + rows, column[kept], responses.data[kept]),
        ],
        cost=np.concatenate([lp.cost, np.zeros(added)]),
        column_bounds=(
            np.concatenate([lp.column_lower, erring.column_lower[own:]]),
            np.concatenate([lp.column_upper, erring.column_upper[own:]]),
        ),
        row_bounds=(
            np.concatenate([lp.row_lower, np.zeros(count)]),
            np.concatenate([lp.row_upper, np.full(count, np.inf)]),
        ),
    )
    objective = np.concatenate([erring.cost[:own], np.zeros(columns - own), erring.cost[own:]])
    return both, objective / mistake


def _refined(form: SequenceForm, exact: Solution, mistake: float) -> Solution:
    """Return the refinement with one ε; its status is "failed" if it is no equilibrium."""
    # The actions that an equilibrium of the limit uses, from the perturbed game.
    x, y = _perturbed(form, mistake)
    weights = [_used(treeplex, plan, mistake) for treeplex, plan in zip(form.treeplexes, (x, y), strict=True)]
    # At infosets with a tiny reach the program's answer is within its tolerance; a best response is exact there.
    mirror = _mirrored(form)
    for player, (seen, other) in enumerate(((form, y), (mirror, x))):
        _answer(seen, (x, y)[player], other, weights[player])
    # At infosets that the equilibrium reaches: the exact program over the used actions.
    plans = [_exact(seen, weights[player]) for player, seen in enumerate((form, mirror))]
    behaviours = [
        behaviour(treeplex, plan, weights[player])
        for player, (treeplex, plan) in enumerate(zip(form.treeplexes, plans, strict=True))
    ]
    x, y = (realization(treeplex, each) for treeplex, each in zip(form.treeplexes, behaviours, strict=True))
    value, gap = form.value(x, y), exploitability(form, x, y)
    return replace(
        exact,
        x=x,
        y=y,
        value=value,
        exploitability=gap,
        status="optimal" if gap <= tolerance(form, value) else "failed",
        off_path=(behaviours[0], behaviours[1]),
    )


def _floor(treeplex: Treeplex, mistake: float) -> Floats:
    """Return ε at every sequence but the empty one, at most half of the uniform probability: float64[S]."""
    least = np.minimum(mistake, 0.5 / treeplex.action_count)
    return np.concatenate([[0.0], np.repeat(least, treeplex.action_count)])


def _perturbed(form: SequenceForm, mistake: float) -> tuple[Floats, Floats]:
    """Return both players' plans of the perturbed game."""
    t0, t1 = form.treeplexes
    perturbed = _perturbed_program(build_program(form, _floor(t0, mistake)), _floor(t1, mistake))
    result = LinearSolver(perturbed).solve("simplex")
    if result.status != "optimal":
        raise SolverError(f"refinement: the perturbed program ended with {result.status}, expected an optimum")
    return realization(t0, behaviour(t0, result.primal[: t0.sequence_count])), _response_plan(form, result.row_dual)


def _response_plan(form: SequenceForm, row_dual: Floats) -> Floats:
    """Return player 1's plan, from the duals of the program's rows."""
    first, t1 = form.treeplexes[0].infoset_count, form.treeplexes[1]
    return realization(
        t1, behaviour(t1, np.concatenate([[1.0], np.abs(row_dual[first : first + t1.sequence_count - 1])]))
    )


def _perturbed_program(program: Program, least: Floats) -> LinearProgram:
    """Return the program against a player 1 that plays each sequence with at least the behaviour ``least``,
    float64[S1].
    """
    lp, (t0, t1) = program.program, program.form.treeplexes
    # Player 1's floors y_s >= ε y_parent have duals µ_s >= 0, one column each: -µ_s in the row of s, ε µ_s in that of
    # its parent.
    count = t1.sequence_count - 1
    floor, parent = least[1:], t1.parent_of_sequence[1:]
    first = t0.infoset_count  # the row of player 1's sequence 1
    own = (first + np.arange(count), np.arange(count), np.full(count, -1.0))
    later = np.flatnonzero(parent > 0)
    base = lp.matrix.tocoo()
    columns = lp.cost.size
    return LinearProgram.of_entries(
        [
            (base.row, base.col, base.data),
            (own[0], columns + own[1], own[2]),
            (first - 1 + parent[later], columns + later, floor[later]),
        ],
        cost=np.concatenate([lp.cost, np.where(parent == 0, floor, 0.0)]),
        column_bounds=(
            np.concatenate([lp.column_lower, np.zeros(count)]),
            np.concatenate([lp.column_upper, np.full(count, np.inf)]),
        ),
        row_bounds=(lp.row_lower, lp.row_upper),
    )


def _used(treeplex: Treeplex, plan: Floats, mistake: float) -> Floats:
    """Return the behaviour without the floor, float64[S]: the parts above it, scaled to a sum of 1."""
    # The solver's error in a plan becomes larger in the behaviour, by the plan of the parent sequence.
    above = plan[treeplex.parent_of_sequence]
    noise = np.maximum(_NOISE, _TOLERANCE / np.maximum(above, 1e-300))
    excess = behaviour(treeplex, plan) - _floor(treeplex, mistake)
    return behaviour(treeplex, np.where(excess > noise, excess, 0.0))


def _answer(form: SequenceForm, plan: Floats, other: Floats, weights: Floats) -> None:
    """Put player 0's best response to ``other`` into ``weights`` where ``plan`` and ``other`` have a tiny reach."""
    treeplex = form.treeplexes[0]
    utility = form.payoff @ other
    # The weight of the opponent's plan and nature at each infoset's sequences, by absolute payoffs.
    seen = abs(form.payoff) @ other
    for i in range(treeplex.infoset_count - 1, -1, -1):
        first, stop = int(treeplex.first_sequence[i]), int(treeplex.first_sequence[i] + treeplex.action_count[i])
        seen[treeplex.parent_sequence[i]] += seen[first:stop].max()
    values = best_response(treeplex, utility, maximize=True).sequence_value
    for i in range(treeplex.infoset_count):
        first, stop = int(treeplex.first_sequence[i]), int(treeplex.first_sequence[i] + treeplex.action_count[i])
        if plan[treeplex.parent_sequence[i]] * seen[first:stop].max() < _WEIGHT * form.unit:
            weights[first:stop] = 0.0
            weights[first + int(np.argmax(values[first:stop]))] = 1.0


def _exact(form: SequenceForm, weights: Floats) -> Floats:
    """Return player 0's optimal plan over the actions with positive ``weights``."""
    program = build_program(form).program
    upper = program.column_upper.copy()
    upper[1 : weights.size][weights[1:] == 0.0] = 0.0
    result = LinearSolver(replace(program, column_upper=upper)).solve("simplex")
    if result.status != "optimal":
        raise SolverError(f"refinement: the exact program ended with {result.status}, expected an optimum")
    return realization(form.treeplexes[0], behaviour(form.treeplexes[0], result.primal[: weights.size], weights))


def _mirrored(form: SequenceForm) -> SequenceForm:
    """Return the same game with the players exchanged."""
    t0, t1 = form.treeplexes
    return SequenceForm((t1, t0), sparse.csr_array(-form.a.T), sparse.csr_array(-form.b.T), form.unit, form.least)
