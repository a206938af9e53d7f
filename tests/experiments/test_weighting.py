"""``experiments.weighting``: decisions, and training from them."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import chess
import numpy as np
import pytest

from darkchess.rbc import Referee
from darkchess.rbc.belief.kinds import Kinds
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.belief.siamese import BLOCKS, Observer
from darkchess.rbc.game.history import replayed
from darkchess.weighting.enemy_features import FEATURES, features_of
from experiments.learning.fit import TrainingError, jax_on_cpu
from experiments.learning.split import TEST, TRAIN, VALIDATE
from experiments.weighting import __main__ as program
from experiments.weighting import data
from experiments.weighting.data import ARCHIVE, DRAWN, TOP, drawn_beside
from experiments.weighting.decisions import Decisions, load, log_shares, repeated
from experiments.weighting.networks import Settings, scores
from experiments.weighting.training import MIRRORED_FEATURES, mirrored_numbers, scores_on, train
from klss_app.cli.main import main as klss


@pytest.fixture(scope="module")
def match(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A match of short games."""
    out = tmp_path_factory.mktemp("runs") / "match"
    given = ["rbc-expect,threads=1", "rbc-attacker", "--nodes", "20", "--games", "10", "--seed", "3"]
    assert klss(["rbc", "match", *given, "--out", str(out)]) == 0
    return out


@pytest.fixture(scope="module")
def shards(match: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its decisions, one game a shard, so that every part has some."""
    folder = tmp_path_factory.mktemp("shards")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data, "BLOCK", 1)
        assert program.main(["data", "rbc", f"own={match}", "--out", str(folder)]) == 0
    return folder


def test_decisions_hold_the_truth_other_members_and_what_was_told(match: Path, shards: Path) -> None:
    paths, truths = sorted(shards.glob("own-match-*.npz")), 0
    assert len(paths) == 10
    for path, game in zip(paths, sorted(match.glob("game-*.json")), strict=True):
        found, _ = ARCHIVE.load(path, ARCHIVE.read)
        sizes, counts = found["size"], found["count"]
        assert (counts == np.minimum(sizes, 1 + DRAWN)).all() and sizes.min() >= 2
        played = replayed(game.read_text())
        real = {
            tuple(PositionSet(turn.color, played.positions[ply]).halves[0].tolist())
            for ply, turn in enumerate(played.turns)
        }
        for i, count in enumerate(counts):
            halves = [tuple(half) for half in found["halves"][i].tolist()]
            assert len(set(halves[:count])) == count and not any(half != (0, 0) for half in halves[count:])
            assert halves[0] in real
            truths += 1
            # What the members stand for makes up the set; their weights by the filter, its probability.
            assert np.exp(found["standing"][i, :count]).sum() == pytest.approx(sizes[i], rel=1e-4)
            if sizes[i] <= 1 + DRAWN:
                assert np.exp(found["prior"][i, :count]).sum() == pytest.approx(1.0, abs=1e-3)
                rows, pieces = features_of(found["halves"][i, :count])
                present = np.arange(rows.shape[1]) < pieces[:, None]
                shares = np.bincount(rows[present], minlength=FEATURES)[:384] / count
                np.testing.assert_allclose(found["numbers"][i, BLOCKS["now"]], shares, atol=1e-3)
    assert truths > 100


def test_the_likeliest_members_are_kept_and_the_others_stand_for_the_rest() -> None:
    generator = np.random.default_rng(0)
    prior = generator.permutation(1000).astype(np.float64)
    for truth in (int(prior.argmax()), int(prior.argmin())):
        members, standing = drawn_beside(truth, prior, generator)
        assert members[0] == truth and len(set(members.tolist())) == 1 + DRAWN
        others = np.delete(np.argsort(-prior), np.flatnonzero(np.argsort(-prior) == truth))
        assert (members[1 : 1 + TOP] == others[:TOP]).all() and not standing[: 1 + TOP].any()
        assert np.exp(standing).sum() == pytest.approx(1000)


def test_a_shard_that_is_there_is_kept_and_another_one_is_made_the_same(
    match: Path, shards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "BLOCK", 1)
    games = tmp_path / "match"
    games.mkdir()
    for path in sorted(match.glob("game-*.json"))[:2]:
        shutil.copy(path, games)
    (games / "game-00002.json").write_text('{"type": "GameHistory"}')  # a game that ended before its first move
    kept = tmp_path / "shards"
    assert program.main(["data", "rbc", f"own={games}", "--out", str(kept)]) == 0
    names = ["own-match-00000.npz", "own-match-00001.npz"]
    assert all((kept / name).read_bytes() == (shards / name).read_bytes() for name in names)
    assert len(ARCHIVE.load(kept / "own-match-00002.npz", ARCHIVE.read)[0]["size"]) == 0
    stamps = [(kept / name).stat().st_mtime_ns for name in names]
    assert program.main(["data", "rbc", f"own={games}", "--out", str(kept)]) == 0
    assert [(kept / name).stat().st_mtime_ns for name in names] == stamps


def test_what_is_no_match_is_told_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["data", "rbc", f"own={tmp_path}", "--out", str(tmp_path / "out")]) == 1
    assert "got no games, expected klss rbc match --out" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        program.main(["data", "rbc", str(tmp_path), "--out", str(tmp_path / "out")])
    assert "expected LABEL=PATH" in capsys.readouterr().err
    with pytest.raises(TrainingError, match="no shards"):
        load(tmp_path, BLOCKS)


def test_the_mirrored_board_is_a_board_seen_in_a_mirror() -> None:
    known = PositionSet(chess.WHITE, Referee("4k3/8/8/8/1P6/8/8/R3K3 w Q - 0 1").position)
    numbers = Observer(known, Kinds(known, 0.5)).numbers
    mirrored = numbers[mirrored_numbers(BLOCKS)]
    for name in BLOCKS.names[:-1]:
        block = BLOCKS[name]
        planes = numbers[block].reshape(-1, 8, 8)
        assert (mirrored[block].reshape(-1, 8, 8) == planes[:, :, ::-1]).all()
    assert (numbers[-2:].tolist(), mirrored[-2:].tolist()) == ([0, 1], [1, 0])
    assert (mirrored[BLOCKS["scalars"]][:-2] == numbers[BLOCKS["scalars"]][:-2]).all()
    assert MIRRORED_FEATURES[384:].tolist() == [385, 384, 393, 392, 391, 390, 389, 388, 387, 386, FEATURES]


def _decisions(count: list[int], prior: list[list[float]], standing: list[list[float]], labels: list[str]) -> Decisions:
    number = len(count)
    return Decisions(
        rows=np.zeros((number, 4, 19), dtype=np.uint16),
        count=np.array(count),
        size=np.array(count),
        prior=np.array(prior, dtype=np.float32),
        standing=np.array(standing, dtype=np.float32),
        numbers=np.zeros((number, 1), dtype=np.float16),
        part=np.full(number, TRAIN),
        label=np.array(labels),
    )


def test_shares_are_those_of_the_whole_set() -> None:
    # All three of three, with weights of the filter; and one that stands for 100.
    prior = np.log([[0.5, 0.25, 0.25, 1.0], [0.01, 0.01, 1.0, 1.0]]).tolist()
    held = _decisions([3, 2], prior, [[0.0] * 4, [0.0, float(np.log(100)), 0.0, 0.0]], ["own", "own"])
    shares = np.exp(log_shares([[1.0, 0.0, 2.0, 9.0], [0.5, 0.5, 9.0, 9.0]], held, np.arange(2)))
    assert shares == pytest.approx([np.e / 2 / (np.e / 2 + 0.25 + np.e**2 / 4), 1 / 101])


def test_rare_labels_count_more_often_in_the_training() -> None:
    labels = ["own"] * 90 + ["strange"] * 10 + ["random"]
    held = _decisions([2] * 101, [[0.0] * 4] * 101, [[0.0] * 4] * 101, labels)
    names, times = np.unique(held.label[repeated(held)], return_counts=True)
    # √(90 / 10), and 4 at most
    assert dict(zip(names.tolist(), times.tolist(), strict=True)) == {"own": 90, "strange": 30, "random": 4}


@pytest.mark.slow
def test_training_learns_goes_on_to_the_same_weights_and_is_what_play_computes(
    shards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("optax", exc_type=ImportError)
    monkeypatch.setenv("XLA_FLAGS", "--xla_backend_optimization_level=0")  # compiling takes longer than these few steps
    held = load(shards, BLOCKS)
    assert set(held.part) == {TRAIN, VALIDATE, TEST}
    tiny = Settings(channels=4, layers=2, epochs=2, batch=16, rate=3e-2, mirrored=0.0)
    weights, about = train(tiny, BLOCKS, held, tmp_path)
    rows = about["epochs"]["rows"]
    assert len(rows) == 2 and rows[-1][1] < rows[0][1]
    stopped = tmp_path / "stopped"
    stopped.mkdir()
    train(dataclasses.replace(tiny, epochs=1), BLOCKS, held, stopped)
    again, _ = train(tiny, BLOCKS, held, stopped)
    assert all((weights[name] == again[name]).all() for name in weights)
    # What JAX trains is what numpy and numba score.
    jax, chosen = jax_on_cpu(), held.where(held.part == TEST)[:8]
    found = scores_on(weights, BLOCKS, held, chosen)
    seen = BLOCKS.grids(held.numbers[chosen].astype(np.float32))
    keep = np.ones((8, tiny.channels), dtype=np.float32)
    wanted = np.asarray(scores(jax, weights, seen, held.rows[chosen].astype(np.int32), keep))
    valid = np.arange(1 + DRAWN) < held.count[chosen][:, None]
    np.testing.assert_allclose(found[valid], wanted[valid], rtol=1e-3, atol=1e-3)


def test_weights_are_trained_and_written(
    shards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("optax", exc_type=ImportError)
    tiny = Settings(channels=4, layers=1, batch=16, rate=2e-2)
    monkeypatch.setattr(program, "Settings", lambda: tiny)
    given = [str(shards), "--out", str(tmp_path), "--epochs", "1", "--results", str(tmp_path)]
    assert program.main(["train", "rbc", *given, "--package", str(tmp_path / "weights" / "siamese.npz")]) == 0
    assert (tmp_path / "weights" / "siamese.npz").stat().st_size < 2_000_000
    assert "own" in capsys.readouterr().out
