"""``experiments.weighting`` for Fog of War: decisions of matches, and of people's games."""

from __future__ import annotations

from pathlib import Path

import chess
import numpy as np
import pytest

from darkchess import Referee
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.belief.filter import Filter
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.belief.siamese import BLOCKS, log_prior
from darkchess.fog.game.record import GameRecord, read_pgn, write_pgn
from experiments.learning.fit import TrainingError
from experiments.learning.split import TEST, TRAIN, part_of
from experiments.weighting import __main__ as program
from experiments.weighting import fog
from experiments.weighting.data import ARCHIVE, DRAWN
from experiments.weighting.decisions import load
from klss_app.cli.main import main as klss

SICILIAN = ("e2e4", "c7c5", "g1f3", "d7d6", "d2d4", "c5d4", "f3d4", "g8f6", "b1c3", "a7a6")


def test_decisions_of_a_match_are_what_its_players_knew(tmp_path: Path) -> None:
    out, data = tmp_path / "match", tmp_path / "data"
    given = ["greedy", "random", "--nodes", "1", "--games", "2", "--openings", "4", "--seed", "5", "--out", str(out)]
    assert klss(["match", *given]) == 0
    assert program.main(["data", "fog", f"weak={out}", "--out", str(data)]) == 0
    (shard,) = data.glob("*.npz")
    assert shard.name == "weak-match-00000.npz"
    found, _ = ARCHIVE.load(shard, ARCHIVE.read)
    assert set(found["game"].tolist()) == {0}  # both are of one pair
    held = load(data, BLOCKS)
    assert set(held.label.tolist()) == {"weak"} and held.numbers.shape[1] == BLOCKS.count
    # The first game again, by the sets themselves.
    record = read_pgn((out / "game-00000.pgn").read_text())[0]
    referee, evaluator, at = Referee(), BuiltinEvaluator(), 0
    sets = {c: PositionSet(referee.view(c), referee.position, weigher=Filter.packaged()) for c in chess.COLORS}
    for ply, move in enumerate(record.moves, 1):
        referee.push(move)
        if referee.outcome is not None:
            break
        for color, known in sets.items():
            known.observe(referee.view(color), allowance=fog.ALLOWANCE_S)
        known = sets[referee.turn]
        if known.size < 2 or ply <= 4:
            continue
        truth = int(known.indices(referee.position.row)[0])
        assert found["size"][at] == known.size
        assert (found["halves"][at, 0] == known.halves[truth]).all()
        wanted = log_prior(known.filter_weights)[truth] - fog.SLOPE * evaluator.values(referee.position.row[None, :])[0]
        assert found["prior"][at, 0] == pytest.approx(wanted, rel=1e-4)
        assert np.exp(found["standing"][at, : found["count"][at]]).sum() == pytest.approx(known.size, rel=1e-4)
        assert found["count"][at] == min(known.size, 1 + DRAWN)
        at += 1
    assert at > 5


def test_games_of_people_are_split_by_player(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # ann has most games, ben comes next, then cat; the others have one each.
    players = [("ann", "cat"), ("ann", "cat"), ("ann", "dan"), ("eve", "ann"), ("ben", "fay"), ("gus", "ben")]
    players += [("ben", "ann"), ("cat", "ben")]
    moves = tuple(map(chess.Move.from_uci, SICILIAN))
    text = "\n".join(write_pgn(GameRecord(moves, headers={"White": a, "Black": b})) for a, b in players)
    path, data = tmp_path / "people.pgn", tmp_path / "data"
    path.write_text(text + '\n[Variant "Fog of War"]\n\n1. e4 e4 *\n')
    monkeypatch.setattr(fog, "CAP", 500)
    assert program.main(["data", "fog", f"people={path}", "--out", str(data)]) == 0
    (shard,) = data.glob("*.npz")
    found, _ = ARCHIVE.load(shard, ARCHIVE.read)
    numbers, counts = np.unique(found["game"], return_counts=True)
    parts = dict(zip(map(part_of, numbers.tolist()), counts.tolist(), strict=True))
    # ben is tested on; his games with ann and cat, who are learned from, are left out.
    assert set(parts) == {TRAIN, TEST}
    assert parts[TRAIN] == 2 * parts[TEST] > 10


def test_what_is_no_game_is_told_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "none.pgn").write_text("")
    for path in (tmp_path / "none.pgn", tmp_path / "missing.pgn", tmp_path):
        assert program.main(["data", "fog", f"own={path}", "--out", str(tmp_path / "out")]) == 1
        (line,) = capsys.readouterr().err.strip().splitlines()
        assert path.name in line


def test_decisions_of_the_other_game_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "people.pgn"
    path.write_text(write_pgn(GameRecord(tuple(map(chess.Move.from_uci, SICILIAN[:4])))))
    assert program.main(["data", "fog", f"own={path}", "--out", str(tmp_path / "data")]) == 0
    from darkchess.rbc.belief.siamese import BLOCKS as OTHER

    with pytest.raises(TrainingError, match=r"got decisions of 2248 numbers, expected \d+: those of this game"):
        load(tmp_path / "data", OTHER)
