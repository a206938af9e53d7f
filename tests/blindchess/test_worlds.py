"""Playouts' worlds against the referee and the position sets, which share none of their kernels' order of things."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest

from blindchess.belief.position_set import PositionSet
from blindchess.game.referee import Referee
from blindchess.synoptic.synopsis import MOVE, SENSE, Memory, synopsis
from blindchess.synoptic.worlds import BlindBelief, BlindModel, request_action
from darkchess.board.move import encode
from klss.arrays import Words
from klss.movers import TERMINAL

MOST = 3000


def turned(square: int, color: chess.Color) -> int:
    return square if color else square ^ 56


def rows(halves: Words) -> set[tuple[int, int]]:
    return {(int(a), int(b)) for a, b in halves}


class Told:
    """What a player of a game holds possible and remembers."""

    def __init__(self, color: chess.Color, referee: Referee) -> None:
        self.color = color
        self.known = PositionSet(color, referee.position)
        self.memory = Memory(flipped=color == chess.BLACK)


@pytest.mark.parametrize("planner", chess.COLORS)
def test_a_world_goes_on_as_the_game_does(planner: chess.Color) -> None:
    """Law: an action at the true state gives the referee's position, and to both players their position sets."""
    rng = random.Random(7 + planner)
    checks = 0
    for _ in range(12):
        referee = Referee()
        players = {color: Told(color, referee) for color in chess.COLORS}
        model = BlindModel(planner)
        first = BlindBelief.of(
            players[planner].known, players[planner].memory.words, hers=planner == chess.WHITE, stage=SENSE
        )
        worlds = model.alone(first.sample(1, 0), MOST)
        for _ in range(60):
            mover = referee.turn
            told = players[mover]
            told.known.noticed(referee.notice)
            told.memory.noticed(referee.notice)
            if max(one.known.size for one in players.values()) > MOST // 2:
                break
            compare(worlds, model, players, planner, SENSE, mover)
            looks = model.look(worlds)
            action = int(rng.choice(looks.alike.tolist()))
            square = turned(action // 65, mover)
            told.known.sensed(referee.sense(square))
            advanced(model, worlds, action)
            compare(worlds, model, players, planner, MOVE, mover)
            looks = model.look(worlds)
            asked = {request_action(code) for code in told.known.requests().tolist()} - {None}
            assert sorted(asked) == looks.actions.tolist()
            captures = [
                move for move in referee.requests()
                if request_action(encode(move) ^ (0 if mover else 56 << 9 | 56 << 3)) is not None
            ]  # fmt: skip
            move = rng.choice([None, *captures])
            code = -1 if move is None else encode(move) ^ (0 if mover else 56 << 9 | 56 << 3)
            planes = synopsis(told.known.own_row, told.known.halves, MOVE, told.memory.words)
            np.testing.assert_array_equal(looks.synopses[0], planes)
            moved = referee.move(move)
            advanced(model, worlds, request_action(code))
            if referee.outcome is not None:
                assert model.acting(worlds.states)[0] == TERMINAL
                assert model.results(worlds.states)[0] == (1 if referee.outcome.winner == planner else -1)
                break
            told.known.moved(moved)
            told.memory.moved(moved, planes)
            checks += 1
    assert checks > 60


def advanced(model: BlindModel, worlds: object, action: int | None) -> None:
    model.advance(worlds, np.array([action], np.int32), np.array([99], np.uint64), np.full((2, 1), MOST))


def compare(worlds, model, players, planner, stage, mover) -> None:  # type: ignore[no-untyped-def]
    """The set of who acts is her position set, and what she remembers; the truth is in it."""
    told = players[mover]
    seat = 0 if mover == planner else 1
    assert model.acting(worlds.states)[0] == seat
    mine = worlds.sets[seat]
    found = mine.members[0, : mine.counts[0]]
    assert rows(found) == rows(told.known.halves)
    assert len(found) == told.known.size
    np.testing.assert_array_equal(mine.memories[0], told.memory.words)
    if mover == planner:
        belief = BlindBelief.of(told.known, told.memory.words, hers=True, stage=stage)
        assert belief.contains(worlds.states).all()
        assert belief.contains(belief.sample(20, 3)).all()
