"""Files written whole or not at all: an interrupted write leaves what was there before."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

__all__ = ["write_whole", "written_whole"]


@contextlib.contextmanager
def written_whole(path: Path, mode: int = 0o666) -> Iterator[BinaryIO]:
    """A new file to write to, which takes the place of ``path`` at the end, and only where nothing was raised.

    What it holds is on the disk before it does, so that a machine that loses its power finds the old one or the new
    one too. A device is written to as it is, and a link stays one.

    Parameters
    ----------
    mode
        Who may read and write the file, less what the process's umask takes.

    Raises
    ------
    OSError
        It can't be written; ``filename`` is ``path``, which is as it was.
    """
    place = path.resolve()
    if place.exists() and not place.is_file():
        with open(path, "wb") as device:
            yield device
        return
    fresh = place.with_name(f".{place.name}.{os.getpid()}.new")
    try:
        with open(fresh, "wb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(place)
    except BaseException as error:
        fresh.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


def write_whole(path: Path, text: str, mode: int = 0o666) -> None:
    """As :func:`written_whole`, of a text, in UTF-8."""
    with written_whole(path, mode) as file:
        file.write(text.encode("utf-8"))
