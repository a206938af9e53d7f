"""Find and end the processes that an engine left behind, when the program that ran the engine ends.

An engine is killed with its process group. A child with a session of its own (``setsid``) is in another group, and an
orphaned one (a daemon) gets another parent. A *subreaper* becomes that parent, so that such a process stays among the
program's descendants and is found there (Linux, prctl(2)). Only a program may make itself a subreaper; a library must
not.

Limits: nothing is ended if the program itself is killed by SIGKILL (a guard then ends a match's engines, but not their
daemons). On systems other than Linux only an engine and its group end, on Windows the engine alone. A foreign engine
has all rights of the account that runs it; a container restricts them.
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
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

__all__ = [
    "APART", "adopt_orphans", "descendants", "end_descendants", "how_ended", "kill_family", "linux_call",
    "sigterm_as_ctrl_c",
]  # fmt: skip

_KILL: int = getattr(signal, "SIGKILL", signal.SIGTERM)
"""The signal that ends a process at once, in any state; on Windows SIGTERM does."""

APART: dict[str, Any] = {
    "start_new_session": True,
    "creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
}
"""For ``Popen``: a session of its own (on Windows a group), so that Ctrl-C in the terminal is not for the process."""

_PR_SET_CHILD_SUBREAPER = 36
_END_S = 2.0


class _Process(NamedTuple):
    """A line of the process table."""

    pid: int
    parent: int
    session: int
    dead: bool


def adopt_orphans() -> None:
    """Make this process the parent of orphans among its descendants; does nothing on systems without the call."""
    linux_call("prctl", _PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


@contextlib.contextmanager
def sigterm_as_ctrl_c() -> Iterator[None]:
    """Let SIGTERM interrupt the block like Ctrl-C, so that the block ends what it started and keeps what it has."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)


def linux_call(function: str, *arguments: int) -> None:
    """Call a function of Linux's C library; does nothing on other systems, or if there is no such function."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            getattr(ctypes.CDLL(None), function)(*arguments)


def end_descendants() -> list[int]:
    """End this process's descendants in other sessions (engines, their children and daemons); return their ids."""
    ended: list[int] = []
    if not hasattr(os, "getsid"):  # such a system has no process table to read either
        return ended
    session, until = os.getsid(0), time.monotonic() + _END_S
    while time.monotonic() < until:
        left = [each for each in _descendants(os.getpid()) if each.session != session]
        alive = [each.pid for each in left if not each.dead]
        for pid in alive:
            _kill(pid)
        for each in left:  # reap those that are our children by now; the others' parents are in ``left`` too
            with contextlib.suppress(ChildProcessError):
                os.waitpid(each.pid, os.WNOHANG)
        ended += [pid for pid in alive if pid not in ended]
        if not alive:
            break
        time.sleep(0.01)
    return ended


def kill_family(process: subprocess.Popen[Any]) -> None:
    """Kill a child process, its process group, and its descendants in any session."""
    family = descendants(process.pid)
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, _KILL)
    else:
        process.kill()
    for pid in family:
        _kill(pid)


def how_ended(process: subprocess.Popen[Any]) -> str | None:
    """The exit code or signal of a child process that has ended, as a text; None while it runs.

    The child is not reaped, so that no other process can get its id, which is also its group's. On macOS before Python
    3.13 it has to be reaped; there its id could go to a new group leader before :func:`kill_family` is called, which is
    very unlikely. Windows keeps an id for as long as we hold the process.
    """
    if not hasattr(os, "waitid"):
        code = process.poll()
        return None if code is None else f" (signal {-code})" if code < 0 else f" (exit code {code})"
    try:
        status = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # reaped by somebody else
        return ""
    if status is None:
        return None
    return f" ({'exit code' if status.si_code == os.CLD_EXITED else 'signal'} {status.si_status})"


def descendants(pid: int) -> list[int]:
    """The ids of the children of ``pid``, their children and so on; empty on systems without ``/proc``."""
    return [each.pid for each in _descendants(pid) if not each.dead]


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, _KILL)


def _descendants(pid: int) -> Iterator[_Process]:
    """The children of ``pid``, their children and so on, as the process table has them now."""
    children: dict[int, list[_Process]] = {}
    for process in _processes():
        children.setdefault(process.parent, []).append(process)
    waiting = [pid]
    while waiting:
        found = children.pop(waiting.pop(), [])
        waiting += [each.pid for each in found]
        yield from found


def _processes() -> Iterator[_Process]:
    """The process table; empty if there is no ``/proc`` like Linux's."""
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError):
            # pid (name, which may hold anything) state ppid pgrp session …
            state, parent, _, session, *_ = entry.read_bytes().rpartition(b")")[2].split()
            yield _Process(int(entry.parent.name), int(parent), int(session), state in (b"Z", b"X"))
