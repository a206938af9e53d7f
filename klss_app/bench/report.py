"""The report of a bench: figures with their spread, a signature, and the samples."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Say = Callable[[str], None]
Figures = dict[str, dict[str, Any] | None]


@dataclass(frozen=True)
class Report:
    """The report of a bench: each figure's min, median, max and unit, or None if it can't be measured here; the
    signature of the engine's behaviour, if the bench has one; the samples behind the figures.
    """

    figures: Figures
    signature: int | None
    rows: list[dict[str, Any]]


def spread(values: Sequence[float], unit: str) -> dict[str, Any] | None:
    """A figure: min, median and max of its samples; None without samples."""
    if not values:
        return None
    return {"min": min(values), "median": statistics.median(values), "max": max(values), "unit": unit}


def load() -> float | None:
    """Mean number of running processes in the last minute; None if the system doesn't report it."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def stopwatch() -> Callable[[], tuple[float, float]]:
    """A stopwatch that starts now: each call returns wall and processor seconds since."""
    wall, cpu = time.perf_counter(), time.process_time()
    return lambda: (time.perf_counter() - wall, time.process_time() - cpu)


def threaded(threads: int) -> str:
    """``1 thread``, ``2 threads``."""
    return f"{threads} thread{'s' * (threads - 1)}"


def rates(samples: Sequence[dict[str, Any]], what: str, wall: str = "seconds", cpu: str = "cpu_seconds") -> Figures:
    """Figures ``WHAT_per_s_1t``, ``WHAT_per_s_2t`` and ``WHAT_per_cpu_s_1t`` of samples that have ``threads``, a count
    ``what`` and the seconds that it took, under ``wall`` and ``cpu``.
    """

    def rate(threads: int, took: str) -> list[float]:
        return [one[what] / one[took] for one in samples if one["threads"] == threads]

    figures: Figures = {f"{what}_per_s_{threads}t": spread(rate(threads, wall), f"{what}/s") for threads in (1, 2)}
    figures[f"{what}_per_cpu_s_1t"] = spread(rate(1, cpu), f"{what}/s of processor time")
    return figures
