"""Stockfish's perfect-information search of the children of a position."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import chess
import numpy as np
import numpy.typing as npt
import pytest

from darkchess.board.kernels.orthodox import LOST, WON, classify
from darkchess.board.kernels.tables import TABLES
from darkchess.board.move import encode
from darkchess.board.position import Position
from darkchess.evaluation.evaluator import BuiltinEvaluator
from klss.search import Budget
from tests.darkchess.test_evaluation import children, fog_positions
from uci_bridge.stockfish.evaluator import StockfishEvaluator, _at_depth

Rows = npt.NDArray[np.uint64]

FAKE = Path(__file__).with_name("fake_engine.py")
PLENTY = Budget(nodes=10**9)
START = np.array(Position.start().row)


@pytest.fixture(scope="module")
def stockfish(require_stockfish: str) -> Iterator[StockfishEvaluator]:
    with StockfishEvaluator(require_stockfish, reproducible=True) as found:
        yield found


def row(fen: str) -> Rows:
    return np.array(Position.from_fen(fen).row)


def test_an_answer_counts_once_all_moves_have_reached_the_depth() -> None:
    one = b"info depth 1 seldepth 1 multipv 1 score cp 18 nodes 20 time 1 pv e2e4\n"
    one += b"info depth 1 seldepth 1 multipv 2 score cp 11 nodes 20 time 1 pv d2d4\n"
    both = b"info depth 2 seldepth 2 multipv 1 score cp 30 nodes 90 time 1 pv d2d4 d7d5\n"
    both += b"info depth 2 seldepth 3 multipv 2 score mate -2 nodes 90 time 1 pv e2e4 e7e5\n"
    cut = b"info depth 3 seldepth 3 multipv 1 score cp 31 nodes 99 time 1 pv d2d4 d7d5\n"
    bound = cut + b"info depth 3 seldepth 3 multipv 2 score cp 7 upperbound nodes 99 time 1 pv e2e4 d7d5\n"
    assert _at_depth(one, 1) == {b"e2e4": (b"cp", b"18"), b"d2d4": (b"cp", b"11")}
    assert _at_depth(one + both, 2) == {b"d2d4": (b"cp", b"30"), b"e2e4": (b"mate", b"-2")}
    assert _at_depth(one, 2) is None
    assert _at_depth(one + both + cut, 3) is None
    assert _at_depth(one + both + bound, 3) is None, "a bound is no value"
    assert _at_depth(b"info string hello", 1) is None


def test_a_deeper_look_sees_what_the_plain_values_miss(stockfish: StockfishEvaluator) -> None:
    """Mate in two (two rooks): depth 3 below the first move sees it, depth 1 does not."""
    parent = row("7k/8/8/8/8/8/R7/1R4K1 w - - 0 1")[None]
    offsets, found, codes = children(parent)
    shallow, _ = stockfish.search_values(parent, offsets, found, 1, PLENTY, -1.0)
    deep, _ = stockfish.search_values(parent, offsets, found, 3, PLENTY, -1.0)
    assert shallow is not None and deep is not None
    good = {codes[i] for i in np.flatnonzero(deep == -1.0)}
    assert good and not np.any(shallow == -1.0)


def test_every_child_gets_a_value_and_only_what_chess_has_is_asked(stockfish: StockfishEvaluator) -> None:
    """Positions of random games, in which kings hang."""
    parents = fog_positions(40, seed=9)[::60]
    offsets, found, _ = children(parents)
    values, visited = stockfish.search_values(parents, offsets, found, 1, PLENTY, -1.0)
    assert values is not None and visited > 0 and stockfish.fallbacks == 0
    assert np.all(np.abs(values) <= 1.0)
    codes = np.empty(len(found), dtype=np.int8)
    classify(found, TABLES, codes)
    assert np.all(values[codes == WON] == 1.0) and np.all(values[codes == LOST] == -1.0)


@pytest.mark.parametrize(
    ("fen", "uci"),
    [
        ("4k3/8/8/8/8/8/5r2/4K2R w K - 0 1", "e1g1"),  # castling through an attack
        ("QQQQQQQQ/QQ6/8/8/8/8/8/K5k1 w - - 0 1", "b7b2"),  # more queens than pawns can become
    ],
)
def test_what_chess_does_not_have_is_searched_by_the_built_in_evaluator(
    stockfish: StockfishEvaluator, fen: str, uci: str
) -> None:
    parent = row(fen)[None]
    offsets, found, codes = children(parent)
    place = codes.index(encode(chess.Move.from_uci(uci)))
    expected, _ = BuiltinEvaluator().search_values(parent, offsets, found, 1, PLENTY, -1.0)
    for depth in (1, 3):
        values, _ = stockfish.search_values(parent, offsets, found, depth, PLENTY, -1.0)
        assert values is not None and expected is not None and values[place] == expected[place]


def test_the_reproducible_mode_repeats_values_and_nodes(stockfish: StockfishEvaluator) -> None:
    offsets, found, _ = children(START[None])
    runs = []
    for _ in range(2):
        stockfish.new_game()
        runs.append([stockfish.search_values(START[None], offsets, found, depth, PLENTY, -1.0) for depth in (1, 2, 3)])
    for (first, nodes), (second, again) in zip(*runs, strict=True):
        assert nodes == again and np.array_equal(np.asarray(first), np.asarray(second))


def test_a_budget_that_is_too_small_gives_no_values(stockfish: StockfishEvaluator) -> None:
    offsets, found, _ = children(START[None])
    assert stockfish.search_values(START[None], offsets, found, 6, Budget(nodes=200), -1.0)[0] is None
    assert stockfish.search_values(START[None], offsets, found, 9, Budget(seconds=0.01), -1.0)[0] is None
    assert stockfish.search_values(START[None], offsets, found, 1, Budget(seconds=0.0), -1.0)[0] is None
    assert stockfish.restarts == 0, "no engine has to be killed for being late"


def test_what_an_engine_leaves_unanswered_is_searched_by_the_built_in_evaluator(tmp_path: Path) -> None:
    offsets, found, _ = children(START[None])
    expected, _ = BuiltinEvaluator().search_values(START[None], offsets, found, 1, PLENTY, -1.0)
    with StockfishEvaluator(
        sys.executable, arguments=["-SE", str(FAKE), str(tmp_path / "log"), "dies"], silence_s=0.3
    ) as dying:
        values, _ = dying.search_values(START[None], offsets, found, 1, PLENTY, -1.0)
        assert dying.fallbacks == 1
    assert np.array_equal(np.asarray(values), np.asarray(expected))


def test_a_depth_that_it_can_t_go_is_an_error(stockfish: StockfishEvaluator) -> None:
    offsets, found, _ = children(START[None])
    for depth in (0, 60):
        with pytest.raises(ValueError, match=f"got depth {depth}, expected 1 to 59"):
            stockfish.search_values(START[None], offsets, found, depth, PLENTY, -1.0)
