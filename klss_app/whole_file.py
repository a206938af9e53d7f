"""Files written whole or not at all: who is interrupted while she writes finds what was there before."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["write_whole"]


def write_whole(path: Path, text: str) -> None:
    """Write ``text`` to ``path``, in UTF-8. A device is written to as it is, and a link stays one.

    Raises
    ------
    OSError
        It can't be written; ``filename`` is ``path``, which is as it was.
    """
    place = path.resolve()
    if place.exists() and not place.is_file():
        path.write_text(text, encoding="utf-8")
        return
    fresh = place.with_name(f".{place.name}.{os.getpid()}.new")
    try:
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(place)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None
