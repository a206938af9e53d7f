"""Parallel worker processes that end with this one."""

from __future__ import annotations

import multiprocessing
import os
import threading
from concurrent.futures import ProcessPoolExecutor


def processes(workers: int) -> ProcessPoolExecutor:
    """A pool of ``workers`` spawned processes. They share no threads or locks with this one, and end at once if it is
    killed, even in the middle of a task.
    """
    return ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), initializer=_end_with_parent)


def _end_with_parent() -> None:
    """Make this process end at once when its parent does."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def wait() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, name="waits for the parent's end", daemon=True).start()
