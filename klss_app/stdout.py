"""Reserve stdout for the program's own output: libraries that print, also compiled ones, print to stderr.

Descriptor 1 is redirected to stderr, and ``sys.stdout`` writes to the original one (:func:`own_stdout`). For a JSON
document or a protocol, ``sys.stdout`` is redirected to stderr as well (:func:`reserve`), so that only one caller has
the stream.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO

_reserved: TextIO | None = None


@contextlib.contextmanager
def own_stdout() -> Iterator[None]:
    """Keep stdout for ``sys.stdout``: descriptor 1 of compiled code and of child processes is stderr."""
    sys.stdout.flush()
    before, kept = sys.stdout, os.dup(1)
    os.dup2(2, 1)
    sys.stdout = open(kept, "w", buffering=1, encoding=before.encoding, errors=before.errors)  # noqa: SIM115
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # nobody reads it any more
            sys.stdout.flush()
        os.dup2(kept, 1)
        sys.stdout = before


def reserve() -> TextIO:
    """Return the stream of stdout, for the caller alone; from now on prints go to stderr."""
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
    """Drop data that could not be written to ``stream``, whose reader is gone, so that Python's exit doesn't retry."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def print_document(document: Any) -> None:
    """Write a JSON document and a newline to stdout, reserved or not."""
    print(json.dumps(document, allow_nan=False), file=_reserved or sys.stdout, flush=True)
