"""Work for several threads: kernels release the interpreter's lock, so that they run in parallel."""

from __future__ import annotations

import itertools
import os
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TypeAlias

from klss.support.configuration_text import ConfigurationError

MOST = 16
"""Most threads that are of use: beyond it, what one thread does alone takes most of the time."""

VARIABLE = "KLSS_THREADS"
"""The environment variable that limits the threads of a process."""

_Jobs: TypeAlias = "queue.SimpleQueue[tuple[Callable[[], None], threading.Lock, list[BaseException]]]"

_here = threading.local()
"""``alone``: whether this thread does all work itself."""


games_at_a_time = 1
"""Number of games at a time for which this process starts engines, which then share the cores."""


def usual() -> int:
    """Return the threads of a player that does not say how many: by the environment, or one for each core.

    Raises ConfigurationError: the environment has no number of threads.
    """
    given = os.environ.get(VARIABLE, "")
    if given and not (given.isdecimal() and len(given) < 10 and int(given)):
        raise ConfigurationError(f"{VARIABLE}: got {given!r}, expected a number of threads from 1 to {MOST}")
    return min(MOST, int(given) if given else _cores())


@cache
def _cores() -> int:
    """Return the number of cores that this process may use: those of its affinity, or a container's share of them."""
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    # A control group's microseconds of processor time in each period ("max" or −1: no limit), in both versions.
    for files in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        with suppress(OSError, ValueError):
            texts = [Path("/sys/fs/cgroup", file).read_text() for file in files]
            quota, period = map(int, " ".join(texts).split())
            found = min(found, -(-quota // period)) if quota > 0 else found
    return found


@contextmanager
def alone() -> Iterator[None]:
    """Let this thread do all work of :func:`share` itself, and leave the other threads to others."""
    before = getattr(_here, "alone", False)
    _here.alone = True
    try:
        yield
    finally:
        _here.alone = before


def at_hand(threads: int) -> int:
    """Return how many of ``threads`` threads :func:`share` would use here."""
    return 1 if getattr(_here, "alone", False) else threads


def _help(jobs: _Jobs) -> None:
    """Do the jobs of a queue for ever. Whoever acquires a job's lock does it: the helper, or else the thread that
    shared the work, which then has nothing left to do.
    """
    with alone():
        while True:
            work, lock, raised = jobs.get()
            if lock.acquire(blocking=False):
                try:
                    work()
                except BaseException as error:
                    raised.append(error)
                finally:
                    lock.release()
            del work, lock, raised  # otherwise the objects would live until the next job


@cache
def _helper(process: int, number: int) -> _Jobs:
    """Return the queue of a helping thread of this process (by its id, because a fork inherits the object without the
    thread), which starts here. It is a daemon, so that the process does not wait for it at its end.
    """
    jobs: _Jobs = queue.SimpleQueue()
    threading.Thread(target=_help, args=(jobs,), name="helper", daemon=True).start()
    return jobs


def share(task: Callable[[int], object], pieces: int, threads: int, beside: Callable[[], object] | None = None) -> None:
    """Run ``task(0)`` … ``task(pieces - 1)`` on at most ``threads`` threads; each takes the next piece until none is
    left. This thread is one of them, once it has run ``beside``. Within a task, and if this thread is :func:`alone`,
    it does everything itself.

    Ctrl-C can't leave a thread waiting for another: only locks and queues implemented in C are used, because an
    exception at the wrong moment can leave one of Python's locked.
    """
    turn = itertools.count()  # next() is atomic in the interpreter, so no two threads get the same piece
    raised: list[BaseException] = []

    def work() -> None:
        while (piece := next(turn)) < pieces:
            task(piece)

    locks = [threading.Lock() for _ in range(min(at_hand(threads), pieces + (beside is not None)) - 1)]
    with alone():
        try:
            for number, lock in enumerate(locks):
                _helper(os.getpid(), number).put((work, lock, raised))
            if beside is not None:
                beside()
            work()
        finally:
            for lock in locks:
                lock.acquire()
    if raised:
        raise raised[0]
