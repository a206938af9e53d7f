"""The built-in evaluator: values per second, and its error on the packaged held-out positions.

These are positions that the weights were not tuned on, with the values of Stockfish at depth 10
(:mod:`experiments.learn.positions`).
"""

from __future__ import annotations

import io
import time
from importlib import resources

import numpy as np

from darkchess.evaluation.evaluator import BuiltinEvaluator
from klss.support.archive import read_arrays
from klss.support.arrays import Floats, Words
from klss.support.text import Document, counted
from klss.support.threads import usual
from klss_app.bench.report import Figures, Report, Say, load, spread, thread_numbers

_LEAST_S = 1.0
_MOST_NUMBERS = 1 << 20


def held_out_positions() -> tuple[Words, Floats, int]:
    """Positions uint64[n, 9], Stockfish's values for the side to move float64[n], and its depth."""
    file = resources.files("darkchess.evaluation").joinpath("data/evaluation_positions.npz").read_bytes()
    data = read_arrays(io.BytesIO(file), _MOST_NUMBERS, ["rows", "values", "depth"])
    return data["rows"], data["values"].astype(np.float64), int(data["depth"])


def evaluator(*, repetitions: int = 3, say: Say = lambda line: None) -> Report:
    """Figures ``values_per_s`` (one thread), ``values_per_s_Nt`` for each number N of threads, and
    ``mean_abs_tanh_error``.
    """
    rows, wanted, depth = held_out_positions()
    samples, figures = list[Document](), Figures()
    for threads in thread_numbers(usual()):
        measured, rates = BuiltinEvaluator(threads=threads), list[float]()
        values = measured.values(rows)  # also warms up
        for repetition in range(repetitions):
            count, seconds, began = 0, 0.0, time.perf_counter()
            while seconds < _LEAST_S:
                measured.values(rows)
                count += len(rows)
                seconds = time.perf_counter() - began
            labels: Document = {"repetition": repetition, "threads": threads, "load": load()}
            samples.append({**labels, "values": count, "seconds": seconds})
            rates.append(count / seconds)
            say(f"{counted(threads, 'thread')}: {rates[-1]:,.0f} values/s")
        figures[f"values_per_s_{threads}t"] = spread(rates, "values/s")
    figures["values_per_s"] = figures["values_per_s_1t"]
    error = float(np.abs(values - wanted).mean())
    figures["mean_abs_tanh_error"] = spread([error], f"to Stockfish depth {depth}, {len(rows)} held-out positions")
    return Report(figures, None, samples)
