"""What an engine says about its move, made fit to be sent (:func:`plain`) and kept (:func:`fit_to_keep`): a few finite
numbers and short texts, as JSON has them.

Nobody checks what an engine says there, and whoever reads it later (a resumed match, a report) must not pay for it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import islice
from typing import Any

from klss.support.text import printable

__all__ = ["MAX_DEPTH", "MAX_ENTRIES", "MAX_NUMBER", "MAX_WORDS", "fit_to_keep", "plain"]

MAX_DEPTH = 4
"""Lists and objects inside each other."""

MAX_ENTRIES = 512
"""Of one list or object; the rest is left out."""

MAX_WORDS = 300
"""Characters of a text or a key."""

MAX_NUMBER = 2**63
"""Numbers are smaller, on either side of 0: every program can read them."""


def fit_to_keep(said: Mapping[str, Any]) -> dict[str, Any]:
    """``said`` within the bounds above; what is out of them, not finite, or not JSON, is None. Idempotent.

    >>> fit_to_keep({"nodes": 10**400, "value": float("inf"), "pv": ["e2e4", [1.5, True]], "name": "a\\x1b[31m"})
    {'nodes': None, 'value': None, 'pv': ['e2e4', [1.5, True]], 'name': 'a?[31m'}
    """
    return _object(said, MAX_DEPTH)


def _object(said: Mapping[str, Any], depth: int) -> dict[str, Any]:
    return {printable(key, MAX_WORDS): _value(value, depth) for key, value in islice(said.items(), MAX_ENTRIES)}


def _value(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return printable(value, MAX_WORDS)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return value if -MAX_NUMBER < value < MAX_NUMBER else None
    if depth > 1 and isinstance(value, list):
        return [_value(each, depth - 1) for each in islice(value, MAX_ENTRIES)]
    if depth > 1 and isinstance(value, dict):
        return _object(value, depth - 1)
    return None


def plain(value: Any) -> Any:
    """``value`` as JSON has it: numpy's numbers as Python's, what is not finite as null, anything else as text."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if value is None or isinstance(value, (bool, str)):
        return value
    number = value.item() if hasattr(value, "item") else value
    if isinstance(number, float):
        return number if math.isfinite(number) else None
    return number if isinstance(number, int) else str(number)
