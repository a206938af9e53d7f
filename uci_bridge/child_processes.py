"""The processes that we start: what they get, what they can't see, and how they end.

A child leads a session of its own, so that Ctrl-C in the terminal is not for it. It gets few of our variables, since an
engine may be somebody else's program, and an environment can hold tokens and passwords. It is killed with its process
group and with all its descendants. An orphan among them (a daemon) gets another parent. A *subreaper* becomes that
parent, so that a daemon stays among a program's descendants and is found there (Linux, prctl(2)). Only a program may
make itself a subreaper; a library must not.

If this process is killed, its *guard* ends the children: a process that is started with the first of them and outlives
us for a moment.

Limits: if we are killed, daemons go on, and so do processes in other sessions that an engine which ended by itself has
left behind. On Windows a child that its parent left behind goes on. A foreign engine has all rights of the account that
runs it; a container restricts them.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from klss.support import threads

if TYPE_CHECKING:
    import psutil


NEW_GROUP: int = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
"""``creationflags`` for ``Popen``: a group of its own on Windows, beside ``start_new_session``, which is for others."""

PASSED_ON = frozenset({
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "XDG_CACHE_HOME", "XDG_DATA_HOME",
    "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "PYTHONHASHSEED", "PYTHONIOENCODING", "VIRTUAL_ENV",
    "KLSS_CACHE_DIR", "KLSS_STOCKFISH", "KLSS_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS",
    # Windows, where Python does not start without the first
    "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "APPDATA",
    "LOCALAPPDATA",
})  # fmt: skip
"""The variables that an engine gets if they are set; its command can set others: ``env NAME=value program``."""
PREFIXES_PASSED_ON = ("LC_", "NUMBA_", "OMP_")
"""Prefixes of the names of further variables that it gets."""

_KILL: int = getattr(signal, "SIGKILL", signal.SIGTERM)
"""The signal that ends a process at once, in any state; on Windows SIGTERM does."""

_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_DUMPABLE = 4
_END_S = 2.0


# ---------------------------------------------------------------------------------------- what they get


def own_program(module: str, *arguments: str) -> list[str]:
    """The command that runs our ``module`` with the same Python.

    ``python -m`` looks for modules in the working directory first: a file called ``chess.py`` there would be run. The
    option ``-P`` prevents that. It is left out if this process itself has its modules from there, as in a clone that is
    not installed.
    """
    ours = bool(sys.path) and sys.path[0] in ("", os.getcwd())
    return [sys.executable, *([] if ours else ["-P"]), "-m", module, *arguments]


def engine_environment() -> dict[str, str]:
    """The environment of an engine; with it ``python -m klss`` works in every folder, also from a source tree."""
    environment = {
        name: value for name, value in os.environ.items() if name in PASSED_ON or name.startswith(PREFIXES_PASSED_ON)
    }
    environment.setdefault(threads.VARIABLE, str(max(1, threads.usual() // threads.games_at_a_time)))
    root = Path(__file__).resolve().parents[1]
    if root.name not in ("site-packages", "dist-packages"):
        others = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = os.pathsep.join([str(root), *([others] if others else [])])
    return environment


# ---------------------------------------------------------------------------------------- what they can't see


def close_to_others() -> None:
    """Let only the superuser read this process's memory, environment and open files; this also stops core dumps.

    It does not extend to children that run another program, and does nothing on systems without the call.
    """
    linux_call("prctl", _PR_SET_DUMPABLE, 0, 0, 0, 0)


# ---------------------------------------------------------------------------------------- how they end


def adopt_orphans() -> None:
    """Make this process the parent of orphans among its descendants; does nothing on systems without the call."""
    linux_call("prctl", _PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def linux_call(function: str, *arguments: int) -> None:
    """Call a function of Linux's C library; does nothing on other systems, or if there is no such function."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            getattr(ctypes.CDLL(None), function)(*arguments)


def end_descendants() -> None:
    """End this process's descendants in other sessions: engines, their children and daemons."""
    until = time.monotonic() + _END_S
    while hasattr(os, "waitid") and time.monotonic() < until:
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:  # there is no child
            return
        import psutil  # takes a while, and few commands start a process

        alive = False
        for each in _descendants(os.getpid()):
            with contextlib.suppress(psutil.Error, ProcessLookupError, ChildProcessError):
                if os.getsid(each.pid) != os.getsid(0):
                    alive |= each.status() != psutil.STATUS_ZOMBIE
                    each.kill()
                    os.waitpid(each.pid, os.WNOHANG)  # only if it is our own child
        if not alive:
            return
        time.sleep(0.01)


def kill_family(pid: int) -> None:
    """Kill a process, its process group if it leads one, and its descendants in any session."""
    import psutil

    family = _descendants(pid)
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, _KILL)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, _KILL)
    for each in family:
        with contextlib.suppress(psutil.Error):
            each.kill()


def _descendants(pid: int) -> list[psutil.Process]:
    """The children of a process, their children and so on; none if ``/proc`` can't be read."""
    import psutil

    with contextlib.suppress(psutil.Error, OSError):
        return list(psutil.Process(pid).children(recursive=True))
    return []


class _Guard:
    """The guard of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def tell(self, sign: str, pid: int) -> None:
        """Add (``+``) or remove (``-``) a process that is to be killed with its family when we end."""
        with self._lock, contextlib.suppress(OSError):
            if self._process is None or self._process.poll() is not None:
                self._process = subprocess.Popen(
                    own_program(__name__),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    bufsize=0,
                    env=engine_environment(),
                    start_new_session=True,
                    creationflags=NEW_GROUP,
                )
            assert self._process.stdin is not None
            self._process.stdin.write(f"{sign}{pid}\n".encode())


guard = _Guard()


def _watch() -> None:
    """Be the guard: read ids from stdin, and kill these processes when its other end is closed, by us or the system."""
    guarded: set[int] = set()
    for line in sys.stdin:
        (guarded.add if line[0] == "+" else guarded.discard)(int(line[1:]))
    for pid in guarded:
        kill_family(pid)


if __name__ == "__main__":
    import psutil

    _watch()
