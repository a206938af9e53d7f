"""Work for one thread or two: kernels release the interpreter's lock, so that two of them run side by side."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

__all__ = ["alone", "both", "each"]


_engaged = threading.Lock()
"""Held while the second thread is at work: whoever asks for it meanwhile, itself or the first, does both shares."""

_here = threading.local()
"""``alone``: whether this thread leaves the second one to others."""


@contextmanager
def alone() -> Iterator[None]:
    """Within it this thread does both shares itself, whatever :func:`both` is asked for."""
    _here.alone = True
    try:
        yield
    finally:
        _here.alone = False


class _Second:
    """The second thread of a process. A Ctrl-C can't leave it waiting for the first, nor the first for it: locks and
    queues of C alone, for of those of Python an exception in the wrong moment can leave one locked; and a daemon, so
    that nobody waits for it at the end.
    """

    def __init__(self) -> None:
        self._tasks: queue.SimpleQueue[tuple[Callable[[int], object], list[BaseException], threading.Lock]]
        self._tasks = queue.SimpleQueue()
        threading.Thread(target=self._run, name="second", daemon=True).start()

    def begin(self, task: Callable[[int], object]) -> tuple[list[BaseException], threading.Lock]:
        """Have ``task(1)`` run: what it raised, once the lock is free."""
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
                del task, raised, busy  # or what they hold would live until the next task


@cache
def _second(process: int) -> _Second:
    """That of this process: a fork would inherit one without its thread."""
    return _Second()


def both(task: Callable[[int], object], threads: int) -> None:
    """Run ``task(0)``, and ``task(1)`` beside it when there are two threads (after it, where there is no second one
    to be had: it is engaged, or this one is :func:`alone`).
    """
    if threads == 1:
        task(0)
    # Nobody waits for the second thread: where it is engaged, the first does both shares.
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
    """Run ``task(0)`` and ``task(1)``, side by side when there are two threads."""
    both(task, threads)
    if threads == 1:
        task(1)
