"""The built-in evaluation, tuned against Stockfish.

Texel's method with a gradient: each position is replaced by the quiet one in which its quiescence search ends, and the
static evaluation of that one is fitted to Stockfish's value of the position, both as tanh(pawns/6). Each stage starts
from the one before, and finds the quiet positions again:

1. ``linear``   the tapered sum, from the pieces' usual values, to values of depth 1;
2. ``network``  the sum and the network together, likewise;
3. ``deep``     the same, to fewer values of deeper searches, of endings too;
4. ``own``      the same, to the evaluation's own values one ply deeper, of positions around games of Fog of War. By
   later values and results of games such values are better than static ones (docs/notebook/evaluator.md).

Data: the shards of :mod:`experiments.learn.positions`. Without values of depth 1 (``--share 0``) ``own`` begins with
the packaged weights. Every figure is measured with the whole evaluator on the packaged positions, which are from other
games, against their values of depth 10.

Source: P. Österlund 2014 ("Texel's tuning method", Chess Programming Wiki).
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from darkchess.board.kernels.tables import TABLES
from darkchess.evaluation.evaluator import PAWNS_SCALE, BuiltinEvaluator, Weights, packaged_weights
from darkchess.evaluation.kernels.evaluation import MOST
from darkchess.evaluation.kernels.features import FEATURES, MAPS, MAX_FEATURES, STAGES, features
from darkchess.evaluation.kernels.features import phase as phase_of
from darkchess.evaluation.kernels.features import stage as stage_of
from darkchess.evaluation.kernels.network import FIRST, OFFSETS, PACKED_SIZE, SECOND
from experiments.learn.shards import TRAIN, VALIDATE, Arrays, Columns
from experiments.learn.trainer import Plan, Study, jax, train
from klss.search import Budget
from klss.support.arrays import Floats, Ints, Words
from klss.support.kernel import kernel
from klss_app.bench.evaluator import held_out_positions

VALUED: Columns = {"rows": (np.uint64, (9,)), "values": (np.float32, ())}
"""The columns of positions with values (tanh(pawns/6), for the side to move); more than 1: not valued yet."""
_POWER = 1.5
"""The loss is |Δtanh| to this power: a compromise between fitting the mean (2) and the median (1)."""
_OWN_PASSES, _OWN_RATE, _OWN_POWER = 3, 0.0004, 2.0
"""Of the last stage; its values are no outliers, so their mean is fitted."""


def with_network(weights: dict[str, Any], seed: int) -> dict[str, Any]:
    """``weights`` with a fresh network whose output is 0."""
    generator = np.random.default_rng(seed)
    grown = {name: np.zeros(shape, dtype=np.float32) for name, (_, shape) in OFFSETS.items()}
    grown["first"] += generator.normal(0.0, 0.05, (2 * FEATURES, FIRST)).astype(np.float32)
    grown["first_bias"] += np.float32(0.1)
    # All stages of the game begin with the same weights.
    grown["second"] += generator.normal(0.0, (2.0 / FIRST) ** 0.5, (FIRST, SECOND)).astype(np.float32)
    return grown | weights


def packed(weights: dict[str, Any]) -> Weights:
    """Weights for play; without those of a network its output is 0."""
    found = Weights(np.zeros(PACKED_SIZE, dtype=np.float32))
    for name, array in weights.items():
        found.part(name)[:] = array
    return found


@kernel
def _read(rows, tables, counts, phases, stages):  # type: ignore[no-untyped-def]
    """The side to move's counts of each feature, then the other side's; phases and stages."""
    index, count = np.zeros(MAX_FEATURES, np.int32), np.zeros(MAX_FEATURES, np.int32)
    maps = np.zeros(MAPS, np.uint64)
    for k in range(rows.shape[0]):
        found = features(rows[k], tables, index, count, maps)
        for i in range(found):
            if count[i] < 0:
                counts[k, FEATURES + index[i]] -= count[i]
            else:
                counts[k, index[i]] += count[i]
        phases[k] = phase_of(rows[k])
        stages[k, stage_of(rows[k])] = 1.0


@dataclass(frozen=True, eq=False)
class Tuning(Study):
    """What is learned: the evaluation of quiet positions."""

    held: Arrays  # positions with values (:data:`VALUED`)
    weights: dict[str, Any]  # at the start
    power: float = _POWER
    batch: int = 4096

    def first(self, seed: int) -> dict[str, Any]:
        return self.weights

    def batch_of(self, some: Ints) -> tuple[Any, ...]:
        rows = self.held["rows"][some]
        counts, phases = np.zeros((len(rows), 2 * FEATURES), np.float32), np.zeros(len(rows), np.float32)
        stages = np.zeros((len(rows), STAGES), np.float32)
        _read(rows, TABLES, counts, phases, stages)
        return counts, phases, stages, self.held["values"][some]

    def loss(self, weights: Any, batch: tuple[Any, ...]) -> Any:
        jnp = jax.numpy
        counts, phases, stages, values = batch
        error = jnp.abs(jnp.tanh(jnp.clip(pawns(weights, counts, phases, stages), -MOST, MOST) / PAWNS_SCALE) - values)
        return (jnp.maximum(error, 1e-6) ** self.power).mean()


def pawns(weights: Any, counts: Any, phases: Any, stages: Any) -> Any:
    """The static evaluation of :mod:`darkchess.evaluation.kernels.evaluation` in JAX: [b] for the side to move."""
    middle, end = ((counts[:, :FEATURES] - counts[:, FEATURES:]) @ weights["linear"]).T
    score = phases * middle + (1 - phases) * end
    if "first" in weights:
        units = jax.nn.relu(counts @ weights["first"] + weights["first_bias"])
        second = jax.nn.relu(jax.numpy.einsum("bf,sfk->bsk", units, weights["second"]) + weights["second_bias"])
        score = score + ((second * weights["last"]).sum(axis=2) * stages).sum(axis=1)
    return score


def quiet(held: Arrays, weights: dict[str, Any]) -> Arrays:
    """The leaves of the quiescence searches of positions, with the positions' values for the leaves' side to move.
    Positions in which a king is taken tell nothing about it, and are left out.
    """
    scores, leaves = BuiltinEvaluator(packed(weights)).search(held["rows"], leaves=True)
    flipped = (held["rows"][:, 8] ^ leaves[:, 8]) & np.uint64(1) != 0
    found = {"rows": leaves, "values": np.where(flipped, -held["values"], held["values"]), "part": held["part"]}
    return {name: array[np.abs(scores) < 500.0] for name, array in found.items()}


def deeper(held: Arrays, weights: dict[str, Any]) -> Arrays:
    """Positions with their values by alpha-beta of one ply; those where a king is taken are left out."""
    parents, rows = np.zeros(1, np.int64), held["rows"]
    found, _ = BuiltinEvaluator(packed(weights)).search_values(rows, parents, rows, 1, Budget(nodes=10**15), -1.0)
    assert found is not None, "a budget that no search spends"
    known = np.abs(found) < 1.0
    return {name: array[known] for name, array in (held | {"values": found.astype(np.float32)}).items()}


def mean_error(weights: dict[str, Any], rows: Words, values: Floats) -> dict[str, float]:
    """Mean and root mean square of the difference to ``values``."""
    error = BuiltinEvaluator(packed(weights)).values(rows) - values
    return {
        "mean_abs": round(float(np.abs(error).mean()), 5),
        "root_mean_square": round(float(np.sqrt((error**2).mean())), 5),
    }


def tune(held: Arrays, parsed: Namespace, tell: Callable[[str], None]) -> tuple[Callable[..., None], dict[str, Any]]:
    """See :class:`experiments.learn.__main__.Recipe`: what writes the tuned weights, and their figures after each
    stage. Labels tell of values: of depth 1 (``played``), deeper (``searched``, ``endings``), none yet (all others).
    """
    held = held | {"part": np.where(held["part"] == VALIDATE, VALIDATE, TRAIN)}  # the packaged ones are the test
    shallow, searched = held["label"] == "played", np.isin(held["label"], ("searched", "endings"))
    many, deep, own = (
        {name: array[mask] for name, array in held.items()} for mask in (shallow, searched, ~shallow & ~searched)
    )
    rows, values, _ = held_out_positions()
    # The start: the usual values of the pieces, in the middlegame and in endings.
    linear, worth = np.zeros((FEATURES, 2), np.float32), [(0.9, 1.1), (3.2, 3.0), (3.4, 3.2), (4.8, 5.2), (9.6, 9.6)]
    linear[: 64 * len(worth)] = np.repeat(worth, 64, axis=0)
    weights: dict[str, Any] = {"linear": linear}
    figures = {}

    def stage(name: str, data: Arrays, passes: int, rate: float, power: float = _POWER) -> None:
        nonlocal weights
        study = Tuning(quiet(data, weights), weights, power)
        plan = Plan(passes, parsed.seed, rate=rate, undecayed=("linear",))
        weights, _ = train(study, plan, parsed.out / f"{name}.checkpoint.npz", tell)
        figures[name] = mean_error(weights, rows, values)

    if len(many["rows"]):
        figures["by hand"] = mean_error(weights, rows, values)
        for turn in range(2):  # the second time with leaves found by the tuned weights
            stage(f"linear-{turn + 1}", many, 3, 0.01 / (1 + turn))
        weights = with_network(weights, parsed.seed)
        stage("network", many, parsed.epochs, 0.0015)
        if len(deep["rows"]):
            stage("deep", deep, parsed.epochs, 0.0005)
    else:
        weights = {name: np.array(packaged_weights().part(name)) for name in OFFSETS}
        figures["packaged"] = mean_error(weights, rows, values)
    if len(own["rows"]):
        stage("own", deeper(own, weights), _OWN_PASSES, _OWN_RATE, _OWN_POWER)
    return packed(weights).write, {"tested": figures}
