"""Tune the built-in evaluation against Stockfish, and write the weights that the package loads: ``python -m
experiments.tune_evaluation``.

Texel's method with a gradient: each position is replaced by the quiet one in which its quiescence search ends, and the
static evaluation of that one is fitted to Stockfish's value of the position, both as tanh(pawns/6). Each stage starts
from the one before, and finds the quiet positions again:

1. ``linear``   the tapered sum, from a start by hand (material, a few slopes), to many values of depth 1;
2. ``network``  the sum and the network together, likewise;
3. ``deep``     the same, to fewer values of deeper searches, of endings too.

Input: the files of :mod:`experiments.evaluation_positions`. Every figure is measured with the whole evaluator on the
packaged positions, which are from other games, against their values of depth 10. Output: the weights, and a JSON with
the configuration and the gain of each stage.

Sources: P. Österlund 2014 ("Texel's tuning method", Chess Programming Wiki); D. Kingma, J. Ba 2015 (Adam).
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from darkchess.board.kernels.tables import TABLES
from darkchess.evaluation.evaluator import PAWNS_SCALE, BuiltinEvaluator, Weights
from darkchess.evaluation.kernels.evaluation import static
from darkchess.evaluation.kernels.features import FEATURE_BLOCKS, FEATURES, FOUND, MAPS, MAX_FEATURES, phase, stage
from darkchess.evaluation.kernels.network import FIRST, LINEAR_SIZE, OFFSETS, PACKED_SIZE, SECOND, UNITS
from klss.support.archive import read_arrays
from klss.support.arrays import Floats, Words
from klss.support.kernel import kernel
from uci_bridge.match.documents import head, write_document

DATA = Path(__file__).resolve().parent.parent / "darkchess" / "evaluation" / "data"

_FIRST_BIAS, _FIRST, _SECOND, _SECOND_BIAS, _LAST = (
    OFFSETS[name][0] for name in ("first_bias", "first", "second", "second_bias", "last")
)
_DECAY_1, _DECAY_2 = 0.9, 0.999
_BATCH = 4096
_POWER = 1.5
"""The loss is |Δtanh| to this power: a compromise between fitting the mean (2) and the median (1)."""


def by_hand() -> Weights:
    """The start of tuning: the usual values of the pieces, and slopes for the centre, advancing and mobility."""
    linear = np.zeros((FEATURES, 2))
    worth = [(0.9, 1.1), (3.2, 3.0), (3.4, 3.2), (4.8, 5.2), (9.6, 9.6), (0.0, 0.0)]
    for piece, (middle, end) in enumerate(worth):
        for square in range(64):
            file, rank = square % 8, square // 8
            centre = 2.0 - max(abs(file - 3.5), abs(rank - 3.5))
            forward = 0.08 * (rank - 1) if piece == 0 else 0.0
            slope = 0.0 if piece in (0, 3) else 0.1
            linear[64 * piece + square] = (
                middle + slope * centre * (-1 if piece == 5 else 1),
                end + slope * centre + forward,
            )
    first = FEATURE_BLOCKS["mobility"][0]
    for size, usual, step in ((9, 4, 0.06), (14, 6, 0.06), (15, 6, 0.04), (28, 12, 0.02)):
        linear[first : first + size] = step * (np.arange(size) - usual)[:, None]
        first += size
    return Weights(np.ascontiguousarray(linear.ravel(), dtype=np.float32))


def with_network(weights: Weights, seed: int) -> Weights:
    """``weights`` with a fresh network whose output is 0."""
    rng = np.random.default_rng(seed)
    grown = Weights(np.zeros(PACKED_SIZE, dtype=np.float32))
    grown.packed[:LINEAR_SIZE] = weights.packed[:LINEAR_SIZE]
    grown.part("first")[:] = rng.normal(0.0, 0.05, (2 * FEATURES, FIRST))
    grown.part("first_bias")[:] = 0.1
    # All stages of the game begin with the same weights.
    grown.part("second")[:] = rng.normal(0.0, (2.0 / FIRST) ** 0.5, (FIRST, SECOND))
    return grown


@kernel
def _gradient(rows, targets, order, tables, weights, grad, index, count, maps, units, back):  # type: ignore[no-untyped-def]
    """Add the gradient of the loss over ``rows[order]`` to ``grad``; returns the sum of |Δtanh|."""
    total = 0.0
    zero = np.float32(0.0)
    for position in order:
        # The error of the value, and the slope of |error|^power through tanh: how strongly weights are pulled.
        row = rows[position]
        score = static(row, tables, weights, index, count, maps, units)
        value = np.tanh(score / PAWNS_SCALE)
        error = value - targets[position]
        total += abs(error)
        slope = _POWER * abs(error) ** (_POWER - 1.0) * (1.0 - value * value) / PAWNS_SCALE
        pull = np.float32(slope if error > 0.0 else -slope)
        # The tapered sum: every feature has a weight for the middlegame and one for the endgame, mixed by the phase.
        n = np.int64(maps[FOUND])
        share = np.float32(phase(row))
        for i in range(n):
            times = pull * np.float32(count[i])
            grad[2 * index[i]] += times * share
            grad[2 * index[i] + 1] += times * (np.float32(1.0) - share)
        if weights.shape[0] == LINEAR_SIZE:
            continue
        # Back through the network: the stage's output weights, then its second layer; units at 0 have no gradient.
        at_stage = stage(row)
        second_bias = _SECOND_BIAS + at_stage * SECOND
        second = _SECOND + at_stage * FIRST * SECOND
        last = _LAST + at_stage * SECOND
        for k in range(SECOND):
            unit = units[FIRST + k]
            back[FIRST + k] = zero
            if unit > zero:
                grad[last + k] += pull * unit
                back[FIRST + k] = pull * weights[last + k]
                grad[second_bias + k] += back[FIRST + k]
        # The first layer: its gradient is the sum over the units of the second.
        for j in range(FIRST):
            back[j] = zero
            unit = units[j]
            if unit > zero:
                at = second + j * SECOND
                sum_back = zero
                for k in range(SECOND):
                    grad[at + k] += unit * back[FIRST + k]
                    sum_back += weights[at + k] * back[FIRST + k]
                back[j] = sum_back
            grad[_FIRST_BIAS + j] += back[j]
        # Its inputs: only present features have a gradient. The enemy's have negative counts, and their own rows.
        for i in range(n):
            feature = index[i]
            times = np.float32(count[i])
            if times < zero:
                feature += FEATURES
                times = -times
            at = _FIRST + feature * FIRST
            for j in range(FIRST):
                grad[at + j] += times * back[j]
    return total


@kernel
def _adam(weights, grad, mean, square, rate, decay, step):  # type: ignore[no-untyped-def]
    """One step of Adam with decoupled weight decay of the network; clears ``grad``."""
    for i in range(weights.shape[0]):
        slope = grad[i] / np.float32(_BATCH)
        mean[i] = _DECAY_1 * mean[i] + (1.0 - _DECAY_1) * slope
        square[i] = _DECAY_2 * square[i] + (1.0 - _DECAY_2) * slope * slope
        first = mean[i] / (1.0 - _DECAY_1**step)
        second = square[i] / (1.0 - _DECAY_2**step)
        weights[i] -= rate * (first / (np.sqrt(second) + 1e-9) + (decay * weights[i] if i >= LINEAR_SIZE else 0.0))
        grad[i] = 0.0


def mean_error(weights: Weights, rows: Words, values: Floats) -> dict[str, float]:
    """Mean and root mean square of the difference to ``values``, and positions per second of processor time."""
    evaluator = BuiltinEvaluator(weights)
    evaluator.values(rows[:1])
    begun = time.process_time()
    error = evaluator.values(rows) - values
    seconds = time.process_time() - begun
    return {
        "mean_abs": round(float(np.abs(error).mean()), 5),
        "root_mean_square": round(float(np.sqrt((error**2).mean())), 5),
        "values_per_cpu_s": round(len(rows) / max(seconds, 1e-9)),
    }


def train(
    weights: Weights,
    rows: Words,
    values: Floats,
    *,
    epochs: int,
    rate: float,
    seed: int,
    decay: float = 0.01,
) -> Weights:
    """Fit a copy of ``weights`` to ``values`` (tanh, for the side to move) of ``rows``; the rate falls to nothing along
    half a cosine.
    """
    # The static evaluation is fitted at the leaf of the quiescence search, since that is the position it values.
    # Positions in which a king is taken tell nothing about it, and are left out.
    scores, leaves = BuiltinEvaluator(weights).search(rows, leaves=True)
    quiet = np.abs(scores) < 500.0
    rows, leaves, targets = rows[quiet], leaves[quiet], values[quiet]
    # A leaf with the other side to move has the value with the other sign.
    flipped = (rows[:, 8] ^ leaves[:, 8]) & np.uint64(1) != 0
    targets = np.where(flipped, -targets, targets).astype(np.float32)
    del rows
    # Adam over shuffled batches.
    weights = Weights(weights.packed.copy())
    grad, mean, square = (np.zeros_like(weights.packed) for _ in range(3))
    scratch = (
        np.zeros(MAX_FEATURES, np.int32), np.zeros(MAX_FEATURES, np.int32), np.zeros(MAPS, np.uint64),
        np.zeros(UNITS, np.float32), np.zeros(UNITS, np.float32),
    )  # fmt: skip
    rng = np.random.default_rng(seed)
    batches = -(-len(leaves) // _BATCH)
    step = 0
    for epoch in range(epochs):
        order = rng.permutation(len(leaves))
        total = 0.0
        begun = time.monotonic()
        for first in range(0, len(leaves), _BATCH):
            total += _gradient(leaves, targets, order[first : first + _BATCH], TABLES, weights.packed, grad, *scratch)
            step += 1
            now = rate * 0.5 * (1.0 + np.cos(np.pi * step / (batches * epochs)))
            _adam(weights.packed, grad, mean, square, now, decay, step)
        print(
            f"  epoch {epoch + 1}: {total / len(leaves):.4f} on quiet positions, {time.monotonic() - begun:.0f} s",
            file=sys.stderr,
            flush=True,
        )
    return weights


def main(argv: list[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--positions", type=Path, required=True, help="many positions with values of depth 1")
    parser.add_argument("--labels", type=Path, required=True, nargs="+", help="fewer positions with deeper values")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--share", type=int, default=8, help="the tapered sum is fitted to every N-th position")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True, help="folder for evaluation_weights.npz")
    parser.add_argument("--json", type=Path, help="where the figures go")
    arguments = parser.parse_args(argv)
    many, packaged = read_arrays(arguments.positions), read_arrays(DATA / "evaluation_positions.npz")
    rows, values = many["rows"], many["values"].astype(np.float64)
    share = slice(None, None, arguments.share)
    labels = [read_arrays(file) for file in arguments.labels]
    deep = (
        np.concatenate([found["rows"] for found in labels]),
        np.concatenate([found["values"] for found in labels]).astype(np.float64),
    )
    figures: dict[str, Any] = {
        **head("tune_evaluation", "numpy", "numba"),
        "configuration": {
            "positions": arguments.positions.name,
            "labels": [file.name for file in arguments.labels],
            **{name: getattr(arguments, name) for name in ("epochs", "share", "seed")},
        },
        "positions": {
            "depth 1": len(rows),
            "deeper": len(deep[0]),
            "held out": len(packaged["rows"]),
        },
    }
    stages = figures["stages"] = {}

    def measured(stage: str, weights: Weights) -> Weights:
        stages[stage] = mean_error(weights, packaged["rows"], packaged["values"])
        print(f"{stage}: {stages[stage]}", file=sys.stderr, flush=True)
        return weights

    # The tapered sum first, then a network on top of it that begins with the output 0; deeper values last.
    weights = measured("by hand", by_hand())
    for turn in range(2):  # the second time with leaves found by the tuned weights
        weights = train(
            weights, rows[share], values[share], epochs=3, rate=0.01 / (1 + turn), seed=arguments.seed + turn
        )
    weights = with_network(measured("linear", weights), arguments.seed)
    weights = train(weights, rows, values, epochs=arguments.epochs, rate=0.0015, seed=arguments.seed)
    weights = measured("network", weights)
    weights = train(weights, *deep, epochs=arguments.epochs, rate=0.0005, seed=arguments.seed)
    weights = measured("deep", weights)
    # The written file is read and measured again, since that is what will be packaged.
    arguments.out.mkdir(parents=True, exist_ok=True)
    weights.write(arguments.out / "evaluation_weights.npz")
    measured("written", Weights.read(arguments.out / "evaluation_weights.npz"))
    if arguments.json:
        write_document(arguments.json, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
