"""Players of OpenSpiel's games: what the search finds, what a bot is given, and that nobody sees more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python.algorithms.evaluate_bots import evaluate_bots  # noqa: E402

import klss  # noqa: E402
from klss import openspiel  # noqa: E402
from klss.openspiel.games import spiel_game  # noqa: E402
from klss.openspiel.model import OpenSpielModel  # noqa: E402
from klss.openspiel.named_players import CONFIGURATIONS, configuration, make_player  # noqa: E402
from klss.openspiel.players import PolicyPlayer, RandomPlayer  # noqa: E402
from klss.openspiel.referee import Referee  # noqa: E402
from klss.openspiel.search_table import Seated, played  # noqa: E402
from klss.play.arbiter import Arbiter  # noqa: E402
from klss.play.limits import Limit  # noqa: E402
from klss.play.small_game import Nature  # noqa: E402
from klss.search import Budget, Search  # noqa: E402
from klss.theory.treeplex import realization  # noqa: E402


def game_of(name: str, players: dict[bool, Any], seed: int = 1, nodes: int = 100) -> Referee:
    referee = Referee(spiel_game(name)[0], Nature(seed))
    Arbiter(referee, players, dict.fromkeys(players, Limit(nodes=nodes))).play()
    return referee


@pytest.mark.parametrize("name", ["kuhn_poker", "dark_hex(board_size=2)", "liars_dice(dice_sides=3)"])
def test_a_search_of_the_whole_game_finds_its_value(name: str) -> None:
    """Against the linear program; in dark hex nobody sees how often the other was refused."""
    model = OpenSpielModel(spiel_game(name)[0], 0)
    kluss = CONFIGURATIONS["kluss"].search
    assert kluss is not None
    search = Search(model, kluss)
    search.begin(model.root, Budget(nodes=100_000))
    assert search.standing is not None
    unit = np.abs(openspiel.load(name).utility).max()
    assert unit * search.standing.profile.margin == pytest.approx(klss.solve(name).value, abs=2e-3)


@pytest.mark.parametrize("name", ["kuhn_poker", "dark_hex(board_size=2,gameversion=adh)"])
@pytest.mark.parametrize("seat", [0, 1])
def test_nobody_can_exploit_it_where_the_game_fits_into_its_budget(name: str, seat: int) -> None:
    """Every infoset asked, each search nested in the one before; exactly, by best responses."""
    seated = Seated(name, seat)
    kluss = CONFIGURATIONS["kluss"].search
    assert kluss is not None
    mixture = played(seated.game, kluss, 1000).mixture
    assert seated.lost(realization(seated.game.treeplex(0), mixture)) <= 0.01


@pytest.mark.parametrize("name", ["phantom_ttt", "leduc_poker", "liars_dice", "goofspiel(num_cards=3)", "kuhn_poker"])
@pytest.mark.parametrize("player", ["kluss", "klss2021", "ismcts"])
def test_every_player_plays_whole_games_the_same_with_the_same_nodes(name: str, player: str) -> None:
    game, _ = spiel_game(name)
    one, two = (
        game_of(name, {True: make_player(configuration(player), game, 7), False: RandomPlayer(2)}, nodes=40)
        for _ in range(2)
    )
    assert one.history == two.history and one.outcome == two.outcome


@pytest.mark.parametrize("name", ["kuhn_poker", "goofspiel(num_cards=4,imp_info=True)", "phantom_ttt", "matrix_rps"])
def test_openspiels_own_loop_drives_the_bot(name: str) -> None:
    game = pyspiel.load_game(name)
    rng = np.random.RandomState(0)
    for seat in (0, 1):
        bots = [pyspiel.make_uniform_random_bot(player, 3) for player in (0, 1)]
        bots[seat] = openspiel.bot(game, seat, nodes=50)
        for _ in range(2):
            returns = evaluate_bots(game.new_initial_state(), bots, rng)
            assert sum(returns) == pytest.approx(0.0)


def test_every_game_of_a_bot_has_draws_of_its_own_and_the_same_seed_the_same_games() -> None:
    state = pyspiel.load_game("tic_tac_toe").new_initial_state()
    first, second = (openspiel.bot("tic_tac_toe", 0, "random", seed=1) for _ in range(2))
    played = [(bot.restart(), bot.step(state))[1] for bot in (first, second) for _ in range(9)]
    assert played[:9] == played[9:] and len(set(played)) > 1


@pytest.mark.parametrize("name", ["kuhn_poker", "phantom_ttt"])
def test_a_bot_answers_at_its_own_turns_and_says_that_others_are_none(name: str) -> None:
    """In turn, at a chance node, at the other's turn, and at the end."""
    game, rng = pyspiel.load_game(name), np.random.default_rng(1)
    bots = [openspiel.bot(game, player, "random") for player in (0, 1)]
    state = game.new_initial_state()
    while True:
        for player, bot in enumerate(bots):
            if state.current_player() == player:
                assert bot.step(state) in state.legal_actions()
            else:
                with pytest.raises(klss.errors.KlssError, match="turn"):
                    bot.step(state)
        if state.is_terminal():
            break
        state.apply_action(rng.choice(state.legal_actions()))


def test_a_function_of_the_users_values_states() -> None:
    """One that likes what the first player's first action leads to, and a search that is too short to see the end."""
    game, _ = spiel_game("phantom_ttt")

    def likes_the_corner(states: Any) -> list[float]:
        return [1.0 if state.history()[:1] == [0] else -1.0 for state in states]

    state = game.new_initial_state()
    assert openspiel.bot(game, 0, nodes=10, values=likes_the_corner).step(state) == 0


def test_a_strategy_of_a_file_is_played_and_what_it_lacks_is_played_at_random() -> None:
    strategy = klss.solve("kuhn_poker")
    certain = {key: {name: float(name == "Bet") for name in each} for key, each in strategy.strategy(0).items()}
    for seed in range(5):
        referee = game_of("kuhn_poker", {True: PolicyPlayer({True: certain}), False: RandomPlayer(1)}, seed)
        assert [name for seat, _, name in referee.actions if seat] == ["Bet"]
    referee = game_of("kuhn_poker", {True: PolicyPlayer({True: {}}), False: RandomPlayer(1)})
    assert referee.outcome is not None


def test_two_true_histories_that_look_the_same_are_played_alike() -> None:
    """The wall: a player is given the same, so it does the same, whatever the opponent holds."""
    game, _ = spiel_game("leduc_poker")
    actions = set()
    for card in (1, 2, 3, 4, 5):
        state = game.new_initial_state()
        for action in (0, card):
            state.apply_action(action)
        policy, action = openspiel.bot(game, 0, nodes=200, seed=3).step_with_policy(state)
        actions.add((action, tuple(policy)))
    assert len(actions) == 1


@pytest.mark.parametrize("name", ["gin_rummy", "backgammon"])
def test_a_game_with_more_deals_than_any_trunk_is_played_within_bounds(name: str) -> None:
    """Nature's nodes are left to later batches, and a belief that finds nothing is no error."""
    game, _ = spiel_game(name)
    referee = Referee(game, Nature(1))
    player = make_player(configuration("kluss"), game, 1)
    player.begin(referee.turn)
    for seen in referee.observations(referee.turn):
        player.observe(seen)
    decision = player.answer("action", Limit(time_s=0.1))
    assert decision.answer in referee.observations(referee.turn)[-1].actions
    assert decision.diagnostics["nodes"] < 50_000


@pytest.mark.parametrize("limit", [Limit(time_s=1e-9), Limit(nodes=0), Limit(nodes=1)])
def test_ismcts_that_has_no_budget_plays_any_action(limit: Limit) -> None:
    game, _ = spiel_game("phantom_ttt")
    player = make_player(configuration("ismcts"), game)
    player.begin(True, None)
    player.observe(Referee(game, Nature(1)).observations(True)[0])
    assert player.answer("action", limit).answer in range(9)
