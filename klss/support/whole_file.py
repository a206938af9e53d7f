"""Files that are written completely or not at all: an interrupted write leaves the old file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def written_whole(path: Path, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Open a new file for writing, which replaces ``path`` at the end if nothing was raised.

    The contents are on the disk before that, so that after a power failure there is the old file or the new one, too.
    A device is written directly, and a link stays a link. ``mode`` has the file's permissions, without those that the
    process's umask removes. Raises OSError of ``path``, which is then unchanged: it can't be written.
    """
    # Resolve links, so that the file behind a link is replaced; a temporary file beside it is on the same disk.
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
        with contextlib.suppress(OSError):  # its folder may be none, or its name too long
            fresh.unlink()
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


def write_whole(path: Path, text: str, mode: int = 0o666) -> None:
    """Write a text, in UTF-8, as :func:`written_whole` does."""
    with written_whole(path, mode) as file:
        file.write(text.encode("utf-8"))
