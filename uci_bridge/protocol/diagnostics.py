"""An engine's report about its move, made fit to send and to keep: a few finite numbers and short texts, as JSON has
them.

The protocol does not restrict an engine's report, and a later reader (a resumed match, a table) must not fail by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from klss.support.text import Document, printable

MAX_DEPTH = 4
"""Most levels of nested lists and objects."""

MAX_ENTRIES = 512
"""Most entries of one list or object; the rest is dropped."""

MAX_WORDS = 300
"""Most characters of a text or a key."""

MAX_NUMBER = 2**63
"""Bound on the absolute value of numbers: smaller ones can be read by every program."""


def fit_to_keep(said: Mapping[str, object]) -> Document:
    """``said`` cut to the bounds above, numpy's numbers made Python's; a value that is too large, not finite, or not
    JSON becomes None. Idempotent.

    >>> fit_to_keep({"nodes": 10**400, "value": float("inf"), "pv": ["e2e4", [1.5, True]], "name": "a\\x1b[31m"})
    {'nodes': None, 'value': None, 'pv': ['e2e4', [1.5, True]], 'name': 'a?[31m'}
    """
    return _object(said, MAX_DEPTH)


def _object(said: Mapping[str, object], depth: int) -> Document:
    return {printable(str(key), MAX_WORDS): _value(value, depth) for key, value in islice(said.items(), MAX_ENTRIES)}


def _value(value: object, depth: int) -> object:
    if isinstance(value, str):
        return printable(value, MAX_WORDS)
    if hasattr(value, "item"):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return value if -MAX_NUMBER < value < MAX_NUMBER else None
    if depth > 1 and isinstance(value, list | tuple):
        return [_value(each, depth - 1) for each in islice(value, MAX_ENTRIES)]
    if depth > 1 and isinstance(value, Mapping):
        return _object(value, depth - 1)
    return None
