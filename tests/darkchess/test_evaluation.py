"""Laws of the built-in evaluation."""

from __future__ import annotations

import itertools
import os
from collections import Counter
from importlib import resources

import chess
import numpy as np
import numpy.typing as npt
import pytest

from darkchess.board.kernels.moves import MAX_MOVES, generate, king_capture, make
from darkchess.board.kernels.orthodox import ASK, LOST, NO_MOVE, WON, classify
from darkchess.board.kernels.tables import TABLES
from darkchess.board.position import Position, turned
from darkchess.evaluation.evaluator import BuiltinEvaluator, Weights, packaged_weights
from darkchess.evaluation.kernels.evaluation import WON as WON_SCORE
from darkchess.evaluation.kernels.evaluation import new_scratch, shields, static
from darkchess.evaluation.kernels.features import FEATURE_BLOCKS, FEATURES, MAPS, MAX_FEATURES, features
from darkchess.evaluation.kernels.network import OFFSETS
from darkchess.evaluation.kernels.pawn_ending import pawn_ending_table
from tests.darkchess.evaluation_oracle import board_of, terms
from tests.oracles import pawn_ending

Rows = npt.NDArray[np.uint64]


def row(fen: str) -> Rows:
    return np.array(Position.from_fen(fen).row)


def value(fen: str) -> float:
    return float(BuiltinEvaluator().values(row(fen)[None])[0])


def fog_positions(games: int, seed: int) -> Rows:
    """Positions of uniformly random Fog of War games, up to the ply before a king falls: most are illegal in chess at
    some point.
    """
    rng = np.random.default_rng(seed)
    moves = np.empty(MAX_MOVES, dtype=np.int32)
    found = []
    for _ in range(games):
        now = row(chess.STARTING_FEN)
        for _ in range(int(rng.integers(20, 160))):
            count = generate(now, TABLES, moves)
            if count == 0:
                break
            after = np.empty(9, dtype=np.uint64)
            make(now, int(moves[rng.integers(count)]), TABLES, after)
            if not after[5] & after[6] or not after[5] & after[7]:
                break
            now = after
            found.append(now)
    return np.array(found)


@pytest.fixture(scope="module")
def positions() -> Rows:
    return fog_positions(60, seed=5)


def children(parents: Rows) -> tuple[npt.NDArray[np.int64], Rows, list[int]]:
    moves = np.empty(MAX_MOVES, dtype=np.int32)
    offsets, found, codes = [0], [], []
    for parent in parents:
        for i in range(generate(parent, TABLES, moves)):
            after = np.empty(9, dtype=np.uint64)
            make(parent, int(moves[i]), TABLES, after)
            found.append(after)
            codes.append(int(moves[i]))
        offsets.append(len(found))
    return np.array(offsets, dtype=np.int64), np.array(found), codes


def test_every_fog_of_war_position_has_a_value_and_a_king_to_take_is_plus_one_exactly(positions: Rows) -> None:
    values = BuiltinEvaluator().values(positions)
    takes = np.array([king_capture(p, TABLES) >= 0 for p in positions])
    assert takes.sum() > 50
    assert np.all(np.abs(values) <= 1.0)
    assert np.all(values[takes] == 1.0)
    scores, _ = BuiltinEvaluator().search(positions)
    assert np.all((scores == WON_SCORE)[takes])
    assert np.array_equal(np.abs(values) == 1.0, np.abs(scores) == WON_SCORE), "±1 is a king that falls"


def test_exchanging_the_colours_changes_nothing(positions: Rows) -> None:
    evaluator = BuiltinEvaluator()
    # The order of summation differs, in single precision.
    np.testing.assert_allclose(
        evaluator.values(positions), evaluator.values(np.array([turned(each) for each in positions])), atol=2e-5
    )


def test_a_value_does_not_depend_on_the_batch(positions: Rows) -> None:
    evaluator = BuiltinEvaluator()
    some = positions[::17]
    together = evaluator.values(some)
    assert np.array_equal(together[::-1], evaluator.values(some[::-1]))
    assert np.array_equal(together, [evaluator.values(p[None])[0] for p in some])


def test_a_king_that_cannot_be_saved_is_lost_and_a_checked_side_does_not_stand_pat() -> None:
    mates = "R5k1/5ppp/8/8/8/8/5PPP/6K1", "6rk/5Npp/8/8/8/8/8/K7", "k7/1Q6/1K6/8/8/8/8/8"
    assert [value(f"{mate} b - - 0 1") for mate in mates] == [-1.0] * 3
    # Black's king is attacked by the rook on e1; its rook on a1 can capture it, which is all that saves the game.
    assert value("4k3/8/8/8/8/8/7K/r3R3 b - - 0 1") > 0.3
    # The same with nothing to capture: Black is a rook down, and that is the value.
    assert value("4k3/8/8/8/8/8/7K/4R3 b - - 0 1") < -0.3
    # The knight forks king and queen; the king has to move, and a knight is left against nothing.
    assert value("q3k3/2N5/8/8/8/8/8/2K5 b - - 0 1") < 0.1
    assert value("q3k3/8/8/2N5/8/8/8/2K5 b - - 0 1") > 0.5


def test_captures_and_promotions_are_searched() -> None:
    assert value("q3k3/8/8/8/8/8/8/Q3K3 w - - 0 1") > 0.5, "a queen can be taken"
    assert value("r2qk3/8/8/8/8/8/8/3QK3 w - - 0 1") < 0.1, "not where that loses one's own"
    assert value("8/P6k/8/8/8/8/8/K7 w - - 0 1") > 0.5, "a pawn promotes"
    assert value("7k/8/8/8/3pP3/8/8/K7 b - e3 0 1") > value("7k/8/8/8/3pP3/8/8/K7 b - - 0 1"), "en passant"


def test_the_score_is_the_static_evaluation_of_the_leaf_and_a_quiet_position_is_its_own(positions: Rows) -> None:
    evaluator = BuiltinEvaluator()
    scores, leaves = evaluator.search(positions, leaves=True)
    checked = quiet = 0
    for position, score, leaf in zip(positions, scores, leaves):
        if abs(score) < 500:
            sign = 1 if (position[8] ^ leaf[8]) & np.uint64(1) == 0 else -1
            assert score == sign * static(leaf, evaluator._knowledge, new_scratch())
            checked += 1
        board = board_of(position)
        own, enemy = board.occupied_co[board.turn], board.occupied_co[not board.turn]
        contact = any(int(board.attacks(s)) & enemy for s in chess.SquareSet(own))
        seventh = chess.BB_RANK_7 if board.turn else chess.BB_RANK_2
        king = board.king(board.turn)
        if not (contact or board.pawns & own & seventh or king is None or board.is_attacked_by(not board.turn, king)):
            assert abs(score) < 500 and np.array_equal(leaf, position)
            quiet += 1
    assert checked > 1000 and quiet > 50


def test_terms_are_those_of_the_oracle(positions: Rows) -> None:
    index, count, maps = np.zeros(MAX_FEATURES, np.int32), np.zeros(MAX_FEATURES, np.int32), np.zeros(MAPS, np.uint64)
    covered = [*range(481), *range(509, 513), *range(521, 525), *range(534, 541)]
    for position in positions[::4]:
        n = features(position, TABLES, index, count, maps)
        assert n < MAX_FEATURES
        found: Counter[int] = Counter()
        for feature, times in zip(index[:n].tolist(), count[:n].tolist()):
            found[feature] += times
        expected = terms(board_of(position))
        assert {f: found[f] for f in covered if found[f]} == {f: expected[f] for f in covered if expected[f]}
        assert all(0 <= feature < FEATURES for feature in index[:n].tolist())


def test_the_static_evaluation_is_that_of_the_float_weights(positions: Rows) -> None:
    # The definition, dense and in double precision, over the features of the kernel.
    index, count, maps = np.zeros(MAX_FEATURES, np.int32), np.zeros(MAX_FEATURES, np.int32), np.zeros(MAPS, np.uint64)
    weights, evaluator = packaged_weights(), BuiltinEvaluator()
    parts = {name: weights.part(name).astype(np.float64) for name in OFFSETS}
    for position in positions[::4]:
        n = features(position, TABLES, index, count, maps)
        own, theirs = np.zeros(FEATURES), np.zeros(FEATURES)
        np.add.at(own, index[:n], np.maximum(count[:n], 0))
        np.add.at(theirs, index[:n], np.maximum(-count[:n], 0))
        pieces = [int(position[kind]).bit_count() for kind in (1, 2, 3, 4)]
        at = int(np.searchsorted([1, 5, 10], sum(pieces), side="right"))
        share = min(24, np.dot(pieces, [1, 1, 2, 4])) / 24
        hidden = np.maximum(np.concatenate([own, theirs]) @ parts["first"] + parts["first_bias"], 0)
        second = np.maximum(hidden @ parts["second"][at] + parts["second_bias"][at], 0)
        score = np.dot([share, 1 - share], (own - theirs) @ parts["linear"]) + second @ parts["last"][at]
        assert static(position, evaluator._knowledge, new_scratch()) == pytest.approx(np.clip(score, -50, 50), abs=1e-3)


def test_a_move_that_is_left_out_in_check_leaves_the_king_attacked(positions: Rows) -> None:
    moves, after, met = np.empty(MAX_MOVES, dtype=np.int32), np.empty(9, dtype=np.uint64), Counter[bool]()
    for position in positions:
        board = board_of(position)
        king = board.king(board.turn)
        checkers = board.attackers_mask(not board.turn, king) if king is not None else 0
        if king is None or not checkers or king_capture(position, TABLES) >= 0:
            continue
        mask = int(shields(position, king, np.uint64(checkers), TABLES))
        for code in moves[: generate(position, TABLES, moves)].tolist():
            if code >> 9 != king:
                make(position, code, TABLES, after)
                saves = king_capture(after, TABLES) < 0
                tried = bool(mask >> (code >> 3 & 63) & 1)
                assert tried or not saves
                met[saves] += tried
    assert met[True] > 100 and met[True] > met[False]


@pytest.mark.parametrize(
    ("fen", "steps"),
    [
        ("8/8/8/8/P7/8/8/K5k1 w - - 0 1", 4),
        ("8/8/8/4k3/P7/8/8/K7 b - - 0 1", None),  # the king moves first and steps into the square
        ("8/8/8/4k3/P7/8/8/K7 w - - 0 1", None),
        ("8/8/8/5k2/P7/8/8/K7 w - - 0 1", 4),
        ("8/8/8/5k2/P7/8/8/K7 b - - 0 1", None),
        ("8/8/8/7k/8/8/P7/K7 b - - 0 1", 5),  # its double step
        ("8/8/8/P7/8/8/8/K4nk1 w - - 0 1", None),  # a knight may stop it
        ("8/8/K7/P7/8/8/8/6k1 w - - 0 1", None),  # its own king stands before it
    ],
)
def test_a_runner_is_a_pawn_that_no_king_catches(fen: str, steps: int | None) -> None:
    index, count, maps = np.zeros(MAX_FEATURES, np.int32), np.zeros(MAX_FEATURES, np.int32), np.zeros(MAPS, np.uint64)
    n = features(row(fen), TABLES, index, count, maps)
    first, size = FEATURE_BLOCKS["runner"]
    found = [f - first for f in index[:n].tolist() if first <= f < first + size]
    assert found == ([] if steps is None else [steps])
    expected = terms(board_of(row(fen)))
    assert [f - first for f in range(first, first + size) if expected[f]] == found


def test_the_table_of_the_pawn_ending_is_that_of_a_second_program() -> None:
    table = pawn_ending_table()
    for waits, won in enumerate(pawn_ending.won()):
        for king, pawn in itertools.product(range(64), range(8, 56)):
            expected = sum(1 << other for other in np.flatnonzero(won[king, :, pawn]).tolist() if other != king)
            assert int(table[waits, pawn, king]) == (expected if king != pawn else 0)


@pytest.mark.parametrize(
    ("fen", "wins"),
    [
        ("4k3/8/4K3/4P3/8/8/8/8 b - - 0 1", True),
        ("k7/P7/1K6/8/8/8/8/8 b - - 0 1", True),  # chess calls it stalemate
        ("8/8/8/8/8/8/P2k4/7K w - - 0 1", True),  # runs
        ("8/8/8/8/8/8/P2k4/7K b - - 0 1", False),  # is caught
    ],
)
def test_a_solved_pawn_ending_is_valued_by_its_table(fen: str, wins: bool) -> None:
    # The pawn's owner is White here, and Black with the board turned round.
    sign = 1.0 if " w " in fen else -1.0
    for each in (fen, chess.Board(fen).mirror().fen()):
        assert (sign * value(each) > 0.7) if wins else (value(each) == 0.0)


def test_sixteen_queens_a_side_fit() -> None:
    crowd = row("qqqqkqqq/qqqqqqqq/8/8/8/8/QQQQQQQQ/QQQQKQQQ w - - 0 1")
    assert -1.0 <= BuiltinEvaluator().values(crowd[None])[0] <= 1.0


def test_packaged_weights_are_near_stockfish_depth_10_on_held_out_positions() -> None:
    # The positions' values are Stockfish 15.1's at depth 10 (experiments/learn/positions.py).
    with resources.files("darkchess.evaluation").joinpath("data/evaluation_positions.npz").open("rb") as file:
        data = np.load(file)
        rows, values = data["rows"], data["values"].astype(np.float64)
    assert len(rows) >= 4000
    assert np.abs(BuiltinEvaluator().values(rows) - values).mean() <= 0.15


def test_weights_survive_the_file(tmp_path: os.PathLike[str]) -> None:
    weights = packaged_weights()
    path = os.path.join(tmp_path, "weights.npz")
    weights.write(path)
    assert np.array_equal(Weights.read(path).packed, weights.packed)


def test_what_a_chess_engine_may_be_asked_is_what_chess_calls_valid(positions: Rows) -> None:
    lost = row("R5k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1")
    positions = np.concatenate([positions[::3], lost[None]])
    codes = np.empty(len(positions), dtype=np.int8)
    classify(positions, TABLES, codes)
    assert {WON, LOST, ASK} <= set(codes.tolist())
    for position, code in zip(positions, codes.tolist()):
        board = board_of(position)
        if board.was_into_check():
            assert code == WON
        elif code == ASK:
            assert any(True for _ in board.legal_moves) or int(position[8]) >> 8 & 127
        else:
            assert code in (LOST, NO_MOVE) and not any(True for _ in board.legal_moves)


def test_a_side_without_a_move_is_no_side_that_loses_its_king() -> None:
    # K and P blocked against each other (own construction): Black's only piece that could move is hemmed in by its own
    # side.
    rows = np.array([row("k7/P7/K7/8/8/8/8/8 b - - 0 1"), row("7k/8/8/8/8/5p1p/5P1P/7K b - - 0 1")])
    codes = np.empty(2, dtype=np.int8)
    classify(rows, TABLES, codes)
    assert codes.tolist() == [LOST, ASK]
    blocked = np.array([row("8/8/8/8/8/p1p5/PpP5/KB5k w - - 0 1"), row("8/8/8/8/8/1pp5/1Pp5/KBk5 w - - 0 1")])
    classify(blocked, TABLES, codes)
    for position, code in zip(blocked, codes.tolist()):
        assert (code == NO_MOVE) == (generate(position, TABLES, np.empty(MAX_MOVES, np.int32)) == 0)


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 1000])
def test_any_number_of_threads_gives_one_threads_values(positions: Rows, count: int) -> None:
    alone = BuiltinEvaluator(threads=1).search(positions[:count], leaves=True)
    for threads in (2, 3, 4, 7):
        shared = BuiltinEvaluator(threads=threads).search(positions[:count], leaves=True)
        assert alone[0].tobytes() == shared[0].tobytes() and alone[1].tobytes() == shared[1].tobytes()
