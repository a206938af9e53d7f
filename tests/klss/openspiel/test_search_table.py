"""The strategy that a search plays over a whole game: the very one of its games, and the equilibrium where nothing is
left out.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python.algorithms.exploitability import nash_conv  # noqa: E402
from open_spiel.python.policy import Policy, UniformRandomPolicy  # noqa: E402

from klss import openspiel  # noqa: E402
from klss.openspiel import search_table  # noqa: E402
from klss.openspiel.games import largest_payoff  # noqa: E402
from klss.openspiel.named_players import configuration  # noqa: E402
from klss.openspiel.search_table import Seated, cells, played  # noqa: E402
from klss.openspiel.strategies import asked  # noqa: E402
from klss.paper.tables import mirrored  # noqa: E402
from klss.search import Budget, EnumeratedBelief, EnumeratedModel, Klss2021, Kluss, Search, SearchConfiguration  # noqa: E402
from klss.theory.best_response import worst_case  # noqa: E402
from klss.theory.equilibrium import solve  # noqa: E402
from klss.theory.game import CHANCE, TERMINAL, Game  # noqa: E402
from klss.theory.policies import behaviour_of  # noqa: E402
from klss.theory.sequence_form import sequence_form  # noqa: E402
from klss.theory.treeplex import realization  # noqa: E402
from tests.klss.games import kuhn  # noqa: E402


def lost(game: Game, behaviour: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    form = sequence_form(game)
    return solve(form).value - worst_case(form, 0, realization(game.treeplex(0), behaviour))


@pytest.mark.parametrize("game", [kuhn(), mirrored(kuhn())], ids=["first", "second"])
def test_from_the_root_of_a_game_that_fits_into_the_trunk_an_exact_search_plays_an_equilibrium(game: Game) -> None:
    assert lost(game, played(game, Klss2021(caution=1.0), 1000).mixture) == pytest.approx(0.0, abs=1e-9)
    # Kuhn's payoffs go up to 2: what an iterative one plays is an equilibrium within a hundredth of that.
    assert lost(game, played(game, Kluss(order=1), 1000).mixture) < 0.02


@pytest.mark.slow
def test_what_solved_the_rest_of_the_game_is_played_on() -> None:
    """Solved anew at each infoset by 1-KLSS, the second seat of three-sided liar's dice loses .089 of 1."""
    game = mirrored(openspiel.load("liars_dice(dice_sides=3)"))
    search_by = configuration("kluss").search
    assert search_by is not None
    assert lost(game, played(game, search_by, 2000).mixture) < 0.002
    afresh = dataclasses.replace(search_by, nested=False)
    assert lost(game, played(game, afresh, 2000).mixture) > 0.02


@pytest.mark.slow
def test_what_nearly_fits_into_the_trunk_is_searched_on_as_a_whole() -> None:
    """The second seat of three-sided liar's dice, 1,147 nodes: subgames at its infosets are not safe together."""
    seated, lost = Seated("liars_dice(dice_sides=3)", 1), []
    for player in ("kluss", "kluss,whole=false"):
        search_by = configuration(player).search
        assert search_by is not None
        purified = played(seated.game, search_by, 1000).purified
        lost.append(seated.lost(realization(seated.game.treeplex(0), purified)))
    assert lost[0] < 0.005 and lost[1] > 0.05


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker"])
def test_uniform_play_is_as_exploitable_as_openspiel_says(name: str) -> None:
    """Its best responses, on both players' sides; the sum of both seats' losses does not depend on the value."""
    spiel = pyspiel.load_game(name)
    conv = nash_conv(spiel, UniformRandomPolicy(spiel))
    lost = [Seated(name, cell.player).row(cell)["after"] for cell in cells([name], ["uniform"], [])]
    assert largest_payoff(spiel) * sum(lost) == pytest.approx(conv, abs=1e-9)


def test_the_value_of_a_large_game_is_the_programs_within_its_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = Seated("leduc_poker", 1).solution
    monkeypatch.setattr(search_table, "_LARGE", 0)
    near = Seated("leduc_poker", 1).solution
    assert max(abs(near.value - exact.value), exact.exploitability) < near.exploitability <= 1e-4


def test_where_a_players_own_moves_do_not_lead_it_need_not_be_asked() -> None:
    """The plan, and so all that it wins, is the same; in Kuhn poker who always bets is asked at no second turn."""
    spiel, game = pyspiel.load_game("kuhn_poker"), openspiel.load("kuhn_poker")

    class Betting(Policy):  # type: ignore[misc]
        def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
            return {0: 0.0, 1: 1.0}

    plans = []
    for led, infosets in ((False, 6), (True, 3)):
        named = asked(Betting(spiel, [0, 1]), game, spiel, 0, led=led)
        assert len(named) == infosets
        plans.append(realization(game.treeplex(0), behaviour_of(game, 0, named)))
    assert np.array_equal(*plans)


@pytest.mark.parametrize("search_by", [Klss2021(), Kluss()], ids=["klss2021", "kluss"])
def test_the_strategy_is_that_of_the_games_that_the_search_plays(search_by: SearchConfiguration) -> None:
    """Games move by move, the slow way, against random play; at each infoset the same probabilities."""
    game = openspiel.load("dark_hex(board_size=2,gameversion=adh)")
    purified = played(game, search_by, 60, "first move").purified
    treeplex, own = game.treeplex(0), game.observations[0]
    compared = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        search, node = Search(EnumeratedModel(game), search_by), 0
        while game.player[node] != TERMINAL:
            children, action = np.flatnonzero(game.parent == node), -1
            if game.player[node] == 0:
                infoset = int(game.infoset[0][node])
                result = search.search(EnumeratedBelief(game, infoset), Budget(nodes=60))
                first = int(treeplex.first_sequence[own.treeplex_infoset[infoset]])
                assert purified[first + result.actions] == pytest.approx(result.probabilities, abs=1e-12)
                action = result.action
                children = children[game.action[children] == action]
                compared += 1
            assert game.player[node] != CHANCE
            node = int(rng.choice(children))
            search.observe(action, int(game.infoset[0][node]) + 1, acts=bool(game.player[node] == 0))
    assert compared >= 12
