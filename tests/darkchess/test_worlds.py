"""Playouts' worlds against the referee and the position sets, which make their masks from views."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import chess
import numpy as np
import pytest

from darkchess import Referee
from darkchess.belief.position_set import PositionSet
from darkchess.game.contest import king_capture
from darkchess.game.rules import PAPER, PYCHESS, Ruleset
from darkchess.synoptic.synopsis import PLANES, Memory, own_half, synopsis
from darkchess.synoptic.worlds import DarkBelief, DarkModel, action_of, move_of
from klss.arrays import Words
from klss.movers import TERMINAL
from klss.synoptic.model import Worlds
from tests.darkchess.position_set_games import STARTS

MOST = 3000


def pairs(halves: Words) -> set[tuple[int, int]]:
    return {(int(a), int(b)) for a, b in halves}


class Told:
    """What a player of a game holds possible and remembers."""

    def __init__(self, color: chess.Color, game: Referee) -> None:
        self.view = game.view(color)
        self.known = PositionSet(self.view, game.position)
        passed = game.position.ep_square if self.view.to_move != color else None
        self.memory = Memory(self.view, passed)
        self.beliefs = [DarkBelief.of(self.known, self.memory.words)]

    def observe(self, game: Referee, planes: Words | None) -> None:
        view = game.view(self.view.color)
        self.known.observe(view)
        self.memory.observe(self.view, view, planes)
        self.view = view
        self.beliefs.append(DarkBelief.of(self.known, self.memory.words))


def compare(worlds: Worlds, model: DarkModel, players: dict[chess.Color, Told], planner: chess.Color) -> None:
    """The sets of both are their position sets, and what they remember; the truth is in the planner's."""
    for color, told in players.items():
        mine = worlds.sets[0 if color == planner else 1]
        found = mine.members[0, : mine.counts[0]]
        assert pairs(found) == pairs(told.known.halves)
        assert len(found) == told.known.size
        np.testing.assert_array_equal(mine.memories[0], told.memory.words)
    belief = players[planner].beliefs[-1]
    assert belief.contains(worlds.states).all()
    sample = belief.sample(20, 3)
    assert belief.contains(sample).all()
    rows = {row.tobytes() for row in players[planner].known.rows(np.arange(players[planner].known.size))}
    assert {row[:9].tobytes() for row in sample} <= rows


@pytest.mark.parametrize("planner", chess.COLORS)
@pytest.mark.parametrize("name", STARTS)
def test_a_world_goes_on_as_the_game_does(name: str, planner: chess.Color) -> None:
    """Law: an action at the true state gives the referee's position, and both players their position sets."""
    rng = random.Random(f"{name} {planner}")
    for _ in range(2):
        game = Referee(STARTS[name])
        players = {color: Told(color, game) for color in chess.COLORS}
        model = DarkModel(planner)
        worlds = model.alone(players[planner].beliefs[0].sample(1, 0), MOST)
        for seat in (0, 1):
            worlds.sets[seat].memories[0] = players[planner if seat == 0 else not planner].memory.words
        for _ in range(40):
            told = players[game.turn]
            compare(worlds, model, players, planner)
            if max(one.known.size for one in players.values()) > MOST // 8:
                break
            seat = 0 if game.turn == planner else 1
            assert model.acting(worlds.states)[0] == seat
            looks = model.look(worlds)
            planes = synopsis(own_half(told.view), told.known.halves, told.memory.words)
            np.testing.assert_array_equal(looks.synopses[0], planes)
            asked = {action_of(move, game.turn): move for move in told.view.legal_moves}
            asked.pop(None, None)
            assert sorted(asked) == looks.actions.tolist()
            for action, move in asked.items():
                assert move_of(action, own_half(told.view), game.turn) == move
            assert bool(looks.forced[0]) == (king_capture(told.view) is not None)
            action, move = rng.choice(list(asked.items()))
            after = model.after(worlds.states, np.array([action], np.int32), np.zeros(1, np.uint64))
            model.advance(worlds, np.array([action], np.int32), np.array([99], np.uint64), np.full((2, 1), MOST))
            np.testing.assert_array_equal(after, worlds.states)
            mover = game.turn
            game.push(move)
            if game.outcome is not None:
                if game.outcome.reason in ("king_captured", "no_move"):
                    assert model.acting(worlds.states)[0] == TERMINAL
                    assert model.results(worlds.states)[0] == (1 if game.outcome.winner == planner else -1)
                break
            for color, one in players.items():
                one.observe(game, planes if color == mover else None)
        follow_back(players[planner].beliefs)


def follow_back(beliefs: list[DarkBelief]) -> None:
    """What ``before`` keeps is what has a successor that was possible later: no other observation is asked."""
    later = beliefs[-1]
    for belief in reversed(beliefs[:-1]):
        kept = belief.before(later)
        if kept is None:
            kept = belief
        assert 1 <= kept.size <= belief.size
        assert pairs(kept.halves) <= pairs(belief.halves)
        if belief.size <= 40:
            assert pairs(kept.halves) == naive_before(belief, later)
        later = kept


def naive_before(belief: DarkBelief, later: DarkBelief) -> set[tuple[int, int]]:
    """By all actions of all members; of promotions to queens only where the members promote to nothing else."""
    model = DarkModel(belief.color)
    worlds = model.alone(belief.states(belief.halves), 1)
    looks = model.look(worlds)
    sizes = np.diff(looks.offsets)
    sources = np.repeat(np.arange(sizes.shape[0]), sizes)
    after = model.after(worlds.states[sources], looks.actions, np.zeros(sources.shape[0], np.uint64))
    if belief.hers:
        played = later.remembered[0], later.remembered[1]
        origins, targets = 1 << (looks.actions // 65).astype(np.uint64), 1 << (looks.actions % 65).astype(np.uint64)
        after, sources = (some[(origins == played[0]) & (targets == played[1])] for some in (after, sources))
    return pairs(belief.halves[np.unique(sources[later.contains(after)])])


@pytest.mark.parametrize(("ruleset", "worth"), [(PAPER, 1.0), (PYCHESS, 0.0)])
def test_who_cannot_move_has_lost_or_drawn(ruleset: Ruleset, worth: float) -> None:
    """Black's men stand in each other's way, all sixteen; White's king goes where it likes."""
    game = Referee("7K/8/8/8/8/8/pppppppp/kbbrbrbr w - - 0 1", ruleset)
    belief = Told(chess.BLACK, game).beliefs[0]
    action = action_of(chess.Move.from_uci("h8h7"), chess.WHITE)
    for color in chess.COLORS:
        model = DarkModel(color, ruleset)
        worlds = model.alone(belief.sample(1, 0), 4)
        model.advance(worlds, np.array([action], np.int32), np.array([9], np.uint64), np.full((2, 1), 4))
        assert model.acting(worlds.states)[0] == TERMINAL
        assert model.results(worlds.states)[0] == (worth if color else -worth)


def test_a_mended_sample_rules_out_nothing_of_what_was_before() -> None:
    """Sets that went over the cap may be mended: what they hold then comes from nothing that they held before."""
    game = Referee()
    told = Told(chess.WHITE, game)
    for uci in ("e2e4", "e7e6", "d2d4", "f8b4"):
        planes = np.zeros(PLANES, dtype=np.uint64) if game.turn == chess.WHITE else None
        game.push(chess.Move.from_uci(uci))
        told.observe(game, planes)
    beliefs = [belief for belief in told.beliefs if belief.size > 1]
    assert len(beliefs) == 3
    for before, later in itertools.pairwise(beliefs):
        mended = replace(later, halves=later.halves[:1] ^ np.uint64(0x2A))
        assert before.before(mended) is None
