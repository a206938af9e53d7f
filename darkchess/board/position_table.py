"""A growing hash table of enemy halves in two regions, one for each of two threads; past a bound it keeps what has the
smallest keyed hash. What it holds does not depend on threads or on its size.

Its kernels, and which hash goes where: :mod:`darkchess.board.kernels.position_table`.
"""

from __future__ import annotations

import math

import numpy as np

from darkchess.board.kernels import position_table
from darkchess.board.kernels.halves import MOST_SUCCESSORS
from klss.support.arrays import Ints, Words
from klss.support.threads import each

__all__ = ["BUFFER", "HASHES", "PositionTable", "exercise_table", "smallest"]

LOAD = 0.75
"""Most a region is filled."""

SLACK = 1 << 18
"""Least number of entries beyond the cap before the table is cut back to it (or a quarter of the cap)."""

BUFFER = 1 << 16
"""Entries of a thread's buffer for each region."""

LEAST_HALF = 1 << 12
"""Least size of a region."""

LEAST_ROOM = 3 * MOST_SUCCESSORS
"""Room that a round needs: each of two threads goes on while its buffer can take one more source's successors."""

HASHES = 0xFFFF_FFFF_FFFF_FFFF
"""The largest hash."""


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
        self._threshold = HASHES - floor
        self._counts = np.zeros(2, dtype=np.int64)
        self._allocate(min(max(int(hint / (2 * LOAD)), LEAST_HALF), self._most_half))

    def _allocate(self, half: int) -> None:
        """Make ``slots``, all of them free."""
        self.half = half
        size = 2 * (half + position_table.SPILL)
        spare = self._spare
        if spare is not None and spare.shape[0] >= size:
            self.array, self.slots, self._spare = spare, spare[:size], None
            each(lambda region: self._region(region).fill(0), self._threads)
        else:
            self.array = self.slots = np.zeros((size, 2), dtype=np.uint64)  # the system clears what is touched
        self._set_scale()

    def _region(self, region: int) -> Words:
        middle = self.half + position_table.SPILL
        return self.slots[:middle] if region == 0 else self.slots[middle:]

    def _set_scale(self) -> None:
        lead = 64 - self._threshold.bit_length()
        top = (self._threshold << lead & HASHES) >> 32
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
        """Insert ``entries[:count]``, at most :attr:`room`; returns the argument of :meth:`add`, which follows."""
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
        # Each region by itself; they lie one after the other in the order of hashes.
        counts = [0, 0]

        def gather(region: int) -> None:
            counts[region] = int(position_table.gather(self._region(region), self.key))

        each(gather, self._threads)
        low, high = counts
        self.slots[low : low + high] = self._region(1)[:high]
        return low + high


def smallest(halves: Words, count: int, key: np.uint64) -> Ints:
    """Those of ``halves`` (uint64[n, 2]) with the smallest hash under ``key``: a draw without replacement.

    Returns
    -------
    int64[min(count, n)]
        Indices, in the order of that hash.
    """
    # By a threshold that some more than are wanted should pass; a larger one until enough do.
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
    """Let a small table with ``halves`` (uint64[n, 2]) in it grow, be cut, and be packed; and draw from it."""
    smallest(halves.copy(), 0, np.uint64(1))  # sets draw from what may be written to
    table = PositionTable(np.uint64(1), halves.shape[0], 0)
    table.add(table.insert(halves, halves.shape[0]))
    table.make_room()
    table._most_half = table.half
    table.make_room()
    table.finish()
