"""The step of a position set across an enemy move: batches of successors into one hash table, by one thread or two.

Rounds of two phases: every thread writes the successors of its share of the sources into buffers, then every thread
inserts what belongs to its region of the table. Between rounds the table grows or, past the cap, drops what has the
largest keyed hash; and a deadline may end the step. What results does not depend on threads, buffers or the table's
size (see :mod:`darkchess.belief._kernels.position_table`), unless a deadline ended it.

A streamed step makes all successors again for each slice of their hashes, so that the table need hold one slice only:
slower, but the memory is that of the sources, of the result and of :data:`SLICE` entries.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from darkchess.belief._kernels import position_set, position_table
from darkchess.board.kernels.tables import TABLES
from darkchess.threads import both, each
from klss.arrays import Ints, Words

__all__ = [
    "PositionTable",
    "Progress",
    "Step",
    "Words",
    "across_enemy_move",
    "exercise_table",
    "merged",
]  # fmt: skip


Progress = Callable[[float, int], None]
"""Called after every round with the part of a step that is done, and how many positions it has found."""

LOAD = 0.75
"""Most a region is filled."""

SLACK = 1 << 18
"""Least number of entries beyond the cap before the table is cut back to it (or a quarter of the cap)."""

BUFFER = 1 << 16
"""Entries of a thread's buffer for each region."""

SLICE = 1 << 24
"""Entries of a slice."""

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
    floor
        Least hash of what is wanted.

    Attributes
    ----------
    layout
        Which hash goes where.
    cut
        Whether something was dropped because of the bound.
    """

    def __init__(
        self, key: np.uint64, cap: int, hint: int, spare: Words | None = None, threads: int = 1, floor: int = 0
    ) -> None:
        self.key = key
        self.cap = cap
        self._threads = threads
        self._floor = floor
        self.cut = False
        self._most_half = int((cap + max(cap // 4, SLACK)) / (2 * LOAD)) + LEAST_HALF
        self._spare = spare
        self._threshold = _ALL - floor
        self._counts = np.zeros(2, dtype=np.int64)
        self._allocate(min(max(int(hint / (2 * LOAD)), LEAST_HALF), self._most_half))
        each(lambda region: self._region(region).fill(0), threads)

    def _allocate(self, half: int) -> None:
        size = 2 * (half + position_table.SPILL)
        if self._spare is not None and self._spare.shape[0] >= size:
            self.array, self._spare = self._spare, None
        else:
            self.array = np.empty((size, 2), dtype=np.uint64)
        self.slots = self.array[:size]
        self.half = half
        self._set_scale()

    def _region(self, region: int) -> Words:
        middle = self.half + position_table.SPILL
        return self.slots[:middle] if region == 0 else self.slots[middle:]

    def _set_scale(self) -> None:
        lead = 64 - self._threshold.bit_length()
        top = (self._threshold << lead & _ALL) >> 32
        scale = (2 * self.half << 32) // (top + 1)
        self.layout = position_table.Layout(
            self.key, np.uint64(self._floor), np.uint64(self._threshold), np.uint64(lead), np.uint64(scale), self.half
        )

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

    def insert(self, entries: Words, count: int) -> Ints:
        """Insert ``entries[:count]``, at most :attr:`room`; returns what :meth:`add` wants to be told afterwards."""
        new = np.zeros(2, dtype=np.int64)
        left = position_table.insert(entries, count, self.slots, self.layout, new)
        assert left == 0, "the position table's spill room is exhausted"
        return new

    def add(self, new: Ints) -> None:
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
            position_table.rehash(old, self.slots, self.layout, self._counts)
        else:
            self.cut = True
            count = min(self._gather(), self.cap)
            self._threshold = self.hash_of(self.slots[count - 1]) - self._floor
            self._set_scale()
            position_table.spread(self.slots, count, self.layout, self._counts)

    def hash_of(self, entry: Words) -> int:
        """The keyed hash of an entry (uint64[2])."""
        return int(position_table.half_hash(entry[0], entry[1], self.key))

    def finish(self) -> Words:
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

        each(gather, self._threads)
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

    positions: Words
    array: Words
    successors: int
    capped_by: Literal["cap", "time"] | None


def across_enemy_move(
    sources: Words,
    masks: Words,
    expected: Ints,
    *,
    key: np.uint64,
    cap: int,
    spare: Words | None = None,
    deadline: float | None = None,
    threads: int = 1,
    stream: bool = False,
    progress: Progress | None = None,
) -> Step:
    """Every position that an enemy move from ``sources`` leads to and that agrees with the view behind ``masks``.

    Parameters
    ----------
    sources
        uint64[n, 2], in an order that has nothing to do with what is likely: a deadline keeps the successors of the
        first ones.
    masks, expected
        See :mod:`darkchess.belief._kernels.position_set`.
    key, cap, spare
        See :class:`PositionTable`.
    deadline
        A moment of :func:`time.monotonic`; None reads no clock. The step goes on past it until it has found a position.
    threads
        1 or 2.
    stream
        Whether to go slice by slice. A deadline then keeps the slices that were finished in time.
    progress
        See :data:`Progress`.
    """
    count = sources.shape[0]
    threads = threads if count >= ALONE else 1
    hint = min(512 * count, max(1 << 16, 6 * count))
    if deadline is not None:
        # No larger than what can be found in time: fresh memory costs time too.
        hint = min(hint, max(1 << 16, int((deadline - time.monotonic()) * _FOUND_PER_S)))
    if not stream:
        table = PositionTable(key, cap, hint, spare, threads)
        produced, late = _fill(table, sources, masks, expected, deadline, threads, progress)
        positions = table.finish()
        return Step(positions, table.array, produced, "time" if late else "cap" if table.cut else None)
    whole = np.empty((cap, 2), dtype=np.uint64)  # the system gives memory to what is written only
    size, floor, produced = 0, 0, 0
    capped_by: Literal["cap", "time"] | None = None
    while True:
        bound = min(SLICE, cap - size)
        table = PositionTable(key, bound, hint, spare, threads, floor)
        made, late = _fill(table, sources, masks, expected, deadline, threads, _of_slice(progress, floor, size))
        produced = produced or made
        found = table.finish()
        more = table.cut and bound < cap - size
        if late and size:
            found = found[:0]
        elif more:  # another entry with the last one's hash may have been dropped: the next slice begins with it
            floor = table.hash_of(found[-1])
            kept = found.shape[0] - 1
            while kept and table.hash_of(found[kept - 1]) == floor:
                kept -= 1
            found = found[:kept]
        whole[size : size + found.shape[0]] = found
        size += found.shape[0]
        spare = table.array
        if late or not more:
            capped_by = "time" if late else "cap" if table.cut else None
            break
    whole.resize((size, 2), refcheck=False)
    return Step(whole, whole, produced, capped_by)


def _of_slice(progress: Progress | None, floor: int, before: int) -> Progress | None:
    """What a pass for one slice tells: of all hashes, those below ``floor`` are done, with ``before`` positions."""
    if progress is None:
        return None
    return lambda share, found: progress(floor / _ALL, before + found)


def _fill(
    table: PositionTable,
    sources: Words,
    masks: Words,
    expected: Ints,
    deadline: float | None,
    threads: int,
    progress: Progress | None,
) -> tuple[int, bool]:
    """Put the consistent successors of ``sources`` into ``table``; see :func:`across_enemy_move`.

    Returns how many there were (those that the table has no slot for included), and whether the deadline ended it.
    """
    count = sources.shape[0]
    buffers = np.empty((threads, 2, BUFFER if count > 200 else 320 * (count + 1), 2), dtype=np.uint64)
    share = -(-count // threads)
    cursors = [min(share * thread, count) for thread in range(threads)]
    starts = list(cursors)
    stops = [*cursors[1:], count]
    counts = np.zeros((threads, _APART), dtype=np.int64)[:, :3]
    news = [np.zeros(2, dtype=np.int64)] * threads
    produced = 0

    def generate(thread: int) -> None:
        cursors[thread] = position_set.successors(
            sources, cursors[thread], stops[thread], masks, expected, TABLES, table.layout, threads == 2,
            buffers[thread], room, counts[thread],
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
            return produced, True
        treated = sum(cursors) - sum(starts)
        while table.scarce:
            table.make_room(max(treated, 1) / count if deadline is None else 1.0)
        room = min(table.room // threads, buffers.shape[2])
        counts[:] = 0
        both(generate, threads)
        both(insert, threads)
        for new in news:
            table.add(new)
        produced += int(counts[:, 2].sum())
        if progress is not None:
            progress(treated / count, len(table))
    return produced, False


def merged(halves: Words, *, key: np.uint64, cap: int) -> Step:
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


def exercise_table(halves: Words) -> None:
    """Let a small table with ``halves`` (uint64[n, 2]) in it grow, be cut, and be packed."""
    table = PositionTable(np.uint64(1), halves.shape[0], 0)
    table.add(table.insert(halves, halves.shape[0]))
    table.make_room()
    table._most_half = table.half
    table.make_room()
    table.finish()
