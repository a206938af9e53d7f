"""The common part of experiments' commands: folders, types of flags, and what is printed when one is stopped."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from pathlib import Path

from uci_bridge.match.documents import NoCommitError

RUNS = Path(__file__).parent / "runs"
"""The folder of matches; it is not in the repository."""

RESULTS = RUNS / "results"
"""Where results are written unless a command is given another folder: those in the repository change only when that is
asked for (``--results experiments/results``).
"""


def finished(work: Callable[[], int | None], *expected: type[Exception]) -> int:
    """Do the work; return the exit code. Expected errors and Ctrl-C are reported in one line each."""
    known: tuple[type[Exception], ...] = (NoCommitError, *expected)
    try:
        return work() or 0
    except known as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return 130


def amount(text: str) -> float:
    """Type of flags that take a finite number above 0."""
    return _number(text, lambda found: 0.0 < found < math.inf, "a number above 0")


def share(text: str) -> float:
    """Type of flags that take a share."""
    return _number(text, lambda found: 0.0 <= found <= 1.0, "a number from 0 to 1")


def _number(text: str, good: Callable[[float], bool], expected: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not good(found):
        raise argparse.ArgumentTypeError(f"got {text!r}, expected {expected}")
    return found


def positive(text: str) -> int:
    """Type of flags that take a whole number from 1 on."""
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"got {text!r}, expected a whole number from 1 on")
    return int(text)
