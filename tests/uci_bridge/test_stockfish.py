"""Stockfish as an evaluator: dialogues with a fake engine that misbehaves, and laws with a real one."""

from __future__ import annotations

import logging
import os
import signal
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import chess
import numpy as np
import numpy.typing as npt
import pytest

from darkchess.board.kernels.moves import MAX_MOVES, generate
from darkchess.board.kernels.orthodox import ASK, LOST, WON, classify
from darkchess.board.kernels.tables import TABLES
from darkchess.board.move import encode
from darkchess.board.position import Position
from darkchess.evaluation.evaluator import BuiltinEvaluator
from klss.search import Budget
from tests.darkchess.evaluation_oracle import board_of
from tests.darkchess.test_evaluation import children, fog_positions
from uci_bridge.errors import StockfishMissing
from uci_bridge.stockfish.evaluator import StockfishEvaluator, find_stockfish, orthodox_fens

Rows = npt.NDArray[np.uint64]

FAKE = Path(__file__).with_name("fake_engine.py")
SIXTY_CENTIPAWNS = float(np.tanh(0.1))
START = np.array(Position.start().row)
PLENTY = Budget(nodes=10**9)


class Fake:
    """Makes evaluators over the fake engine, and reads what the engines were sent."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "dialogue.txt"
        self.made: list[StockfishEvaluator] = []

    def __call__(self, mode: str = "good", **options: Any) -> StockfishEvaluator:
        options.setdefault("silence_s", 0.3)
        self.made.append(
            StockfishEvaluator(sys.executable, arguments=["-SE", str(FAKE), str(self.log), mode], **options)
        )
        return self.made[-1]

    def lines(self) -> list[str]:
        return [line.split(" ", 1)[1] for line in self.log.read_text().splitlines()]

    def processes(self) -> int:
        return len({line.split(" ", 1)[0] for line in self.log.read_text().splitlines()})


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[Fake]:
    maker = Fake(tmp_path)
    yield maker
    for evaluator in maker.made:
        evaluator.close()


def row(fen: str) -> Rows:
    return np.array(Position.from_fen(fen).row)


def classes(rows: Rows) -> npt.NDArray[np.int8]:
    """What a chess engine may be asked about each, or what is known of it."""
    codes = np.empty(len(rows), dtype=np.int8)
    classify(rows, TABLES, codes)
    return codes


def assert_values(values: Any, rows: Rows) -> None:
    """Each position has one, and where a king falls it is known."""
    assert values is not None and np.all(np.abs(values) <= 1.0)
    assert np.all(values[classes(rows) == WON] == 1.0) and np.all(values[classes(rows) == LOST] == -1.0)


def some_positions(count: int) -> Rows:
    """Different positions that a chess engine may be asked about."""
    _, found, _ = children(START[None])
    _, found, _ = children(found)
    found = found[np.unique(found[:, :8], axis=0, return_index=True)[1]]
    assert len(found) >= count
    return found[:count]


# Finding it


def test_it_is_looked_for_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = [tmp_path / name for name in ("named", "variable", "path/stockfish", "debian")]
    for place in places:
        place.parent.mkdir(exist_ok=True)
        place.write_text("#!/bin/sh\n")
        place.chmod(place.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr("uci_bridge.stockfish.evaluator.DEBIAN_STOCKFISH", str(places[3]))
    monkeypatch.setenv("KLSS_STOCKFISH", str(places[1]))
    monkeypatch.setenv("PATH", str(places[2].parent))
    assert find_stockfish(places[0]) == str(places[0])
    assert find_stockfish() == str(places[1])
    monkeypatch.delenv("KLSS_STOCKFISH")
    assert find_stockfish() == str(places[2])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_stockfish() == str(places[3])
    places[3].unlink()
    with pytest.raises(StockfishMissing, match="expected one; install it"):
        find_stockfish()


@pytest.mark.parametrize("mode", ["exits", "never-ready", "blank-lines"])
def test_a_program_that_speaks_no_uci_is_no_stockfish(fake: Fake, mode: str) -> None:
    with pytest.raises(StockfishMissing, match=r"was started, but it .*; expected an engine that speaks UCI") as caught:
        fake(mode, start_s=0.5)
    assert "\n" not in str(caught.value)


# What is asked


@pytest.mark.parametrize(
    ("mode", "value"), [("good", SIXTY_CENTIPAWNS), ("mates", 1.0), ("no-move", -1.0), ("bounds", SIXTY_CENTIPAWNS)]
)
def test_values_are_hyperbolic_tangents_of_pawns_over_six_a_mate_is_won_and_bounds_are_no_scores(
    fake: Fake, mode: str, value: float
) -> None:
    assert fake(mode).values(START[None]).tolist() == [pytest.approx(value)]


def test_the_children_of_a_parent_are_one_question(fake: Fake) -> None:
    evaluator = fake()
    offsets, found, codes = children(START[None])
    values = evaluator.child_values(START[None], offsets, found)
    assert sum(line.startswith("go") for line in fake.lines()) == 1
    assert "setoption name MultiPV value 256" in fake.lines()
    e2e4 = codes.index(chess.E2 << 9 | chess.E4 << 3)
    assert values[e2e4] == pytest.approx(-SIXTY_CENTIPAWNS), "a child's value is its own mover's"
    others = np.arange(len(found)) != e2e4
    assert np.array_equal(values[others], BuiltinEvaluator().values(found[others])), (
        "what it leaves out is ours to value"
    )


def test_no_position_is_sent_that_chess_can_not_hold(fake: Fake) -> None:
    evaluator = fake()
    positions = fog_positions(20, seed=11)
    assert_values(evaluator.values(positions), positions)
    offsets, found, _ = children(positions[:40])
    evaluator.child_values(positions[:40], offsets, found)
    sent = [line.removeprefix("position fen ") for line in fake.lines() if line.startswith("position")]
    assert len(sent) > 200
    for fen in sent:
        board = chess.Board(fen)
        wrong = board.status() & ~(
            chess.STATUS_TOO_MANY_CHECKERS | chess.STATUS_IMPOSSIBLE_CHECK | chess.STATUS_INVALID_EP_SQUARE
        )
        assert wrong == chess.STATUS_VALID and any(board.legal_moves), fen


def test_no_move_is_worth_what_the_ruleset_says(fake: Fake) -> None:
    blocked = row("8/8/8/8/8/2p5/2Pp4/KN1k4 w - - 0 1")
    stuck = np.array([row("8/8/8/8/8/p1p5/P1Pp4/1bKk4 b - - 0 1"), row("k7/P7/K7/8/8/8/8/8 b - - 0 1"), blocked])
    none = np.array([generate(r, TABLES, np.empty(MAX_MOVES, np.int32)) == 0 for r in stuck])
    assert fake(no_move_value=0.0).values(stuck)[none].tolist() == [0.0] * int(none.sum())
    assert fake(no_move_value=-1.0).values(stuck)[1] == -1.0, "stalemated in chess: every move loses the king"


def test_the_reproducible_mode_forgets_before_each_question(fake: Fake) -> None:
    evaluator = fake(reproducible=True)
    evaluator.values(some_positions(3))
    lines = fake.lines()
    assert "setoption name Hash value 1" in lines
    for place, line in enumerate(lines):
        if line.startswith("position"):
            assert lines[place - 1] == "ucinewgame"


def test_thousands_of_questions_do_not_fill_a_pipe(fake: Fake) -> None:
    evaluator = fake(silence_s=10.0)
    _, found, _ = children(fog_positions(6, seed=3)[::4])
    asked = classes(found) == ASK
    assert asked.sum() > 2000 and evaluator.values(found)[asked] == pytest.approx(SIXTY_CENTIPAWNS)
    assert evaluator.fallbacks == 0


def test_castling_rights_without_king_or_rook_at_home_are_stripped() -> None:
    position = row("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1")
    position[3] ^= np.uint64(1 << chess.A1)
    position[6] ^= np.uint64(1 << chess.A1)
    assert orthodox_fens(position[None]) == [b"r3k2r/8/8/8/8/8/8/4K2R b Kkq - 0 1"]
    with_ep = row("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1")
    assert orthodox_fens(with_ep[None])[0].endswith(b" b - e3 0 1")


# What goes wrong


@pytest.mark.parametrize("mode", ["dies:4", "hangs:4", "babbles:4", "endless-lines:4", "garbage:4"])
def test_a_misbehaving_engine_costs_neither_values_nor_time(
    fake: Fake, mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    evaluator = fake(mode)
    positions = some_positions(12)
    builtin = BuiltinEvaluator().values(positions)
    with caplog.at_level(logging.WARNING):
        for later in range(3):
            values = evaluator.values(positions)
            good = np.isclose(values, SIXTY_CENTIPAWNS)
            assert np.all(good | (values == builtin)) and (later or good[:3].all())
    assert caplog.records, "a line in the log"


@pytest.mark.parametrize("mode", ["once-dies:4", "once-hangs:4"])
def test_a_lost_engine_is_replaced_and_its_questions_asked_again(fake: Fake, mode: str) -> None:
    evaluator = fake(mode)
    positions = some_positions(12)
    values = evaluator.values(positions)
    assert np.allclose(values, SIXTY_CENTIPAWNS)
    assert fake.processes() == 2 and evaluator.engine.process.starts == 2


def test_the_deadline_ends_the_waiting(fake: Fake) -> None:
    evaluator = fake("hangs", silence_s=30.0)
    deadline = time.monotonic() + 0.1
    assert np.array_equal(evaluator.values(START[None], deadline=deadline), BuiltinEvaluator().values(START[None]))
    assert time.monotonic() < deadline + 5.0, "did not wait for the engine's 60 seconds"
    assert evaluator.fallbacks == 1


# A real one


@pytest.fixture(scope="module")
def fog() -> Rows:
    return fog_positions(12, seed=7)


def test_stockfish_survives_every_fog_of_war_position(require_stockfish: str, fog: Rows) -> None:
    with closing(StockfishEvaluator(require_stockfish, silence_s=10.0)) as evaluator:
        values = evaluator.values(fog)
        offsets, found, _ = children(fog[::8])
        child_values = evaluator.child_values(fog[::8], offsets, found)
        assert evaluator.fallbacks == 0 and evaluator.engine.process.starts == 1
    assert_values(values, fog)
    assert_values(child_values, found)


def test_a_killed_stockfish_is_started_again_and_a_closed_one_leaves_no_process(
    require_stockfish: str, fog: Rows
) -> None:
    with closing(StockfishEvaluator(require_stockfish, silence_s=5.0)) as evaluator:
        pid = evaluator.engine.process.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        evaluator.values(fog[:20])
        assert evaluator.engine.process.starts == 2 and evaluator.fallbacks == 0
        pid = evaluator.engine.process.pid
        assert pid is not None and pid > 0
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert np.array_equal(evaluator.values(START[None]), BuiltinEvaluator().values(START[None]))


def test_fens_are_those_of_the_positions() -> None:
    rows = fog_positions(4, seed=2)
    for position, fen in zip(rows, orthodox_fens(rows)):
        assert fen.decode().split()[:2] == board_of(position).fen().split()[:2]


# Its search of the children of a position


@pytest.fixture(scope="module")
def stockfish(require_stockfish: str) -> Iterator[StockfishEvaluator]:
    with closing(StockfishEvaluator(require_stockfish, reproducible=True)) as found:
        yield found


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
    assert visited > 0 and stockfish.fallbacks == 0
    assert_values(values, found)


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


def test_the_reproducible_mode_repeats_values_and_nodes(stockfish: StockfishEvaluator, fog: Rows) -> None:
    offsets, found, _ = children(fog[::20])
    start, below, _ = children(START[None])
    runs = []
    for _ in range(2):
        values = stockfish.child_values(fog[::20], offsets, found), stockfish.values(fog[::10])
        looks = [stockfish.search_values(START[None], start, below, depth, PLENTY, -1.0) for depth in (1, 2)]
        runs.append([each.tolist() for each in (*values, *(np.asarray(found) for found, _ in looks))])
        runs[-1].append([nodes for _, nodes in looks])
    assert runs[0] == runs[1]


def test_a_budget_that_is_too_small_gives_no_values(stockfish: StockfishEvaluator) -> None:
    offsets, found, _ = children(START[None])
    assert stockfish.search_values(START[None], offsets, found, 6, Budget(nodes=200), -1.0)[0] is None
    assert stockfish.search_values(START[None], offsets, found, 9, Budget(seconds=0.01), -1.0)[0] is None
    assert stockfish.search_values(START[None], offsets, found, 1, Budget(seconds=0.0), -1.0)[0] is None
    assert stockfish.engine.process.starts == 1, "no engine has to be killed for being late"


def test_what_an_engine_leaves_unanswered_is_searched_by_the_built_in_evaluator(fake: Fake) -> None:
    offsets, found, _ = children(START[None])
    expected, _ = BuiltinEvaluator().search_values(START[None], offsets, found, 1, PLENTY, -1.0)
    dying = fake("dies")
    values, _ = dying.search_values(START[None], offsets, found, 1, PLENTY, -1.0)
    assert dying.fallbacks == 1
    assert np.array_equal(np.asarray(values), np.asarray(expected))
