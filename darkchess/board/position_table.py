"""A growing hash table of enemy halves, which several threads fill at once. Past a bound it keeps the entries with the
smallest keyed hash. Its contents do not depend on the number of threads or on its size.

:mod:`darkchess.board.kernels.position_table` has its kernels and the rule by which a hash gets its slot.
"""

from __future__ import annotations

import math

import numpy as np

from darkchess.board.kernels import position_table
from darkchess.board.kernels.halves import MOST_SUCCESSORS
from klss.support.arrays import Ints, Words
from klss.support.threads import share

LOAD = 0.75
"""Greatest load: with linear probing, runs of filled slots get long beyond it."""

SLACK = 1 << 18
"""Entries that the table may hold beyond the cap before it is cut back to it, at least (else a quarter of the cap): a
cut goes through the whole table, so it must be rare.
"""

BUFFER = 1 << 14
"""Entries of a thread's buffer: few enough for its cache."""

LEAST_SIZE = 1 << 12
"""Smallest number of slots."""

HASHES = 0xFFFF_FFFF_FFFF_FFFF
"""The largest hash."""


class PositionTable:
    """A growing set of enemy halves, which keeps at most ``cap`` of them: those with the smallest keyed hash.

    Parameters
    ----------
    key
        Key of the hash.
    cap
        Most entries that are wanted.
    hint
        Number of entries that are expected.
    spare
        An array to use if it is large enough, uint64[·, 2]; its contents are lost.
    threads
        Most threads.
    floor
        Smallest hash that is wanted.

    Attributes
    ----------
    layout
        The rule by which a hash gets its slot.
    cut
        Whether entries were dropped because of the cap.
    """

    def __init__(
        self, key: np.uint64, cap: int, hint: int, spare: Words | None = None, threads: int = 1, floor: int = 0
    ) -> None:
        self.key = key
        self.cap = cap
        self._threads = threads
        self._floor = floor
        self.cut = False
        # A full table has room for the cap and the slack at the greatest load.
        self._most_size = int((cap + max(cap // 4, SLACK)) / LOAD) + LEAST_SIZE
        self._spare = spare
        self._threshold = HASHES - floor
        self._allocate(min(max(int(hint / LOAD), LEAST_SIZE), self._most_size))

    def _allocate(self, size: int) -> None:
        """Make ``slots``, all of them free, in the spare array if it fits."""
        self._size = size
        self._counts = [0] * self._threads  # new entries of each thread
        slots = size + position_table.SPILL
        spare = self._spare
        if spare is not None and spare.shape[0] >= slots:
            self.array, self.slots, self._spare = spare, spare[:slots], None
            share(lambda part: self._part(self.slots, part).fill(0), self._threads, self._threads)
        else:
            self.array = self.slots = np.zeros((slots, 2), dtype=np.uint64)  # the system clears pages when first used
        self._set_scale()

    def _part(self, slots: Words, part: int) -> Words:
        """Return one of as many equal parts of ``slots`` as there are threads."""
        return slots[len(slots) * part // self._threads : len(slots) * (part + 1) // self._threads]

    def _set_scale(self) -> None:
        # Spread the hashes up to the threshold over all slots, in integers: see ``kernels.position_table._home``.
        lead = 64 - self._threshold.bit_length()
        top = (self._threshold << lead & HASHES) >> 32
        scale = (self._size << 32) // (top + 1)
        self.layout = position_table.Layout(
            self.key, np.uint64(self._floor), np.uint64(self._threshold), np.uint64(lead), np.uint64(scale)
        )

    def __len__(self) -> int:
        return sum(self._counts)

    @property
    def room(self) -> int:
        """Number of further entries that fit for certain."""
        return int(self._size * LOAD) - len(self)

    @property
    def scarce(self) -> bool:
        """Whether :meth:`make_room` should be called before the next round."""
        # Each thread continues while there is room for one more source's successors. A small table grows when an eighth
        # of it is left, a large one when the threads' full buffers might not fit.
        least = self._threads * MOST_SUCCESSORS
        return self.room < max(least, min(4 * self._threads * BUFFER, int(self._size * LOAD) // 8))

    def insert(self, entries: Words, count: int, thread: int = 0) -> None:
        """Insert those of ``entries[:count]``, at most :attr:`room`, that have a slot; several threads may do so."""
        new = position_table.insert(entries, count, self.slots, self.layout)
        assert new >= 0, "the position table's spill room is exhausted"
        self._counts[thread] += new

    def make_room(self, done: float = 1.0) -> None:
        """Grow; or, at full size, keep the ``cap`` entries with the smallest keyed hash.

        ``done`` is the part of the work that produced the present entries: the table grows twofold to eightfold, by
        what the rest may bring.
        """
        if self._size < self._most_size:
            old = self.slots
            growth = min(max(2.0, done**-0.8), 8.0)
            self._allocate(min(int(growth * self._size), self._most_size))

            def rehash(part: int) -> None:
                entries = self._part(old, part)
                self.insert(entries, len(entries), part)

            share(rehash, self._threads, self._threads)
        else:
            self.cut = True
            count = min(self._gather(), self.cap)
            # Entries with a larger hash than the last one's would be dropped later anyway, so they no longer get slots.
            self._threshold = self.hash_of(self.slots[count - 1]) - self._floor
            self._set_scale()
            position_table.spread(self.slots, count, self.layout)
            self._counts = [count] + [0] * (self._threads - 1)

    def hash_of(self, entry: Words) -> int:
        """Return the keyed hash of an entry (uint64[2])."""
        return int(position_table.half_hash(entry[0], entry[1], self.key))

    def finish(self) -> Words:
        """Return the entries in canonical order, at most ``cap``. They are the front of :attr:`array`, and the table is
        no longer usable.
        """
        count = self._gather()
        if count > self.cap:
            self.cut = True
            count = self.cap
        return self.slots[:count]

    def _gather(self) -> int:
        """Pack the entries to the front in canonical order; return how many there are."""
        counts = [0] * self._threads

        def gather(number: int) -> None:
            part = self._part(self.slots, number)
            counts[number] = int(position_table.gather(part, 0, len(part), 0, self.key))

        # Each part by itself, then part after part: probing may have displaced entries into the next one.
        share(gather, self._threads, self._threads)
        end = counts[0]
        for number in range(1, self._threads):
            start = len(self.slots) * number // self._threads
            end = int(position_table.gather(self.slots, start, start + counts[number], end, self.key))
        return end


def smallest(halves: Words, count: int, key: np.uint64) -> Ints:
    """Return those of ``halves`` (uint64[n, 2]) with the smallest hash under ``key``: a draw without replacement.

    Returns
    -------
    int64[min(count, n)]
        Indices, in the order of that hash.
    """
    # Sort only the hashes below a threshold that some more than ``count`` should pass (about eight standard deviations
    # more). Double it in the rare case that too few pass, or more than there is room for.
    size = halves.shape[0]
    count = min(count, size)
    wanted = count + 8 * math.isqrt(count) + 64
    while True:
        everything = wanted >= size
        threshold = HASHES if everything else wanted * (HASHES // size)
        room = size if everything else 2 * wanted
        indices, hashes = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.uint64)
        found = int(position_table.select(halves, key, np.uint64(threshold), indices, hashes))
        if count <= found <= room:
            break
        wanted *= 2
    order = np.lexsort((*halves[indices[:found]].T, hashes[:found]))
    return indices[order[:count]]


def exercise_table(halves: Words) -> None:
    """Compile the table's kernels: fill a small table with ``halves`` (uint64[n, 2]); grow, cut, pack it; draw."""
    smallest(halves.copy(), 0, np.uint64(1))  # a copy, since sets draw from writable arrays: another numba type
    table = PositionTable(np.uint64(1), halves.shape[0], 0)
    table.insert(halves, halves.shape[0])
    table.make_room()
    table._most_size = table._size
    table.make_room()
    table.finish()
