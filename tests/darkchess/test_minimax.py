"""Laws of the perfect-information search, against a minimax in plain Python over the oracle's rules.

The oracle shares no move generator with the kernels; the leaves' values are the built-in evaluator's by definition.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from darkchess.board.position import Position
from darkchess.evaluation.evaluator import BuiltinEvaluator
from klss.search import Budget
from tests.darkchess.fog.position_set_games import fen_of
from tests.darkchess.test_evaluation import fog_positions
from tests.oracles import brute_force as oracle

Rows = npt.NDArray[np.uint64]

PLENTY = Budget(nodes=10**9)


def searched(rows: Rows, depth: int, *, no_move_value: float = -1.0) -> npt.NDArray[np.float64]:
    """Values by the kernel; the parents, which the built-in evaluator does not look at, are left out."""
    values, visited = BuiltinEvaluator().search_values(
        rows[:0], np.zeros(1, dtype=np.int64), rows, depth, PLENTY, no_move_value
    )
    assert values is not None and visited >= len(rows)
    return values


def tree(position: oracle.Position, depth: int, no_move: float, leaves: list[str]) -> Any:
    """A value, a leaf's number in ``leaves``, or the list of what follows on each move."""
    moves = list(oracle.moves(position))
    if any(position[0][target] in "kK" for _, target, _ in moves):
        return 1.0
    if not moves:
        return no_move
    if depth == 0:
        leaves.append(fen_of(position))
        return len(leaves) - 1
    return [tree(oracle.play(position, move), depth - 1, no_move, leaves) for move in moves]


def folded(node: Any, values: npt.NDArray[np.float64]) -> float:
    if isinstance(node, list):
        return max(-folded(child, values) for child in node)
    return float(values[node]) if isinstance(node, int) else node


def brute_force(rows: Rows, depth: int, no_move: float = -1.0) -> list[float]:
    leaves: list[str] = []
    trees = [tree(oracle.parse(Position(row).fen()), depth, no_move, leaves) for row in rows]
    found = np.array([Position.from_fen(fen).row for fen in leaves], dtype=np.uint64).reshape(-1, 9)
    values = BuiltinEvaluator().values(found)
    return [folded(each, values) for each in trees]


@pytest.fixture(scope="module")
def positions() -> Rows:
    """Ends of random games among them, in which kings hang."""
    return fog_positions(60, seed=5)


@pytest.mark.parametrize(("depth", "step"), [(0, 7), (1, 17), (2, 800)])
def test_a_search_is_the_minimax_of_its_leaves(positions: Rows, depth: int, step: int) -> None:
    some = positions[::step]
    expected = brute_force(some, depth)
    assert searched(some, depth).tolist() == expected
    if depth == 1:
        assert len(some) >= 200 and sum(abs(value) == 1.0 for value in expected) >= 5, "kings fall in some"


@pytest.mark.parametrize(
    ("fen", "depth", "expected"),
    [
        *(
            (fen, depth, None)
            for depth in (1, 2)
            for fen in (
                "8/8/8/8/8/p1k5/P1p5/2K5 w - - 0 1",  # kings meet: everything is a capture of one
                "r3k2r/1P4P1/8/8/8/8/1p4p1/R3K2R w KQkq - 0 1",  # castling, promotions with and without capture
                "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1",  # en passant
                "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3",  # mate in chess
            )
        ),
        ("4k3/8/8/8/8/8/8/4RK2 w - - 0 1", 3, 1.0),  # takes the king
        ("R3k3/8/4K3/8/8/8/8/8 b - - 0 1", 2, -1.0),  # mate in chess: the king falls next ply
        ("4k3/8/4K3/8/8/8/8/R7 w - - 0 1", 3, 1.0),  # mate in one move, three plies: Ra8, any, Rxe8
        ("k7/8/8/8/8/p1p5/P1P5/KB6 w - - 0 1", 1, -1.0),  # one move, onto a square that a pawn attacks
    ],
)
def test_kings_fall_when_they_can_and_the_odd_moves_are_in_it(fen: str, depth: int, expected: float | None) -> None:
    row = np.array(Position.from_fen(fen).row)[None]
    value = searched(row, depth)[0]
    assert [value] == brute_force(row, depth)
    assert expected in (None, value)


def test_a_side_without_a_move_gets_what_the_ruleset_says() -> None:
    """Black's pieces stand in each other's way, all sixteen; White's king goes where it likes."""
    placement = "7K/8/8/8/8/8/pppppppp/kbbrbrbr"
    assert not Position.from_fen(f"{placement} b - - 0 1").legal_moves()
    for turn, depths, sign in (("b", (0, 1, 2), 1.0), ("w", (1, 2), -1.0)):
        row = np.array(Position.from_fen(f"{placement} {turn} - - 0 1").row)[None]
        for no_move in (-1.0, 0.0):
            for depth in depths:
                assert searched(row, depth, no_move_value=no_move).tolist() == [sign * no_move]
                assert brute_force(row, depth, no_move) == [sign * no_move]


def test_a_budget_of_nodes_that_is_too_small_gives_no_values_and_is_kept(positions: Rows) -> None:
    some = positions[::300]
    evaluator = BuiltinEvaluator()
    offsets = np.zeros(1, dtype=np.int64)
    _, needed = evaluator.search_values(some[:0], offsets, some, 2, PLENTY, -1.0)
    for nodes in (1, needed // 2, needed - 1):
        values, visited = evaluator.search_values(some[:0], offsets, some, 2, Budget(nodes=nodes), -1.0)
        assert values is None and 0 < visited <= nodes
    values, visited = evaluator.search_values(some[:0], offsets, some, 2, Budget(nodes=needed), -1.0)
    assert visited == needed and np.array_equal(np.asarray(values), searched(some, 2))


def test_time_that_is_up_gives_no_values(positions: Rows) -> None:
    values, _ = BuiltinEvaluator().search_values(
        positions[:0], np.zeros(1, dtype=np.int64), positions, 3, Budget(seconds=0.0), -1.0
    )
    assert values is None


@pytest.mark.parametrize("limit", [{"seconds": 60.0}, {"seconds": float("inf")}, {"nodes": 10**30}])
def test_one_slow_moment_does_not_make_it_give_up_for_good(positions: Rows, limit: Any) -> None:
    """A speed measured while the machine was busy elsewhere; the time given is a hundred times what is needed."""
    evaluator = BuiltinEvaluator()
    evaluator._nodes_a_second = 1.0
    some = positions[::300]
    values, _ = evaluator.search_values(some[:0], np.zeros(1, dtype=np.int64), some, 2, Budget(**limit), -1.0)
    assert np.array_equal(np.asarray(values), searched(some, 2))
