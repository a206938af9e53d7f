"""Types of the flags of commands and experiments: each takes a flag's text, and refuses what it can't be."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable

_MOST = 10_000_000
"""Most seconds; four months. Clocks and the engine protocol end at some point beyond."""


def whole(least: int, most: int = 10**18 - 1) -> Callable[[str], int]:
    """The type of a flag for a whole number from ``least`` to ``most``."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 19 and least <= int(text) <= most):
            upper = f" to {most}" if most < 10**18 - 1 or len(text) > 18 else " on"
            raise argparse.ArgumentTypeError(f"got {text!r}, expected a whole number from {least}{upper}")
        return int(text)

    return read


count, seed = whole(1), whole(0)
"""Types of flags for a number of things, and for a seed."""


def positive(text: str) -> float:
    """Type of a flag for seconds, and other numbers above 0."""
    (found,) = numbers(text, lambda found: 0.0 < found <= _MOST, f"a number above 0, to {_MOST:,}, such as 5 or 0.5")
    return found


def share(text: str) -> float:
    """Type of a flag for a share."""
    (found,) = numbers(text, lambda found: 0.0 <= found <= 1.0, "a number from 0 to 1")
    return found


def clock(text: str) -> tuple[float, float]:
    """Type of ``--clock``: seconds at the start, seconds added after each move.

    >>> clock("180+2")
    (180.0, 2.0)
    """
    expected = f"START+INCREMENT in seconds, to {_MOST:,}, such as 180+2"
    first, second = numbers(text, lambda start, added: 0.0 < start <= _MOST >= added >= 0.0, expected, "+")
    return first, second


def numbers(text: str, good: Callable[..., bool], expected: str, between: str = "\0") -> list[float]:
    """Numbers with ``between`` between them, that are ``good``."""
    found = text.split(between)
    with contextlib.suppress(ValueError, TypeError):  # one is no number; there are more or fewer than ``good`` takes
        if good(*map(float, found)):
            return [float(each) for each in found]
    raise argparse.ArgumentTypeError(f"got {text!r}, expected {expected}")
