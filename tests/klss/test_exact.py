"""Exact equilibria: values of known games as fractions, certificates by walking the tree, and payoffs of all sizes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from klss.theory import exact
from klss.theory.best_response import worst_case as rounded_worst_case
from klss.theory.certificate import worst_case
from klss.theory.equilibrium import named, solve
from klss.theory.game import Game, GameBuilder
from klss.theory.sequence_form import sequence_form
from klss.theory.treeplex import behaviour, realization
from tests.klss import games


def table(payoffs: np.ndarray) -> Game:
    builder = GameBuilder()
    root = builder.add_decision(None, None, player=0, observations=("row", "wait"))
    for i, row in enumerate(payoffs):
        node = builder.add_decision(root, str(i), player=1, observations=(f"chose {i}", "column"))
        for j, payoff in enumerate(row):
            builder.add_terminal(node, str(j), utility=float(payoff))
    return builder.build()


def with_large_cells(seed: int) -> np.ndarray:
    """A table of small whole numbers or fractions, and a few cells of 1e8 to 1e12."""
    rng = np.random.default_rng(seed)
    size = rng.integers(4, 9, 2)
    payoffs = rng.integers(-5, 6, size).astype(float) if seed % 2 else rng.normal(size=size)
    for _ in range(rng.integers(1, 5)):
        payoffs[rng.integers(size[0]), rng.integers(size[1])] = rng.choice([-1, 1]) * 10.0 ** rng.integers(8, 13)
    return payoffs


PENNIES = np.array([[1e12, -1e12, 1 / 3], [-1e12, 1e12 + 1, 1 / 7], [1 / 5, 1 / 11, 1e12 / 3]])
"""For 1e12, in which an error of 1e-16 in a probability is worth more than the rest of the game."""


@pytest.mark.parametrize("payoffs", [*map(with_large_cells, range(30)), PENNIES])
def test_what_is_called_optimal_is_right_on_the_scale_of_the_value(payoffs: np.ndarray) -> None:
    solution = solve(sequence_form(table(payoffs)))
    # What both strategies guarantee, without rounding.
    cells = [[Fraction(cell) for cell in row] for row in payoffs.tolist()]
    x, y = ([Fraction(p) / sum(map(Fraction, plan)) for p in plan] for plan in (solution.x[1:], solution.y[1:]))
    low = min(sum(p * row[j] for p, row in zip(x, cells, strict=True)) for j in range(len(y)))
    high = max(sum(p * cell for p, cell in zip(y, row, strict=True)) for row in cells)
    scale = max(abs(solution.value), np.abs(payoffs[payoffs != 0.0]).min())
    if solution.status == "optimal":
        assert low - 1e-6 * scale <= solution.value <= high + 1e-6 * scale and high - low <= 1e-6 * scale
    else:
        assert solution.status == "failed" and solution.exploitability > 1e-8 * scale
    value = exact.solve(sequence_form(table(payoffs))).value
    assert low - 1e-6 * scale <= value <= high + 1e-6 * scale


@pytest.mark.parametrize("seed", range(12))
def test_exact_and_rounded_answers_are_one(seed: int) -> None:
    form = sequence_form(games.random_game(seed))
    found = exact.solve(form)
    assert float(found.value) == pytest.approx(solve(form).value, abs=1e-9)
    for player, plan in enumerate((found.x, found.y)):
        assert rounded_worst_case(form, player, plan) == pytest.approx(float(found.value), abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_a_certificate_is_what_a_best_response_leaves(seed: int) -> None:
    game, rng = games.random_game(seed), np.random.default_rng(seed)
    form = sequence_form(game)
    for player, treeplex in enumerate(form.treeplexes):
        weights = behaviour(treeplex, rng.integers(0, 4, treeplex.sequence_count).astype(float))
        fractions = [Fraction(weight).limit_denominator(100) for weight in weights.tolist()]
        left = worst_case(game, player, named(game, player, fractions))
        assert float(left) == pytest.approx(rounded_worst_case(form, player, realization(treeplex, weights)), abs=1e-9)


def test_a_certificate_refuses_what_is_no_strategy() -> None:
    game = games.kuhn()
    first, _ = exact.solve(sequence_form(game)).exact
    for wrong in ({"pass": Fraction(1, 2), "bet": Fraction(1, 3)}, {"pass": Fraction(3, 2), "bet": Fraction(-1, 2)}):
        with pytest.raises(ValueError, match="no distribution"):
            worst_case(game, 0, {**first, "1!": wrong})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("liars_dice(dice_sides=3)", Fraction(1, 9)),
        pytest.param("liars_dice(dice_sides=4)", Fraction(1, 16), marks=pytest.mark.slow),
        pytest.param("leduc_poker", None, marks=pytest.mark.slow),
    ],
)
def test_games_of_openspiel_in_fractions(name: str, value: Fraction | None) -> None:
    pytest.importorskip("pyspiel")
    from klss import openspiel

    form = sequence_form(openspiel.load(name))
    found, rounded = exact.solve(form), solve(form)
    assert float(found.value) == pytest.approx(rounded.value, abs=1e-12)
    assert value is None or found.value == value
