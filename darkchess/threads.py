"""Work for one thread or two: kernels release the interpreter's lock, so that two of them run side by side."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

__all__ = ["both", "each"]


@cache
def _helper(process: int) -> ThreadPoolExecutor:
    """The second thread of this process (a fork would inherit a pool without its thread)."""
    return ThreadPoolExecutor(1, thread_name_prefix="second")


def both(task: Callable[[int], object], threads: int) -> None:
    """Run ``task(0)``, and ``task(1)`` beside it when there are two threads."""
    other = _helper(os.getpid()).submit(task, 1) if threads == 2 else None
    try:
        task(0)
    finally:
        if other is not None:
            other.result()


def each(task: Callable[[int], object], threads: int) -> None:
    """Run ``task(0)`` and ``task(1)``, side by side when there are two threads."""
    both(task, threads)
    if threads == 1:
        task(1)
