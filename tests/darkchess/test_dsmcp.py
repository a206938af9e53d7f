"""The player who plans on synopses: one answer whatever the threads, kings taken, networks that are none."""

from __future__ import annotations

import chess
import numpy as np
import pytest

from darkchess import Referee
from darkchess.game.arbiter import Arbiter, TimeControl, TruthCount
from darkchess.game.contest import Limit
from darkchess.players.configuration import ConfigurationError, configuration, make_player
from darkchess.players.dsmcp import SynopticPlayer
from darkchess.synoptic.networks import network_of
from darkchess.synoptic.worlds import DarkModel


def player(text: str) -> SynopticPlayer:
    found = make_player(configuration(text), seed=1)
    assert isinstance(found, SynopticPlayer)
    return found


@pytest.mark.parametrize("formula", ["ucb1", "puct"])
def test_with_nodes_one_thread_and_two_play_the_same(formula: str) -> None:
    games = []
    for threads in (1, 2):
        game, truth = Referee(), TruthCount()
        hers = player(f"dsmcp,formula={formula},particles=16,cap=20000,threads={threads}")
        other = make_player(configuration("greedy,cap=20000"), seed=4)
        limits = dict.fromkeys(chess.COLORS, TimeControl(nodes=60))
        arbiter = Arbiter(game, {chess.WHITE: hers, chess.BLACK: other}, limits, truth=truth)
        arbiter.begin()
        while game.outcome is None and game.ply < 50:
            arbiter.play_ply()
        assert truth.lost == 0
        hers.close()
        games.append(game.moves)
    assert games[0] == games[1]


def test_a_king_that_can_be_taken_is_taken_and_that_ends_playouts() -> None:
    for text in ("dsmcp,network=even", "dsmcp,network=even,static=false,exploration=0.2"):
        game = Referee("4k3/8/8/8/8/8/4R3/4K3 w - - 0 1")
        hers = player(text)
        hers.start(game.view(chess.WHITE), game.position)
        decision = hers.choose(Limit(nodes=3000))
        assert decision.move == chess.Move.from_uci("e2e8")
        assert (decision.diagnostics["nodes"] == 0) == (text == "dsmcp,network=even")


def test_who_does_not_play_out_plays_the_policy_s_likeliest() -> None:
    game = Referee()
    hers = player("dsmcp-network")
    hers.start(game.view(chess.WHITE), game.position)
    told = hers.choose(Limit(nodes=60)).diagnostics
    assert told["playouts"] == told["nodes"] == 0


def test_every_particle_s_position_is_possible_and_the_opponent_holds_it_possible() -> None:
    """Law: every particle meets the set, and the opponent in it holds what is true there possible."""
    game = Referee()
    hers, other = player("dsmcp,particles=64,cap=20000"), make_player(configuration("greedy,cap=20000"), seed=2)
    limits = dict.fromkeys(chess.COLORS, TimeControl(nodes=30))
    arbiter = Arbiter(game, {chess.WHITE: hers, chess.BLACK: other}, limits)
    arbiter.begin()
    turns = 0
    while game.outcome is None and game.ply < 20:
        arbiter.play_ply()
        if game.outcome is None and game.turn == chess.WHITE:
            held = hers._game
            known = hers.position_set
            held.planner.fill()
            found = held.planner.particles
            assert held.planner.belief.size == known.size
            assert held.planner.belief.contains(found.states).all()
            truth = DarkModel(chess.WHITE).alone(found.states, 1).sets[1].members[:, 0]
            for members, count, true in zip(found.sets[1].members, found.sets[1].counts, truth, strict=True):
                assert (members[:count] == true).all(axis=1).sum() == 1
            turns += 1
    hers.close()
    assert turns >= 3


def test_texts_name_what_can_be_changed() -> None:
    fields = configuration("dsmcp,mixing=inf,depth=4").fields()
    assert (fields["mixing"], fields["depth"], fields["playouts"]) == ("inf", 4, True)
    assert "thinking" not in fields and "search" not in fields
    with pytest.raises(ConfigurationError, match="depth is 0, expected 1 to 100000"):
        configuration("dsmcp,depth=0")
    for wrong in ("dsmcp,reach=true", "klss2021,depth=4", "dsmcp,batch=0"):
        with pytest.raises(ConfigurationError):
            configuration(wrong)


def test_the_packaged_network_is_for_this_game() -> None:
    logits, values = network_of("packaged").infer(np.zeros((1, 104), dtype=np.uint64), "top", "all")
    assert logits.shape == (1, 4161) and abs(values[0]) <= 1
