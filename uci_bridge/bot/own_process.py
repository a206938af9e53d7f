"""What other processes of the same user, engines above all, can't learn from this one.

A variable that is taken out of ``os.environ`` still stands in the block of memory that the process was started with,
which ``/proc/PID/environ`` shows; and a process's memory can be read by its user's others. Linux only for the second.
"""

from __future__ import annotations

import contextlib
import ctypes
import os

from uci_bridge.child_processes import linux_call

__all__ = ["close_to_others", "take_variable"]

_PR_SET_DUMPABLE = 4


def take_variable(name: str) -> str | None:
    """The value of an environment variable, which is then in no environment any more, nor where it was."""
    text = os.environ.get(name)
    if text is None:
        return None
    with contextlib.suppress(TypeError, AttributeError):  # Windows has no such block that others can read
        getenv = ctypes.CDLL(None).getenv
        getenv.restype, getenv.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
        place = getenv(os.fsencode(name))
        if place is not None:
            ctypes.memset(place, 0, len(os.fsencode(text)))
    del os.environ[name]
    return text


def close_to_others() -> None:
    """Let nobody but the superuser read this process's memory, its environment and its files; no core dumps either.

    Children that run another program are not concerned. Where the system can't, nothing happens.
    """
    linux_call("prctl", _PR_SET_DUMPABLE, 0, 0, 0, 0)
