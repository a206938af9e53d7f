"""``experiments.rbc_learn``: shards of decisions, losses, training, and that training is what play reads."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from darkchess.rbc.synoptic.networks import HEADSETS
from darkchess.rbc.synoptic.synopsis import PLANES
from darkchess.rbc.synoptic.worlds import ACTIONS
from experiments.learning.fit import TrainingError, jax_on_cpu
from experiments.rbc_learn import __main__ as program
from experiments.rbc_learn import selfplay, train
from experiments.rbc_learn.data import (
    PIECES,
    Decisions,
    ShardError,
    joined,
    ragged,
    read_shard,
    shard_paths,
    validating,
    write_shard,
)
from experiments.rbc_learn.learner import Learner, Sizes
from experiments.rbc_learn.measures import measured, members, policy_losses
from experiments.rbc_learn.networks import batch_of, choice_logs, losses, outputs
from experiments.rbc_learn.selfplay import Schedule, generations
from experiments.rbc_learn.train import Imitation, imitate, passes
from klss.networks.residual import ResidualNetwork
from tests.oracles.networks import random_network
from uci_bridge.errors import StockfishMissing
from uci_bridge.reconchess import bots


def decisions(count: int = 12, seed: int = 0, *, targets: bool = False) -> Decisions:
    """Decisions of no meaning: some choose one action, some several."""
    generator = np.random.default_rng(seed)
    legal = [generator.choice(ACTIONS, generator.integers(1, 9), replace=False) for _ in range(count)]
    chosen = [some[: generator.integers(1, len(some) + 1)] for some in legal]
    shares = [generator.dirichlet(np.ones(len(some))) for some in legal]
    starts, actions = ragged(legal)
    chosen_starts, chosen_actions = ragged([[] for _ in chosen] if targets else chosen)
    return Decisions(
        synopses=generator.integers(0, 1 << 64, (count, PLANES), dtype=np.uint64),
        legal_starts=starts,
        legal=actions,
        chosen_starts=chosen_starts,
        chosen=chosen_actions,
        headset=generator.integers(1, len(HEADSETS), count).astype(np.int8),
        result=generator.integers(-1, 2, count).astype(np.int8),
        soon=generator.integers(-1, 2, count).astype(np.int8),
        pieces=generator.integers(0, 9, (count, PIECES)).astype(np.int8),
        game=generator.integers(0, 1 << 20, count).astype(np.int32),
        targets=np.concatenate(shares).astype(np.float32) if targets else None,
        choices=np.zeros(actions.shape, dtype=np.int16) if targets else None,
    )


def assert_same(one: Decisions, other: Decisions) -> None:
    for name, value in vars(one).items():
        np.testing.assert_array_equal(value, getattr(other, name), err_msg=name)


@pytest.mark.parametrize("targets", [False, True])
def test_shards_keep_decisions(tmp_path: Path, targets: bool) -> None:
    one, two = decisions(5, 1, targets=targets), decisions(7, 2, targets=targets)
    for name, held in (("b", two), ("a", one)):
        write_shard(tmp_path / f"{name}.npz", held, {"seed": 3})
    paths = shard_paths(tmp_path)
    assert [path.stem for path in paths] == ["a", "b"]
    (first, about), (second, _) = map(read_shard, paths)
    assert_same(first, one)
    assert about == {"seed": 3}
    both = joined([first, second])
    assert len(both) == 12
    assert_same(both.where(np.arange(12) >= 5), two)
    assert_same(both.where(np.arange(12) < 5), one)


def test_shards_with_targets_and_without_do_not_mix() -> None:
    with pytest.raises(ShardError, match="one or the other"):
        joined([decisions(2), decisions(2, targets=True)])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda held: {"chosen": held.chosen[:-1]}, "chosen that do not fit"),
        (lambda held: {"chosen": np.full_like(held.chosen, ACTIONS)}, "chosen 4161"),
        (lambda held: {"chosen": held.chosen ^ 1}, "not legal"),
        (lambda held: {"legal_starts": held.legal_starts[::-1]}, "legal that do not fit"),
        (lambda held: {"result": held.result + np.int8(5)}, "result"),
        (lambda held: {"headset": held.headset.astype(np.int64)}, "headset of int64"),
        (lambda held: {"synopses": held.synopses[:, :5]}, "synopses"),
        (lambda held: {"targets": np.full(held.legal.shape, np.nan, dtype=np.float32)}, "targets"),
        (lambda held: {"targets": np.zeros(3, dtype=np.float32)}, "targets of float32"),
    ],
)
def test_decisions_that_can_not_be_are_not_written(
    tmp_path: Path, change: Callable[[Decisions], dict[str, Any]], said: str
) -> None:
    held = decisions()
    with pytest.raises(ShardError, match=said):
        write_shard(tmp_path / "a.npz", dataclasses.replace(held, **change(held)), {})
    assert not list(tmp_path.iterdir())


def test_a_shard_that_is_none_is_one_line_with_its_path(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    write_shard(path, decisions(), {})
    whole = path.read_bytes()
    for content in (b"", b"dear sir,\n" * 50, whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(ShardError) as caught:
            read_shard(path)
        assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)
    with pytest.raises(ShardError, match="expected a file that holds decisions"):
        read_shard(tmp_path / "none.npz")
    with pytest.raises(ShardError, match="no shards"):
        shard_paths(tmp_path / "none")


def test_a_tenth_of_the_games_validates_each_as_a_whole() -> None:
    game = np.repeat(np.arange(5000, dtype=np.int32), 3)
    held = validating(game).reshape(-1, 3)
    assert (held.all(axis=1) == held.any(axis=1)).all()
    assert 0.08 < held.mean() < 0.12


# ---------------------------------------------------------------------------------------------------- what is learned
def partition() -> Decisions:
    """A decision among four legal actions, of which two are the same choice; and one with a target for each choice."""
    starts, legal = ragged([[10, 20, 30, 4160]])
    return dataclasses.replace(
        decisions(1), legal_starts=starts, legal=legal, chosen_starts=np.array([0, 2]), chosen=legal[[2, 0]]
    )


def logits_of(shares: dict[int, float]) -> np.ndarray:
    """Logits of these shares; what is not legal is likelier than all of them."""
    found = np.full((1, ACTIONS), 9, dtype=np.float32)
    for action, share in shares.items():
        found[0, action] = np.log(share) + 3
    return found


def test_a_choice_of_several_actions_has_the_sum_of_their_probabilities() -> None:
    held = partition()
    logits = logits_of({10: 0.5, 20: 0.125, 30: 0.25, 4160: 0.125})
    np.testing.assert_allclose(policy_losses(logits, batch_of(held, np.array([0]))), -np.log(0.75), rtol=1e-5)
    aimed = dataclasses.replace(
        held,
        chosen_starts=np.zeros(2, dtype=np.int64),
        chosen=held.chosen[:0],
        targets=np.array([0.5, 0.25, 0, 0.25], dtype=np.float32),
        choices=np.array([0, 1, 0, 2], dtype=np.int16),
    )
    wanted = -0.5 * np.log(0.75) - 0.5 * np.log(0.125)
    np.testing.assert_allclose(policy_losses(logits, batch_of(aimed, np.array([0]))), wanted, rtol=1e-5)
    found = measured(random_network(1, headsets=("all",), channels=4, blocks=1), held, "all")
    assert found["uniform"] == round(float(np.log(2)), 4) and found["decisions"] == 1


def test_each_headset_learns_from_its_own() -> None:
    acting = decisions(500).headset
    assert members("all", acting).all()
    assert (members("trout", acting) == (acting == HEADSETS.index("trout"))).all()
    strong = [HEADSETS.index(name) for name in ("top", "expect", "siamese")]
    assert (members("top", acting) == np.isin(acting, strong)).all()
    steps = passes(acting, ("all", "trout"), 8, np.random.default_rng(1))
    assert {len(rows) for _, rows in steps} == {8}
    assert set(np.concatenate([rows for headset, rows in steps if headset == "all"])) == set(range(500))
    assert all(members("trout", acting)[rows].all() for headset, rows in steps if headset == "trout")


SIZES = Sizes(4, 1, ("all", "top"))


@pytest.fixture(scope="module")
def learner(request: pytest.FixtureRequest) -> Learner:
    """One that made some steps; all tests' steps are of one size, so that one program serves them."""
    pytest.importorskip("optax", exc_type=ImportError)
    jax = jax_on_cpu()
    assert request.config.cache is not None
    jax.config.update("jax_compilation_cache_dir", str(request.config.cache.mkdir("jax")))
    made, held = Learner(SIZES, 3), decisions(64, 5)
    batch = batch_of(held, np.arange(8))
    first = made.step("all", batch)
    for _ in range(40):
        last = made.step("all", batch)
    assert all(float(last[name]) < 0.9 * float(first[name]) for name in first)
    return made


def test_what_plays_says_what_learned(learner: Learner, tmp_path: Path) -> None:
    jax = jax_on_cpu()
    held, rows = decisions(24, 6), np.arange(24)
    batch = batch_of(held, rows)

    def program(parts: Any, batch: Any) -> Any:
        (trunk, its), (heads, theirs) = parts
        said, _ = outputs(jax, trunk, heads, batch["synopses"], (its, theirs))
        return said, losses(jax, said, batch)

    said, lost = jax.jit(program)([learner.part("trunk"), learner.part("all")], vars(batch))
    said = {name: np.asarray(array) for name, array in said.items()}
    network = learner.network({})
    network.write(tmp_path / "network.npz")
    for player, allowed in ((network, 1e-4), (ResidualNetwork.load(tmp_path / "network.npz"), 1e-2)):
        logits, values = player.infer(held.synopses, "all", "all")
        np.testing.assert_allclose(logits, said["logits"], atol=allowed)
        np.testing.assert_allclose(values, said["value"], atol=allowed)
    # The losses too are the same in JAX and where they are measured.
    np.testing.assert_allclose(float(lost["policy"]), policy_losses(said["logits"], batch).mean(), rtol=1e-4)


def test_an_unlikely_choice_has_a_loss_and_a_slope() -> None:
    pytest.importorskip("optax", exc_type=ImportError)
    jax = jax_on_cpu()
    batch = batch_of(partition(), np.array([0]))
    logits = logits_of({20: 0.5, 4160: 0.5}) + np.zeros((1, ACTIONS), dtype=np.float32)
    logits[0, [10, 30]] = -300

    def loss(some: Any) -> Any:
        return -choice_logs(jax, some, batch.legal, batch.choices)[0, 0]

    value, slope = jax.jit(jax.value_and_grad(loss))(logits)
    assert 300 < float(value) < 305
    np.testing.assert_allclose(np.asarray(slope)[0, [10, 30, 20, 4160]], [-0.5, -0.5, 0.5, 0.5], atol=1e-4)


def test_a_training_is_kept_and_a_torn_one_is_one_line(learner: Learner, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.npz"
    learner.save(path, {"at": 3})
    again, about = Learner.load(path)
    assert about == {"at": 3} and again.sizes == SIZES and again.steps == {"all": 41, "top": 0}
    for name in ("trunk", "all", "top"):
        for one, other in zip(learner.part(name), again.part(name), strict=True):
            assert all(array.tobytes() == other[each].tobytes() for each, array in one.items())
    path.write_bytes(path.read_bytes()[:3000])
    with pytest.raises(TrainingError) as caught:
        Learner.load(path)
    assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)


@pytest.mark.slow
def test_a_killed_training_goes_on_to_the_same_weights(
    learner: Learner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    for number in range(2):
        write_shard(data / f"{number}.npz", decisions(40, 7 + number), {})
    monkeypatch.setattr(train, "KEEP_EVERY_S", 0.0)
    plan = Imitation(SIZES, epochs=3, batch=8, pool=1)
    whole = imitate(plan, data, tmp_path / "whole")
    assert [row[0] for row in whole["epochs"]["rows"]] == [1, 2, 3]
    step, left = Learner.step, [13]

    def killed(self: Learner, *arguments: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return step(self, *arguments)

    monkeypatch.setattr(Learner, "step", killed)
    torn = tmp_path / "torn"
    for more in (13, 16, 1 << 30):
        left[0] = more
        if more < 1 << 30:
            with pytest.raises(KeyboardInterrupt):
                imitate(plan, data, torn)
    again = imitate(plan, data, torn)
    assert (torn / "network.npz").read_bytes() == (tmp_path / "whole" / "network.npz").read_bytes()
    assert [row[:-1] for row in again["epochs"]["rows"]] == [row[:-1] for row in whole["epochs"]["rows"]]
    assert again["validation"] == whole["validation"] and again["steps"] == whole["steps"]
    with pytest.raises(TrainingError, match="another size"):
        imitate(dataclasses.replace(plan, batch=4), data, torn)


def test_what_can_not_be_learned_from_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["imitate", "--data", str(tmp_path), "--out", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert said.startswith("no shards in") and said.count("\n") == 1


@pytest.mark.soak
def test_a_player_learns_from_its_own_games_and_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    """Two generations; the games of the second are played anew to the same bytes; another schedule is refused."""
    pytest.importorskip("optax")
    out = tmp_path / "run"
    few = ["--games", "2", "--block", "1", "--nodes", "6", "--particles", "4", "--epochs", "1",
           "--fen", "4k3/7r/8/8/8/8/R7/4K3 w - - 0 1"]  # fmt: skip
    assert program.main(["selfplay", "--out", str(out), *few, "--generations", "2"]) == 0
    held, said = read_shard(out / "gen-000" / "games-000000.npz")
    assert held.targets is not None and held.choices is not None and said["generation"] == 0
    shares = np.add.reduceat(held.targets, held.legal_starts[:-1])
    np.testing.assert_allclose(shares, 1.0, atol=1e-5)
    before = (out / "gen-000" / "games-000001.npz").read_bytes()
    (out / "gen-000" / "games-000001.npz").unlink()
    schedule = Schedule(nodes=6, particles=4, games=2, block=1, epochs=1, fen=said["fen"])
    assert next(generations(out, schedule, 1))[0] == 1  # what is learned from isn't played again …
    selfplay.block_of(out, 0, 1, schedule)  # … but would be the same
    assert (out / "gen-000" / "games-000001.npz").read_bytes() == before
    assert program.main(["selfplay", "--out", str(out), *few, "--generations", "3", "--seed", "4"]) == 2


def test_without_stockfish_trout_teaches_nobody(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who lacks an engine, or room on its disk, is informed of it in one line."""

    def missing(path: str | None) -> str:
        raise StockfishMissing("no Stockfish found; install it")

    monkeypatch.setattr(bots, "find_stockfish", missing)
    assert program.main(["data", "--out", str(tmp_path / "a"), "--decisions", "9999", "--block", "5"]) == 1
    (tmp_path / "file").write_text("")
    assert program.main(["data", "--out", str(tmp_path / "file" / "b")]) == 1
    said = capsys.readouterr().err.splitlines()
    assert len([line for line in said if "no Stockfish found" in line]) == 1 and "Traceback" not in said
    assert "Not a directory" in said[-1]
