"""``experiments.belief loss``: what moves lose at the true position."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest

from darkchess import Position
from darkchess.fog.game.record import GameRecord, write_pgn
from experiments.belief.__main__ import main
from experiments.belief.loss import ARMS, COLUMNS, LEAST, losses, summary

# 1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6 6. Be3 e5: both sides soon hold hundreds of positions possible.
MOVES = tuple(map(chess.Move.from_uci, (
    "e2e4", "c7c5", "g1f3", "d7d6", "d2d4", "c5d4", "f3d4", "g8f6", "b1c3", "a7a6", "c1e3", "e7e5",
)))  # fmt: skip
GAME = GameRecord(MOVES)


class Material:
    """Counts pieces, and answers as an evaluator does: for the side to move."""

    def values(self, rows: Any) -> Any:
        """One number for each row."""
        return np.array([_material(Position(row).fen()) for row in rows])


class Indifferent:
    """Holds all positions alike."""

    def values(self, rows: Any) -> Any:
        """One number for each row."""
        return np.full(len(rows), 0.25)


def _material(fen: str) -> float:
    board = chess.Board(fen)
    pieces = [
        sum(piece.color == color for piece in board.piece_map().values()) for color in (board.turn, not board.turn)
    ]
    return float(np.tanh((pieces[0] - pieces[1]) / 6))


def test_a_loss_is_that_of_the_mixture_against_the_best_move_on_the_true_board() -> None:
    board, best = chess.Board(), {}
    for ply, move in enumerate(MOVES, 1):
        board.push(move)
        after = []
        for reply in board.pseudo_legal_moves:
            board.push(reply)
            after.append(-_material(board.fen()))
            board.pop()
        best[ply] = (max(after), max(after) - min(after))
    rows = losses(GAME, 1, 100, 0, Material())  # type: ignore[arg-type]
    assert rows and {row[0] % 2 for row in rows} == {0, 1} and all(len(row) == 3 + len(ARMS) for row in rows)
    for ply, size, most, *lost in rows:
        assert size >= LEAST and most == pytest.approx(best[ply][0], abs=1e-4)
        assert all(-1e-4 <= loss <= best[ply][1] + 1e-4 for loss in lost)
    assert any(loss > 0.0 for row in rows for loss in row[3:])
    even = losses(GAME, 2, 100, 0, Indifferent())  # type: ignore[arg-type]
    assert 0 < len(even) < len(rows)
    assert np.abs(np.array(even)[:, 3:]).max() < 1e-9


def test_the_summary_pairs_the_arms_turn_by_turn_and_counts_by_game() -> None:
    rows = [["m", game, ply, 50, 0.0, 0.3, 0.1 + 0.02 * game] for game in range(4) for ply in range(10)]
    shown = summary(rows, ["plain", "better"])
    assert shown["plain"]["loss"] == 0.3 and shown["better"]["loss"] == 0.13
    assert shown["plain"]["above_quarter"] == 1.0 and shown["better"]["above_quarter"] == 0.0
    low, middle, high = shown["better"]["less"]["plain"]
    # Four games with means .1, .12, .14, .16: their sums' deviations are −.3, −.1, .1, .3 (ten turns each).
    error = 1.96 * np.sqrt(0.09 + 0.01 + 0.01 + 0.09) / 40
    assert middle == -0.17 and (low, high) == pytest.approx((middle - error, middle + error), abs=1e-4)
    assert "plain" not in shown["plain"]["less"]


@pytest.mark.slow
@pytest.mark.usefixtures("require_stockfish")
def test_the_command_goes_on_where_it_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "runs" / "match"
    folder.mkdir(parents=True)
    (folder / "match.json").write_text("{}")
    (folder / "game-00000.pgn").write_text(write_pgn(GameRecord(MOVES[:9])))
    arguments = ["loss", str(tmp_path / "runs"), "--kept", str(tmp_path / "kept"), "--results", str(tmp_path)]
    arguments += ["--workers", "1", "--every", "2", "--nodes", "100"]
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    document = json.loads((tmp_path / "belief_loss.json").read_text())
    assert document["games"] == 1 and document["turns"] == len(document["samples"]["rows"]) > 0
    assert document["samples"]["columns"] == COLUMNS and set(document["summary"]) == set(ARMS)
    (kept,) = (tmp_path / "kept").glob("*/match-game-00000.json")
    stamp = kept.stat().st_mtime_ns
    assert main(arguments) == 0 and kept.stat().st_mtime_ns == stamp and capsys.readouterr().out == shown
    assert main(["loss", str(tmp_path / "kept"), "--results", str(tmp_path)]) == 1
    assert "expected" in capsys.readouterr().err
