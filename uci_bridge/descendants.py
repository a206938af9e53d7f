"""Processes that an engine left behind: found and ended when the program that ran the engine ends.

An engine is killed with its process group. What it put into a session of its own (``setsid``) is in another group, and
what it also orphaned (a daemon) has another parent: a *subreaper* becomes that parent, so that such a process stays
among the program's descendants and is found there (Linux, prctl(2)). A program takes that upon itself for its own
children only; a library must not.

What this can't do: nothing is ended where the program itself is killed by SIGKILL (a match's engines have a guard then,
their daemons none), or on a system other than Linux. Whoever runs a foreign engine runs it with all the rights that he
has; a container takes them away.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["adopt_orphans", "descendants", "end_descendants", "kill_family"]

_PR_SET_CHILD_SUBREAPER = 36
_END_S = 2.0


class _Process(NamedTuple):
    """A line of the process table."""

    pid: int
    parent: int
    session: int
    dead: bool


def adopt_orphans() -> None:
    """From now on the orphans among this process's descendants become its children; nothing where that can't be."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_descendants() -> list[int]:
    """End this process's descendants in other sessions than its own: engines, their children, their daemons.

    Returns
    -------
    list of int
        Their ids.
    """
    ended: list[int] = []
    session, until = os.getsid(0), time.monotonic() + _END_S
    while time.monotonic() < until:
        left = [each for each in _descendants(os.getpid()) if each.session != session]
        alive = [each.pid for each in left if not each.dead]
        for pid in alive:
            _kill(pid)
        for each in left:  # those that are our children by now; the others' parents are among them
            with contextlib.suppress(ChildProcessError):
                os.waitpid(each.pid, os.WNOHANG)
        ended += [pid for pid in alive if pid not in ended]
        if not alive:
            break
        time.sleep(0.01)
    return ended


def kill_family(pid: int) -> None:
    """Kill a child of ours that was not reaped yet, its process group, and its descendants, in whatever session."""
    family = [each.pid for each in _descendants(pid)]
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    for each in family:
        _kill(each)


def descendants(pid: int) -> list[int]:
    """The ids of the children of ``pid``, their children and so on; empty where the system does not tell."""
    return [each.pid for each in _descendants(pid) if not each.dead]


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


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
    """The process table; empty where there is no ``/proc`` of Linux's shape."""
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError):
            # pid (name, which may hold anything) state ppid pgrp session …
            state, parent, _, session, *_ = entry.read_bytes().rpartition(b")")[2].split()
            yield _Process(int(entry.parent.name), int(parent), int(session), state in (b"Z", b"X"))
