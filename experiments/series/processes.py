"""Processes that work beside this one, and end with it."""

from __future__ import annotations

import multiprocessing
import os
import threading
from concurrent.futures import ProcessPoolExecutor

__all__ = ["processes"]


def processes(workers: int) -> ProcessPoolExecutor:
    """So many, newly spawned: they have nothing of this one's threads, and do not outlive it, not even to end what they
    are doing, where it is killed.
    """
    return ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), initializer=_end_with_parent)


def _end_with_parent() -> None:
    """See to it that this process ends when the one that started it does, whatever it is doing then."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def wait() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, name="waits for the parent's end", daemon=True).start()
