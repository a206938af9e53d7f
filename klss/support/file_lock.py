"""A file that one process holds at a time; the system lets go of it when that process ends, however it does."""

from __future__ import annotations

import importlib
from typing import IO, Any

__all__ = ["lock"]


def lock(file: IO[Any]) -> bool:
    """Take ``file``, which is open for writing, until it is closed; False where it is taken already.

    Raises
    ------
    ImportError
        The system is neither POSIX nor Windows.
    """
    try:
        try:
            system: Any = importlib.import_module("fcntl")
        except ImportError:
            system = importlib.import_module("msvcrt")
            system.locking(file.fileno(), system.LK_NBLCK, 1)  # its first byte, which need not be there
        else:
            system.flock(file, system.LOCK_EX | system.LOCK_NB)
    except OSError:
        return False
    return True
