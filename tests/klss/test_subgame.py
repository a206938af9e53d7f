"""The worked example of the paper, and laws of the gadgets on random games."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from klss.errors import GameError
from klss.paper.nested import Blueprint, every_infoset
from klss.paper.subgame import Outside, Subgame, counterfactual_values, make_subgame
from klss.theory.best_response import worst_case
from klss.theory.equilibrium import solve
from klss.theory.game import Game
from klss.theory.sequence_form import sequence_form
from klss.theory.treeplex import behaviour, realization, uniform_behaviour
from tests.klss import games

ORDERS = (1, 3, 5, math.inf)


def uniform(game: Game) -> np.ndarray:
    return realization(game.treeplex(0), uniform_behaviour(game.treeplex(0)))


def mixed(game: Game, seed: int) -> np.ndarray:
    t = game.treeplex(0)
    return realization(t, behaviour(t, 0.05 + np.random.default_rng(seed).random(t.sequence_count)))


def entries(subgame: Subgame) -> tuple[dict[tuple[str, str], float], dict[str, float]]:
    """A and the top row of B by name: R1h, C2t, ..., c2' for the choice of C2'."""
    game = subgame.game
    form = sequence_form(game)
    names: tuple[list[str], list[str]] = (["0"], ["0"])
    for i in (0, 1):
        o = game.observations[i]
        for j in o.turn_infosets:
            key = str(o.keys[j])
            names[i].extend(a.lower() if key == "gadget" else key + a for a in o.action_names[j])
    a = form.a.tocoo()
    b = form.b.tocoo()
    assert (b.row == 0).all()
    return (
        {(names[0][r], names[1][c]): float(v) for r, c, v in zip(a.row, a.col, a.data) if v},
        {names[1][c]: float(v) for c, v in zip(b.col, b.data) if v},
    )


def test_figure_2_common_knowledge_subgame_has_the_matrices_of_appendix_c_1() -> None:
    game = games.figure_1()
    subgame = make_subgame(game, uniform(game), game.observations[0].keys.index("R1"), math.inf)
    a, b = entries(subgame)
    # Appendix C.1, A as printed.
    assert a == pytest.approx(
        {
            ("R1h", "C0h"): 1.0, ("R1t", "C0t"): 4.0, ("R1h", "C2h"): 1.0, ("R1t", "C2t"): 1.5,
            ("R3h", "C2h"): 1.5, ("R3t", "C2t"): 1.0, ("R3h", "C4h"): 4.0, ("R3t", "C4t"): 1.0,
        }
    )  # fmt: skip
    # C.1 prints -5/2 at c2'; min(1/2 + 3/4, 3/4 + 1/2) = 5/4 is player 1's value there, as is 1/2 at c0' and c4'.
    assert b == pytest.approx({"c0'": -0.5, "c2'": -1.25, "c4'": -0.5})


def test_figure_3_order_1_subgame_has_the_matrices_of_appendix_c_2() -> None:
    game = games.figure_1()
    subgame = make_subgame(game, uniform(game), game.observations[0].keys.index("R1"), 1)
    a, b = entries(subgame)
    # Appendix C.2, A as printed: the chance node at c2' is renormalised, hence 2 and 3.
    assert a == pytest.approx({("R1h", "C0h"): 1.0, ("R1t", "C0t"): 4.0, ("R1h", "C2h"): 2.0, ("R1t", "C2t"): 3.0})
    # C.2 prints -5 at c2': everything there is over D = p(2), so twice 5/4. Folded in from node 3: 3/2 and 1 as
    # printed.
    assert b == pytest.approx({"c0'": -0.5, "c2'": -2.5, "C2h": 1.5, "C2t": 1.0})


def in_subgame(subgame: Subgame, source: Game, plan: np.ndarray) -> np.ndarray:
    """The plan of ``source`` restricted to the subgame."""
    local = behaviour(source.treeplex(0), plan)[subgame.source_sequences(source)]
    return realization(subgame.game.treeplex(0), local)


def turn_infosets(game: Game, plan: np.ndarray) -> list[int]:
    o = game.observations[0]
    reach = plan[game.treeplex(0).parent_sequence]
    return [int(j) for j, r in zip(o.turn_infosets, reach) if r > 0 and o.keys[j] != "gadget"]


def margins(subgame: Subgame, plan: np.ndarray) -> np.ndarray:
    """u*(x'|I0) - u*(x|I0) of every I0, from the gadget."""
    values = counterfactual_values(subgame.game, plan)
    return values.point[1 : 1 + subgame.roots.size]


@pytest.mark.parametrize(
    ("order", "outside"),
    [*((order, "blueprint") for order in ORDERS), *((order, "removed") for order in (1, 2, 3, 4, math.inf))],
)
@settings(max_examples=6, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**5))
def test_every_margin_of_the_blueprint_is_zero_in_every_subgame(order: float, outside: Outside, seed: int) -> None:
    game = games.random_game(seed)
    x = mixed(game, seed)
    values = counterfactual_values(game, x)
    for infoset in turn_infosets(game, x)[:6]:
        subgame = make_subgame(game, values, infoset, order, outside=outside)
        np.testing.assert_allclose(margins(subgame, in_subgame(subgame, game, x)), 0.0, atol=1e-9)


@pytest.mark.parametrize("order", ORDERS)
@settings(max_examples=8, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**5))
def test_margins_of_a_subgame_strategy_are_those_in_the_full_game(order: float, seed: int) -> None:
    game = games.random_game(seed)
    x = mixed(game, seed)
    values = counterfactual_values(game, x)
    t = game.treeplex(0)
    for infoset in turn_infosets(game, x)[:6]:
        subgame = make_subgame(game, values, infoset, order)
        other = mixed(subgame.game, seed + 1)
        weights = behaviour(t, x)
        weights[subgame.source_sequences(game)] = behaviour(subgame.game.treeplex(0), other)
        changed = counterfactual_values(game, realization(t, weights))
        expected = (changed.infoset[subgame.roots] - values.infoset[subgame.roots]) / subgame.scale
        np.testing.assert_allclose(margins(subgame, other), expected, atol=1e-9)


@settings(max_examples=10, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**5))
def test_nested_gadgets_keep_the_same_margins_down_to_the_last_infoset(seed: int) -> None:
    # A subgame of a subgame: B is copied at every point below, also where player 1 waits or has nothing left to decide.
    game = games.random_game(seed, depth=5)
    x = mixed(game, seed)
    todo = [(game, x, j) for j in turn_infosets(game, x)[:3]]
    seen = 0
    while todo and seen < 25:
        source, plan, infoset = todo.pop()
        subgame = make_subgame(source, plan, infoset)
        local = in_subgame(subgame, source, plan)
        np.testing.assert_allclose(margins(subgame, local), 0.0, atol=1e-9)
        below = [j for j in turn_infosets(subgame.game, local) if j != subgame.infoset]
        todo.extend((subgame.game, local, j) for j in below)
        seen += 1


@pytest.mark.parametrize("outcomes", [1, 2, 4, 8])
@pytest.mark.parametrize("method", ["1-klss", "inf-klss"])
def test_a_mistake_is_given_back_once_however_many_subgames_follow_it(outcomes: int, method: str) -> None:
    # By hand: the blueprint p = 1/2 is worth (.4 + .25) / 2; the best p is .4, worth (.4 + .3) / 2: a loss of 1/40.
    # With the mistake of .1 given back, the margins p - .4 and (1 - p) / 2 - .25 are equal at p = 13/30, a loss of
    # 1/120. Without it p stays 1/2.
    game = games.mistake(outcomes)
    form = sequence_form(game)
    assert solve(form).value == pytest.approx(0.35)
    assert worst_case(form, 0, uniform(game)) == pytest.approx(0.35 - 1 / 40)
    for gadget, loss in (("maxmargin", 1 / 40), ("maxmargin-reach", 1 / 120)):
        plan = every_infoset(game, Blueprint(uniform(game)), method=method, gadget=gadget).plan
        assert worst_case(form, 0, plan) == pytest.approx(0.35 - loss)


@pytest.mark.parametrize("gadget", ["maxmargin-reach", "resolve-reach"])
def test_reach_keeps_common_knowledge_subgames_safe(gadget: str) -> None:
    # The theorem of docs/search.md, "Reach is safe"; random_game gives mistakes one after the other.
    for seed in range(16):
        game = games.mistake(8) if seed == 0 else games.random_game(seed, depth=5)
        form, x = sequence_form(game), uniform(game) if seed == 0 else mixed(game, seed)
        plan = every_infoset(game, Blueprint(x), method="inf-klss", gadget=gadget).plan
        assert worst_case(form, 0, plan) >= worst_case(form, 0, x) - 1e-7


def test_an_infoset_that_is_never_reached_is_refused() -> None:
    game = games.kuhn()
    t = game.treeplex(0)
    always_bet = realization(t, behaviour(t, np.arange(t.sequence_count) % 2 == 0.0))
    unreached = [int(j) for j in game.observations[0].turn_infosets if "pb" in str(game.observations[0].keys[j])]
    with pytest.raises(GameError, match="never reaches"):
        make_subgame(game, always_bet, unreached[0])
