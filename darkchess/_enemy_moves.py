"""The step of a position set across an enemy move: batches of successors into one hash table, by one thread or two.

Rounds of two phases: every thread writes the successors of its share of the sources into buffers, then every thread
inserts what belongs to its region of the table. Between rounds the table grows or, past the cap, drops what has the
largest keyed hash; and a deadline may end the step. What results does not depend on threads, buffers or the table's
size (see :mod:`darkchess._kernels.position_table`), unless a deadline ended it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from darkchess._kernels import position_set, position_table
from darkchess._kernels.tables import TABLES

__all__ = ["Halves", "PositionTable", "Step", "across_enemy_move", "merged"]

Halves = npt.NDArray[np.uint64]
"""Enemy halves: uint64[n, 2], occupancy and codes."""

LOAD = 0.75
"""Most a region is filled."""

SLACK = 1 << 18
"""Least number of entries beyond the cap before the table is cut back to it (or a quarter of the cap)."""

BUFFER = 1 << 16
"""Entries of a thread's buffer for each region."""

LEAST_HALF = 1 << 12
"""Least size of a region."""

LEAST_ROOM = 3 * position_set.MOST_SUCCESSORS
"""Room that a round needs: each of two threads goes on while its buffer can take one more source's successors."""

_APART = 64
"""Columns between what two threads count: each writes at every successor, and cache lines that they shared would
travel between the cores each time (they made two threads as slow as one).
"""

ALONE = 1 << 14
"""Below this many sources a second thread costs more than it brings."""

_ALL = 0xFFFF_FFFF_FFFF_FFFF
_GATHER_S = 40e-9
"""Time to pack one entry at the end of a step, on a busy machine: kept back from a deadline."""

_FOUND_PER_S = 4_000_000
"""New positions that a step may find in a second; only the table's first size depends on it."""

_MAKE_ROOM_S = 200e-9
"""Time to move one entry when the table grows or is cut, and to pack it afterwards."""


class PositionTable:
    """A growing set of enemy halves that holds at most a bound, the ones with the smallest keyed hash.

    Parameters
    ----------
    key
        Keys the hash.
    cap
        How many entries are wanted at most.
    hint
        How many are expected.
    spare
        An array to build in if it is large enough, uint64[·, 2]; its contents are lost.
    threads
        1 or 2.
    """

    def __init__(self, key: np.uint64, cap: int, hint: int, spare: Halves | None = None, threads: int = 1) -> None:
        self.key = key
        self.cap = cap
        self._threads = threads
        self.cut = False
        self._most_half = int((cap + max(cap // 4, SLACK)) / (2 * LOAD)) + LEAST_HALF
        self._spare = spare
        self._threshold = _ALL
        self._counts = np.zeros(2, dtype=np.int64)
        self._allocate(min(max(int(hint / (2 * LOAD)), LEAST_HALF), self._most_half))
        _each(lambda region: self._region(region).fill(0), threads)

    def _allocate(self, half: int) -> None:
        size = 2 * (half + position_table.SPILL)
        if self._spare is not None and self._spare.shape[0] >= size:
            self.array, self._spare = self._spare, None
        else:
            self.array = np.empty((size, 2), dtype=np.uint64)
        self.slots = self.array[:size]
        self.half = half
        self._set_scale()

    def _region(self, region: int) -> Halves:
        middle = self.half + position_table.SPILL
        return self.slots[:middle] if region == 0 else self.slots[middle:]

    def _set_scale(self) -> None:
        lead = 64 - self._threshold.bit_length()
        top = (self._threshold << lead & _ALL) >> 32
        self.lead = np.uint64(lead)
        self.scale = np.uint64((2 * self.half << 32) // (top + 1))
        self.threshold = np.uint64(self._threshold)

    def __len__(self) -> int:
        return int(self._counts.sum())

    @property
    def room(self) -> int:
        """How many more entries are sure to find room, whatever their hashes."""
        return int(self.half * LOAD) - int(self._counts.max())

    @property
    def scarce(self) -> bool:
        """Whether it is time for :meth:`make_room`."""
        return self.room < max(LEAST_ROOM, min(2 * BUFFER, int(self.half * LOAD) // 8))

    def insert(self, entries: Halves, count: int) -> npt.NDArray[np.int64]:
        """Insert ``entries[:count]``, at most :attr:`room`; returns what :meth:`add` wants to be told afterwards."""
        new = np.zeros(2, dtype=np.int64)
        left = position_table.insert(entries, count, self.slots, self.key, self.lead, self.scale, self.half, new)
        assert left == 0, "the position table's spill room is exhausted"
        return new

    def add(self, new: npt.NDArray[np.int64]) -> None:
        """Count what :meth:`insert` put; by one thread only."""
        self._counts += new

    def make_room(self, done: float = 1.0) -> None:
        """Grow; or, at the bound, keep the ``cap`` entries with the smallest keyed hash.

        ``done`` is the part of the work that brought what the table holds: it grows twofold to eightfold, towards what
        the rest may bring.
        """
        if self.half < self._most_half:
            old = self.slots
            growth = min(max(2.0, done**-0.8), 8.0)
            self._allocate(min(int(growth * self.half), self._most_half))
            position_table.rehash(old, self.slots, self.key, self.lead, self.scale, self.half, self._counts)
        else:
            self.cut = True
            count = min(self._gather(), self.cap)
            last = self.slots[count - 1]
            self._threshold = int(position_table.half_hash(last[0], last[1], self.key))
            self._set_scale()
            position_table.spread(self.slots, count, self.key, self.lead, self.scale, self.half, self._counts)

    def finish(self) -> Halves:
        """The entries in canonical order, at most ``cap``: the front of :attr:`array`, so the table ends here."""
        count = self._gather()
        if count > self.cap:
            self.cut = True
            count = self.cap
        return self.slots[:count]

    def _gather(self) -> int:
        """Pack the entries to the front in canonical order; returns how many there are."""
        counts = [0, 0]

        def gather(region: int) -> None:
            counts[region] = int(position_table.gather(self._region(region), self.key))

        _each(gather, self._threads)
        low, high = counts
        self.slots[low : low + high] = self._region(1)[:high]
        return low + high


@dataclass(frozen=True)
class Step:
    """What a step gave.

    Attributes
    ----------
    positions
        Enemy halves in canonical order, the front of ``array``.
    array
        The array that holds them.
    successors
        Consistent (source, move) pairs, before duplicates merge.
    capped_by
        ``"time"`` when not all sources were treated, else ``"cap"`` when more positions than that were found; or None.
    """

    positions: Halves
    array: Halves
    successors: int
    capped_by: Literal["cap", "time"] | None


@cache
def _helper(process: int) -> ThreadPoolExecutor:
    """The second thread of this process (a fork would inherit a pool without its thread)."""
    return ThreadPoolExecutor(1, thread_name_prefix="position-set")


def _both(task: Callable[[int], object], threads: int) -> None:
    """Run ``task(0)``, and ``task(1)`` beside it when there are two threads."""
    other = _helper(os.getpid()).submit(task, 1) if threads == 2 else None
    try:
        task(0)
    finally:
        if other is not None:
            other.result()


def _each(task: Callable[[int], object], threads: int) -> None:
    """Run ``task(0)`` and ``task(1)``, side by side when there are two threads."""
    _both(task, threads)
    if threads == 1:
        task(1)


def across_enemy_move(
    sources: Halves,
    masks: npt.NDArray[np.uint64],
    expected: npt.NDArray[np.int64],
    *,
    key: np.uint64,
    cap: int,
    spare: Halves | None = None,
    deadline: float | None = None,
    threads: int = 1,
) -> Step:
    """Every position that an enemy move from ``sources`` leads to and that agrees with the view behind ``masks``.

    Parameters
    ----------
    sources
        uint64[n, 2], in an order that has nothing to do with what is likely: a deadline keeps the successors of the
        first ones.
    masks, expected
        See :mod:`darkchess._kernels.position_set`.
    key, cap, spare
        See :class:`PositionTable`.
    deadline
        A moment of :func:`time.monotonic`; None reads no clock. The step goes on past it until it has found a position.
    threads
        1 or 2.
    """
    count = sources.shape[0]
    threads = threads if count >= ALONE else 1
    hint = min(512 * count, max(1 << 16, 6 * count))
    if deadline is not None:
        # No larger than what can be found in time: fresh memory costs time too.
        hint = min(hint, max(1 << 16, int((deadline - time.monotonic()) * _FOUND_PER_S)))
    table = PositionTable(key, cap, hint, spare, threads)
    buffers = np.empty((threads, 2, BUFFER if count > 200 else 320 * (count + 1), 2), dtype=np.uint64)
    share = -(-count // threads)
    cursors = [min(share * thread, count) for thread in range(threads)]
    starts = list(cursors)
    stops = [*cursors[1:], count]
    counts = np.zeros((threads, _APART), dtype=np.int64)[:, :3]
    news = [np.zeros(2, dtype=np.int64)] * threads
    produced = 0
    capped_by: Literal["cap", "time"] | None = None

    def generate(thread: int) -> None:
        cursors[thread] = position_set.successors(
            sources, cursors[thread], stops[thread], masks, expected, TABLES, key, table.threshold, table.lead,
            table.scale, table.half, threads == 2, buffers[thread], room, counts[thread],
        )  # fmt: skip

    def insert(thread: int) -> None:
        new = np.zeros(2, dtype=np.int64)
        for writer in range(threads):
            new += table.insert(buffers[writer, thread], int(counts[writer, thread]))
        news[thread] = new

    def late(entry_s: float) -> bool:
        """Whether work of ``entry_s`` on each entry would pass the deadline; never before there is a position."""
        return deadline is not None and len(table) > 0 and time.monotonic() + len(table) * entry_s >= deadline

    while cursors != stops:
        if late(_MAKE_ROOM_S if table.scarce else _GATHER_S):
            capped_by = "time"
            break
        while table.scarce:
            treated = sum(cursors) - sum(starts) if deadline is None else count
            table.make_room(max(treated, 1) / count)
        room = min(table.room // threads, buffers.shape[2])
        counts[:] = 0
        _both(generate, threads)
        _both(insert, threads)
        for new in news:
            table.add(new)
        produced += int(counts[:, 2].sum())
    positions = table.finish()
    return Step(positions, table.array, produced, capped_by or ("cap" if table.cut else None))


def merged(halves: Halves, *, key: np.uint64, cap: int) -> Step:
    """``halves`` without duplicates, in canonical order, at most ``cap``; ``successors`` is their number."""
    count = halves.shape[0]
    table = PositionTable(key, cap, 2 * count)
    for start in range(0, count, BUFFER):
        while table.scarce:
            table.make_room()
        part = halves[start : start + BUFFER]
        while part.shape[0]:
            fitting = min(part.shape[0], table.room)
            table.add(table.insert(part, fitting))
            part = part[fitting:]
            while table.scarce:
                table.make_room()
    positions = table.finish()
    return Step(positions, table.array, count, "cap" if table.cut else None)
