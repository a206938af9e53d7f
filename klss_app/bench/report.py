"""What a bench reports: figures with their spread, a signature, and the samples."""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Report", "Say", "load", "spread"]

Say = Callable[[str], None]


@dataclass(frozen=True)
class Report:
    """What a bench found.

    Attributes
    ----------
    figures
        Each min, median, max and unit, or None where it can't be had here.
    signature
        Of the engine's behaviour; None for benches that have none.
    rows
        The samples behind the figures.
    """

    figures: dict[str, dict[str, Any] | None]
    signature: int | None
    rows: list[dict[str, Any]]


def spread(values: Sequence[float], unit: str) -> dict[str, Any]:
    """A figure: min, median and max of its samples."""
    return {"min": min(values), "median": statistics.median(values), "max": max(values), "unit": unit}


def load() -> float | None:
    """Mean number of running processes in the last minute, None where the system doesn't tell."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
