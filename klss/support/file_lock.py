"""A file lock that one process has at a time; the system releases it when that process ends, in whatever way."""

from __future__ import annotations

import importlib
from typing import IO, Any


def lock(file: IO[Any]) -> bool:
    """Lock ``file``, which is open for writing, until it is closed; return False if it is locked already. Raises
    ImportError: the system is neither POSIX nor Windows.
    """
    try:
        try:
            system: Any = importlib.import_module("fcntl")
        except ImportError:
            system = importlib.import_module("msvcrt")
            system.locking(file.fileno(), system.LK_NBLCK, 1)  # the first byte, which need not exist
        else:
            system.flock(file, system.LOCK_EX | system.LOCK_NB)
    except OSError:
        return False
    return True
