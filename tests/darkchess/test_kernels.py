"""Moves, attacks and vision: every kernel against the naive board, jitted here and interpreted in a subprocess."""

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
from darkchess.board.kernels import attacks, bits, board, moves
from darkchess.board.kernels.tables import TABLES
from darkchess.board.move import decode
from darkchess.fog.game._kernels import vision
from tests.darkchess.fog import naive
from tests.darkchess.perft import perft

ROOT = Path(__file__).resolve().parents[2]
PERFT = json.loads((Path(__file__).parent / "data" / "perft.json").read_text(encoding="utf-8"))["positions"]


def codes(row: np.ndarray) -> list[int]:
    out = np.empty(moves.MAX_MOVES, dtype=np.int32)
    return out[: moves.generate(row, TABLES, out)].tolist()


def mask(squares: set[naive.Square]) -> int:
    return sum(1 << naive.number(square) for square in squares)


def check_position(position: Position, oracle: naive.Board) -> None:
    """Everything that the kernels say of one position, against the naive board."""
    row = position.row
    assert position.fen().rsplit(" ", 1)[0] == naive.fen(oracle)
    generated = codes(row)
    assert sorted(decode(code).uci() for code in generated) == sorted(map(naive.uci, naive.moves(oracle)))
    assert bool(moves.has_move(row, TABLES)) == bool(generated)
    takers = [
        code
        for code in generated
        if oracle.pieces.get(((code >> 3) & 7, code >> 6 & 7)) == ("k" if oracle.white else "K")
    ]
    assert moves.king_capture(row, TABLES) == min(takers, default=-1)
    for side in (0, 1):
        seen = vision.visible(row, side, TABLES)
        assert int(seen) == mask(naive.seen(oracle, side == 0)), position.fen()
        view = row & np.uint64(seen)
        view[board.META] = vision.known_meta(row, side)
        assert vision.view_key(view, np.uint64(seen)) == vision.observation_key(row, side, TABLES)


def play_and_check(games: int, plies: int, seed: int) -> int:
    """Random games from the positions of the perft data; returns how many positions were checked."""
    rng = random.Random(seed)
    checked = 0
    for game in range(games):
        fen = PERFT[game % len(PERFT)]["fen"]
        position, oracle = Position.from_fen(fen), naive.from_fen(fen)
        for _ in range(plies):
            check_position(position, oracle)
            checked += 1
            if naive.king_taken(oracle) or not position.legal_moves():
                break
            move = rng.choice(position.legal_moves())
            chosen = next(candidate for candidate in naive.moves(oracle) if naive.uci(candidate) == move.uci())
            # `after` is generate, look-up and make; `make` also names what was taken
            out = np.empty(board.WIDTH, dtype=np.uint64)
            taken = moves.make(position.row, move.from_square << 9 | move.to_square << 3, TABLES, out)
            victim = None if chosen[1] == oracle.ep else oracle.pieces.get(chosen[1])
            if victim is not None:
                assert "pnbrqk"[taken] == victim.lower()
            position, oracle = position.after(move), naive.play(oracle, chosen)
    return checked


def test_kernels_agree_with_the_naive_board_over_random_games() -> None:
    assert play_and_check(games=36, plies=45, seed=31) > 800


@pytest.mark.parametrize("case", PERFT, ids=lambda case: case["name"])
def test_perft_of_pseudo_legal_moves(case: dict) -> None:
    position = Position.from_fen(case["fen"])
    assert [perft(position.row, depth, TABLES) for depth in (1, 2, 3, 4)] == case["perft"]


@pytest.mark.parametrize("case", PERFT, ids=lambda case: case["name"])
def test_the_data_of_perft_are_those_of_the_naive_board(case: dict) -> None:
    oracle = naive.from_fen(case["fen"])
    # Deeper is for `make soak`: the naive board needs half a minute.
    depths = [depth for depth in (1, 2, 3, 4) if case["perft"][depth - 1] < 20_000]
    assert [naive.perft(oracle, depth) for depth in depths] == case["perft"][: len(depths)]


@pytest.mark.soak
@pytest.mark.parametrize("case", PERFT, ids=lambda case: case["name"])
def test_the_data_of_perft_are_those_of_the_naive_board_to_depth_4(case: dict) -> None:
    assert naive.perft(naive.from_fen(case["fen"]), 4) == case["perft"][3]


def test_kernels_say_the_same_interpreted() -> None:
    program = "from tests.darkchess.test_kernels import *\ninterpreted()"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
    run = subprocess.run(
        [sys.executable, "-c", program], env=environment, cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["interpreted", "20", "400"]


def test_kernels_load_from_the_cache_in_a_new_process() -> None:
    # numba issue 6061: some recursive kernels crash when loaded rather than compiled; no kernel of ours may.
    start = Position.start().row
    assert perft(start, 3, TABLES) == 8902  # so it is in the cache by now
    program = (
        "from darkchess import Position\nfrom darkchess.board.kernels.tables import TABLES\n"
        "from tests.darkchess.perft import perft\n"
        "print(perft(Position.start().row, 3, TABLES), sum(perft.stats.cache_hits.values()))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=120)
    assert (run.returncode, run.stdout.split()) == (0, ["8902", "1"]), run.stderr


def interpreted() -> None:
    """What the subprocess does; prints the start position's perft to depth 2."""
    assert not hasattr(moves.generate, "py_func"), "numba compiles although it was told not to"
    play_and_check(games=9, plies=6, seed=32)
    check_square_63()
    start = Position.start().row
    print("interpreted", perft(start, 1, TABLES), perft(start, 2, TABLES))


def check_square_63() -> None:
    """h8 is the bit that looks negative when a mask turns into a signed integer."""
    top = np.uint64(1) << np.uint64(63)
    assert bits.bit(63) == top and bits.lowest(top) == bits.highest(top) == 63 and bits.popcount(top) == 1
    assert int(bits.without_lowest(top)) == 0
    position = Position.from_fen(
        "7q/8/8/8/8/8/k7/K7 w - - 0 1"
    )  # the queen on h8 attacks along file, rank and diagonal
    row = position.row
    assert board.piece_on(row, bits.bit(63)) == board.QUEEN
    assert int(attacks.rook_attacks(63, row[6] | row[7], TABLES)) == mask(
        {(7, rank) for rank in range(7)} | {(file, 7) for file in range(7)}
    )
    assert int(attacks.bishop_attacks(63, row[6] | row[7], TABLES)) == mask({(i, i) for i in range(7)})
    assert attacks.attacked_by(row, 1, 0, TABLES) and not attacks.attacked_by(row, 0, 63, TABLES)
    # From a1 to h8 and back, and the same squares seen by both.
    bishop = Position.from_fen("7b/8/8/8/8/8/k6K/B7 w - - 0 1")
    check_position(bishop, naive.from_fen("7b/8/8/8/8/8/k6K/B7 w - - 0 1"))
    assert int(vision.visible(bishop.row, 0, TABLES)) >> 63 & 1
    after = bishop.after(decode(0 << 9 | 63 << 3))
    assert after.men(True) >> 63 & 1 and not after.men(False) >> 63 & 1


def test_square_63_is_a_square_like_any_other() -> None:
    check_square_63()


def test_attacks_are_those_of_an_empty_board_cut_at_the_first_man() -> None:
    rng = np.random.default_rng(5)
    for occupied in rng.integers(0, 2**64, size=40, dtype=np.uint64) & rng.integers(0, 2**64, size=40, dtype=np.uint64):
        pieces = {square for square in range(64) if int(occupied) >> square & 1}
        for square in range(64):
            for steps, kernel in (
                (naive.ROOK_STEPS, attacks.rook_attacks),
                (naive.BISHOP_STEPS, attacks.bishop_attacks),
            ):
                expected = 0
                for step in steps:
                    file, rank = square % 8 + step[0], square // 8 + step[1]
                    while naive.on_board((file, rank)):
                        expected |= 1 << naive.number((file, rank))
                        if naive.number((file, rank)) in pieces:
                            break
                        file, rank = file + step[0], rank + step[1]
                assert int(kernel(square, occupied, TABLES)) == expected


def test_the_longest_known_list_of_moves_is_complete_and_fits() -> None:
    # 218 moves, the most of any position that can arise in chess (N. Petrović 1964); no move of it takes a king.
    fen = "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1"
    assert len(codes(Position.from_fen(fen).row)) == 218
    assert moves.MAX_MOVES >= 16 * 27 + 2  # sixteen pieces with a queen's best square each, and two castlings
