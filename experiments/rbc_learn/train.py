"""Imitation: ``python -m experiments.rbc_learn imitate --data DIR --out RUN_DIR`` learns from players' decisions.

A few shards are read at a time, in an order that changes with the epoch. Each time every headset goes once over its
decisions in them (the kinds' headsets over half), in shuffled steps of one headset each. A tenth of the games is held
out, by a hash of the game; after each epoch the network is measured on it, and the best one so far is written.

``RUN_DIR`` gets ``checkpoint.npz``, twice a minute, from which the same command continues to the same weights;
``network.npz``, for play; ``imitate.json``, the figures of the network.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from darkchess.rbc.synoptic.networks import HEADSETS
from experiments.commands import amount, positive
from experiments.learning.fit import TrainingError
from experiments.rbc_learn.data import Decisions, ShardError, joined, read_shard, shard_paths, validating
from experiments.rbc_learn.learner import Learner, Sizes
from experiments.rbc_learn.measures import measured, members
from experiments.rbc_learn.networks import SHARES, batch_of
from klss.networks.residual import NetworkError
from klss.support.arrays import Ints
from klss.support.whole_file import written_whole
from klss_app.progress import ProgressLine
from uci_bridge.match.documents import NoCommitError, head, write_document

BATCH = 64
"""Decisions per step. JAX takes a third less time per decision with 64 than with 128, since a layer's output then stays
in the core's cache."""

WEIGHTS = {"all": 1.0, "top": 1.0}
"""Passes of an epoch over a headset's decisions; other headsets have half a pass."""
OTHERS = 0.5

POOL = 8
"""Shards that are in memory and shuffled together."""
JUDGED = 20_000
"""Most decisions on which the network is measured."""
KEEP_EVERY_S = 30.0


@dataclass(frozen=True)
class Imitation:
    """The settings of imitation."""

    sizes: Sizes = field(default_factory=Sizes)  # of the network; it gets the headsets for which there are decisions
    seed: int = 0  # of all that is random
    epochs: int = 4  # most epochs
    minutes: float = float("inf")  # most minutes of training, summed over resumed runs
    # ``BATCH`` and ``POOL``
    batch: int = BATCH
    pool: int = POOL


def _scanned(paths: Sequence[Path], seed: int) -> tuple[list[int], Decisions, Ints]:
    """The number of each shard's decisions for training, the decisions to measure on, and the counts of acting players
    in training."""
    most = -(-JUDGED // len(paths))
    counts, parts, acting = [], [], np.zeros(len(HEADSETS), dtype=np.int64)
    for i, path in enumerate(paths):
        held, _ = read_shard(path)
        left_out = validating(held.game)
        counts.append(int((~left_out).sum()))
        acting += np.bincount(held.headset[~left_out], minlength=len(HEADSETS))
        drawn = np.random.default_rng([seed, 0, i]).permutation(np.flatnonzero(left_out))[:most]
        wanted = np.zeros(len(held), dtype=bool)
        wanted[drawn] = True
        parts.append(held.where(wanted))
    return counts, joined(parts), acting


def passes(acting: Any, headsets: Sequence[str], batch: int, generator: np.random.Generator) -> list[tuple[str, Ints]]:
    """The steps in which all headsets go over decisions, by their ``acting`` player (int8[m]): headset and rows."""
    steps: list[tuple[str, Ints]] = []
    for headset in headsets:
        rows = generator.permutation(np.flatnonzero(members(headset, acting)))
        count = round(WEIGHTS.get(headset, OTHERS) * len(rows))
        if count:
            # The last step is filled up with rows from the front, so that all steps have one size and one program.
            rows = np.resize(rows, -(-count // batch) * batch)
            steps += [(headset, some) for some in rows.reshape(-1, batch)]
    return [steps[i] for i in generator.permutation(len(steps))]


def imitate(plan: Imitation, data: Path, out: Path, tell: Callable[[str], None] = lambda text: None) -> dict[str, Any]:
    """Learn from the shards in ``data``, from the checkpoint in ``out`` if there is one; return the content of
    ``imitate.json``.

    Raises TrainingError: JAX is not installed, there is no decision to train on or to measure on, or ``out`` has
    another training; ShardError: a file is not a shard.
    """
    out.mkdir(parents=True, exist_ok=True)
    paths = shard_paths(data)
    tell("reading")
    counts, judged, acting = _scanned(paths, plan.seed)
    if not sum(counts) or not len(judged):
        raise TrainingError(f"{data}: got {sum(counts)} decisions to train on and {len(judged)} to measure on")
    there = np.repeat(np.arange(len(HEADSETS)), acting).astype(np.int8)
    headsets = tuple(name for name in plan.sizes.headsets if members(name, there).any())
    sizes = Sizes(plan.sizes.channels, plan.sizes.blocks, headsets)
    # The length of a training is not part of its identity, so that it may be prolonged.
    identity = json.loads(
        json.dumps(
            {**asdict(sizes), "seed": plan.seed, "batch": plan.batch, "pool": plan.pool}
            | {"shards": [[path.name, count] for path, count in zip(paths, counts)]}
        )
    )
    run = _Run(plan, paths, out, identity, Learner(sizes, plan.seed), judged, tell)
    run.go()
    return run.document()


class _Run:
    """A running training."""

    def __init__(
        self,
        plan: Imitation,
        paths: Sequence[Path],
        out: Path,
        identity: dict[str, Any],
        learner: Learner,
        judged: Decisions,
        tell: Callable[[str], None],
    ) -> None:
        self._plan, self._paths, self._out, self._identity = plan, paths, out, identity
        self._learner, self._judged, self._tell = learner, judged, tell
        self._at = {"epoch": 0, "pool": 0, "step": 0}
        self._rows: list[list[float]] = []
        self._spent_s, self._decisions = 0.0, 0
        self._validation: dict[str, dict[str, float]] = {}
        # Sums of the losses, and the number of steps, since the last measurement.
        self._sums, self._since_measured = [0.0] * len(SHARES), 0
        self._kept = self._since = time.monotonic()
        self._path = out / "checkpoint.npz"
        if self._path.exists():
            self._learner, about = Learner.load(self._path)
            if about["identity"] != identity:
                raise TrainingError(
                    f"{self._path}: holds a training on other data or of another size; choose another --out"
                )
            self._at, self._rows, self._validation = about["at"], about["rows"], about["validation"]
            self._spent_s, self._decisions = about["spent_s"], about["decisions"]
            self._sums, self._since_measured = about["sums"], about["since_measured"]

    def go(self) -> None:
        """Train until it is over."""
        for headset, rows, held in self._steps():
            said = self._learner.step(headset, batch_of(held, rows))
            self._sums = [total + float(said[name]) for total, name in zip(self._sums, SHARES)]
            self._since_measured += 1
            self._decisions += len(rows)
            if self._since_measured % 10 == 0:
                shown = ", ".join(f"{name} {loss:.3f}" for name, loss in zip(SHARES, self._losses()))
                self._tell(f"epoch {self._at['epoch'] + 1}, {self._decisions} decisions, losses of the epoch: {shown}")
            if time.monotonic() - self._kept > KEEP_EVERY_S:
                self._keep()
            if self._spent() > 60 * self._plan.minutes:
                break
        if self._since_measured:
            self._measure()
        self._keep()

    def _steps(self) -> Iterator[tuple[str, Ints, Decisions]]:
        """The steps from the current place on; the place is updated to that after the step yielded last."""
        plan, at = self._plan, self._at
        if self._spent() > 60 * plan.minutes:
            return
        while at["epoch"] < plan.epochs:
            order = np.random.default_rng([plan.seed, 1, at["epoch"]]).permutation(len(self._paths))
            pools = [order[i : i + plan.pool] for i in range(0, len(order), plan.pool)]
            while at["pool"] < len(pools):
                parts = [read_shard(self._paths[i])[0] for i in pools[at["pool"]]]
                held = joined([part.where(~validating(part.game)) for part in parts])
                generator = np.random.default_rng([plan.seed, 2, at["epoch"], at["pool"]])
                steps = passes(held.headset, self._learner.sizes.headsets, plan.batch, generator)
                for headset, rows in steps[at["step"] :]:
                    at["step"] += 1
                    yield headset, rows, held
                at["pool"], at["step"] = at["pool"] + 1, 0
            at["epoch"], at["pool"] = at["epoch"] + 1, 0
            if self._since_measured:
                self._measure()
                self._keep()

    def _losses(self) -> list[float]:
        return [total / self._since_measured for total in self._sums]

    def _spent(self) -> float:
        return self._spent_s + time.monotonic() - self._since

    def _keep(self) -> None:
        self._spent_s, self._since = self._spent(), time.monotonic()
        self._learner.save(
            self._path,
            {
                "identity": self._identity,
                "at": self._at,
                "rows": self._rows,
                "validation": self._validation,
                "spent_s": round(self._spent_s, 1),
                "decisions": self._decisions,
                "sums": self._sums,
                "since_measured": self._since_measured,
            },
        )
        self._kept = time.monotonic()

    def _measure(self) -> None:
        """Measure the network on the held-out games, and write it if it is the best so far."""
        self._spent_s = self._spent()
        self._tell("measuring")
        network = self._learner.network({"identity": {**self._identity, "shards": len(self._paths)}, "at": self._at})
        found = {}
        for headset in network.headsets:
            its = members(headset, self._judged.headset)
            if its.any():
                found[headset] = measured(network, self._judged.where(its), headset)
        whole = found["all"] if "all" in found else next(iter(found.values()))
        row = [self._at["epoch"], self._decisions, *(round(loss, 4) for loss in self._losses())]
        row += [whole["log_loss"], whole["value_loss"], round(self._spent_s, 1)]
        score = whole["log_loss"] + whole["value_loss"]
        if all(score <= each[-3] + each[-2] for each in self._rows):
            with written_whole(self._out / "network.npz") as file:
                network.write(file)
            self._validation = found
        self._rows.append(row)
        self._sums, self._since_measured = [0.0] * len(SHARES), 0
        self._since = time.monotonic()

    def document(self) -> dict[str, Any]:
        """The report of the training."""
        columns = ["epoch", "decisions", *SHARES, "validation_log_loss", "validation_value_loss", "seconds"]
        identity = {name: value for name, value in self._identity.items() if name != "shards"}
        return {
            "configuration": identity,
            "data": {"shards": len(self._paths), "decisions": sum(count for _, count in self._identity["shards"])},
            "steps": self._learner.steps,
            "decisions_per_s": round(self._decisions / max(self._spent_s, 1e-9), 1),
            "epochs": {"columns": columns, "rows": self._rows},
            "validation": self._validation,
        }


def main(arguments: Sequence[str] | None = None) -> int:
    """Imitate, write, and print the network's figures; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.rbc_learn imitate", description="learn from what players did"
    )
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="shards that 'data' wrote")
    parser.add_argument("--out", type=Path, required=True, metavar="RUN_DIR", help="of checkpoint, network and figures")
    parser.add_argument("--channels", type=positive, default=32, metavar="N", help="of the trunk (default 32)")
    parser.add_argument("--blocks", type=positive, default=3, metavar="N", help="of the trunk (default 3)")
    parser.add_argument(
        "--headsets",
        nargs="+",
        choices=HEADSETS,
        default=list(HEADSETS),
        metavar="NAME",
        help="(default: all there are)",
    )
    parser.add_argument("--epochs", type=positive, default=4, metavar="E", help="at most (default 4)")
    parser.add_argument("--minutes", type=amount, default=float("inf"), metavar="M", help="at most, all runs together")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of all that is random (default 0)")
    parsed = parser.parse_args(arguments)
    plan = Imitation(
        Sizes(parsed.channels, parsed.blocks, tuple(parsed.headsets)), parsed.seed, parsed.epochs, parsed.minutes,
    )  # fmt: skip
    try:
        first = head("rbc_learn imitate", "numpy", "numba", "jax")
        with closing(ProgressLine("imitate")) as line:
            document = first | imitate(plan, parsed.data, parsed.out, line.tell)
    except (OSError, NoCommitError, TrainingError, ShardError, NetworkError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninterrupted; the same command goes on", file=sys.stderr)
        return 130
    write_document(parsed.out / "imitate.json", document)
    for headset, row in document["validation"].items():
        print(
            f"{headset:9} {row['decisions']:6} decisions: top-1 {100 * row['top_1']:.1f} %, top-5 "
            f"{100 * row['top_5']:.1f} %, winner {100 * row['winner']:.1f} %, log loss {row['log_loss']:.3f} "
            f"(uniform {row['uniform']:.3f})"
        )
    print(f"{parsed.out / 'network.npz'}: {document['decisions_per_s']} decisions a second")
    return 0
