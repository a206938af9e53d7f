"""``experiments.belief allowance``: what the filter's time is worth."""

from __future__ import annotations

import json
import math
from pathlib import Path

import chess
import numpy as np
import pytest

from darkchess import Referee
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.belief.filter import SECONDS, Filter
from darkchess.fog.belief.policy import Policy
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game.record import GameRecord, write_pgn
from experiments.belief.__main__ import main
from experiments.belief.allowance import ALLOWANCES, ARMS, COLUMNS, EVEN, LARGE, LEAST, AllOrNone, nats, summary
from tests.experiments.test_belief_loss import MOVES


def test_nats_are_those_of_the_true_position_under_each_filter() -> None:
    rows = {row[0]: row[1:] for row in nats(GameRecord(MOVES), 0)}
    referee = Referee()
    filters = [Filter(Policy.packaged(), BuiltinEvaluator()), AllOrNone(Policy.packaged(), BuiltinEvaluator())]
    sets = [PositionSet(referee.view(chess.WHITE), referee.position, weigher=weigher) for weigher in filters]
    looked = 0
    for ply, move in enumerate(MOVES, 1):
        referee.push(move)
        for known in sets:
            known.observe(referee.view(chess.WHITE), allowance=ALLOWANCES[0])
        if referee.turn != chess.WHITE or sets[0].size < LEAST:
            continue
        looked += 1
        size, *found = rows[ply]
        assert size == sets[0].size and len(found) == len(ARMS)
        for known, shown in zip(sets, found[:2], strict=True):
            (truth,) = (
                weight
                for position, weight in zip(known, known.weights, strict=True)
                if position.fen().split()[:3] == referee.fen().split()[:3]
            )
            assert shown == pytest.approx(math.log((1 - EVEN) * truth * size + EVEN), abs=1e-4)
    assert looked > 1


def test_all_or_none_is_one_level_for_all_positions_or_a_fresh_start() -> None:
    weigher, weights = AllOrNone(Policy.packaged(), BuiltinEvaluator()), np.full(1000, 1e-3)
    assert weigher.shared_out(weights, 999 * SECONDS["tables"]) == {}
    (shown,) = weigher.shared_out(weights, 1001 * SECONDS["tables"]).items()
    assert shown[0] == "tables" and shown[1].tolist() == list(range(1000))


def test_the_summary_pairs_both_kinds_of_filter_turn_by_turn() -> None:
    rows = [["m", game, 9, size, *([1.5, 1.0] * len(ALLOWANCES))] for game in range(5) for size in (LEAST, LARGE)]
    for row in rows[1::2]:
        row[4] = 2.5
    first, *others = summary(rows)
    assert (first["shared"], first["all_or_none"], first["large"]["shared"], first["large"]["turns"]) == (2, 1, 2.5, 5)
    assert first["gain"] == [1.0, 1.0, 1.0]  # every game's turns gain as much
    assert all(row["gain"][1] == 0.5 and row["large"]["all_or_none"] == 1.0 for row in others)


def test_the_command_writes_what_it_found_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "runs" / "match"
    folder.mkdir(parents=True)
    (folder / "match.json").write_text("{}")
    (folder / "game-00000.pgn").write_text(write_pgn(GameRecord(MOVES[:7])))
    arguments = ["allowance", str(tmp_path / "runs"), "--kept", str(tmp_path / "kept"), "--results", str(tmp_path)]
    assert main([*arguments, "--workers", "1"]) == 0
    shown = capsys.readouterr().out
    document = json.loads((tmp_path / "belief_allowance.json").read_text())
    assert document["games"] == 1 and document["turns"] == len(document["samples"]["rows"]) > 0
    assert document["samples"]["columns"] == COLUMNS and document["summary"][-1]["allowance_s"] == "inf"
    (kept,) = (tmp_path / "kept").glob("*/match-game-00000.json")
    stamp = kept.stat().st_mtime_ns
    assert main([*arguments, "--workers", "1"]) == 0
    assert kept.stat().st_mtime_ns == stamp and capsys.readouterr().out == shown
    assert main(["allowance", str(tmp_path / "kept"), "--results", str(tmp_path)]) == 1
    assert "expected directories of matches" in capsys.readouterr().err
