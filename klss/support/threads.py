"""Work for one thread or two: kernels release the interpreter's lock, so that two of them run in parallel."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

_engaged = threading.Lock()
"""Locked while the second thread is at work: a caller that asks for it meanwhile does both shares itself."""

_here = threading.local()
"""``alone``: whether this thread does not use the second one."""


@contextmanager
def alone() -> Iterator[None]:
    """Let this thread do both shares of :func:`both` itself, and leave the second thread to others."""
    _here.alone = True
    try:
        yield
    finally:
        _here.alone = False


class _Second:
    """The second thread of a process. Ctrl-C can't leave either thread waiting for the other: only locks and queues
    implemented in C are used, because an exception at the wrong moment can leave one of Python's locked. It is a
    daemon, so that the process does not wait for it at its end.
    """

    def __init__(self) -> None:
        self._tasks: queue.SimpleQueue[tuple[Callable[[int], object], list[BaseException], threading.Lock]]
        self._tasks = queue.SimpleQueue()
        threading.Thread(target=self._run, name="second", daemon=True).start()

    def begin(self, task: Callable[[int], object]) -> tuple[list[BaseException], threading.Lock]:
        """Start ``task(1)``; return a list that has its exception, if any, once the returned lock is free."""
        raised: list[BaseException] = []
        busy = threading.Lock()
        busy.acquire()
        self._tasks.put((task, raised, busy))
        return raised, busy

    def _run(self) -> None:
        while True:
            task, raised, busy = self._tasks.get()
            try:
                task(1)
            except BaseException as error:
                raised.append(error)
            finally:
                busy.release()
                del task, raised, busy  # otherwise the objects would live until the next task


@cache
def _second(process: int) -> _Second:
    """Return the second thread of this process, by its id, because a fork inherits the object without the thread."""
    return _Second()


def both(task: Callable[[int], object], threads: int) -> None:
    """Run ``task(0)``, and with two threads ``task(1)`` in parallel (or after it, if the second thread is at work or
    this one is :func:`alone`). With one thread ``task(1)`` is not run.
    """
    if threads == 1:
        task(0)
    # Do not wait for the second thread: if it is at work, do both shares here.
    elif getattr(_here, "alone", False) or not _engaged.acquire(blocking=False):
        task(0)
        task(1)
    else:
        try:
            raised, busy = _second(os.getpid()).begin(task)
            try:
                task(0)
            finally:
                busy.acquire()
            if raised:
                raise raised[0]
        finally:
            _engaged.release()


def each(task: Callable[[int], object], threads: int) -> None:
    """Run ``task(0)`` and ``task(1)``, in parallel with two threads."""
    both(task, threads)
    if threads == 1:
        task(1)
