"""Laws of the methods and gadgets of nested subgame solving, on random games and on games that tell them apart."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from klss.paper.knowledge import knowledge_set
from klss.paper.methods import GADGETS
from klss.paper.nested import every_infoset
from klss.paper.selection import gadget_form, select
from klss.paper.subgame import Subgame, counterfactual_values, make_subgame
from klss.theory.best_response import worst_case
from klss.theory.equilibrium import solve
from klss.theory.game import Game
from klss.theory.sequence_form import SequenceForm, sequence_form
from klss.theory.treeplex import behaviour, realization
from tests.klss import games
from tests.klss.test_nested import restricted
from tests.klss.test_subgame import uniform
from tests.oracles.resolve import maxmargin_to_resolve

SAFE = ("inf-klss", "inf-kluss")
TOPS = tuple(name for name, each in GADGETS.items() if not each.reach)
SLACK = 1e-6
"""Rounding of the solver."""


@pytest.mark.parametrize("top", TOPS)
@pytest.mark.parametrize("name", SAFE)
@settings(max_examples=4, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**5), epsilon=st.sampled_from([1.0, 0.25, 0.0]))
def test_a_safe_method_never_raises_exploitability(name: str, top: str, seed: int, epsilon: float) -> None:
    game = games.random_game(seed, secrets=3)
    form, blueprint = restricted(game, epsilon)
    plan = every_infoset(game, blueprint, method=name, gadget=top).plan
    assert worst_case(form, 0, plan) >= worst_case(form, 0, blueprint.x) - SLACK


def subgames(game: Game, plan: np.ndarray, **options: object) -> list[Subgame]:
    """Of player 0's first infosets that the plan reaches."""
    values = counterfactual_values(game, plan)
    reached = np.flatnonzero(plan[game.treeplex(0).parent_sequence] > 1e-6)[:5]
    turn = game.observations[0].turn_infosets
    return [make_subgame(game, values, int(turn[i]), **options) for i in reached]  # type: ignore[arg-type]


@pytest.mark.parametrize("order", [1, 3, math.inf])
@pytest.mark.parametrize("seed", range(6))
def test_kluss_and_klss_are_one_where_player_1_knows_that_play_is_in_the_set(order: float, seed: int) -> None:
    game = games.random_game(seed)
    plan = uniform(game)
    alike = 0
    for klss, kluss in zip(
        subgames(game, plan, order=order), subgames(game, plan, order=order, outside="removed"), strict=True
    ):
        known = knowledge_set(game, game.nodes_of(0, int(klss.origin[0][klss.infoset])), order)
        all_inside = all(np.isin(game.nodes_of(1, int(j)), known).all() for j in klss.roots)
        if all_inside:
            np.testing.assert_allclose(klss.game.b[1], kluss.game.b[1], atol=1e-12)
        alike += all_inside
    assert alike or order < math.inf


def test_figure_1_without_the_nodes_outside() -> None:
    # Player 1 at C2 is taken to know that n = 2: at node 2 it loses 2 by heads or 3 by tails half of the time, and
    # takes the smaller, 1 (Figure 3 has 5/2 with node 3 folded in).
    game = games.figure_1()
    plan = uniform(game)
    subgame = make_subgame(game, plan, game.observations[0].keys.index("R1"), 1, outside="removed")
    assert -subgame.game.b[1][1:3] == pytest.approx([0.5, 1.0])
    assert not subgame.game.b[1][3:].any()


@settings(max_examples=6, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**5))
def test_resolve_is_the_game_that_the_paper_makes_of_maxmargin(seed: int) -> None:
    game = games.random_game(seed)
    for subgame in subgames(game, restricted(game, 0.25)[1].x):
        theirs = sequence_form(maxmargin_to_resolve(subgame).game)
        ours = gadget_form(subgame, "resolve").form
        chosen = select(subgame, blueprint=np.ones(ours.treeplexes[0].sequence_count), gadget="resolve")
        assert chosen.margin == pytest.approx(solve(theirs).value, abs=1e-7)
        assert worst_case(theirs, 0, chosen.plan) == pytest.approx(chosen.margin, abs=1e-7)
        rng = np.random.default_rng(seed)
        plan = realization(ours.treeplexes[0], behaviour(ours.treeplexes[0], rng.random(chosen.plan.size)))
        assert worst_case(ours, 0, plan) == pytest.approx(worst_case(theirs, 0, plan), abs=1e-9)


def pure_plans(form: SequenceForm, sequence: int) -> list[np.ndarray]:
    """Return what each pure plan of player 1 after a sequence of it pays for each of player 0's."""
    t, found = form.treeplexes[1], [form.payoff[:, [sequence]].toarray()[:, 0]]
    for i in np.flatnonzero(t.parent_sequence == sequence):
        first = int(t.first_sequence[i])
        after = [each for a in range(first, first + int(t.action_count[i])) for each in pure_plans(form, a)]
        found = [one + other for one in found for other in after]
    return found


@pytest.mark.parametrize("kind", ["maxmargin", "resolve"])
@settings(max_examples=8, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**5))
def test_with_a_prior_the_optimum_is_best_if_the_prior_chooses_once_in_a_thousand(kind: str, seed: int) -> None:
    """Against the program of that, with a row for each pure plan of player 1 below each root."""
    game, error, worst = games.random_game(seed, secrets=3), 1e-3, kind == "maxmargin"
    game = replace(game, utility=0.02 * game.utility)  # so small that a toll would decide
    for subgame in subgames(game, restricted(game, 0.25)[1].x):
        top, prior = gadget_form(subgame), subgame.scale / subgame.scale.sum()
        below = [np.array(pure_plans(top.form, int(enter))) for enter in top.enter]
        # Columns: player 0's plan, the margins, and what player 1's own choice makes of each.
        t, one = top.form.treeplexes[0], np.eye(prior.size)
        size, none = t.sequence_count, 0.0 * prior
        rows = [np.hstack([-plan, one[i], none]) for i, plans in enumerate(below) for plan in plans]
        rows += [np.hstack([np.zeros(size), -j, i]) for i in one for j in one if worst or i @ j]
        is_plan = np.zeros((t.infoset_count + 1, size + 2 * prior.size))
        is_plan[np.append(t.infoset_of_sequence[1:], -1), np.append(np.arange(1, size), 0)] = 1.0
        is_plan[np.arange(t.infoset_count), t.parent_sequence] = -1.0
        cost = np.concatenate([np.zeros(size), error * prior, np.full(prior.size, (1.0 - error) / prior.size)])
        free = [(None, None)] * prior.size
        best = linprog(-cost, np.array(rows), np.zeros(len(rows)), is_plan, np.eye(len(is_plan))[-1],
                       bounds=[(0.0, 1.0)] * size + free + (free if worst else [(None, 0.0)] * prior.size))  # fmt: skip
        plan = select(subgame, blueprint=np.ones(size), gadget=f"{kind}-prior").plan
        margins = np.array([(plans @ plan).min() for plans in below])
        own = margins.min() if worst else np.minimum(margins, 0.0).mean()
        assert (1.0 - error) * own + error * prior @ margins == pytest.approx(-best.fun, abs=1e-7)
