"""``experiments.rbc_learn``: shards of decisions, losses, training, and that training is what play reads."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.rbc_learn.data import (
    ACTIONS,
    HEADSETS,
    PIECES,
    PLANES,
    Decisions,
    ShardError,
    joined,
    ragged,
    read_shard,
    shard_paths,
    validating,
    write_shard,
)  # fmt: skip


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
