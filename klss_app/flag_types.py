"""Types of the flags of commands and experiments: each takes a flag's text, and refuses what it can't be."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable


def whole(least: int, most: int = 10**18 - 1) -> Callable[[str], int]:
    """The type of a flag for a whole number from ``least`` to ``most``."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 19 and least <= int(text) <= most):
            upper = f" to {most}" if most < 10**18 - 1 else " on"
            raise argparse.ArgumentTypeError(f"got {text!r}, expected a whole number from {least}{upper}")
        return int(text)

    return read


count, seed = whole(1), whole(0)
"""Types of flags for a number of things, and for a seed."""


def positive(text: str) -> float:
    """Type of a flag for seconds, and other numbers above 0."""
    return _number(text, lambda found: 0.0 < found < math.inf, "a number above 0, such as 5 or 0.5")


def share(text: str) -> float:
    """Type of a flag for a share."""
    return _number(text, lambda found: 0.0 <= found <= 1.0, "a number from 0 to 1")


def _number(text: str, good: Callable[[float], bool], expected: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not good(found):
        raise argparse.ArgumentTypeError(f"got {text!r}, expected {expected}")
    return found


def clock(text: str) -> tuple[float, float]:
    """Type of ``--clock``: seconds at the start, seconds added after each move.

    >>> clock("180+2")
    (180.0, 2.0)
    """
    return pair(
        text,
        "+",
        lambda start, added: 0.0 < start < math.inf and 0.0 <= added < math.inf,
        "START+INCREMENT in seconds, such as 180+2",
    )


def pair(text: str, between: str, good: Callable[[float, float], bool], expected: str) -> tuple[float, float]:
    """Two numbers with ``between`` between them; a text that is none of these is two NaN, which are not ``good``."""
    try:
        first, second = map(float, text.split(between))
    except ValueError:
        first = second = math.nan
    if not good(first, second):
        raise argparse.ArgumentTypeError(f"got {text!r}, expected {expected}")
    return first, second
