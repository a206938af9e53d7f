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
import tempfile
from pathlib import Path
from typing import TextIO

_reserved: TextIO | None = None


def own_stdout() -> None:
    """From now on descriptor 1, which compiled code and child processes write to, is stderr's; ``sys.stdout`` stays. A
    stream that the caller closed is the null device."""
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    with contextlib.suppress(OSError):  # one of both is closed
        kept = os.dup(1)
        os.dup2(2, 1)
        sys.stdout = open(kept, "w", buffering=1, encoding=sys.stdout.encoding)  # noqa: SIM115


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


def print_document(document: object) -> None:
    """Write a JSON document and a newline to stdout, reserved or not. Raises OSError: it can't be written there; unless
    the reader is gone, it is kept among temporary files."""
    text = json.dumps(document, allow_nan=False)
    try:
        print(text, file=_reserved or sys.stdout, flush=True)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        (spare := Path(tempfile.mkdtemp(prefix="klss-"), "stdout.json")).write_text(text)
        raise OSError(error.errno, f"{error.strerror}; the document is kept in", str(spare)) from None
