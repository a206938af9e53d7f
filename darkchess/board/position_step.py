"""The step of a position set across an enemy move: batches of successors go into one hash table, on several threads.

A step runs in rounds. In a round every thread treats some of its share of the sources: it writes successors into a
buffer and inserts them into the table, again and again. Between rounds the table grows or, past the cap, drops the
entries with the largest keyed hash; a deadline may end the step. The result does not depend on threads, buffers or the
table's size (see :mod:`darkchess.board.position_table`), unless a deadline ended it.

A streamed step generates all successors again for each slice of their hashes, so that the table needs room for one
slice only: slower, but it needs memory only for the sources, the result and :data:`SLICE` entries.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from darkchess.board import position_table
from darkchess.board.kernels.halves import MOST_SUCCESSORS
from darkchess.board.position_table import PositionTable
from klss.support.arrays import Ints, Words
from klss.support.threads import MOST, share

Successors = Callable[[Words, int, int, Words, int, Ints], int]
"""A game's kernel. ``(sources, start, stop, out, room, counts)`` writes every consistent successor of
``sources[start:stop]`` with :func:`darkchess.board.kernels.position_table.put` into ``out`` (uint64[·, 2]), from
``counts[0]`` on, which becomes their end. It returns the first source that it did not treat because less than
:data:`darkchess.board.kernels.halves.MOST_SUCCESSORS` entries of ``room`` were left, or ``stop``.
"""

_MASK = 0xFFFF_FFFF_FFFF_FFFF

SLICE = 1 << 24
"""Entries of a slice."""

_ROUND = 8
"""Buffers that a thread fills in a round: few enough for a deadline to be met."""

PART = 1 << 13
"""Fewest sources of a thread: with fewer it costs more than it saves."""

_GATHER_S = 40e-9
"""Time to pack one entry at the end of a step, in seconds on a busy machine; reserved before a deadline."""

_FOUND_PER_S = 4_000_000
"""New positions that a step may find in a second; only the table's first size depends on it."""

_MAKE_ROOM_S = 200e-9
"""Time to move one entry when the table grows or is cut, and to pack it afterwards, in seconds."""


@dataclass(frozen=True)
class Step:
    """Result of a step."""

    positions: Words  # enemy halves in canonical order, the front of ``array``
    array: Words  # the array that holds them
    successors: int  # consistent (source, move) pairs, before duplicates are merged
    # ``"time"`` if not all sources were treated, else ``"cap"`` if more positions than the cap were found, else None
    capped_by: Literal["cap", "time"] | None
    part: float = 1.0  # expected share of all consistent positions that was kept: 1 if nothing was left out


def key_of(number: int) -> np.uint64:
    """Return a key made from a number by SplitMix64; in plain integers, so that nothing is compiled for it in a game.

    The generator's first number from the seed 0:

    >>> hex(key_of(0))
    '0xe220a8397b1dcdaf'
    """
    value = (number + 0x9E3779B97F4A7C15) & _MASK
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    value = (value ^ value >> 27) * 0x94D049BB133111EB & _MASK
    return np.uint64(value ^ value >> 31)


def next_key(key: np.uint64) -> np.uint64:
    """Return the key of the step from a sample that was drawn by ``key``, or of its merge.

    Pieces often return to where they were. Under the same key such positions would be kept more often than others, and
    they would crowd into one part of the table, where each is sought among all before it.
    """
    return key_of(int(key))


def across_enemy_move(
    sources: Words,
    successors: Successors,
    *,
    key: np.uint64,
    cap: int,
    spare: Words | None = None,
    deadline: float | None = None,
    threads: int = 1,
    stream: bool = False,
    growth: int = 6,
) -> Step:
    """Return every position that an enemy move from ``sources`` leads to and that agrees with what was observed.

    Parameters
    ----------
    sources
        uint64[n, 2], in an order that is independent of likelihood: with a deadline, only the successors of the first
        sources are kept.
    successors
        Writes the consistent successors.
    key, cap, spare
        See :class:`darkchess.board.position_table.PositionTable`.
    deadline
        A moment of :func:`time.monotonic`; None reads no clock. The step continues past it until it finds a position.
    threads
        Most threads; the result is the same.
    stream
        Whether to go slice by slice. A deadline then keeps the slices that were finished in time.
    growth
        Expected number of positions for each source of a large set. Only the table's first size depends on it: a table
        that must grow costs more time and memory than one that is too large.
    """
    # The table's first size: large enough for most steps.
    count = sources.shape[0]
    threads = max(1, min(threads, MOST, count // PART))
    hint = min(512 * count, max(1 << 16, growth * count))
    if deadline is not None:
        # Room only for what can be found in time, since fresh memory costs time too.
        hint = int(min(hint, max(1 << 16, (deadline - time.monotonic()) * _FOUND_PER_S)))
    if not stream:
        table = PositionTable(key, cap, hint, spare, threads)
        produced, treated = _fill(table, sources, successors, deadline, threads)
        positions = table.finish()
        late = treated < count
        part = treated / max(1, count) * (_part_below(table, positions) if table.cut else 1.0)
        return Step(positions, table.array, produced, "time" if late else "cap" if table.cut else None, part)
    # Slice by slice: each is collected in the same table, then appended to ``whole``. The system grows a large array by
    # its pages, without copying it.
    whole = np.empty((0, 2), dtype=np.uint64)
    size, floor, produced = 0, 0, 0
    while True:
        first, bound = size == 0, min(SLICE, cap - size)
        table = PositionTable(key, bound, hint, spare, threads, floor)
        made, treated = _fill(table, sources, successors, deadline, threads)
        late = treated < count
        produced = produced or made
        found = table.finish()
        more = table.cut and bound < cap - size
        # A slice that was not finished in time is dropped, unless it is the first: its range of hashes has gaps. In a
        # full slice, an entry with the last one's hash may have been dropped, so the next slice begins with that hash.
        if late and not first:
            found = found[:0]
        elif more:
            floor = table.hash_of(found[-1])
            kept = found.shape[0] - 1
            while kept and table.hash_of(found[kept - 1]) == floor:
                kept -= 1
            found = found[:kept]
        whole.resize((size + found.shape[0], 2), refcheck=False)
        whole[size:] = found
        size += found.shape[0]
        spare = table.array
        if late or not more:
            break
    # These are the positions of all sources up to a hash or, late in the first slice, those of the treated sources.
    part = treated / count if late and first else 1.0
    if table.cut or (late and not first):
        part *= _part_below(table, whole)
    return Step(whole, whole, produced, "time" if late else "cap" if table.cut else None, part)


def _part_below(table: PositionTable, positions: Words) -> float:
    """Return the share of all entries that was kept, from the largest kept hash, since hashes are uniform."""
    return (table.hash_of(positions[-1]) + 1) / (position_table.HASHES + 1) if len(positions) else 0.0


def _fill(
    table: PositionTable,
    sources: Words,
    successors: Successors,
    deadline: float | None,
    threads: int,
) -> tuple[int, int]:
    """Put the consistent successors of ``sources`` into ``table``; see :func:`across_enemy_move`.

    Return the number of successors (also those without a slot in the table), and the number of treated sources: fewer
    than all if the deadline ended it.
    """
    count = sources.shape[0]
    # Each thread has its share of the sources and a buffer.
    size = min(max(MOST_SUCCESSORS, position_table.BUFFER), MOST_SUCCESSORS * (count + 1))
    starts = [count * thread // threads for thread in range(threads)]
    cursors = list(starts)
    stops = [*starts[1:], count]
    produced = [0] * threads

    def work(thread: int) -> None:
        buffer, made, left = np.empty((size, 2), dtype=np.uint64), np.zeros(1, dtype=np.int64), room
        while cursors[thread] != stops[thread] and left >= MOST_SUCCESSORS:
            made[0] = 0
            cursors[thread] = successors(sources, cursors[thread], stops[thread], buffer, min(left, size), made)
            table.insert(buffer, int(made[0]), thread)
            produced[thread] += int(made[0])
            left -= int(made[0])

    def late(entry_s: float) -> bool:
        """Whether ``entry_s`` seconds for each entry would pass the deadline; never while there is no position."""
        return deadline is not None and len(table) > 0 and time.monotonic() + len(table) * entry_s >= deadline

    while cursors != stops:
        treated = sum(cursors) - sum(starts)
        if late(_MAKE_ROOM_S if table.scarce else _GATHER_S):
            return sum(produced), treated
        # A round: make room for all that it may find.
        while table.scarce:
            table.make_room(max(treated, 1) / count if deadline is None else 1.0)
        room = min(table.room // threads, _ROUND * size)
        share(work, threads, threads)
    return sum(produced), count


def merged(halves: Words, *, key: np.uint64, cap: int) -> Step:
    """Return ``halves`` without duplicates, in canonical order, at most ``cap``; ``successors`` is the number given."""
    count = halves.shape[0]
    table = PositionTable(key, cap, 2 * count)
    start = 0
    while start < count:
        while table.scarce:
            table.make_room()
        stop = min(count, start + table.room)
        table.insert(halves[start:stop], stop - start)
        start = stop
    positions = table.finish()
    kept = _part_below(table, positions) if table.cut else 1.0
    return Step(positions, table.array, count, "cap" if table.cut else None, kept)
