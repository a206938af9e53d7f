"""Processes that end with this one, even if it is killed.

One process, the *guard*, watches this one, and kills the others at once when this one has ended.
"""

from __future__ import annotations

import contextlib
import errno
import subprocess
import sys
import threading

from uci_bridge.child_processes import APART
from uci_bridge.errors import EngineFailed
from uci_bridge.protocol.engine_process import EngineProcess

__all__ = ["GuardedProcess", "guard"]

_TOO_LITTLE = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)
"""Errors of a system without free descriptors, memory or processes."""

_GUARD = """
import os, signal, sys
guarded = set()
for line in sys.stdin:
    (guarded.add if line[0] == "+" else guarded.discard)(int(line[1:]))
for number in guarded:
    try:
        os.kill(number, signal.SIGKILL) if hasattr(os, "killpg") else os.kill(abs(number), signal.SIGTERM)
    except OSError:
        pass
"""
"""The guard's program. It reads the ids to kill, as kill(2) takes them: that of a process, or minus that of a process
group (on Windows of the process). It kills them when the other end of the pipe is closed: by us, or by the system when
we have ended.
"""


class _Guard:
    """The guard: a process that outlives this one for a moment."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def tell(self, sign: str, number: int) -> None:
        """Add (``+``) or remove (``-``) a process, or a group (minus its id), to be killed when we end."""
        with self._lock, contextlib.suppress(OSError):
            if self._process is None or self._process.poll() is not None:
                self._process = subprocess.Popen(
                    [sys.executable, "-S", "-E", "-c", _GUARD],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    bufsize=0,
                    **APART,
                )
            assert self._process.stdin is not None
            self._process.stdin.write(f"{sign}{number}\n".encode())


guard = _Guard()
"""The guard of this process."""


class GuardedProcess(EngineProcess):
    """An engine process that ends with us, even if we are killed."""

    _told: int | None = None

    def start(self) -> None:
        """See :class:`uci_bridge.protocol.engine_process.EngineProcess`. Raises OSError: the machine has no resources
        for another process, which is not a fault of the engine.
        """
        try:
            super().start()
        except EngineFailed as fault:
            if isinstance(fault.__cause__, OSError) and fault.__cause__.errno in _TOO_LITTLE:
                raise fault.__cause__ from None
            raise

    def _changed(self) -> None:
        pid = self.pid
        if pid != self._told:
            if self._told is not None:
                guard.tell("-", -self._told)
            if pid is not None:
                guard.tell("+", -pid)
            self._told = pid
