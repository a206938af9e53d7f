"""The trainer of everything that is learned here: Adam by optax, a slow average of the weights, a checkpoint.

Play uses the slow average. After each epoch it is judged by the loss on validating games, and the best one is kept. The
checkpoint is written once a minute and after each epoch; a stopped training continues from it to the same weights.

Needs the extra ``belief`` (JAX and optax, on one thread of the CPU, since a second one makes it slower here).

Sources: D. Kingma, J. Ba 2015 (Adam); I. Loshchilov, F. Hutter 2019 (its decay, and the rate's half cosine).
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from experiments.learn.shards import TRAIN, VALIDATE, TrainingError
from klss.support.archive import Archive
from klss.support.whole_file import written_whole

Tree = Any
"""Nested dictionaries of arrays."""

WARM_STEPS = 100
"""Steps in which the learning rate rises from 0."""
SLOW = 0.995
"""Largest share of the slow average that a step keeps."""
KEEP_EVERY_S = 60.0

_ARCHIVE = Archive("a training of experiments", 2, TrainingError, 1 << 26)


class Study(Protocol):
    """What is learned."""

    def first(self, seed: int) -> Tree:
        """The weights at the start."""
        ...

    def batches(self, part: int, generator: np.random.Generator) -> Iterator[Tree]:
        """An epoch's batches of one part of the games, for learning in a random order."""
        ...

    def loss(self, weights: Tree, batch: Tree) -> Any:
        """The mean loss of a batch, in JAX."""
        ...


@dataclass(frozen=True)
class Plan:
    """How it is learned."""

    steps: int  # of an epoch, from which the rate's fall follows
    rate: float = 1e-3  # largest learning rate
    decay: float = 1e-2  # of the weights
    undecayed: tuple[str, ...] = ()  # entries of the tree without decay
    epochs: int = 4
    patience: int = 0  # epochs without gain, not only the latest, after which it ends; 0: it does not
    seed: int = 0  # of everything random


def jax_on_cpu() -> Any:
    """JAX on one thread. Raises TrainingError: it or optax isn't installed."""
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
    try:
        import jax
        import optax  # noqa: F401
    except ImportError:
        raise TrainingError(
            "training takes JAX and optax; expected them: .venv/bin/pip install -c constraints.txt -e '.[belief]' in a "
            "clone"
        ) from None
    return jax


def train(
    study: Study,
    plan: Plan,
    path: Path,
    about: Mapping[str, Any],
    tell: Callable[[str], None],
    start: Tree = None,
    harder: Callable[[int], None] | None = None,
) -> tuple[Tree, list[list[float]]]:
    """The best weights, and a row for each epoch: its number, the mean loss, that on the validating games, seconds.

    Parameters
    ----------
    path
        Of the checkpoint.
    about
        What is trained on what, in JSON; with ``plan`` it says which training a checkpoint is of.
    start
        The weights at the start; None: the study's first ones.
    harder
        Called before each epoch with the number of epochs before that did not improve.

    Raises
    ------
    TrainingError
        JAX is not installed, there is nothing to train on, or ``path`` has another training.
    """
    jax = jax_on_cpu()
    import optax

    total = plan.epochs * plan.steps
    rate = optax.warmup_cosine_decay_schedule(0.0, plan.rate, min(WARM_STEPS, total // 2), total)
    adam = optax.adamw(
        rate, weight_decay=plan.decay, mask=lambda tree: {name: name not in plan.undecayed for name in tree}
    )
    first = study.first(plan.seed) if start is None else start
    state = {"weights": first, "slow": first, "best": first, "optimizer": adam.init(first)}
    identity = json.loads(json.dumps({**about, **asdict(plan)}))
    epoch, done, losses, rows = 0, 0, [0.0, 0.0], []
    if path.exists():
        state, said = _read(path, state)
        if said["identity"] != identity:
            raise TrainingError(f"{path}: holds a training on other data or of another size; choose another --out")
        epoch, done, losses, rows = said["epoch"], said["done"], said["losses"], said["rows"]

    @jax.jit
    def step(state: Tree, batch: Tree, made: Any) -> tuple[Tree, Any]:
        loss, gradient = jax.value_and_grad(study.loss)(state["weights"], batch)
        changes, optimizer = adam.update(gradient, state["optimizer"], state["weights"])
        weights = optax.apply_updates(state["weights"], changes)
        share = jax.numpy.minimum(SLOW, (made + 1) / (made + 20))
        slow = optax.incremental_update(weights, state["slow"], 1 - share)
        return {**state, "weights": weights, "slow": slow, "optimizer": optimizer}, loss

    judge = jax.jit(study.loss)

    def keep() -> None:
        _write(path, state, {"identity": identity, "epoch": epoch, "done": done, "losses": losses, "rows": rows})

    kept = time.monotonic()
    while epoch < plan.epochs:
        failed = sum(row[2] >= min(before[2] for before in rows[:at]) for at, row in enumerate(rows) if at)
        if plan.patience and failed >= plan.patience:
            break
        if harder is not None:
            harder(failed)
        begin = time.monotonic()
        for number, batch in enumerate(study.batches(TRAIN, np.random.default_rng([plan.seed, epoch]))):
            if number < done:  # before the stop
                continue
            state, loss = step(state, batch, np.float32(epoch * plan.steps + number))
            losses = [losses[0] + float(loss), losses[1] + 1]
            done = number + 1
            if number % 20 == 0:
                tell(f"epoch {epoch + 1}, step {done} of {plan.steps}, loss {losses[0] / losses[1]:.4f}")
            if time.monotonic() - kept > KEEP_EVERY_S:
                keep()
                kept = time.monotonic()
        if not done:
            raise TrainingError("got no decisions to train on, expected some")
        judged = [float(judge(state["slow"], batch)) for batch in study.batches(VALIDATE, np.random.default_rng(0))]
        found = math.fsum(judged) / len(judged) if judged else losses[0] / losses[1]
        if all(found < row[2] for row in rows):
            state = {**state, "best": state["slow"]}
        epoch += 1
        rows.append([epoch, losses[0] / losses[1], found, round(time.monotonic() - begin, 1)])
        done, losses = 0, [0.0, 0.0]
        keep()
        tell(f"epoch {epoch}: {found:.4f} on the validating games")
    return jax.tree.map(np.asarray, state["best"]), rows


def best_of(path: Path, like: Tree) -> Tree:
    """The best weights of a checkpoint, whose tree is ``like`` that one."""
    return _read(path, {"best": like})[0]["best"]


def _write(path: Path, state: Tree, about: Mapping[str, Any]) -> None:
    import jax

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
    import jax

    arrays, about = _ARCHIVE.load(path)
    found = {}
    for tree, held in like.items():
        leaves, form = jax.tree.flatten(held)
        kept = [arrays.get(f"{tree}/{number}") for number in range(len(leaves))]
        if [np.shape(leaf) for leaf in leaves] != [None if leaf is None else leaf.shape for leaf in kept]:
            raise TrainingError(f"{path}: holds a training on other data or of another size; choose another --out")
        found[tree] = jax.tree.unflatten(form, kept)
    return found, about
