"""Work for one thread or two: kernels release the interpreter's lock, so that two of them run side by side."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
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


@cache
def _helper(process: int) -> ThreadPoolExecutor:
    """The second thread of this process (a fork would inherit a pool without its thread)."""
    return ThreadPoolExecutor(1, thread_name_prefix="second")


def both(task: Callable[[int], object], threads: int) -> None:
    """Run ``task(0)``, and ``task(1)`` beside it when there are two threads (after it, where there is no second one
    to be had: it is engaged, or this one is :func:`alone`).
    """
    if threads == 1:
        task(0)
    elif getattr(_here, "alone", False) or not _engaged.acquire(blocking=False):
        task(0)
        task(1)
    else:
        try:
            other = _helper(os.getpid()).submit(task, 1)
            try:
                task(0)
            finally:
                other.result()
        finally:
            _engaged.release()


def each(task: Callable[[int], object], threads: int) -> None:
    """Run ``task(0)`` and ``task(1)``, side by side when there are two threads."""
    both(task, threads)
    if threads == 1:
        task(1)
