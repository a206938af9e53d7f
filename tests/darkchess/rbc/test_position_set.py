"""The position set against reconchess's own functions, board by board, and its laws."""

from __future__ import annotations

import random
import time

import chess
import numpy as np
import pytest

from darkchess.board import position_table
from darkchess.board.kernels.halves import MOST_SUCCESSORS
from darkchess.board.kernels.position_table import half_hash
from darkchess.board.position import Position
from darkchess.errors import ViewError
from darkchess.rbc import Moved, Notice, Referee, Sensed
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.belief.senses import partitions
from darkchess.rbc.game.observation import INNER, window

pytest.importorskip("reconchess", exc_type=ImportError)

from tests.oracles.reconchess_sets import BoardSet

FENS = {
    "start": chess.STARTING_FEN,
    "en passant": "4k3/2p1p1p1/8/3P1P2/2p1p1p1/8/1P1P1P1P/4K3 w - - 0 1",
    "castling": "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1",
    "promotion": "3qk3/P1P5/8/8/8/8/p1p5/3QK3 w - - 0 1",
}


def fens(known: PositionSet, turn: str) -> set[str]:
    found = set()
    for held in known:
        fields = held.fen().split()[:4]
        found.add(" ".join([fields[0], turn, *fields[2:]]))
    return found


def test_after_a_merge_a_sample_s_hashes_fill_the_whole_range_again() -> None:
    """In a table of the hashes of which a sample has only the smallest, each position is sought among all before it."""
    known = PositionSet(chess.BLACK, Referee().position, cap=2000)
    for text in ("e7e5", "e5e4", "a7a6", "a6a5"):
        known.noticed(Notice(None))
        known.moved(Moved(move := chess.Move.from_uci(text), move, None))
    known.noticed(Notice(None))
    # A merge: that White's pawn may have made a double step past e4 in this turn is forgotten.
    assert known.sampled and known._any_double_step()
    known.moved(Moved(None, None, None))
    hashes = [int(half_hash(*half, known._key)) / 2**64 for half in known.halves]
    assert len(hashes) > 1000 and np.median(hashes) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("name", sorted(FENS))
def test_the_set_is_that_of_reconchess(name: str) -> None:
    looks = 0
    for seed in range(3):
        rng = random.Random(seed)
        game = Referee(FENS[name])
        known = {color: PositionSet(color, game.position) for color in chess.COLORS}
        boards = {color: BoardSet(color, chess.Board(FENS[name])) for color in chess.COLORS}
        while game.outcome is None and game.ply < 14:
            color = game.turn
            mine, theirs = known[color], boards[color]
            mine.noticed(game.notice)
            theirs.noticed(game.notice.square)
            sensed = game.sense(rng.choice(INNER))
            for said in (None, sensed):
                if said is not None:
                    mine.sensed(said)
                    theirs.sensed(list(said.contents))
                assert mine.contains(game.position.row)
                if len(theirs.boards) > 200:
                    break
                assert fens(mine, "w" if color else "b") == set(theirs.boards)
                looks += 1
            else:
                moved = game.move(rng.choice([None, *game.requests()]))
                if game.outcome is None:
                    mine.moved(moved)
                    theirs.moved(moved.requested, moved.taken, moved.capture_square)
                    assert mine.contains(game.position.row)
                continue
            break
    assert looks > 15


def large(threads: int, cap: int = 2_000_000) -> PositionSet:
    game = Referee()
    known = PositionSet(chess.WHITE, game.position, threads=threads, cap=cap, seed=3)
    for text in ("e2e4", "d2d4", "b1c3", "g1f3"):
        known.noticed(game.notice)
        known.moved(game.move(chess.Move.from_uci(text)))
        game.move(chess.Move.from_uci({"e2e4": "e7e6", "d2d4": "d7d6", "b1c3": "b8c6", "g1f3": "g8f6"}[text]))
    known.noticed(game.notice)
    return known


def test_the_set_is_the_same_on_one_thread_and_on_three_and_a_capped_one_is_the_front_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("darkchess.board.position_step.PART", 1000)
    one, two, capped = large(1), large(3), large(1, 5000)
    assert one.size > 20_000 and (one.halves == two.halves).all()
    assert capped.size == 5000 and capped.capped_by == "cap"
    assert (one.sample(100, 7) == two.sample(100, 7)).all()


def test_past_its_deadline_the_set_is_a_sample_of_the_exact_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The front of the sources is followed, which says nothing about what is likely; without a deadline, no clock."""
    monkeypatch.setattr(position_table, "BUFFER", 4 * MOST_SUCCESSORS)
    ended: list[PositionSet] = []
    for deadline in (None, 0.0):
        known = large(1)
        known.moved(Moved(None, None, None))
        with monkeypatch.context() as patch:
            if deadline is None:
                patch.setattr(time, "monotonic", None)
            known.noticed(Notice(None), deadline=deadline)
        ended.append(known)
    exact, late = ended
    assert (exact.capped_by, late.capped_by) == (None, "time")
    assert 0 < late.size < exact.size / 10
    assert {*map(tuple, late.halves.tolist())} < {*map(tuple, exact.halves.tolist())}


def test_partitions_are_what_each_window_shows() -> None:
    known = large(1)
    indices = known.sample(300, 1)
    found = partitions(known, indices)
    rows = [Position(row) for row in known.rows(indices)]
    for place, square in enumerate(INNER):
        seen: dict[tuple[object, ...], int] = {}
        shown = [tuple(str(held.piece_at(at)) for at in window(square)) for held in rows]
        assert found.classes[place].tolist() == [seen.setdefault(look, len(seen)) for look in shown]
        assert found.counts[place] == len(seen)
    weights = np.full(300, 1 / 300)
    left = found.left_over(weights)
    assert (left >= 1 / found.counts - 1e-12).all() and (left <= 1 + 1e-12).all()


def test_a_window_seen_from_blacks_side_is_the_one_on_the_real_board() -> None:
    game = Referee()
    known = PositionSet(chess.BLACK, game.position)
    game.move(chess.Move.from_uci("e2e4"))
    known.noticed(game.notice)
    indices = known.sample(100, 0)
    found = partitions(known, indices)
    assert found.counts[INNER.index(chess.E3)] > 1  # e2e3 and e2e4, d2d3 and f2f3 differ there
    assert found.counts[INNER.index(chess.E6)] == 1


def test_what_contradicts_itself_is_refused_and_changes_nothing() -> None:
    known = PositionSet(chess.BLACK, Position.start())
    known.noticed(Notice(None))
    with pytest.raises(ViewError, match="agrees with none of the 21 positions"):
        known.sensed(Sensed(chess.E4, ((chess.E4, chess.Piece.from_symbol("Q")),)))
    assert known.size == 21
    with pytest.raises(ViewError, match="one of the player"):
        PositionSet(chess.BLACK, Position.start()).noticed(Notice(chess.E4))


def test_a_sample_in_which_nothing_agrees_is_mended() -> None:
    known = large(1, 50)
    king = chess.Piece.from_symbol("k")
    contents = tuple((square, king if square == chess.B4 else None) for square in window(chess.B5))
    known.sensed(Sensed(chess.B5, contents))
    assert known.recoveries == 1 and known.size > 0
    assert all(held.piece_at(chess.B4) == king for held in known)


def test_the_king_taken_ends_the_game_and_the_set_stays() -> None:
    start = Position.from_fen("4k3/8/8/8/8/8/4R3/4K3 w - - 0 1")
    known = PositionSet(chess.WHITE, start)
    move = chess.Move.from_uci("e2e8")
    known.moved(Moved(move, move, chess.E8))
    assert known.size == 1
