"""Playouts' worlds against the referee and the position sets, which share none of their kernels' order of things."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import chess
import numpy as np
import pytest

from darkchess.board.move import encode
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.game.observation import INNER
from darkchess.rbc.game.referee import Referee
from darkchess.rbc.synoptic._kernels.synopsis import MOVE, SENSE
from darkchess.rbc.synoptic.synopsis import Memory, synopsis
from darkchess.rbc.synoptic.worlds import PASS, BlindBelief, BlindModel, Played, request_action
from klss.support.arrays import Words
from klss.theory.movers import TERMINAL

MOST = 3000
FEW_MEN = "3nk3/8/8/2ppp3/2PPP3/8/8/3NK3 w - - 0 1"


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
    for _ in range(6):
        referee = Referee()
        players = {color: Told(color, referee) for color in chess.COLORS}
        model = BlindModel(planner)
        first = BlindBelief.of(
            players[planner].known, players[planner].memory.words, acts=planner == chess.WHITE, stage=SENSE
        )
        worlds = model.alone(first.sample(1, 0), MOST)
        for _ in range(60):
            mover = referee.turn
            shown = players[mover]
            shown.known.noticed(referee.notice)
            shown.memory.noticed(referee.notice)
            if max(one.known.size for one in players.values()) > MOST // 2:
                break
            compare(worlds, model, players, planner, SENSE, mover)
            looks = model.look(worlds)
            action = int(rng.choice(looks.alike.tolist()))
            square = turned(action // 65, mover)
            shown.known.sensed(referee.sense(square))
            advanced(model, worlds, action)
            compare(worlds, model, players, planner, MOVE, mover)
            looks = model.look(worlds)
            asked = {request_action(code) for code in shown.known.requests().tolist()} - {None}
            assert sorted(asked) == looks.actions.tolist()
            captures = [
                move for move in referee.requests()
                if request_action(encode(move) ^ (0 if mover else 56 << 9 | 56 << 3)) is not None
            ]  # fmt: skip
            move = rng.choice([None, *captures])
            code = -1 if move is None else encode(move) ^ (0 if mover else 56 << 9 | 56 << 3)
            planes = synopsis(shown.known.own_row, shown.known.halves, MOVE, shown.memory.words)
            np.testing.assert_array_equal(looks.synopses[0], planes)
            moved = referee.move(move)
            advanced(model, worlds, request_action(code))
            if referee.outcome is not None:
                assert model.acting(worlds.states)[0] == TERMINAL
                assert model.results(worlds.states)[0] == (1 if referee.outcome.winner == planner else -1)
                break
            shown.known.moved(moved)
            shown.memory.moved(moved, planes)
            checks += 1
    assert checks > 30


def advanced(model: BlindModel, worlds: object, action: int | None) -> None:
    model.advance(worlds, np.array([action], np.int32), np.array([99], np.uint64), np.full((2, 1), MOST))


def compare(worlds, model, players, planner, stage, mover) -> None:  # type: ignore[no-untyped-def]
    """The set of who acts is its position set, and what it remembers; the truth is in it."""
    shown = players[mover]
    seat = 0 if mover == planner else 1
    assert model.acting(worlds.states)[0] == seat
    mine = worlds.sets[seat]
    found = mine.members[0, : mine.counts[0]]
    assert rows(found) == rows(shown.known.halves)
    assert len(found) == shown.known.size
    np.testing.assert_array_equal(mine.memories[0], shown.memory.words)
    if mover == planner:
        belief = BlindBelief.of(shown.known, shown.memory.words, acts=True, stage=stage)
        assert belief.contains(worlds.states).all()
        assert belief.contains(belief.sample(20, 3)).all()


def beliefs_of(color: chess.Color, seed: int, turns: int) -> list[BlindBelief]:
    """What one player of a random game that favours captures held possible, action by action, as a planner is given."""
    rng = random.Random(seed)
    referee = Referee(FEW_MEN)
    shown = Told(color, referee)

    def belief(stage: int, *, acts: bool, follows: Played | None = None) -> BlindBelief:
        return BlindBelief.of(shown.known, shown.memory.words, acts=acts, stage=stage, follows=follows)

    def seen(square: int | None) -> int:
        return -1 if square is None else turned(square, color)

    found = [belief(SENSE, acts=color == chess.WHITE)]
    while referee.outcome is None and referee.ply < turns:
        acts = referee.turn == color
        if acts:
            shown.known.noticed(referee.notice)
            shown.memory.noticed(referee.notice)
            if found[-1].stage == MOVE:
                found.append(belief(SENSE, acts=True, follows=Played(-1, -1, seen(referee.notice.square))))
        sensed = referee.sense(rng.choice(INNER))
        if acts:
            shown.known.sensed(sensed)
            found.append(belief(MOVE, acts=True))
            planes = synopsis(shown.known.own_row, shown.known.halves, MOVE, shown.memory.words)
        else:
            found.append(replace(found[-1], stage=MOVE, follows=None))
        moves = [None, *referee.requests()]
        takes = [move for move in referee.requests() if referee.position.piece_at(move.to_square)]
        moved = referee.move(rng.choice(takes if takes and rng.random() < 0.5 else moves))
        if acts and referee.outcome is None:
            code, taken = shown.known.code(moved.requested), shown.known.code(moved.taken)
            shown.known.moved(moved)
            shown.memory.moved(moved, planes)
            found.append(belief(SENSE, acts=False, follows=Played(code, taken, seen(moved.capture_square))))
    return found


def naive_before(belief: BlindBelief, later: BlindBelief) -> set[tuple[int, int]]:
    """The members that an action which is given alike leads to a later one, by all actions of all members."""
    if belief.stage == SENSE:
        return rows(later.halves)
    model = BlindModel(belief.color)
    worlds = model.alone(belief.states(belief.halves), 1)
    looks = model.look(worlds)
    sizes = np.diff(looks.offsets)
    sources = np.repeat(np.arange(sizes.shape[0]), sizes)
    after = model.after(worlds.states[sources], looks.actions, np.zeros(sources.shape[0], np.uint64))
    fits = later.contains(after)
    assert later.follows is not None
    if belief.acts:
        action = request_action(later.follows.request)
        taken = later.follows.capture
        gone = belief.halves[sources, 0] & ~later.member(after)[:, 0]
        fits &= looks.actions == (PASS if action is None else action)
        fits &= gone == np.uint64(0 if taken < 0 else 1 << taken)
    return rows(belief.halves[np.unique(sources[fits])])


@pytest.mark.parametrize("color", chess.COLORS)
def test_what_was_possible_before_is_what_leads_to_what_is_possible_later(color: chess.Color) -> None:
    shown: set[tuple[bool, int, bool]] = set()
    for seed in range(12):
        later, *earlier = reversed(beliefs_of(color, seed, 8))
        for belief in earlier:
            kept = belief.before(later) or belief
            assert kept.size >= 1 and rows(kept.halves) <= rows(belief.halves)
            if 1 < belief.size <= 300:
                assert rows(kept.halves) == naive_before(belief, later)
                if kept.size < belief.size:
                    captured = later.follows is not None and later.follows.capture >= 0
                    shown.add((belief.acts, belief.stage, captured))
            later = kept
    moves = {(acts, MOVE, captured) for acts in (True, False) for captured in (True, False)}
    assert shown >= moves | {(True, SENSE, False)}, shown


def test_a_mended_sample_rules_out_nothing_of_what_was_before() -> None:
    """Sets that went over the cap may be mended: what they hold then comes from nothing that they held before."""
    compared = 0
    beliefs = beliefs_of(chess.WHITE, 3, 6)
    for before, later in itertools.pairwise(beliefs):
        if before.stage == MOVE and before.size > 1:
            assert before.before(replace(later, halves=later.halves[:1] ^ np.uint64(0x2A))) is None
            compared += 1
    assert compared >= 3
