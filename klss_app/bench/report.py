"""The report of a bench: figures with their spread, a signature, and the samples."""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypedDict

from klss.support.text import Document

Say = Callable[[str], None]


class Figure(TypedDict):
    """A measured number."""

    min: float
    median: float
    max: float
    unit: str


Figures = dict[str, Figure | None]


@dataclass(frozen=True)
class Report:
    """The report of a bench: each figure's min, median, max and unit, or None if it can't be measured here; the
    signature of the engine's behaviour, if the bench has one; the samples behind the figures.
    """

    figures: Figures
    signature: int | None
    rows: list[Document]


def spread(values: Sequence[float], unit: str) -> Figure:
    """A figure: min, median and max of its samples."""
    return {"min": min(values), "median": statistics.median(values), "max": max(values), "unit": unit}


def thread_numbers(most: int) -> list[int]:
    """The numbers of threads to measure: one, two and ``most``, which comes last."""
    return [*sorted({1, 2} - {most}), most]


def load() -> float | None:
    """Mean number of running processes in the last minute; None if the system doesn't report it."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
