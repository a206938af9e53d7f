"""``experiments.rbc_weighting``: decisions, and training from them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import chess
import numpy as np
import pytest

from darkchess.rbc import Referee
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.belief.siamese import BLOCKS, FEATURES, Observer, board_features, grids_of
from experiments.learning.fit import jax_on_cpu
from experiments.learning.shards import blocks
from experiments.learning.split import TEST, TRAIN, VALIDATE, part_of
from experiments.rbc_weighting import __main__ as program
from experiments.rbc_weighting import data
from experiments.rbc_weighting.data import DRAWN, KINDS, block_of
from experiments.rbc_weighting.decisions import fitted, load, log_shares
from experiments.rbc_weighting.networks import Settings, boards_of, scores
from experiments.rbc_weighting.training import MIRRORED_FEATURES, MIRRORED_NUMBERS, scores_on, train

OURS = ("expect-100", "attacker")


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten games against players of our own, of every part."""
    folder = tmp_path_factory.mktemp("shards")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data, "SCHEDULE", OURS)
        assert data.main(["--out", str(folder), "--decisions", "1000000", "--minutes", "1e-9", "--block", "10"]) == 0
    return folder


def test_decisions_hold_the_truth_other_members_and_what_was_told(shards: Path) -> None:
    (path,) = shards.glob("*.npz")
    with np.load(path) as found:
        sizes, count, halves = found["size"], found["count"], found["halves"]
        assert (count == np.minimum(sizes, 1 + DRAWN)).all() and sizes.min() >= 2
        for row, number in zip(halves, count, strict=True):
            assert len({tuple(half) for half in row[:number].tolist()}) == number and not row[number:].any()
        shares = found["numbers"][:, BLOCKS["now"]]
        small = np.flatnonzero(sizes <= 1 + DRAWN)
        for i in small[:20]:  # the whole set is there: its marginals are those of the observation
            rows, counts = board_features(halves[i, : count[i]])
            rows[np.arange(rows.shape[1]) >= counts[:, None]] = FEATURES
            np.testing.assert_allclose(boards_of(rows)[:, :384].mean(axis=0), shares[i], atol=1e-3)


@pytest.mark.slow
def test_a_shard_that_is_there_is_kept_and_another_one_is_made_the_same(
    shards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "SCHEDULE", ("attacker",))

    def played(out: Path) -> Iterator[tuple[int, int]]:
        return blocks(block_of, out, 7, 2)

    made = [next(played(tmp_path / name)) for name in ("one", "two") if not (tmp_path / name).mkdir()]
    one, two = ((tmp_path / name / "games-000000.npz") for name in ("one", "two"))
    assert made[0] == made[1] and one.read_bytes() == two.read_bytes()
    stamp = one.stat().st_mtime_ns
    assert next(played(tmp_path / "one")) == made[0] and one.stat().st_mtime_ns == stamp
    one.write_bytes(two.read_bytes()[:1000])  # killed while it was written
    assert next(played(tmp_path / "one")) == made[0] and one.read_bytes() == two.read_bytes()


def test_parts_are_of_games_and_every_part_has_every_kind() -> None:
    games = range(len(data.SCHEDULE) * 100)
    parts = [part_of(game // len(data.SCHEDULE)) for game in games]
    assert [parts.count(part) / 1000 for part in (TRAIN, VALIDATE, TEST)] == [0.7, 0.1, 0.2]
    for part in (TRAIN, VALIDATE, TEST):
        assert {data.SCHEDULE[game % len(data.SCHEDULE)] for game in games if parts[game] == part} == set(KINDS)


def test_the_mirrored_board_is_a_board_seen_in_a_mirror() -> None:
    known = PositionSet(chess.WHITE, Referee("4k3/8/8/8/1P6/8/8/R3K3 w Q - 0 1").position)
    numbers = Observer(known).numbers
    mirrored = numbers[MIRRORED_NUMBERS]
    for name, block in BLOCKS.items():
        if name != "scalars":
            planes = numbers[block].reshape(-1, 8, 8)
            assert (mirrored[block].reshape(-1, 8, 8) == planes[:, :, ::-1]).all()
    assert (numbers[-2:].tolist(), mirrored[-2:].tolist()) == ([0, 1], [1, 0])
    assert (mirrored[BLOCKS["scalars"]][:-2] == numbers[BLOCKS["scalars"]][:-2]).all()
    assert MIRRORED_FEATURES[384:].tolist() == [385, 384, 393, 392, 391, 390, 389, 388, 387, 386]


def test_shares_are_those_of_the_whole_set() -> None:
    scores = np.array([[1.0, 0.0, 2.0, 9.0], [0.5, 0.5, 9.0, 9.0]])
    count, size = np.array([3, 2]), np.array([3, 101])
    shares = np.exp(log_shares(scores, count, size))
    # All three of three drawn; and one of 100 others, for which it stands.
    assert shares == pytest.approx([np.e / (1 + np.e + np.e**2), 1 / 101])


def test_the_fitted_factor_is_the_one_that_drew_the_truth() -> None:
    generator = np.random.default_rng(0)
    terms = generator.normal(size=(4000, 20))
    logits = 1.7 * terms
    keys = logits + generator.gumbel(size=logits.shape)
    truth = keys.argmax(axis=1)
    rows = np.arange(4000)
    terms[rows, truth], terms[rows, 0] = terms[rows, 0].copy(), terms[rows, truth].copy()
    full = np.full(4000, 20)
    assert fitted(10 * terms, full, full) == pytest.approx(0.17, abs=0.01)


@pytest.mark.slow
def test_training_learns_goes_on_to_the_same_weights_and_is_what_play_computes(
    shards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("optax", exc_type=ImportError)
    monkeypatch.setenv("XLA_FLAGS", "--xla_backend_optimization_level=0")  # compiling takes longer than these few steps
    monkeypatch.setattr(data, "SCHEDULE", OURS)
    held, _ = load(shards, {VALIDATE: 30, TEST: 40})
    tiny = Settings(channels=4, layers=2, epochs=2, batch=16, members=8, rate=3e-2, mirrored=0.0)
    weights, about = train(tiny, held, tmp_path)
    rows = about["epochs"]["rows"]
    assert len(rows) == 2 and rows[-1][1] < rows[0][1]
    stopped = tmp_path / "stopped"
    stopped.mkdir()
    train(dataclasses.replace(tiny, epochs=1), held, stopped)
    again, _ = train(tiny, held, stopped)
    assert all((weights[name] == again[name]).all() for name in weights)
    # What JAX trains is what numpy and numba score.
    jax, chosen = jax_on_cpu(), held.where(held.part == TEST)[:8]
    found = scores_on(weights, held, chosen)
    seen = grids_of(held.numbers[chosen].astype(np.float32))
    keep = np.ones((8, tiny.channels), dtype=np.float32)
    wanted = np.asarray(scores(jax, weights, seen, boards_of(held.rows[chosen]), keep))
    valid = np.arange(1 + DRAWN) < held.count[chosen][:, None]
    np.testing.assert_allclose(found[valid], wanted[valid], rtol=1e-3, atol=1e-3)


def test_weights_are_trained_and_written(shards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("optax", exc_type=ImportError)
    tiny = Settings(channels=4, layers=1, batch=16, members=4, rate=2e-2)
    monkeypatch.setattr(data, "SCHEDULE", OURS)
    monkeypatch.setattr(program, "Settings", lambda: tiny)
    monkeypatch.setattr(program, "load", lambda folder, most: load(folder, {VALIDATE: 30, TEST: 40}, most))
    given = [str(shards), "--out", str(tmp_path), "--epochs", "1"]
    assert program.main(["train", *given, "--package", str(tmp_path / "weights" / "siamese.npz")]) == 0
    assert (tmp_path / "weights" / "siamese.npz").stat().st_size < 2_000_000
