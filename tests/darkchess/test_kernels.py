"""Moves, attacks and vision: every kernel against the oracle, jitted here and interpreted in a subprocess."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from darkchess import Position
from darkchess.board.kernels import board, moves
from darkchess.board.kernels.tables import TABLES
from darkchess.board.move import decode
from darkchess.fog.game._kernels import vision
from tests.darkchess.fog.position_set_games import move_of, text
from tests.oracles import brute_force

ROOT = Path(__file__).resolve().parents[2]
PERFT = json.loads((Path(__file__).parent / "data" / "perft.json").read_text(encoding="utf-8"))["positions"]


def codes(row: np.ndarray) -> list[int]:
    out = np.empty(moves.MAX_MOVES, dtype=np.int32)
    return out[: moves.generate(row, TABLES, out)].tolist()


def check_position(position: Position, oracle: brute_force.Position) -> None:
    """Everything that the kernels say of one position, against the oracle."""
    row = position.row
    assert text(row) == oracle
    generated = codes(row)
    assert sorted(move_of(decode(code)) for code in generated) == sorted(brute_force.moves(oracle))
    assert bool(moves.has_move(row, TABLES)) == bool(generated)
    takers = [code for code in generated if oracle[0][code >> 3 & 63] == ("k" if oracle[1] == "w" else "K")]
    assert moves.king_capture(row, TABLES) == min(takers, default=-1)
    for side in (0, 1):
        seen = vision.visible(row, side, TABLES)
        assert int(seen) == sum(1 << square for square in brute_force.look(oracle, "wb"[side]).seen), position.fen()
        view = row & np.uint64(seen)
        view[board.META] = vision.known_meta(row, side)
        assert vision.view_key(view, np.uint64(seen)) == vision.observation_key(row, side, TABLES)


def play_and_check(games: int, plies: int, seed: int) -> int:
    """Random games from the positions of the perft data; returns how many positions were checked."""
    rng = random.Random(seed)
    checked = 0
    for game in range(games):
        fen = PERFT[game % len(PERFT)]["fen"]
        position, oracle = Position.from_fen(fen), brute_force.parse(fen)
        for _ in range(plies):
            check_position(position, oracle)
            checked += 1
            if not position.legal_moves():
                break
            move = rng.choice(position.legal_moves())
            chosen = move_of(move)
            # `after` is generate, look-up and make; `make` also names what was taken
            out = np.empty(board.WIDTH, dtype=np.uint64)
            taken = moves.make(position.row, move.from_square << 9 | move.to_square << 3, TABLES, out)
            if oracle[0][chosen[1]] != ".":
                assert "pnbrqk"[taken] == oracle[0][chosen[1]].lower()
            position, oracle = position.after(move), brute_force.play(oracle, chosen)
    return checked


def test_kernels_agree_with_the_oracle_over_random_games() -> None:
    assert play_and_check(games=18, plies=45, seed=31) > 400


def perft(row: np.ndarray, depth: int) -> int:
    """Number of lines of ``depth`` moves; a king capture ends a line and counts only as its last move."""
    found = codes(row)
    if depth == 1:
        return len(found)
    total, child = 0, np.empty(board.WIDTH, dtype=np.uint64)
    for code in found:
        moves.make(row, code, TABLES, child)
        if child[board.KING] & child[board.WHITE + board.turn(child)]:
            total += perft(child.copy(), depth - 1)
    return total


@pytest.mark.parametrize("case", PERFT, ids=lambda case: case["name"])
def test_perft_of_pseudo_legal_moves(case: dict) -> None:
    assert [perft(Position.from_fen(case["fen"]).row, depth) for depth in (1, 2, 3)] == case["perft"][:3]


def counted(position: brute_force.Position, depth: int) -> int:
    """The same by the oracle: a king capture ends a line and counts only as its last move."""
    if not {"K", "k"} <= set(position[0]):
        return 0
    lines = [brute_force.play(position, move) for move in brute_force.moves(position)]
    return len(lines) if depth == 1 else sum(counted(after, depth - 1) for after in lines)


@pytest.mark.parametrize("most", [20_000, pytest.param(10**9, marks=pytest.mark.soak)])
@pytest.mark.parametrize("case", PERFT, ids=lambda case: case["name"])
def test_the_data_of_perft_are_those_of_the_oracle(case: dict, most: int) -> None:
    oracle = brute_force.parse(case["fen"])
    depths = [depth for depth in (1, 2, 3, 4) if case["perft"][depth - 1] < most]
    assert [counted(oracle, depth) for depth in depths] == case["perft"][: len(depths)]


def test_kernels_say_the_same_interpreted() -> None:
    program = "from tests.darkchess.test_kernels import *\ninterpreted()"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
    run = subprocess.run(
        [sys.executable, "-c", program], env=environment, cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["interpreted", "20", "400"]


def interpreted() -> None:
    """What the subprocess does; prints the start position's perft to depth 2."""
    assert not hasattr(moves.generate, "py_func"), "numba compiles although it was told not to"
    play_and_check(games=9, plies=6, seed=32)
    start = Position.start().row
    print("interpreted", perft(start, 1), perft(start, 2))


def test_the_longest_known_list_of_moves_is_complete_and_fits() -> None:
    # 218 moves, the most of any position that can arise in chess (N. Petrović 1964); no move of it takes a king.
    fen = "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1"
    assert len(codes(Position.from_fen(fen).row)) == 218
    assert moves.MAX_MOVES >= 16 * 27 + 2  # sixteen pieces with a queen's best square each, and two castlings
