"""The synopsis of a set of positions against one written from its list of planes."""

from __future__ import annotations

import random
from collections.abc import Iterator

import chess
import numpy as np
import pytest

from darkchess.rbc import Referee
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.game.observation import INNER
from darkchess.rbc.synoptic._kernels.synopsis import MOVE, SENSE
from darkchess.rbc.synoptic.synopsis import PLANES, Memory, synopsis
from tests.oracles.synopsis import EVERYWHERE, Board, Squares, marginals, naive


def boards_of(known: PositionSet, indices: np.ndarray) -> list[Board]:
    """Members as boards of python-chess on which it is White."""
    from darkchess.board.position import Position

    found = []
    for row in known.rows(indices):
        board = chess.Board(Position(row).fen())
        found.append(Board((board.mirror() if known.flipped else board).fen()))
    return found


def seen(square: int | None, flipped: bool) -> Squares:
    return frozenset() if square is None else frozenset({square ^ 56 if flipped else square})


def decisions(
    seed: int, fen: str | None = None, turns: int = 24
) -> Iterator[tuple[PositionSet, int, Memory, list[list[Squares]], np.ndarray]]:
    """Of a game of random requests that favours captures: set, stage, memory, the planes remembered, the members."""
    rng = random.Random(seed)
    game = Referee(fen)
    known = {color: PositionSet(color, game.position, cap=3000, seed=seed) for color in chess.COLORS}
    memory = {color: Memory(flipped=not color) for color in chess.COLORS}
    lasting = {color: [frozenset()] * 4 for color in chess.COLORS}
    before = {color: [frozenset()] * 18 for color in chess.COLORS}
    while game.outcome is None and game.ply < turns:
        color = game.turn
        own = known[color]
        own.noticed(game.notice)
        memory[color].noticed(game.notice)
        lasting[color][3] = seen(game.notice.square, own.flipped)
        members = own.sample(rng.choice((1, 2, 7)), rng.randrange(1 << 30))
        yield own, SENSE, memory[color], [lasting[color], before[color]], members
        own.sensed(game.sense(rng.choice(INNER)))
        members = own.sample(rng.choice((1, 2, 7)), rng.randrange(1 << 30))
        yield own, MOVE, memory[color], [lasting[color], before[color]], members
        planes = synopsis(own.own_row, own.halves[members], MOVE, memory[color].words)
        before[color] = marginals(boards_of(own, members)) + lasting[color]
        asked = [move for move in game.requests() if game.position.piece_at(move.to_square)]
        moved = game.move(rng.choice(asked if asked and rng.random() < 0.3 else game.requests()))
        taken = moved.taken
        lasting[color] = [
            seen(None if taken is None else taken.from_square, own.flipped),
            seen(None if taken is None else taken.to_square, own.flipped),
            seen(moved.capture_square, own.flipped),
            frozenset(),
        ]
        if game.outcome is None:
            own.moved(moved)
            memory[color].moved(moved, planes)


STARTS = {
    "start": (None, 30),
    "en passant": ("4k3/2p1p1p1/8/3P1P2/2p1p1p1/8/1P1P1P1P/4K3 w - - 0 1", 16),
    "castling": ("r3k2r/p6p/8/8/8/8/P6P/R3K2R w KQkq - 0 1", 16),
    "kings in the open": ("3rk3/8/2n2b2/8/3K4/4n3/8/R2Q4 w - - 0 1", 8),
    "promotion": ("3qk3/P1P5/8/8/8/8/p1p5/3QK3 w - - 0 1", 14),
}


@pytest.mark.parametrize("name", STARTS)
def test_every_plane_is_what_the_list_says(name: str) -> None:
    fen, turns = STARTS[name]
    compared = 0
    for seed in range(2):
        for known, stage, memory, (lasting, before), members in decisions(seed, fen, turns):
            halves = known.halves[members]
            found = synopsis(known.own_row, halves, stage, memory.words)
            tenth = EVERYWHERE if stage == MOVE else frozenset()
            wanted = naive(boards_of(known, members), tenth, lasting, before)
            assert len(wanted) == PLANES
            for plane, squares in enumerate(wanted):
                got = frozenset(at for at in EVERYWHERE if int(found[plane]) >> at & 1)
                assert got == squares, f"plane {plane}, at a set of {len(members)}"
            compared += 1
    assert compared >= 8


def test_a_synopsis_hangs_neither_on_the_order_nor_on_the_number_of_times_that_a_member_comes() -> None:
    for known, stage, memory, _, members in decisions(6, turns=10):
        halves = known.halves[members]
        found = synopsis(known.own_row, halves, stage, memory.words)
        assert (found == synopsis(known.own_row, halves[::-1].repeat(2, axis=0), stage, memory.words)).all()
