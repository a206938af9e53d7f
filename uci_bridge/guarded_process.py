"""Engine processes that end with this one, however it ends: even killed it leaves none behind.

One process, the *guard*, watches this one and kills the engines once their owner has ended.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading

from uci_bridge.descendants import APART
from uci_bridge.protocol.engine_process import EngineProcess

__all__ = ["GuardedProcess"]

_GUARD = """
import os, signal, sys
guarded = set()
for line in sys.stdin:
    (guarded.add if line[0] == "+" else guarded.discard)(int(line[1:]))
for pid in guarded:
    try:
        os.killpg(pid, signal.SIGKILL) if hasattr(os, "killpg") else os.kill(pid, signal.SIGTERM)
    except OSError:
        pass
"""
"""Reads the ids of process groups (on Windows of processes), until the pipe's other end is closed: by us, or by the
system when we are gone."""


class _Guard:
    """The process that outlives this one for a moment."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def tell(self, sign: str, pid: int) -> None:
        """From now on (``+``), or no more (``-``), that group is to be killed when we end."""
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
            self._process.stdin.write(f"{sign}{pid}\n".encode())


_guard = _Guard()


class GuardedProcess(EngineProcess):
    """An engine process that ends with us, even if we are killed."""

    _told: int | None = None

    def start(self) -> None:
        """See :class:`uci_bridge.protocol.engine_process.EngineProcess`."""
        super().start()
        self._tell()

    def close(self) -> None:
        """See :class:`uci_bridge.protocol.engine_process.EngineProcess`."""
        super().close()
        self._tell()

    def kill(self) -> None:
        """See :class:`uci_bridge.protocol.engine_process.EngineProcess`."""
        super().kill()
        self._tell()

    def _tell(self) -> None:
        pid = self.pid
        if pid != self._told:
            if self._told is not None:
                _guard.tell("-", self._told)
            if pid is not None:
                _guard.tell("+", pid)
            self._told = pid
