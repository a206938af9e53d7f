"""Processes that work beside this one, and end with it."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

from uci_bridge.match.pool import end_with_parent

__all__ = ["processes"]


def processes(workers: int) -> ProcessPoolExecutor:
    """So many, newly spawned: they have nothing of this one's threads, and do not outlive it, not even to end what they
    are doing, where it is killed.
    """
    return ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), initializer=end_with_parent)
