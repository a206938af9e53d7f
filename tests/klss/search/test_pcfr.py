"""PCFR+ against the exact linear program over the same trunks, and the gap that it reports."""

from __future__ import annotations

import numpy as np
import pytest

from klss import openspiel
from klss.search import Budget, EnumeratedBelief, EnumeratedModel, Kluss, Search, Trunk
from klss.search._kernels.utilities import against
from klss.search.equilibrium.pcfr import RegretMinimiser
from klss.search.equilibrium.restricted import RestrictedGame
from klss.search.gadget import gadget_form
from klss.search.parts import SearchedSubgame
from klss.search.profile import Profile
from klss.search.utilities import Utilities
from klss.theory.best_response import best_response
from tests.klss.search.solved import solve_gadget, whole_trunk
from tests.klss.search.test_program import growing


def solved(trunk: Trunk, iterations: int) -> Profile:
    solver = RegretMinimiser("maxmargin", last_iterations=iterations)
    return solver.begin(SearchedSubgame(trunk, 0, trunk.root_count), None, Budget(nodes=1)).finish()


def test_on_dark_chess_trunks_it_is_within_a_thousandth_of_the_program() -> None:
    for trunk in growing():
        found = solved(trunk, 500)
        assert found.margin == pytest.approx(solve_gadget(trunk, "maxmargin").margin, abs=1e-3)
        assert found.gap + 1e-12 >= 0.0 and found.gap < 1e-3


@pytest.mark.parametrize("name", ["kuhn_poker", "dark_hex(board_size=2,gameversion=adh)"])
def test_on_whole_games_it_finds_their_value(name: str) -> None:
    trunk = whole_trunk(EnumeratedModel(openspiel.load(name)))
    assert solved(trunk, 2000).margin == pytest.approx(solve_gadget(trunk, "maxmargin").margin, abs=1e-3)


def test_its_gap_is_that_of_best_responses_in_the_gadget_s_sequence_form() -> None:
    """With the last weights of the root infosets, both players respond below: by other code over other matrices."""
    trunk = list(growing())[-1]
    roots = trunk.group_count
    for iterations in (1, 3, 10):
        found = solved(trunk, iterations)
        form = gadget_form(trunk)
        response = best_response(form.treeplexes[1], form.payoff_transposed @ found.x, maximize=False)
        lower = float(found.y[1 : 1 + roots] @ response.sequence_value[1 : 1 + roots])
        upper = best_response(form.treeplexes[0], form.payoff @ found.y, maximize=True).value
        assert found.gap == pytest.approx(upper - lower, abs=1e-9)
        assert found.margin == pytest.approx(float(response.sequence_value[1 : 1 + roots].min()), abs=1e-9)


def test_a_restricted_game_holds_its_players_to_what_they_used() -> None:
    """What a sequence in it is worth is what it is worth on the trunk, against whoever plays in it too."""
    trunk = list(growing())[-1]
    utilities = Utilities(trunk)
    utilities.take_in()
    iterating = RegretMinimiser("maxmargin").begin(SearchedSubgame(trunk, 0, 3), None, Budget(nodes=1))
    profile = iterating.improve()
    game = RestrictedGame(utilities, (profile.x > 0.0, profile.y > 0.0))
    for player, (plan, other) in enumerate(((profile.x, profile.y), (profile.y, profile.x))):
        game.answer(player, other, plan)
    found, sequences = game.game()
    assert len(found.tree.payoff) < trunk.node_count / 2
    for player, other in enumerate((profile.y, profile.x)):
        its = other[sequences[1 - player]]
        value, reach = np.zeros(len(sequences[player])), found.least[player].copy()
        against(player, found.tree, its, value, reach)
        wanted, _ = utilities.against(player, other)
        np.testing.assert_allclose(value, wanted[sequences[player]], atol=1e-15)


def test_plans_are_plans_after_every_growth() -> None:
    """Each infoset's sequences sum to the one before: what is playable at any moment is a strategy."""
    iterating = None
    for trunk in growing():
        iterating = iterating or RegretMinimiser("nature").begin(SearchedSubgame(trunk, 0, 3), None, Budget(nodes=1))
        profile = iterating.improve()
        for player, plan in ((0, profile.x), (1, profile.y)):
            infosets = trunk.infosets[player]
            assert len(plan) == trunk.sequence_count(player) and plan.min() >= 0.0
            for infoset in np.flatnonzero(infosets.first[: trunk.infoset_count(player)] >= 0):
                first, size = int(infosets.first[infoset]), int(infosets.size[infoset])
                assert plan[first : first + size].sum() == pytest.approx(plan[infosets.sequence[infoset]], abs=1e-9)


def test_one_sided_growth_expands_all_that_matters_in_a_small_game() -> None:
    """Kuhn poker from a belief: the walks end when nothing can grow, and the first action's dominated one is not
    played.
    """
    game = openspiel.load("kuhn_poker")
    model = EnumeratedModel(game)
    node = int(np.flatnonzero(game.player == 0)[0])
    belief = EnumeratedBelief(game, int(game.infoset[0][node]))
    found = Search(model, Kluss(), seed=3).search(belief, Budget(nodes=10_000))
    assert found.report.positions == 2 and found.report.nodes < 100
    assert found.report.gap < 1e-3
