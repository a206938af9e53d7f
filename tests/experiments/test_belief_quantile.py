"""``experiments.belief quantile``: the true position's value among the values of the possible ones."""

from __future__ import annotations

import json
from pathlib import Path

import chess
import numpy as np
import pytest

from darkchess import Position, Referee
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game.record import GameRecord, write_pgn
from experiments.belief.quantile import COLUMNS, LEAST, main, samples, summary

SICILIAN = ("e2e4", "c7c5", "g1f3", "d7d6", "d2d4", "c5d4", "f3d4", "g8f6", "b1c3", "a7a6")
MOVES = tuple(map(chess.Move.from_uci, (*SICILIAN, "c1e3", "e7e5")))
"""A Sicilian Najdorf; after it each side holds hundreds of positions possible."""

GAME = GameRecord(MOVES)


def test_a_sample_compares_the_truth_with_every_possible_position() -> None:
    rows = list(samples(GAME, every=1, draws=1_000_000))
    assert {row[0] % 2 for row in rows} == {0, 1}
    evaluator, referee = BuiltinEvaluator(), Referee()
    known = {color: PositionSet(referee.view(color), referee.position) for color in chess.COLORS}
    at = {}
    for ply, move in enumerate(MOVES, 1):
        referee.push(move)
        for color, positions in known.items():
            positions.observe(referee.view(color))
        mine = known[referee.turn]
        if mine.size < LEAST:
            continue
        # One at a time, from Position's own FEN: no sampling, no batches.
        values = [
            float(evaluator.values(Position.from_fen(Position(row).fen()).row[None, :])[0])
            for row in mine.sample(mine.size, 0)
        ]
        true = float(evaluator.values(referee.position.row[None, :])[0])
        lower, equal = sum(v < true for v in values), sum(v == true for v in values)
        at[ply] = [mine.size, true, np.mean(values), np.std(values), (lower + equal / 2) / len(values)]
    assert [row[0] for row in rows] == list(at)
    for ply, *found in rows:
        assert found == pytest.approx(at[ply], abs=1e-4)


def test_no_move_is_looked_at_after_the_king_has_fallen() -> None:
    over = tuple(map(chess.Move.from_uci, (*SICILIAN, "f1b5", "e7e5", "b5e8")))
    plies = [row[0] for row in samples(GameRecord(over), every=1, draws=100)]
    assert plies and max(plies) < len(over)


def test_the_summary_of_a_true_belief_is_half() -> None:
    rows = [["m", 0, 0, 100, 0.1, 0.3, 0.1, quantile] for quantile in np.linspace(0, 1, 101)]
    assert summary(rows) == {
        "quantile_25": 0.25, "quantile_median": 0.5, "quantile_75": 0.75, "share_below_tenth": 0.099,
        "expected_too_much": 0.2,
    }  # fmt: skip


def test_the_command_writes_one_document_and_says_what_it_leaves_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "runs" / "match"
    folder.mkdir(parents=True)
    (folder / "match.json").write_text("{}")
    (folder / "game-00003.pgn").write_text(write_pgn(GAME))
    (folder / "game-00004.pgn").write_text("dear sir,\n")
    assert main([str(tmp_path / "runs"), "--every", "1", "--results", str(tmp_path)]) == 0
    assert "game-00004.pgn: left out" in capsys.readouterr().err
    document = json.loads((tmp_path / "belief.json").read_text())
    assert document["experiment"] == "belief" and document["games"] == 1 and document["versions"]["numpy"]
    assert document["samples"]["columns"] == COLUMNS
    assert {(row[0], row[1], len(row)) for row in document["samples"]["rows"]} == {("match", 3, len(COLUMNS))}


def test_directories_without_games_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path), "--results", str(tmp_path)]) == 1
    assert "expected directories of matches" in capsys.readouterr().err
    assert not (tmp_path / "belief.json").exists()
