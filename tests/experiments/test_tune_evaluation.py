"""Laws of the tuning of the evaluation: its gradient is the slope of its loss, and it learns."""

from __future__ import annotations

from importlib import resources

import numpy as np
import pytest

from darkchess.board.kernels.tables import TABLES
from darkchess.evaluation.evaluator import PAWNS_SCALE, Weights, packaged_weights
from darkchess.evaluation.kernels.evaluation import static
from darkchess.evaluation.kernels.features import MAPS, MAX_FEATURES
from darkchess.evaluation.kernels.network import OFFSETS, PACKED_SIZE, UNITS
from experiments.tune_evaluation import _POWER, _gradient, mean_error, train


@pytest.fixture(scope="module")
def held() -> tuple[np.ndarray, np.ndarray]:
    with resources.files("darkchess.evaluation").joinpath("data/evaluation_positions.npz").open("rb") as file:
        data = np.load(file)
        return data["rows"], data["values"].astype(np.float64)


def _scratch() -> tuple[np.ndarray, ...]:
    return (
        np.zeros(MAX_FEATURES, np.int32), np.zeros(MAX_FEATURES, np.int32), np.zeros(MAPS, np.uint64),
        np.zeros(UNITS, np.float32),
    )  # fmt: skip


def test_the_gradient_is_the_slope_of_the_loss(held: tuple[np.ndarray, np.ndarray]) -> None:
    rows, values = held[0][::500], held[1][::500].astype(np.float32)
    weights = packaged_weights().packed
    gradient = np.zeros_like(weights)
    _gradient(rows, values, np.arange(len(rows)), TABLES, weights, gradient, *_scratch(), np.zeros(UNITS, np.float32))

    def loss(changed: np.ndarray) -> float:
        scores = np.array([static(row, TABLES, changed, *_scratch()) for row in rows])
        return float((np.abs(np.tanh(scores / PAWNS_SCALE) - values) ** _POWER).sum())

    # Of each array the entries with the steepest slopes; a step small enough that no unit is switched on or off.
    for start, shape in OFFSETS.values():
        part = slice(start, start + int(np.prod(shape)))
        for entry in start + np.argsort(-np.abs(gradient[part]))[:3]:
            slopes = []
            for step in (0.0003, -0.0003):
                changed = weights.copy()
                changed[entry] += step
                slopes.append((loss(changed) - loss(weights)) / step)
            assert np.mean(slopes) == pytest.approx(gradient[entry], rel=0.05, abs=0.02)


@pytest.mark.slow
def test_training_lowers_the_error(held: tuple[np.ndarray, np.ndarray]) -> None:
    rows, values = held[0][:1500], held[1][:1500]
    before = Weights(np.zeros(PACKED_SIZE, np.float32))
    before.packed[:] = packaged_weights().packed
    after = train(before, rows, values, epochs=20, rate=0.001, seed=1)
    assert mean_error(after, rows, values)["mean_abs"] < mean_error(before, rows, values)["mean_abs"] - 0.005
    assert np.array_equal(before.packed, packaged_weights().packed)
