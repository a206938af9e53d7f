"""Among the equilibria one that stays best where mistakes happen: a sequential one, from a perturbed sequence form.

Source: Miltersen & Sørensen (SODA 2006; Economic Theory 42, 2010), who perturb the sequence form by powers of a symbol
ε; sequential equilibria: Kreps & Wilson (Econometrica 1982).

Built is the program of a small number: every action is played with probability ε at the least, by both players, so that
every infoset is reached and a best choice there matters. What is played above ε says which actions an equilibrium of
the limit uses; the probabilities where the equilibrium comes are then found exactly, by the unperturbed program over
these actions alone, and elsewhere they are the perturbed ones without their ε.

Deviation: ε is a number, so that an infoset after m mistakes weighs ε^m, and from ε^m of about 10⁻⁹ on, the solver's
tolerance, it isn't told from one that is never reached. There a best response to the perturbed opponent is played.

A gadget has whole faces of equilibria even over the actions that a refined one uses, and only player 0's plan is asked
for: there :func:`against_mistakes` adds the perturbed opponent to the program as a second objective.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from klss._highs import LinearProgram, LinearSolver
from klss.best_response import best_response, exploitability
from klss.equilibrium import Program, Solution, build_program, solve
from klss.errors import SolverError
from klss.sequence_form import SequenceForm
from klss.support.arrays import Floats
from klss.treeplex import Treeplex, behaviour, realization

__all__ = ["MISTAKES", "against_mistakes", "sequential"]

MISTAKES = (1e-3, 1e-4, 1e-5)
"""ε, the least probability of an action, less at infosets of very many: the first from which an equilibrium follows."""

_NOISE, _TOLERANCE = 1e-6, 1e-8
"""An action is used that is played above its floor by more than the first, or by the second over the plan of its
infoset."""

_WEIGHT = 1e-8
"""An infoset whose plans weigh less together is decided by a best response."""

_GAP = 1e-7
"""Of the largest payoff."""


def sequential(form: SequenceForm) -> Solution:
    """A sequential equilibrium: exact where it comes, and best against mistakes elsewhere.

    Parameters
    ----------
    form : SequenceForm

    Returns
    -------
    Solution
        Whose ``off_path`` has both players' behaviour at all infosets.

    Raises
    ------
    SolverError
        A program was not solved.
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
    """A program with a second objective: the value where player 1 plays every action with some probability.

    Maximised among the optima of the program's own objective it chooses a plan of player 0 that remains best where
    player 1 errs; the plan's own mistakes are left out, since nothing comes after them that could be chosen better.

    Parameters
    ----------
    program : Program
    mistake : float
        ε; what needs m mistakes weighs ε^m.

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
    # The same plan, with values of the erring opponent's infosets in columns of their own.
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
    """What follows from one ε; "failed" where that is no equilibrium."""
    # Which actions an equilibrium of the limit uses, by the perturbed game.
    x, y = _perturbed(form, mistake)
    weights = [_used(treeplex, plan, mistake) for treeplex, plan in zip(form.treeplexes, (x, y), strict=True)]
    # Where hardly anything comes, the program's tolerance decides; a best response does not know tolerances.
    mirror = _mirrored(form)
    for player, (seen, other) in enumerate(((form, y), (mirror, x))):
        _answer(seen, (x, y)[player], other, weights[player])
    # Where the equilibrium comes: the exact program over the actions that are used.
    gap = _GAP * max(1.0, form.unit)
    plans = [_exact(seen, weights[player]) for player, seen in enumerate((form, mirror))]
    behaviours = [
        behaviour(treeplex, plan, weights[player])
        for player, (treeplex, plan) in enumerate(zip(form.treeplexes, plans, strict=True))
    ]
    x, y = (realization(treeplex, each) for treeplex, each in zip(form.treeplexes, behaviours, strict=True))
    found = exploitability(form, x, y)
    return replace(
        exact,
        x=x,
        y=y,
        value=form.value(x, y),
        exploitability=found,
        status="optimal" if found <= gap else "failed",
        off_path=(behaviours[0], behaviours[1]),
    )


def _floor(treeplex: Treeplex, mistake: float) -> Floats:
    """float64[S]: ε at every sequence but the empty one."""
    least = np.minimum(mistake, 0.5 / treeplex.action_count)
    return np.concatenate([[0.0], np.repeat(least, treeplex.action_count)])


def _perturbed(form: SequenceForm, mistake: float) -> tuple[Floats, Floats]:
    """Both players' plans of the perturbed game."""
    t0, t1 = form.treeplexes
    perturbed = _perturbed_program(build_program(form, _floor(t0, mistake)), _floor(t1, mistake))
    result = LinearSolver(perturbed).solve("simplex")
    if result.status != "optimal":
        raise SolverError(f"refinement: the perturbed program ended with {result.status}, expected an optimum")
    return realization(t0, behaviour(t0, result.primal[: t0.sequence_count])), _response_plan(form, result.row_dual)


def _response_plan(form: SequenceForm, row_dual: Floats) -> Floats:
    """Player 1's plan, from the prices of the program's rows."""
    first, t1 = form.treeplexes[0].infoset_count, form.treeplexes[1]
    return realization(
        t1, behaviour(t1, np.concatenate([[1.0], np.abs(row_dual[first : first + t1.sequence_count - 1])]))
    )


def _perturbed_program(program: Program, least: Floats) -> LinearProgram:
    """The program against a player 1 that plays each sequence at least so often after the one before, float64[S1]."""
    lp, (t0, t1) = program.program, program.form.treeplexes
    # Player 1's floors y_s >= ε y_parent have prices µ_s >= 0: y_s pays -µ_s, its parent sequence gains ε µ_s.
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
    """Behaviour float64[S] without the floor: what is left above it, to a sum of 1."""
    above = plan[treeplex.parent_of_sequence]
    noise = np.maximum(_NOISE, _TOLERANCE / np.maximum(above, 1e-300))
    excess = behaviour(treeplex, plan) - _floor(treeplex, mistake)
    return behaviour(treeplex, np.where(excess > noise, excess, 0.0))


def _answer(form: SequenceForm, plan: Floats, other: Floats, weights: Floats) -> None:
    """Put player 0's best response to ``other`` into ``weights`` where ``plan`` and ``other`` hardly come."""
    treeplex = form.treeplexes[0]
    utility = form.payoff @ other
    # What the opponent's plan and nature weigh at each infoset's sequences, whatever is paid there.
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
    """Player 0's best plan that uses no other actions."""
    program = build_program(form).program
    upper = program.column_upper.copy()
    upper[1 : weights.size][weights[1:] == 0.0] = 0.0
    result = LinearSolver(replace(program, column_upper=upper)).solve("simplex")
    if result.status != "optimal":
        raise SolverError(f"refinement: the exact program ended with {result.status}, expected an optimum")
    return realization(form.treeplexes[0], behaviour(form.treeplexes[0], result.primal[: weights.size], weights))


def _mirrored(form: SequenceForm) -> SequenceForm:
    """The same game with the players' roles exchanged."""
    t0, t1 = form.treeplexes
    return SequenceForm((t1, t0), sparse.csr_array(-form.a.T), sparse.csr_array(-form.b.T), form.unit)
