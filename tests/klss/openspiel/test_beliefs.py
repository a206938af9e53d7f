"""What a player holds possible in OpenSpiel's games, against the listed game and against what follows from a state."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from klss import openspiel  # noqa: E402
from klss.openspiel.belief import HistoryBelief  # noqa: E402
from klss.openspiel.games import spiel_game  # noqa: E402
from klss.openspiel.model import OpenSpielModel  # noqa: E402
from klss.openspiel.named_players import configuration, make_player  # noqa: E402
from klss.openspiel.observations import Seen, Sight, history_key  # noqa: E402
from klss.openspiel.referee import Referee  # noqa: E402
from klss.play.arbiter import Arbiter  # noqa: E402
from klss.play.contest import Contradiction  # noqa: E402
from klss.play.limits import Limit  # noqa: E402
from klss.play.small_game import Nature  # noqa: E402
from klss.search import Budget, Kluss, Search  # noqa: E402

GAMES = [
    "kuhn_poker", "leduc_poker", "liars_dice", "liars_dice(numdice=2)", "phantom_ttt",
    "phantom_ttt(obstype=reveal-numturns)", "dark_hex(board_size=3)", "dark_hex(board_size=3,gameversion=adh)",
    "latent_ttt", "goofspiel(num_cards=5,imp_info=True)", "universal_poker", "dark_chess(board_size=4)",
    "battleship(board_width=2,board_height=2,ship_sizes=[1],ship_values=[1],num_shots=2)",
    "phantom_go(board_size=2)", "rbc(board_size=4)", "kriegspiel(board_size=4)", "matrix_rps",
    "restricted_nash_response(game=kuhn_poker(),fixed_player=0,p=1.0)",  # nature has an outcome of probability 0
]  # fmt: skip


def played(game: Any, seed: int, most: int = 12) -> Iterator[Any]:
    """The states of a random game in which somebody moves."""
    rng, state = random.Random(seed), game.new_initial_state()
    while not state.is_terminal() and len(state.history()) < most:
        if state.is_chance_node():
            actions, shares = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(rng.choices(actions, shares)[0])
            continue
        yield state
        state.apply_action(rng.choice(state.legal_actions()))


@pytest.mark.parametrize("name", GAMES)
def test_the_truth_is_held_possible_until_the_belief_says_it_is_a_sample(name: str) -> None:
    game, _ = spiel_game(name)
    checks, given = 0, [0, 0]
    beliefs = [HistoryBelief(OpenSpielModel(game, player), cap=1000, seed=0) for player in (0, 1)]
    for state in played(game, 0, 8):
        player = state.current_player()
        seen = Sight(game, player).along(game.new_initial_state(), state.history())
        beliefs[player].observe(seen[given[player] :])
        given[player] = len(seen)
        if beliefs[player].capped_by is None:
            checks += 1
            truth = np.array(history_key(state), dtype=np.uint64)
            assert beliefs[player].contains(truth), (name, state.history())
    assert checks > 0


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "dark_hex(board_size=2)", "liars_dice(dice_sides=3)"])
def test_it_is_the_infoset_of_the_listed_game_with_natures_probabilities(name: str) -> None:
    """Histories and their weights, as :func:`klss.openspiel.load` lists them, at infosets all over the game."""
    spiel, listed = spiel_game(name)[0], openspiel.load(name)
    chance = np.ones(listed.node_count)
    for node in range(1, listed.node_count):  # parents come first
        chance[node] = chance[listed.parent[node]] * listed.probability[node]
    rng = random.Random(1)
    for _ in range(12):
        for state in played(spiel, rng.randrange(10**6)):
            player = state.current_player()
            belief = HistoryBelief(OpenSpielModel(spiel, player))
            own = Sight(spiel, player).along(spiel.new_initial_state(), state.history())
            for seen in own:
                belief.observe([seen])
            keys = [str(key) for key in listed.observations[player].keys]
            nodes = listed.nodes_of(player, keys.index(own[-1].text))
            logs = belief.log_weights(np.array(belief.numbers, dtype=np.uint64)[:, None])
            assert sorted(np.exp(logs)) == pytest.approx(sorted(chance[nodes]))


@pytest.mark.parametrize(
    ("name", "player", "cap", "anew", "most"),
    [("liars_dice(numdice=2)", 0, 5, 5, 12), ("liars_dice(numdice=2)", 1, 5, 5, 12), ("phantom_ttt", 1, 1, 500, 16)],
)
def test_a_set_past_its_cap_is_a_declared_sample_of_what_agrees_drawn_anew_where_nothing_is_left(
    name: str, player: int, cap: int, anew: int, most: int
) -> None:
    game, _ = spiel_game(name)
    model = OpenSpielModel(game, player)
    belief, given = HistoryBelief(model, cap=cap, seed=1), 0
    for state in played(game, 4, most):
        if state.current_player() != player:
            continue
        seen = Sight(game, player).along(game.new_initial_state(), state.history())
        belief.observe(seen[given:])
        given = len(seen)
        assert 0 < belief.size <= anew
        texts = {model.place(number).state.information_state_string(player) for number in belief.numbers}
        assert texts == {seen[-1].text}
    assert belief.capped_by == "cap"


def test_observations_that_no_history_gives_are_an_error() -> None:
    game, _ = spiel_game("kuhn_poker")
    belief = HistoryBelief(OpenSpielModel(game, 0))
    with pytest.raises(Contradiction, match="no history agrees"):
        belief.observe([Seen(0, "7", (0, 1), ("Pass", "Bet"))])


def test_who_waits_can_not_count_the_tries_of_an_opponent_who_was_refused() -> None:
    """Phantom tic-tac-toe: the second player runs into two marks, or into none, before it finds its square."""
    game, _ = spiel_game("phantom_ttt")
    start = game.new_initial_state()
    slow = [0, 0, 4, 1, 1, 5]
    quick = [0, 4, 1, 5]
    assert Sight(game, 0).along(start, quick) == Sight(game, 0).along(start, slow)
    assert Sight(game, 1).along(start, quick) != Sight(game, 1).along(start, slow)


def test_what_is_drawn_is_of_the_belief_and_not_what_is_excluded() -> None:
    game, _ = spiel_game("leduc_poker")
    belief = HistoryBelief(OpenSpielModel(game, 0))
    state = next(played(game, 0))
    belief.observe(Sight(game, 0).along(game.new_initial_state(), state.history()))
    none = np.zeros((0, 1), dtype=np.uint64)
    assert sorted(belief.sample(9, none, 0)[:, 0]) == sorted(belief.numbers)
    drawn = belief.sample(2, none, 1)
    rest = belief.sample(9, drawn, 1)
    assert sorted([*drawn[:, 0], *rest[:, 0]]) == sorted(belief.numbers)


@pytest.mark.parametrize("name", ["phantom_go(board_size=3)", "liars_dice(numdice=2)", "gin_rummy", "phantom_ttt"])
def test_a_node_budget_bounds_the_places_that_a_belief_visits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many histories agree with what a player saw, its belief visits few for each node of the budget."""
    game, _ = spiel_game(name)
    visited, given, child = [0], [0, 0], OpenSpielModel.child

    def counted(*each: Any) -> Any:
        visited[-1] += 1
        return child(*each)

    monkeypatch.setattr(OpenSpielModel, "child", counted)
    beliefs = [HistoryBelief(OpenSpielModel(game, player), seed=0) for player in (0, 1)]
    for state in itertools.islice(played(game, 1, 60), 8):
        player = state.current_player()
        seen = Sight(game, player).along(game.new_initial_state(), state.history())
        visited.append(0)
        beliefs[player].observe(seen[given[player] :], nodes=10)
        given[player] = len(seen)
    assert 0 < max(visited) <= 50 * 10, "a node takes some playouts of up to 60 plies in all"


def test_a_die_that_no_text_shows_is_known_to_the_one_who_moves() -> None:
    """Einstein würfelt nicht: the text is the board, the legal moves are those of the piece that was rolled."""
    game, _ = spiel_game("einstein_wurfelt_nicht")
    state = game.new_initial_state()
    for deal in (0, 0):
        state.apply_action(deal)
    for player in (0, 1):
        model = OpenSpielModel(game, player)
        root = model.hold(model.reached(state))
        search = Search(model, Kluss(order=1, root="safe", purify=False))
        search.begin(np.array([[root]], dtype=np.uint64), Budget(nodes=300))
        assert search.standing is not None and search.standing.trunk.node_count > 300


def test_who_finds_no_history_plays_on_and_says_so() -> None:
    """There are 518,400 deals, more than few nodes can look at."""
    game, _ = spiel_game("einstein_wurfelt_nicht")
    players = {seat: make_player(configuration("kluss"), game, 1) for seat in (True, False)}
    referee = Referee(game, Nature(1))
    Arbiter(referee, players, dict.fromkeys(players, Limit(nodes=5))).play()
    assert referee.returns is not None and all("any legal" in str(each.last_fault) for each in players.values())
