"""The search plays games that are no chess, from a belief, through its public face (:mod:`klss.search`)."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from klss import openspiel
from klss.paper.tables import mirrored
from klss.search import Budget, EnumeratedBelief, EnumeratedModel, Klss2021, Report, Search
from klss.search.profile import extended
from klss.theory.game import CHANCE, TERMINAL, Game
from tests.klss.games import kuhn


def children(game: Game, node: int) -> list[int]:
    return np.flatnonzero(game.parent == node).tolist()


def played(game: Game, seed: int, configuration: Klss2021) -> tuple[list[int], list[Report]]:
    """One game of the search, as player 0, against random play: the nodes it went through, and the searches."""
    rng = np.random.default_rng(seed)
    search = Search(EnumeratedModel(game), configuration, seed=seed)
    path, reports = [0], list[Report]()
    while game.player[path[-1]] != TERMINAL:
        node = path[-1]
        kids, own = children(game, node), -1
        if game.player[node] == 0:
            belief = EnumeratedBelief(game, int(game.infoset[0][node]))
            found = search.search(belief, Budget(nodes=5_000))
            own = found.action
            reports.append(found.report)
            assert found.report.positions == belief.size
            assert np.isclose(found.probabilities.sum(), 1.0)
            kids = [kid for kid in kids if game.action[kid] == own]
        weights = game.probability[kids] if game.player[node] == CHANCE else np.ones(len(kids))
        child = int(rng.choice(kids, p=weights / weights.sum()))
        search.observe(own, int(game.infoset[0][child]) + 1, acts=game.player[child] == 0)
        path.append(child)
    return path, reports


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "dark_hex(board_size=2,gameversion=adh)"])
def test_it_plays_whole_games_and_carries_its_trunk_on(name: str) -> None:
    game = openspiel.load(name)
    carried = 0
    for seed in range(4):
        _, reports = played(game, seed, Klss2021())
        assert reports[0].carried == 0 and reports[0].sampled == reports[0].positions
        carried += sum(report.carried for report in reports[1:])
    assert carried > 0


def test_it_searches_again_unless_its_last_profile_is_an_equilibrium() -> None:
    """After a bet in Kuhn poker the last trunk has all that is left; but its solver may have been cut off."""
    game, iterations = openspiel.load("kuhn_poker"), list[int]()
    check = int(np.flatnonzero(game.player == 0)[0])
    passed = children(game, check)[0]
    facing = children(game, passed)[1]
    for finished in (True, False):
        search = Search(EnumeratedModel(game), Klss2021(), seed=1)
        search.search(EnumeratedBelief(game, int(game.infoset[0][check])), Budget(nodes=5_000))
        assert search.standing is not None
        standing = search.standing
        profile = standing.profile if finished else extended(standing.trunk, standing.profile)
        search.standing = dataclasses.replace(standing, profile=profile)
        search.observe(0, int(game.infoset[0][passed]) + 1, acts=False)
        search.observe(-1, int(game.infoset[0][facing]) + 1, acts=True)
        belief = EnumeratedBelief(game, int(game.infoset[0][facing]))
        iterations.append(search.search(belief, Budget(nodes=5_000)).report.iterations)
    assert iterations[0] == 0 < iterations[1]


def test_in_kuhn_poker_it_never_calls_a_bet_with_the_lowest_card_nor_folds_the_highest() -> None:
    """The dominated actions of Kuhn (1950), whatever the opponent does; a subgame never wants them."""
    game = openspiel.load("kuhn_poker")
    seen = set()
    for seed in range(40):
        path, _ = played(game, seed, Klss2021())
        card, facing = int(game.action[path[1]]), [node for node in path if game.player[node] == 0][1:]
        for node in facing:  # player 0 checked and was bet to: 0 folds, 1 calls
            answer = int(game.action[path[path.index(node) + 1]])
            seen.add(card)
            assert not (card == 0 and answer == 1) and not (card == 2 and answer == 0)
    assert {0, 1} <= seen, "the highest card may be bet at once"


def test_a_move_that_needs_no_search_says_what_the_belief_says_of_itself() -> None:
    class Sample(EnumeratedBelief):
        capped_by = "time"  # type: ignore[assignment]

    game = mirrored(kuhn())  # player 0 moves second: what comes before is nature's and the opponent's
    model = EnumeratedModel(game)
    search = Search(model, Klss2021(caution=1.0), seed=0)
    search.begin(model.root, Budget(nodes=1000))
    node = 0
    while game.player[node] != 0:
        node = children(game, node)[0]
        search.observe(-1, int(game.infoset[0][node]) + 1, bool(game.player[node] == 0))
    belief = Sample(game, int(game.infoset[0][node]))
    report = search.search(belief, Budget(nodes=1000)).report
    assert (report.nodes, report.carried, report.sampled) == (0, belief.size, 0), "nothing is searched"
    assert report.capped_by == "time"
