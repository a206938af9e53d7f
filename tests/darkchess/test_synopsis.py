"""The synopsis of a set of positions against one written from its list of planes."""

from __future__ import annotations

import random
from collections.abc import Iterator

import chess
import numpy as np
import pytest

from darkchess import Position, Referee
from darkchess.belief.position_set import PositionSet
from darkchess.game.view import View
from darkchess.synoptic.synopsis import MEMORY, PLANES, Memory, own_half, synopses, synopsis
from tests.oracles.synopsis import EVERYWHERE, Board, Squares, marginals, naive

STARTS = {
    "start": (None, 30),
    "en passant": ("4k3/2p1p1p1/8/3P1P2/2p1p1p1/8/1P1P1P1P/4K3 w - - 0 1", 24),
    "en passant at once": ("4k3/8/8/8/2pPp3/8/8/4K3 b - d3 0 1", 6),
    "castling": ("r3k2r/p6p/8/8/8/8/P6P/R3K2R w KQkq - 0 1", 16),
    "promotion": ("3qk3/P1P5/8/8/8/8/p1p5/3QK3 w - - 0 1", 14),
}


def boards_of(known: PositionSet, members: np.ndarray) -> list[Board]:
    """Members as boards of python-chess on which she is White."""
    found = []
    for row in known.rows(members):
        board = chess.Board(Position(row).fen())
        found.append(Board((board if known.view.color else board.mirror()).fen()))
    return found


def squares(view: View, mask: int) -> Squares:
    return frozenset(at if view.color else at ^ 56 for at in chess.SQUARES if mask >> at & 1)


def one(view: View, square: int | None) -> Squares:
    return frozenset() if square is None else squares(view, 1 << square)


def decisions(
    seed: int, fen: str | None = None, plies: int = 24
) -> Iterator[tuple[PositionSet, Memory, list[list[Squares]], Squares, np.ndarray]]:
    """Of a game of random moves that favours captures and pawns: set, memory, what is remembered, what she saw after
    her last move, the members.
    """
    rng = random.Random(seed)
    game = Referee(fen)
    known = {color: PositionSet(game.view(color), game.position, cap=3000, seed=seed) for color in chess.COLORS}
    memory = {color: Memory(game.view(color)) for color in chess.COLORS}
    lasting = {color: [frozenset()] * 4 for color in chess.COLORS}
    before = {color: [frozenset()] * 18 for color in chess.COLORS}
    saw: dict[chess.Color, Squares] = dict.fromkeys(chess.COLORS, frozenset())
    while game.outcome is None and game.ply < plies:
        color = game.turn
        hers, view = known[color], game.view(color)
        members = np.array(sorted(rng.sample(range(hers.size), min(hers.size, rng.choice((1, 2, 7))))))
        yield hers, memory[color], [lasting[color], before[color]], saw[color], members
        planes = synopsis(own_half(view), hers.halves[members], memory[color].words)
        loud = [
            m for m in view.legal_moves if view.piece_at(m.to_square) or view.piece_at(m.from_square).piece_type == 1
        ]
        move = rng.choice(loud if loud and rng.random() < 0.5 else view.legal_moves)
        before[color] = marginals(boards_of(hers, members)) + lasting[color]
        there = {at: piece for at, piece in game.position.pieces.items() if piece.color != color}
        old = {each: game.view(each) for each in chess.COLORS}
        game.push(move)
        if game.outcome is not None:
            return
        gone = [at for at in there if at not in game.position.pieces or game.position.pieces[at].color == color]
        taken = gone[0] if gone else None
        lasting[color] = [one(view, move.from_square), one(view, move.to_square), one(view, taken), frozenset()]
        saw[color] = squares(view, game.view(color).visible)
        other = game.view(not color)
        lasting[not color] = [*lasting[not color][:3], one(other, taken)]
        for each in chess.COLORS:
            known[each].observe(game.view(each))
            memory[each].observe(old[each], game.view(each), planes if each == color else None)


@pytest.mark.parametrize("name", STARTS)
def test_every_plane_is_what_the_list_says(name: str) -> None:
    fen, plies = STARTS[name]
    compared = 0
    for seed in range(2):
        for known, memory, (lasting, before), saw, members in decisions(seed, fen, plies):
            view = known.view
            found = synopsis(own_half(view), known.halves[members], memory.words)
            wanted = naive(boards_of(known, members), squares(view, view.visible), lasting, before)
            wanted[79] = saw
            assert len(wanted) == PLANES
            for plane, these in enumerate(wanted):
                got = frozenset(at for at in EVERYWHERE if int(found[plane]) >> at & 1)
                assert got == these, f"plane {plane} at a set of {len(members)}"
            compared += 1
    assert compared >= 8


def test_many_sets_at_once_have_the_synopses_of_each() -> None:
    rows, halves, offsets, memories, wanted = [], [], [0], [], []
    for known, memory, _, _, members in decisions(5, plies=10):
        rows.append(own_half(known.view))
        halves.append(known.halves[members])
        offsets.append(offsets[-1] + len(members))
        memories.append(memory.words.copy())
        wanted.append(synopsis(rows[-1], halves[-1][::-1].repeat(2, axis=0), memory.words))
    found = synopses(np.array(rows), np.concatenate(halves), offsets, np.array(memories))
    assert (found == np.array(wanted)).all()


def test_an_empty_set_has_no_synopsis() -> None:
    view = Referee().view(chess.WHITE)
    with pytest.raises(ValueError, match="at least one"):
        synopsis(own_half(view), np.empty((0, 2), dtype=np.uint64), np.zeros(MEMORY, dtype=np.uint64))
