"""The program's stdout belongs to what it has to say: a library that prints, also a compiled one, prints to stderr.

Descriptor 1 is led to stderr, and ``sys.stdout`` writes to what it was (:func:`own_stdout`). Where a JSON document or a
protocol goes out, ``sys.stdout`` is led to stderr as well (:func:`reserve`), so that one caller alone has the stream.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO

__all__ = ["discard", "own_stdout", "print_document", "release", "reserve"]

_reserved: TextIO | None = None


@contextlib.contextmanager
def own_stdout() -> Iterator[None]:
    """Keep descriptor 1 for ``sys.stdout``: for compiled code and for programs started from here it is stderr."""
    sys.stdout.flush()
    before, kept = sys.stdout, os.dup(1)
    os.dup2(2, 1)
    sys.stdout = open(kept, "w", buffering=1, encoding=before.encoding, errors=before.errors)  # noqa: SIM115
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # nobody reads it any more: nothing of this process's can be said there
            sys.stdout.flush()
        os.dup2(kept, 1)
        sys.stdout = before


def reserve() -> TextIO:
    """The stream that is stdout, for the caller alone; what is printed from now on goes to stderr."""
    global _reserved
    if _reserved is None:
        sys.stdout.flush()
        _reserved, sys.stdout = sys.stdout, sys.stderr
    return _reserved


def release() -> None:
    """Undo :func:`reserve`, if it was called."""
    global _reserved
    if _reserved is not None:
        sys.stdout, _reserved = _reserved, None


def discard(stream: TextIO) -> None:
    """Give up what could not be written to ``stream``, whose reader is gone: Python's end does not try it again."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def print_document(document: Any) -> None:
    """Write a JSON document and the end of the line to stdout, reserved or not."""
    print(json.dumps(document, allow_nan=False), file=_reserved or sys.stdout, flush=True)
