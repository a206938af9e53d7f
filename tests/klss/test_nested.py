"""What the paper guarantees of nested k-KLSS, and only that, over every way and order; and the harm that Proposition 3
predicts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from klss.paper.nested import Blueprint, allocated, every_infoset, infoset_colours, update_blueprint
from klss.paper.selection import TOLL, select
from klss.paper.subgame import Subgame, counterfactual_values, make_subgame
from klss.paper.tables import blueprint_of, floor_of
from klss.theory.best_response import worst_case
from klss.theory.equilibrium import build_program, solve
from klss.theory.game import Game, GameBuilder
from klss.theory.highs import lexicographic
from klss.theory.sequence_form import SequenceForm, sequence_form
from klss.theory.treeplex import behaviour, realization
from tests.klss import games
from tests.oracles.resolve import maxmargin_to_resolve

ORDERS = (1, 3, 5, math.inf)
# Rounding of the solver, per subgame.
SLACK = 1e-6


def restricted(game: Game, epsilon: float) -> tuple[SequenceForm, Blueprint]:
    form = sequence_form(game)
    if not epsilon:
        return form, Blueprint(solve(form).x)
    return form, blueprint_of(form, floor_of(game, "uniform", epsilon))


@pytest.mark.parametrize("played", [False, True])
@pytest.mark.parametrize("gadget", ["maxmargin", "maxmargin-reach"])  # with reach: docs/search.md, "Reach is safe"
@pytest.mark.parametrize("order", ORDERS)
@settings(max_examples=3, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**5), epsilon=st.sampled_from([0.0, 0.25, 0.6]))
def test_theorem_4_updating_the_blueprint_never_raises_exploitability(
    order: float, gadget: str, played: bool, seed: int, epsilon: float
) -> None:
    game = games.random_game(seed, depth=4 if gadget == "maxmargin" else 5)  # deep: mistakes one after the other
    form, blueprint = restricted(game, epsilon)
    last = worst_case(form, 0, blueprint.x)
    for plan in update_blueprint(game, blueprint, method=f"{order:g}-klss", gadget=gadget, played=played):
        now = worst_case(form, 0, plan)
        assert now >= last - SLACK
        last = now


@pytest.mark.parametrize("played", [False, True])
@pytest.mark.parametrize("order", ORDERS)
def test_an_update_is_not_for_nothing(order: float, played: bool) -> None:
    game = games.kuhn()
    form, blueprint = restricted(game, 0.25)  # no equilibrium
    *_, last = update_blueprint(game, blueprint, method=f"{order:g}-klss", played=played)
    assert worst_case(form, 0, last) > worst_case(form, 0, blueprint.x) + 1e-3


@settings(max_examples=6, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**5), epsilon=st.sampled_from([0.0, 0.25, 0.6]))
def test_theorem_5_allocated_deviations_keep_an_epsilon_equilibrium_one(seed: int, epsilon: float) -> None:
    game = games.random_game(seed)
    form, blueprint = restricted(game, epsilon)
    nested = allocated(game, blueprint)
    t = game.treeplex(0)
    np.testing.assert_allclose(
        np.add.reduceat(nested.plan, t.first_sequence), nested.plan[t.parent_sequence], atol=1e-9
    )
    assert worst_case(form, 0, nested.plan) >= worst_case(form, 0, blueprint.x) - SLACK


@settings(max_examples=6, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**5))
def test_infosets_of_one_colour_share_no_infoset_of_the_opponent(seed: int) -> None:
    game = games.random_game(seed)
    component, colour, count = infoset_colours(game)
    mine = game.observations[0]
    start, nodes = game.members[1]
    for j in range(game.observations[1].infoset_count):
        here = nodes[start[j] : start[j + 1]]
        turns = {int(mine.treeplex_infoset[k]) for k in game.infoset[0, here] if mine.turn[k]}
        assert len({int(colour[i]) for i in turns}) == len(turns)
        assert len({int(component[i]) for i in turns}) <= 1
    assert all(colour[i] < count[component[i]] for i in range(colour.size))


def least_against_equilibria(form: SequenceForm, x: np.ndarray) -> float:
    """The least payoff of x against player 1's equilibrium strategies, by a program over them: player 1's own, with the
    roles exchanged.
    """
    mirrored = SequenceForm((form.treeplexes[1], form.treeplexes[0]), -form.a.T, -form.b.T)
    program = build_program(mirrored).program
    earned = np.zeros(program.cost.size)
    earned[: form.treeplexes[1].sequence_count] = -(form.payoff_transposed @ x)
    _, last = lexicographic(program, [earned])
    return -last.objective


@pytest.mark.parametrize("order", [1, math.inf])
@settings(max_examples=4, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**5))
def test_theorem_9_an_equilibrium_becomes_a_best_response_to_every_equilibrium_of_the_opponent(
    order: float, seed: int
) -> None:
    game = games.random_game(seed)
    form, blueprint = restricted(game, 0.0)
    value = worst_case(form, 0, blueprint.x)
    plan = every_infoset(game, blueprint, method=f"{order:g}-klss").plan
    assert least_against_equilibria(form, plan) >= value - SLACK


def proposition_3(count: int) -> tuple[Game, Blueprint]:
    """Player 0 knows n, player 1 does not; player 1 wins if the pennies match. The blueprint plays heads with
    probability 1/2 + 2/N.
    """
    builder = GameBuilder()
    root = builder.add_chance(None, None)
    for n in range(count):
        node = builder.add_decision(root, str(n), player=0, observations=(str(n), "wait"), probability=1.0 / count)
        for a in "ht":
            below = builder.add_decision(node, a, player=1, observations=(f"{n}{a}", "guess"))
            for b in "ht":
                builder.add_terminal(below, b, utility=-1.0 if a == b else 1.0)
    game = builder.build()
    t = game.treeplex(0)
    weights = np.ones(t.sequence_count)
    weights[t.first_sequence] = 0.5 + 2.0 / count
    weights[t.first_sequence + 1] = 0.5 - 2.0 / count
    return game, Blueprint(realization(t, weights))


@pytest.mark.parametrize("count", [5, 8, 12])
def test_proposition_3_every_infoset_overcorrects_and_is_fully_exploitable(count: int) -> None:
    game, blueprint = proposition_3(count)
    form = sequence_form(game)
    # Value 0; the blueprint gives away 4/N; each infoset alone turns to tails, and always tails gives away 1.
    assert worst_case(form, 0, blueprint.x) == pytest.approx(-4.0 / count)
    nested = every_infoset(game, blueprint)
    assert worst_case(form, 0, nested.plan) == pytest.approx(-1.0, abs=1e-6)
    # What is guaranteed stays safe.
    assert worst_case(form, 0, allocated(game, blueprint).plan) >= -4.0 / count - SLACK
    updates, played = (list(update_blueprint(game, blueprint, played=played)) for played in (False, True))
    assert worst_case(form, 0, updates[-1]) >= -4.0 / count - SLACK
    # No infoset comes after another, so each playthrough solves one subgame: infoset by infoset.
    np.testing.assert_array_equal(updates, played)
    for method, gadget in product(("inf-klss", "inf-kluss"), ("maxmargin", "resolve")):
        plan = every_infoset(game, blueprint, method=method, gadget=gadget).plan
        assert worst_case(form, 0, plan) >= -4.0 / count - SLACK


@settings(max_examples=6, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**5))
def test_the_rule_keeps_the_least_margin_and_so_the_gadgets_agree(seed: int) -> None:
    # A strategy with all margins >= 0 is optimal in Resolve too.
    game = games.random_game(seed)
    for subgame, start in subgames_of(game, 0.4):
        chosen = select(subgame, blueprint=start)
        best = solve(sequence_form(subgame.game))
        assert chosen.margin == pytest.approx(best.value, abs=1e-7)
        assert worst_case(sequence_form(subgame.game), 0, chosen.plan) >= best.value - SLACK
        resolve = sequence_form(maxmargin_to_resolve(subgame).game)
        assert worst_case(resolve, 0, chosen.plan) >= -SLACK


@settings(max_examples=10, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**5))
def test_the_rule_pays_no_toll_for_nothing(seed: int) -> None:
    # Where the blueprint attains the least margin, the choice is worth at least as much to the rule as the blueprint.
    for subgame, start in subgames_of(games.random_game(seed), 0.0):
        form, tree = sequence_form(subgame.game), subgame.game.treeplex(0)
        chosen, blueprint = select(subgame, blueprint=start), realization(tree, start)
        moved = np.abs(chosen.plan - start * chosen.plan[tree.parent_of_sequence])[1:].sum()
        if worst_case(form, 0, blueprint) >= chosen.margin - 1e-9:
            gain = mean_margin(subgame, chosen.plan) - mean_margin(subgame, blueprint)
            assert gain >= TOLL * moved - SLACK


def subgames_of(game: Game, epsilon: float) -> Iterator[tuple[Subgame, np.ndarray]]:
    """Some subgames of a restricted blueprint, with its behaviour in each."""
    _, blueprint = restricted(game, epsilon)
    t, o = game.treeplex(0), game.observations[0]
    for i in np.flatnonzero(blueprint.x[t.parent_sequence] > 1e-6)[:4]:
        subgame = make_subgame(game, blueprint.x, int(o.turn_infosets[i]))
        yield subgame, behaviour(t, blueprint.x)[subgame.source_sequences(game)]


def mean_margin(subgame: Subgame, plan: np.ndarray) -> float:
    """The mean over the I0, by D, of what best responses leave of each."""
    values = counterfactual_values(subgame.game, plan).point[subgame.game.observations[1].first_point[0] :]
    return float(np.average(values[: subgame.roots.size], weights=subgame.scale))
