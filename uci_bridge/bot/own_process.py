"""Keep secrets of this process from other processes of the same user, above all from engines.

A variable that is deleted from ``os.environ`` remains in the memory block that the process was started with, which
``/proc/PID/environ`` shows. Other processes of the user can also read this process's memory; that is prevented on Linux
only.
"""

from __future__ import annotations

import contextlib
import ctypes
import os

from uci_bridge.child_processes import linux_call

__all__ = ["close_to_others", "take_variable"]

_PR_SET_DUMPABLE = 4


def take_variable(name: str) -> str | None:
    """Return an environment variable's value; delete the variable, and overwrite it in the process's memory block."""
    text = os.environ.get(name)
    if text is None:
        return None
    with contextlib.suppress(TypeError, AttributeError):  # on Windows other processes can't read such a block
        getenv = ctypes.CDLL(None).getenv
        getenv.restype, getenv.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
        place = getenv(os.fsencode(name))
        if place is not None:
            ctypes.memset(place, 0, len(os.fsencode(text)))
    del os.environ[name]
    return text


def close_to_others() -> None:
    """Let only the superuser read this process's memory, environment and open files; this also stops core dumps.

    It does not extend to children that run another program, and does nothing on systems without the call.
    """
    linux_call("prctl", _PR_SET_DUMPABLE, 0, 0, 0, 0)
