"""Exact equilibria: the value and both strategies as fractions, with a certificate.

A floating-point solver gives a basis of player 0's program, :mod:`klss.theory.rational` the optimum there, and
:mod:`klss.theory.certificate` proves it on the game itself. A game's floating-point numbers stand for the fractions of
:func:`klss.theory.certificate.simplest`: 1/6, where 0.16666666666666666 is stored.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from typing import cast

import numpy as np

from klss.errors import GameError, SolverError
from klss.theory import equilibrium
from klss.theory.certificate import ExactStrategy, probabilities, simplest, worst_case
from klss.theory.equilibrium import Solution, build_program, named
from klss.theory.folding import Smaller, fold
from klss.theory.game import Named
from klss.theory.rational import RationalProgram
from klss.theory.sequence_form import SequenceForm
from klss.theory.treeplex import Treeplex

_MOST = 20_000
"""Most rows and columns of a program in fractions."""


def solve(form: SequenceForm, *, time_limit_s: float | None = None, max_bytes: int | None = None) -> Solution:
    """Return an exact equilibrium of a game, in fractions; ``form`` is that of a game
    (:func:`klss.theory.sequence_form.sequence_form`).

    The other parameters are those of :func:`klss.theory.equilibrium.solve`, which gives the first basis. Raises
    GameError: its program is too large for fractions; SolverError: the optimum is too many pivots away, or its
    certificate does not hold.

    >>> from klss.theory.sequence_form import sequence_form
    >>> from klss.paper.tables import matching_pennies
    >>> solve(sequence_form(matching_pennies(3))).value
    Fraction(1, 3)
    """
    game = form.game
    assert game is not None, "the form is one of sequence_form"
    # The basis, in the game without its symmetries.
    folded = fold(form)
    lp = build_program(folded.form).program
    if lp.size > _MOST:
        raise GameError(f"exact: got a program of {lp.size:,} rows and columns, expected {_MOST:,}")
    rounded = equilibrium.solve(folded.form, time_limit_s=time_limit_s, max_bytes=max_bytes)
    # The optimum in fractions, and from it both players' behaviour in the whole game.
    ways = [_ways(folded, player) for player in (0, 1)]
    program = RationalProgram(lp, folded.form, _payoffs(form, ways))
    plans = program.optimum(rounded.basis, rounded.x.tolist())
    if plans is None:
        raise SolverError("exact: the solver's basis is too far from an optimum, expected one near it")
    whole = [[way * plan[k] for k, way in each] for each, plan in zip(ways, plans, strict=True)]
    first, second = (
        named(game, player, _behaviour(treeplex, plan))
        for player, (treeplex, plan) in enumerate(zip(form.treeplexes, whole, strict=True))
    )
    x, y = (np.array([float(each) for each in plan]) for plan in whole)
    found = proved(replace(rounded, x=x, y=y, game=game), (first, second))
    if found.exact is None:
        raise SolverError("exact: the strategies found guarantee two values, expected one")
    return found


def proved(solution: Solution, strategies: tuple[Named, Named]) -> Solution:
    """Return the solution with ``strategies`` and the value as fractions, if they are such and guarantee one value;
    otherwise as it is.
    """
    game = solution.game
    assert game is not None
    if not all(isinstance(p, Fraction) for named in strategies for row in named.values() for p in row.values()):
        return solution
    first, second = cast(tuple[ExactStrategy, ExactStrategy], strategies)
    try:
        low, high = worst_case(game, 0, first), worst_case(game, 1, second)
    except (KeyError, ValueError):  # an infoset or an action has no name, or a sum is not 1
        return solution
    if low != high:
        return solution
    return replace(solution, value=low, status="optimal", exploitability=0.0, exact=(first, second))


def _ways(folded: Smaller, player: int) -> list[tuple[int, Fraction]]:
    """Return, for each sequence of the whole game, its sequence in the folded one and its share of that plan."""
    if not folded.expansions:
        return [(s, Fraction(1)) for s in range(folded.whole.treeplexes[player].sequence_count)]
    matrix = folded.expansions[player]
    return list(zip(matrix.indices.tolist(), map(simplest, matrix.data.tolist()), strict=True))


def _payoffs(form: SequenceForm, ways: list[list[tuple[int, Fraction]]]) -> dict[tuple[int, int], Fraction]:
    """Return the payoffs of the folded game, from the ends of the whole one."""
    game = form.game
    assert game is not None
    reach: list[Fraction] = []
    for parent, probability in zip(game.parent.tolist(), probabilities(game), strict=True):
        reach.append(reach[parent] * probability if parent >= 0 else probability)
    payoffs: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
    mine, yours = game.sequences[0].tolist(), game.sequences[1].tolist()
    for z in game.terminals.tolist():
        (i, share), (j, other) = ways[0][mine[z]], ways[1][yours[z]]
        payoffs[i, j] += reach[z] * share * other * simplest(float(game.utility[z]))
    return payoffs


def _behaviour(treeplex: Treeplex, plan: list[Fraction]) -> list[Fraction]:
    """Return a plan's behaviour; uniform where the plan does not arrive."""
    weights = [Fraction(1)]
    for parent, first, size in zip(*(part.tolist() for part in treeplex.arrays), strict=True):
        weights += [each / plan[parent] if plan[parent] else Fraction(1, size) for each in plan[first : first + size]]
    return weights
