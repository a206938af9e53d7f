"""``experiments.dark_learn``: what is taken of a replayed game, and that a shard is not made twice."""

from __future__ import annotations

import json
import random
from pathlib import Path

import chess
import numpy as np
import pytest

from blindchess.synoptic.networks import HEADSETS
from darkchess import Referee
from darkchess.game.record import GameRecord
from darkchess.synoptic.worlds import action_of
from experiments.dark_learn import __main__ as program
from experiments.dark_learn.imitation import decisions
from experiments.rbc_learn import train
from experiments.rbc_learn.data import of_rows, read_shard, shard_paths
from experiments.rbc_learn.train import Imitation
from klss_app.cli.main import main as klss

TOP, OTHER = HEADSETS.index("top"), HEADSETS.index("random")


def a_game(seed: int) -> GameRecord:
    """Random moves that favour captures, until a king falls."""
    rng = random.Random(seed)
    game = Referee("4k3/pp6/8/8/8/8/PP3Q2/4K3 w - - 0 1")
    while game.outcome is None:
        moves = game.legal_moves()
        takes = [move for move in moves if game.position.piece_at(move.to_square)]
        game.push(rng.choice(takes or moves))
    return GameRecord(tuple(game.moves), fen="4k3/pp6/8/8/8/8/PP3Q2/4K3 w - - 0 1", outcome=game.outcome)


def test_each_move_after_the_opening_is_a_decision_and_ends_as_the_game_did() -> None:
    record = a_game(3)
    assert record.outcome is not None
    rows = decisions(record, 2, {chess.WHITE: TOP, chess.BLACK: OTHER}, [1])
    played = [move for move in record.moves[2:] if move.promotion in (None, chess.QUEEN)]
    assert len(rows) == len(played)
    held = of_rows([row | {"game": 0} for row in rows])
    whites = held.headset == TOP
    actions = [action_of(move, ply % 2 == 0) for ply, move in enumerate(record.moves) if ply >= 2]
    hers = [action for ply, action in enumerate(actions) if ply % 2 == 0 and action is not None]
    assert held.chosen[whites].tolist() == hers
    assert (held.result[whites] == (1 if record.outcome.winner else -1)).all()
    assert (held.result[~whites] == -held.result[whites][0]).all()
    for synopsis, pieces in zip(held.synopses, held.pieces, strict=True):
        assert 64 - int(synopsis[11]).bit_count() == pieces[:6].sum()  # her men
        assert [int(men).bit_count() for men in synopsis[12:18]] == pieces[:6].tolist()
    assert len(decisions(record, 2, {chess.WHITE: TOP, chess.BLACK: OTHER}, [1], most=1)) < len(rows)


def test_shards_of_a_match_are_made_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    match, out = tmp_path / "match", tmp_path / "out"
    assert klss(["match", "random,cap=500", "greedy,cap=500", "--games", "2", "--seed", "2", "--out", str(match)]) == 0
    for _ in range(2):
        assert program.main(["data", str(match), "--most", "3000", "--out", str(out)]) == 0
        (path,) = shard_paths(out)
        made = path.stat().st_mtime_ns
    held, about = read_shard(path)
    assert about["games"] == [0, 1] and len(np.unique(held.game)) == 2 and set(held.headset) == {OTHER}
    assert program.main(["data", str(match), "--most", "3000", "--out", str(out)]) == 0
    assert path.stat().st_mtime_ns == made
    capsys.readouterr()
    assert program.main(["data", str(out), "--out", str(out)]) == 1
    assert "no games in" in capsys.readouterr().err


def test_all_and_the_best_are_imitated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    given: list[Imitation] = []
    monkeypatch.setattr(
        train, "imitate", lambda plan, *_: given.append(plan) or {"validation": {}, "decisions_per_s": 0}
    )
    assert program.main(["imitate", "--data", "DATA", "--out", str(tmp_path)]) == 0
    assert given[0].sizes.headsets == ("all", "top")
    told = json.loads((tmp_path / "imitate.json").read_text(encoding="utf-8"))
    assert told["experiment"] == "dark_learn imitate"
