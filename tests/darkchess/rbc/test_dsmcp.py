"""The player that plans on synopses: one answer on any number of threads, sure wins, files that are no networks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import chess
import numpy as np
import pytest

from darkchess.board.position import Position
from darkchess.rbc import Notice, Referee, Sensed
from darkchess.rbc.players.dsmcp import SynopticPlayer
from darkchess.rbc.players.named_rbc_players import configuration, make_player
from darkchess.rbc.synoptic.networks import network_of
from darkchess.rbc.synoptic.worlds import ACTIONS, BlindModel
from klss.play.arbiter import Arbiter
from klss.play.limits import Limit
from klss.play.time_plan import TimePlan
from klss.support.arrays import Float32s, Words
from klss.synoptic.model import CHUNK

FEW = Limit(nodes=60)


def player(text: str) -> SynopticPlayer:
    found = make_player(configuration(text), seed=1)
    assert isinstance(found, SynopticPlayer)
    return found


class Even:
    """A network for which all actions are equally good and every set is worth 0."""

    def infer(self, synopses: Words) -> tuple[Float32s, Float32s]:
        return np.zeros((len(synopses), ACTIONS), np.float32), np.zeros(len(synopses), np.float32)


def test_a_king_that_can_surely_be_taken_is_taken_and_that_ends_playouts() -> None:
    ours = SynopticPlayer(network=Even())
    ours.begin(chess.WHITE, Position.from_fen("4k3/8/8/8/8/8/4R3/4K3 w - - 0 1"))
    ours.notice(Notice(None))
    ours.choose_sense(FEW)
    ours.sensed(Sensed(None, ()))
    asked = ours.choose_move(FEW)
    assert asked.answer == chess.Move.from_uci("e2e8")
    assert asked.diagnostics["sure"]
    planned = ours.plan(TimePlan(Limit(nodes=3000)), sense=False)
    assert planned.action == 65 * chess.E2 + chess.E8
    assert planned.value == 1.0


def test_with_no_nodes_the_policy_s_likeliest_comes_out() -> None:
    ours = player("dsmcp")
    ours.begin(chess.WHITE, Referee().position)
    ours.notice(Notice(None))
    ours.sensed(Sensed(None, ()))
    planned = ours.plan(TimePlan(Limit(nodes=0)), sense=False)
    assert (planned.playouts, planned.nodes) == (0, 0)
    assert planned.action == planned.looks.actions[planned.root.policy.argmax()]


def test_every_particle_s_position_is_possible() -> None:
    """Law: every particle meets the set, and the opponent in it holds what is true there possible."""
    game = Referee()
    ours, other = player("dsmcp,particles=64"), make_player(configuration("rbc-expect"), seed=2)
    arbiter = Arbiter(game, {chess.WHITE: ours, chess.BLACK: other}, dict.fromkeys(chess.COLORS, Limit(nodes=30)))
    arbiter.begin()
    turns = 0
    while game.outcome is None and game.ply < 14:
        arbiter.play_turn()
        if game.outcome is None and game.turn == chess.WHITE:
            ours.position_set  # noqa: B018 (it brings the set up to date)
            ours._planner.fill()
            found = ours._planner.particles
            assert ours._planner.belief.contains(found.states).all()
            truth = BlindModel(chess.WHITE).alone(found.states, 1).sets[1].members[:, 0]
            for members, count, true in zip(found.sets[1].members, found.sets[1].counts, truth, strict=True):
                assert (members[:count] == true).all(axis=1).sum() == 1
            turns += 1
    ours.close()
    assert turns >= 3


@pytest.mark.parametrize("name", ["packaged", "rl"])
def test_an_answer_is_the_same_to_the_last_bit_whatever_else_is_asked(name: str) -> None:
    network, generator = network_of(name), np.random.default_rng(1)
    synopses = generator.integers(0, 1 << 64, (2 * CHUNK + 3, 104), dtype=np.uint64)
    logits, values = network.infer(synopses)
    assert logits.shape == (len(synopses), 4161) and (np.abs(values) <= 1).all()
    order = generator.permutation(len(synopses))
    with ThreadPoolExecutor(2) as pool:  # both halves at once
        halves = list(pool.map(network.infer, (synopses[order[:9]], synopses[order[9:]])))
    for i, whole in enumerate((logits, values)):
        assert np.concatenate([half[i] for half in halves]).tobytes() == whole[order].tobytes()
        assert network.infer(synopses[4:5])[i].tobytes() == whole[4:5].tobytes()
    assert network.infer(synopses[:0])[0].shape == (0, 4161)
