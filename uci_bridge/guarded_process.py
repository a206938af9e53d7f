"""Processes that end with this one, however it ends: even killed it leaves none behind.

One process, the *guard*, watches this one and kills the others at once when this one has ended, whatever they do then.
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
"""Of descriptors, memory or processes."""

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
"""Reads what to kill, as kill(2) takes it: the id of a process, or minus that of a process group (on Windows of the
process); until the other end of the pipe is closed: by us, or by the system when we are gone.
"""


class _Guard:
    """The process that outlives this one for a moment."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def tell(self, sign: str, number: int) -> None:
        """From now on (``+``), or no more (``-``), that process, or group (minus its id), is to be killed with us."""
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
"""Of this process."""


class GuardedProcess(EngineProcess):
    """An engine process that ends with us, even if we are killed."""

    _told: int | None = None

    def start(self) -> None:
        """See :class:`uci_bridge.protocol.engine_process.EngineProcess`. Raises OSError: this machine has too little
        for one more process, which is no fault of the engine.
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
