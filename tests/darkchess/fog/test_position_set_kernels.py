"""The position set's kernels one by one.

The masks against a look at every successor, the codes, the interpreted run.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import chess
import numpy as np
import pytest

from darkchess import Position, Referee
from darkchess.board.kernels import halves, moves, position_table
from darkchess.board.kernels.tables import TABLES
from darkchess.fog.belief._kernels import position_set
from tests.darkchess.fog.position_set_games import STARTS, choose, text
from tests.oracles import brute_force


def positions(count: int) -> list[Position]:
    rng = random.Random(8)
    found: list[Position] = []
    while len(found) < count:
        game = Referee(rng.choice(list(STARTS.values())))
        for _ in range(rng.randrange(60)):
            if game.outcome is None:
                game.push(choose(game, rng, spice=0.3))
        if game.outcome is None:
            found.append(game.position)
    return found


def from_whites_side(row: np.ndarray) -> np.ndarray:
    """The row without en passant and counters, as the kernels of the position set take it for White."""
    out = row.copy()
    out[8] &= np.uint64(0x1F)
    return out


def test_an_enemy_half_survives_the_sixteen_bytes() -> None:
    for position in positions(200):
        row = from_whites_side(position.row)
        half = np.empty(2, dtype=np.uint64)
        halves.encode_half(row, half)
        own = row & row[6]
        own[8] = row[8] & np.uint64(0x07)
        out = np.empty(9, dtype=np.uint64)
        halves.decode_half(half[0], half[1], own, False, out)
        assert (out == row).all(), position.fen()


def test_a_half_can_move_iff_the_oracle_finds_a_move() -> None:
    fens = [position.fen() for position in positions(150)]
    # Locked in: king, rook, bishops and pawns that block one another; then with one way out each.
    fens += [
        "5brk/4p1pb/4P1p1/6P1/8/8/8/K7 b - - 0 1",
        "5brk/4p1pb/4P3/6p1/6P1/8/8/K7 b - - 0 1",
        "5brk/4p1pb/4P1p1/5PP1/8/8/8/K7 b - - 0 1",
        "5b1k/4p1pb/4P1p1/6P1/8/8/8/K7 b - - 0 1",
        "5brk/3np1pb/4P1p1/6P1/8/8/8/K7 b - - 0 1",
        "5brk/4p1pb/4P1p1/6P1/1Pp5/2B5/8/K7 b - b3 0 1",
        "5brk/4p1pb/4P1p1/6P1/1Pp5/2B5/8/K7 b - - 0 1",
    ]
    outcomes = set()
    for fen in fens:
        position = Position.from_fen(fen)
        if position.turn == chess.WHITE:
            continue
        half = np.empty(2, dtype=np.uint64)
        halves.encode_half(from_whites_side(position.row), half)
        captors = 0
        if position.ep_square is not None:
            beside = (position.ep_square + 7, position.ep_square + 9)
            captors = sum(1 << square for square in beside if 24 <= square < 32)
        can = bool(position_set.can_move(half[0], half[1], position.row[6], np.uint64(captors), TABLES))
        assert can == brute_force.has_move(brute_force.parse(fen)) == bool(moves.has_move(position.row, TABLES)), fen
        outcomes.add(can)
    assert outcomes == {True, False}


def successors_by_masks(row: np.ndarray, after: Referee, own_before: int) -> set[bytes]:
    """What the kernel makes of one position, given what White sees after the true move."""
    view = after.view(chess.WHITE)
    masks = np.zeros(position_set.MASKS, dtype=np.uint64)
    expected = np.empty(64, dtype=np.int64)
    position_set.observation_masks(from_whites_side(view.row()), np.uint64(view.visible), masks, expected)
    masks[position_set.OWN_BEFORE] = own_before
    if view.own_capture_square is not None:
        masks[position_set.CAPTURED] = 1 << view.own_capture_square
        masks[position_set.REQUIRED] |= np.uint64(1 << view.own_capture_square)
    pawns = int(view.row()[0] & view.row()[6]) & 0xFF00000000
    masks[position_set.FORBIDDEN] = (pawns << 1 & ~0x0101010101010101 | pawns >> 1 & ~0x8080808080808080) & 0xFF00000000
    half = np.empty((1, 2), dtype=np.uint64)
    halves.encode_half(from_whites_side(row), half[0])
    out = np.empty((2, 700, 2), dtype=np.uint64)
    counts = np.zeros(3, dtype=np.int64)
    full = np.uint64(0xFFFFFFFFFFFFFFFF)
    everything = position_table.Layout(np.uint64(1), np.uint64(0), full, np.uint64(0), np.uint64(1), 0)
    stop = position_set.successors(half, 0, 1, masks, expected, TABLES, everything, False, out, 700, counts)
    assert stop == 1
    made = [entry.tobytes() for entry in out[0, : counts[0]]]
    assert len(made) == counts[0] == counts[2] == len(set(made)), "no successor comes twice"
    return set(made)


def test_the_masks_let_through_exactly_the_successors_that_look_right() -> None:
    rng = random.Random(2)
    compared = 0
    for position in positions(400):
        if position.turn == chess.WHITE or position.ep_square is not None:
            continue
        # The true move is made from a position with the same white half but another black one: so most masks refuse.
        game = Referee(position.fen())
        truth = brute_force.parse(position.fen())
        game.push(choose(game, rng, spice=0.3))
        view = game.view(chess.WHITE)
        if game.outcome is not None or view.ep_square is not None:
            continue
        if view.own_capture_square is not None and view.opp_capture_landing_square is None:
            continue
        look = brute_force.look(
            brute_force.parse(game.fen()), "w", -1 if view.own_capture_square is None else view.own_capture_square,
            -1 if view.opp_capture_landing_square is None else view.opp_capture_landing_square,
        )  # fmt: skip
        for source in (truth, *shifted(truth, rng)):
            row = Position.from_fen(fen_of(source)).row
            want = brute_force.step({source}, "w", None, look)
            got = set()
            for made in successors_by_masks(row, game, int(position.row[6])):
                half = np.frombuffer(made, dtype=np.uint64)
                own = view.row() & view.row()[6]
                own[8] = view.row()[8]
                out = np.empty(9, dtype=np.uint64)
                halves.decode_half(half[0], half[1], own, False, out)
                got.add(text(out))
            assert got == want, (fen_of(source), view.fog_fen())
            compared += 1
    assert compared > 300


def shifted(position: brute_force.Position, rng: random.Random) -> list[brute_force.Position]:
    """The position with a random black man moved to a random free square, twice.

    Other positions White might think of.
    """
    found = []
    for _ in range(2):
        board, turn, castling, _ = position
        pieces = [square for square in range(64) if board[square] in "nbrqk" and square not in (56, 60, 63)]
        free = [square for square in range(64) if board[square] == "."]
        if pieces and free:
            cells = list(board)
            origin, target = rng.choice(pieces), rng.choice(free)
            cells[origin], cells[target] = ".", cells[origin]
            found.append(("".join(cells), turn, castling, -1))
    return found


def fen_of(position: brute_force.Position) -> str:
    rows = []
    for rank in range(7, -1, -1):
        row = position[0][8 * rank : 8 * rank + 8]
        for length in range(8, 0, -1):
            row = row.replace("." * length, str(length))
        rows.append(row)
    return f"{'/'.join(rows)} {position[1]} {position[2] or '-'} - 0 1"


@pytest.mark.slow
def test_kernels_give_the_same_when_interpreted() -> None:
    program = """
import chess, numpy as np, warnings
warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's scalars warn where unsigned words wrap around
from darkchess import Referee
from darkchess.fog.belief.position_set import PositionSet
game = Referee("r3k2r/1p4p1/8/P7/7p/8/6P1/R3K2R b KQkq - 0 1")
known = {color: PositionSet(game.view(color), game.position, cap=40) for color in chess.COLORS}
for uci in ("b7b5", "a5b6", "h4h3", "h1h3", "e8c8", "g2g4", "h8h3"):
    game.push(chess.Move.from_uci(uci))
    for color, one in known.items():
        one.observe(game.view(color))
        rows = one.rows(np.arange(one.size))
        print(one.size, one.successors, one.capped_by, rows.tolist()[:5], one.sample(2)[:, :8].tolist())
"""
    outputs = []
    for disabled in ("0", "1"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": disabled, "PYTHONPATH": str(Path(__file__).parents[2])}
        run = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr
        outputs.append(run.stdout)
    assert outputs[0] == outputs[1]
    assert len(outputs[0].splitlines()) == 14
