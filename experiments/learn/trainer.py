"""The trainer of everything that is learned here: Adam by optax, a slow average of the weights, a checkpoint.

Play uses the slow average. After each epoch it is judged by the loss on validating games, and the best one is kept. The
checkpoint is written then and once a minute; a stopped training continues from it to the same weights.

Needs the extra ``belief`` (JAX and optax, on one thread of the CPU, since a second one makes it slower here).

Sources: D. Kingma, J. Ba 2015 (Adam); I. Loshchilov, F. Hutter 2019 (its decay, and the rate's half cosine).
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from experiments.learn.shards import TRAIN, VALIDATE, Arrays, TrainingError, chunks, where
from klss.support.archive import Archive
from klss.support.arrays import Ints
from klss.support.whole_file import written_whole

Tree = Any
"""Nested dictionaries of arrays."""

WARM_STEPS = 100
"""Steps in which the learning rate rises from 0."""
EPOCH = ("epoch", "loss", "validation_loss", "seconds")
"""Columns of a training's rows."""
SLOW = 0.995
"""Largest share of the slow average that a step keeps."""
KEEP_EVERY_S = 60.0
"""Seconds between two checkpoints within an epoch."""

_ARCHIVE = Archive("a training of experiments", 4, TrainingError, 1 << 26)


class _Jax:
    """JAX on one thread, imported at its first use. Raises TrainingError then: it or optax isn't installed."""

    def __getattr__(self, name: str) -> Any:
        os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
        try:
            import jax
            import optax  # noqa: F401
        except ImportError:
            raise TrainingError(
                "training takes JAX and optax; expected them: .venv/bin/pip install -c constraints.txt -e '.[belief]' "
                "in a clone"
            ) from None
        return getattr(jax, name)


jax: Any = _Jax()


class Study:
    """What is learned. Its numbers and texts, apart from the data, say which one it is."""

    held: Arrays  # the data: rows with their ``part`` of the games
    batch: int  # rows of a batch

    @property
    def rows(self) -> Ints:
        """Indices of the rows that an epoch learns from: int64[n]."""
        return where(self.held, TRAIN)

    def first(self, seed: int) -> Tree:
        """The weights at the start."""
        raise NotImplementedError

    def began(self, failed: int) -> None:
        """Called before each epoch with the number of epochs before that did not improve."""

    def learned(self, generator: np.random.Generator) -> Iterator[Tree]:
        """An epoch's batches to learn from, in a random order."""
        return (self.batch_of(some) for some in chunks(self.rows, self.batch, generator))

    def batches(self, part: int) -> Iterator[Tree]:
        """The batches of one part of the games, as they are."""
        return (self.batch_of(some) for some in chunks(where(self.held, part), self.batch))

    def batch_of(self, some: Ints) -> Tree:
        """Some rows as the loss takes them."""
        raise NotImplementedError

    def loss(self, weights: Tree, batch: Tree) -> Any:
        """The mean loss of a batch, in JAX."""
        raise NotImplementedError


@dataclass(frozen=True)
class Plan:
    """How it is learned."""

    epochs: int
    seed: int = 0  # of everything random
    rate: float = 1e-3  # largest learning rate
    decay: float = 1e-2  # of the weights
    undecayed: tuple[str, ...] = ()  # entries of the tree without decay
    patience: int = 0  # epochs without gain, not only the latest, after which it ends; 0: it does not


def train(
    study: Study, plan: Plan, path: Path, tell: Callable[[str], None], start: Tree = None
) -> tuple[Tree, list[list[float]]]:
    """The best weights, and a row (:data:`EPOCH`) for each epoch; ``path`` is the checkpoint's, and without a ``start``
    it begins with the study's first weights. Raises TrainingError: JAX is not installed, there is nothing to train on,
    or the checkpoint is another training's.
    """
    steps = max(1, len(study.rows) // study.batch)
    total = plan.epochs * steps
    first = study.first(plan.seed) if start is None else start
    about = {name: value for name, value in vars(study).items() if isinstance(value, int | float | str)}
    identity = json.loads(json.dumps({"rows": len(study.held["part"]), **about, **asdict(plan)}))
    jit = jax.jit
    import optax

    rate = optax.warmup_cosine_decay_schedule(0.0, plan.rate, min(WARM_STEPS, total // 2), total)
    adam = optax.adamw(
        rate, weight_decay=plan.decay, mask=lambda tree: {name: name not in plan.undecayed for name in tree}
    )
    state = {"weights": first, "slow": first, "best": first, "optimizer": adam.init(first)}
    rows, done, lost = [], 0, 0.0  # steps of the present epoch, and the sum of their losses
    if path.exists():
        state, said = _read(path, state)
        if said["identity"] != identity:
            raise TrainingError(f"{path}: holds a training on other data or of another size; choose another --out")
        rows, done, lost = said["rows"], said["done"], said["lost"]

    @jit
    def step(state: Tree, batch: Tree, made: Any) -> tuple[Tree, Any]:
        loss, gradient = jax.value_and_grad(study.loss)(state["weights"], batch)
        changes, optimizer = adam.update(gradient, state["optimizer"], state["weights"])
        weights = optax.apply_updates(state["weights"], changes)
        share = jax.numpy.minimum(SLOW, (made + 1) / (made + 20))
        slow = optax.incremental_update(weights, state["slow"], 1 - share)
        return {**state, "weights": weights, "slow": slow, "optimizer": optimizer}, loss

    def keep() -> None:
        _write(path, state, {"identity": identity, "rows": rows, "done": done, "lost": lost})

    judge = jit(study.loss)
    kept = time.monotonic()
    while (epoch := len(rows)) < plan.epochs:
        failed = sum(row[2] >= min(before[2] for before in rows[:at]) for at, row in enumerate(rows) if at)
        if plan.patience and failed >= plan.patience:
            break
        study.began(failed)
        begin = time.monotonic()
        for number, batch in enumerate(study.learned(np.random.default_rng([plan.seed, epoch]))):
            if number < done:  # before a stop
                continue
            state, loss = step(state, batch, np.float32(epoch * steps + number))
            done, lost = number + 1, lost + float(loss)
            if number % 20 == 0:
                tell(f"epoch {epoch + 1}, step {done} of {steps}, loss {lost / done:.4f}")
            if time.monotonic() - kept > KEEP_EVERY_S:
                keep()
                kept = time.monotonic()
        if not done:
            raise TrainingError("got no decisions to train on, expected some")
        found = fmean([float(judge(state["slow"], batch)) for batch in study.batches(VALIDATE)] or [lost / done])
        if all(found < row[2] for row in rows):
            state = {**state, "best": state["slow"]}
        rows.append([epoch + 1, lost / done, found, round(time.monotonic() - begin, 1)])
        done, lost = 0, 0.0
        keep()
        tell(f"epoch {epoch + 1}: {found:.4f} on the validating games")
    return jax.tree.map(np.asarray, state["best"]), rows


def best_of(path: Path, like: Tree) -> Tree:
    """The best weights of a checkpoint, whose tree is ``like`` that one."""
    return _read(path, {"best": like})[0]["best"]


def _write(path: Path, state: Tree, about: Mapping[str, Any]) -> None:
    arrays = {
        f"{tree}/{number}": np.asarray(leaf)
        for tree, held in state.items()
        for number, leaf in enumerate(jax.tree.leaves(held))
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as file:
        _ARCHIVE.write(file, arrays, about, packed=False)


def _read(path: Path, like: Tree) -> tuple[Tree, dict[str, Any]]:
    """The trees of a checkpoint that ``like`` has. Raises TrainingError: it is torn, or of something else."""
    arrays, about = _ARCHIVE.load(path)
    found = {}
    for tree, held in like.items():
        leaves, form = jax.tree.flatten(held)
        kept = [arrays.get(f"{tree}/{number}") for number in range(len(leaves))]
        if [np.shape(leaf) for leaf in leaves] != [None if leaf is None else leaf.shape for leaf in kept]:
            raise TrainingError(f"{path}: holds a training on other data or of another size; choose another --out")
        found[tree] = jax.tree.unflatten(form, kept)
    return found, about
