"""Laws of sequence form, best response and equilibrium, over every solver; values of known games."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from klss.errors import TooLargeError
from klss.paper.tables import blueprint_of
from klss.support.memory import resident_bytes
from klss.theory import first_order
from klss.theory.best_response import best_response, exploitability, worst_case
from klss.theory.equilibrium import Solution, solve
from klss.theory.game import GameBuilder
from klss.theory.sequence_form import SequenceForm, sequence_form
from klss.theory.treeplex import Treeplex, behaviour, realization, uniform_behaviour
from tests.klss import games
from tests.klss.one_method import solve_by

METHODS = ("simplex", "ipm")


def random_treeplex(rng: np.random.Generator, infosets: int) -> Treeplex:
    counts, parents, sequences = [], [], 1
    for _ in range(infosets):
        parents.append(int(rng.integers(sequences)))
        counts.append(int(rng.integers(1, 4)))
        sequences += counts[-1]
    count = np.array(counts, np.int64)
    return Treeplex(np.array(parents, np.int64), 1 + np.cumsum(count) - count, count)


def pure_plans(treeplex: Treeplex) -> list[np.ndarray]:
    """Every pure realization plan, by listing one action an infoset: slow and obvious."""
    plans = []
    for choice in itertools.product(*(range(int(c)) for c in treeplex.action_count)):
        plan = np.zeros(treeplex.sequence_count)
        plan[0] = 1.0
        for i, a in enumerate(choice):
            plan[treeplex.first_sequence[i] + a] = plan[treeplex.parent_sequence[i]]
        plans.append(plan)
    return plans


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("maximize", [True, False])
def test_best_response_equals_the_best_pure_plan_of_all(seed: int, maximize: bool) -> None:
    rng = np.random.default_rng(seed)
    treeplex = random_treeplex(rng, 6)
    utility = rng.normal(size=treeplex.sequence_count)
    values = [plan @ utility for plan in pure_plans(treeplex)]
    response = best_response(treeplex, utility, maximize)
    assert response.value == pytest.approx(max(values) if maximize else min(values), abs=1e-12)
    assert response.plan @ utility == pytest.approx(response.value, abs=1e-12)
    children = np.bincount(treeplex.parent_sequence, weights=response.infoset_value, minlength=treeplex.sequence_count)
    np.testing.assert_allclose(response.sequence_value, utility + children, atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_behaviour_and_realization_are_inverse_on_reached_infosets(seed: int) -> None:
    rng = np.random.default_rng(seed)
    treeplex = random_treeplex(rng, 8)
    plan = realization(treeplex, behaviour(treeplex, rng.random(treeplex.sequence_count)))
    np.testing.assert_allclose(realization(treeplex, behaviour(treeplex, plan)), plan, atol=1e-14)
    for i in range(treeplex.infoset_count):
        s = treeplex.first_sequence[i]
        assert plan[s : s + treeplex.action_count[i]].sum() == pytest.approx(plan[treeplex.parent_sequence[i]])


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=15, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_the_value_is_what_both_plans_guarantee(method: str, seed: int) -> None:
    form = sequence_form(games.random_game(seed))
    with pytest.MonkeyPatch.context() as patch:
        solve_by(patch, method)
        solution = solve(form)
    assert worst_case(form, 0, solution.x) == pytest.approx(solution.value, abs=1e-8)
    assert worst_case(form, 1, solution.y) == pytest.approx(solution.value, abs=1e-8)
    assert 0.0 <= solution.exploitability + 1e-12 < 1e-8
    assert exploitability(form, solution.x, solution.y) == pytest.approx(solution.exploitability, abs=1e-12)


@settings(max_examples=10, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), epsilon=st.floats(0.05, 1.0))
def test_a_floor_is_kept_and_what_it_costs_is_never_a_gain(seed: int, epsilon: float) -> None:
    form = sequence_form(games.random_game(seed))
    t0 = form.treeplexes[0]
    floor = epsilon * uniform_behaviour(t0)
    floor[0] = 0.0
    held = blueprint_of(form, floor).x
    other = realization(t0, floor + (1.0 - epsilon) * behaviour(t0, np.random.default_rng(seed).random(floor.size)))
    assert worst_case(form, 0, other) - 1e-8 <= worst_case(form, 0, held) <= solve(form).value + 1e-8
    assert (held[1:] >= floor[1:] * held[t0.parent_of_sequence[1:]] - 1e-9).all()


def test_entries_of_b_and_infosets_without_payoffs_are_solved() -> None:
    # Player 0 picks one of two; player 1 has an infoset with no payoff at all; the information term (first column) tips
    # the choice, the top row shifts it.
    t0 = Treeplex(np.array([0]), np.array([1]), np.array([2]))
    t1 = Treeplex(np.array([0, 2]), np.array([1, 3]), np.array([2, 2]))
    a = sparse.csr_array(np.array([[0.0] * 5, [0, 1, 0, 0, 0], [0, 1, 0, 0, 0]]))
    b = sparse.csr_array(np.array([[0.0, -3, -2.5, 0, 0], [0, 0, 0, 0, 0], [0.25, 0, 0, 0, 0]]))
    solution = solve(SequenceForm((t0, t1), a, b))
    assert solution.x.tolist() == [1.0, 0.0, 1.0]
    assert solution.value == pytest.approx(0.25 - 2.5)
    assert solution.exploitability == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [1.0, 1e-300, 1e-9, 1e-5, 1e9, 1e300])
def test_the_size_of_the_payoffs_changes_neither_strategies_nor_how_exact_they_are(
    size: float, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    solve_by(monkeypatch, method)
    game = games.kuhn()  # worth -1/18: Kuhn (1950)
    sized = solve(sequence_form(dataclasses.replace(game, utility=game.utility * size)))
    assert sized.status == "optimal"
    assert sized.value / size == pytest.approx(-1 / 18, rel=1e-9)
    assert 0.0 <= sized.exploitability / size + 1e-12 < 1e-9
    assert worst_case(sequence_form(game), 0, sized.x) == pytest.approx(-1 / 18, rel=1e-9)


def test_a_game_without_decisions_is_worth_what_chance_makes_of_it() -> None:
    alone, drawn = GameBuilder(), GameBuilder()
    alone.add_terminal(None, None, utility=3.0)
    root = drawn.add_chance(None, None)
    for edge, utility in (("a", 1.0), ("b", 2.0)):
        drawn.add_terminal(root, edge, utility=utility, probability=0.5)
    for builder, value in ((alone, 3.0), (drawn, 1.5)):
        solution = solve(sequence_form(builder.build()))
        assert (solution.status, solution.value, solution.exploitability) == ("optimal", value, 0.0)
        assert solution.x.tolist() == solution.y.tolist() == [1.0]


@pytest.mark.parametrize("method", [solve, first_order.solve])
def test_what_would_take_more_memory_than_allowed_is_refused_before_it_is_built(
    method: Callable[..., Solution], monkeypatch: pytest.MonkeyPatch
) -> None:
    form = sequence_form(games.kuhn())
    monkeypatch.setattr("klss.theory.equilibrium.build_program", lambda *_: pytest.fail("it was built"))
    monkeypatch.setattr("klss.theory.first_order.FirstOrder", lambda *_: pytest.fail("it was built"))
    with pytest.raises(TooLargeError, match="raise the limit of memory"):
        method(form, max_bytes=resident_bytes() // 2)


def test_a_run_cut_short_says_so_and_its_gap_is_measured() -> None:
    form = sequence_form(games.kuhn())
    solution = solve(form, time_limit_s=0.0)
    assert solution.status == "time_limit" and solution.exploitability > 1e-3
    assert solution.exploitability == pytest.approx(exploitability(form, solution.x, solution.y))
    assert solution.x[0] == 1.0 and solution.y[0] == 1.0
