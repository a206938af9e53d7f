"""Untrusted text: read up to a limit, and shown without characters that control a terminal.

Names, errors and chat of other programs and servers go through :func:`printable` once, on input; so do the headers of
files. Files named on a command line go through :func:`read_text`.
"""

from __future__ import annotations

import difflib
import errno
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

MAX_TEXT_BYTES = 1 << 26
"""Longest file that is read as text, 64 MiB: more games than one command needs."""

Document: TypeAlias = dict[str, object]
"""A JSON object, as it is written or was read: any values that JSON has. A reader must check their types."""

_SHOWN_INSTEAD = "?"


def printable(text: str, most: int | None = None) -> str:
    """Return ``text`` on one line, at most ``most`` characters, without invisible or controlling characters.

    White space between words or lines becomes one space. Control characters (C0, C1: a terminal's escape sequences
    begin with one), characters that change the direction of writing or have no width, lone surrogates and unassigned
    code points become question marks.

    >>> printable("a\\x1b]0;title\\x07\\u202eb\\u2028 c")
    'a?]0;title??b c'
    >>> printable("Καλημέρα, 世界", most=8)
    'Καλημέρα'
    """
    begin = text if most is None else text[: 4 * most]
    shown = "".join(sign if sign.isprintable() else _SHOWN_INSTEAD for sign in " ".join(begin.split()))
    return shown[:most].rstrip()


def counted(count: int, one: str, more: str | None = None) -> str:
    """Return a number with its noun, which is ``one`` in the singular; ``more``: its plural, if that is not with an s.

    >>> counted(1, "move"), counted(1200, "move"), counted(0, "ply", "plies")
    ('1 move', '1,200 moves', '0 plies')
    """
    return f"{count:,} {one if count == 1 else more or f'{one}s'}"


def meant(name: str, known: Iterable[str]) -> str:
    """Return a hint for an unknown name: the nearest known one, or all of them if none is near.

    >>> meant("klus", ["kluss", "greedy"]), meant("x", ["kluss", "greedy"])
    ('did you mean kluss?', 'known: kluss, greedy')
    """
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {near[0]}?" if near else f"known: {', '.join(names)}"


def read_text(path: Path, most_bytes: int = MAX_TEXT_BYTES, errors: str = "strict") -> str:
    """Return the text of a file in UTF-8, as :meth:`pathlib.Path.read_text` does, without a mark of the byte order, but
    read at most ``most_bytes``, also from an endless device. Raises OSError: it can't be read, or (``EFBIG``) is
    larger; UnicodeDecodeError: it is not UTF-8, and ``errors`` is "strict".
    """
    with path.open("rb") as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise OSError(errno.EFBIG, f"{os.strerror(errno.EFBIG)} (more than {most_bytes:,} bytes)", str(path))
    return data.decode("utf-8-sig", errors).replace("\r\n", "\n").replace("\r", "\n")
