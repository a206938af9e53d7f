"""The step of a position set across an enemy move: batches of successors into one hash table, by one thread or two.

Rounds of two phases: every thread writes the successors of its share of the sources into buffers, then every thread
inserts what belongs to its region of the table. Between rounds the table grows or, past the cap, drops what has the
largest keyed hash; and a deadline may end the step. What results does not depend on threads, buffers or the table's
size (see :mod:`darkchess.board.position_table`), unless a deadline ended it.

A streamed step makes all successors again for each slice of their hashes, so that the table need hold one slice only:
slower, but the memory is that of the sources, of the result and of :data:`SLICE` entries.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from darkchess.board import position_table
from darkchess.board.kernels.halves import MOST_SUCCESSORS
from darkchess.board.kernels.position_table import Layout
from darkchess.board.position_table import PositionTable
from klss.support.arrays import Ints, Words
from klss.support.threads import both

__all__ = ["Step", "Successors", "UpdateProgress", "across_enemy_move", "key_of", "merged", "next_key"]

Successors = Callable[[Words, int, int, Layout, bool, Words, int, Ints], int]
"""A game's kernel: ``(sources, start, stop, layout, split, out, room, counts)`` writes every consistent successor of
``sources[start:stop]`` with :func:`darkchess.board.kernels.position_table.put`, settles those of each source
(:func:`darkchess.board.kernels.position_table.settle`), and returns the first source that was not treated because fewer
than :data:`darkchess.board.kernels.halves.MOST_SUCCESSORS` entries were left of ``room``.
"""

UpdateProgress = Callable[[float, int], None]
"""Called after every round with the part of a step that is done, and how many positions it has found."""

_MASK = 0xFFFF_FFFF_FFFF_FFFF

SLICE = 1 << 24
"""Entries of a slice."""

_APART = 64
"""Columns between what two threads count: each writes at every successor, and cache lines that they shared would
travel between the cores each time (they made two threads as slow as one).
"""

ALONE = 1 << 14
"""Below this many sources a second thread costs more than it brings."""

_GATHER_S = 40e-9
"""Time to pack one entry at the end of a step, on a busy machine: kept back from a deadline."""

_FOUND_PER_S = 4_000_000
"""New positions that a step may find in a second; only the table's first size depends on it."""

_MAKE_ROOM_S = 200e-9
"""Time to move one entry when the table grows or is cut, and to pack it afterwards."""


@dataclass(frozen=True)
class Step:
    """What a step gave."""

    positions: Words  # enemy halves in canonical order, the front of ``array``
    array: Words  # the array that holds them
    successors: int  # consistent (source, move) pairs, before duplicates merge
    # ``"time"`` when not all sources were treated, else ``"cap"`` when more positions than that were found; or None
    capped_by: Literal["cap", "time"] | None
    part: float = 1.0  # part of all that agrees which the positions are expected to be: 1 where nothing was left out


def key_of(number: int) -> np.uint64:
    """A key from a number: SplitMix64's, in plain integers, so that nothing is compiled for it in a game.

    The generator's first number from the seed 0:

    >>> hex(key_of(0))
    '0xe220a8397b1dcdaf'
    """
    value = (number + 0x9E3779B97F4A7C15) & _MASK
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    value = (value ^ value >> 27) * 0x94D049BB133111EB & _MASK
    return np.uint64(value ^ value >> 31)


def next_key(key: np.uint64) -> np.uint64:
    """The key of the step from a sample, which was drawn by ``key``.

    Pieces go back to where they were: by the same key such positions would be kept again and again, more often than
    others, and stand in one part of a table, which is then all but full there.
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
    progress: UpdateProgress | None = None,
    growth: int = 6,
) -> Step:
    """Every position that an enemy move from ``sources`` leads to and that agrees with what was observed.

    Parameters
    ----------
    sources
        uint64[n, 2], in an order that has nothing to do with what is likely: a deadline keeps the successors of the
        first ones.
    successors
        Writes what agrees.
    key, cap, spare
        See :class:`darkchess.board.position_table.PositionTable`.
    deadline
        A moment of :func:`time.monotonic`; None reads no clock. The step goes on past it until it has found a position.
    threads
        1 or 2.
    stream
        Whether to go slice by slice. A deadline then keeps the slices that were finished in time.
    progress
        See :data:`UpdateProgress`.
    growth
        How many positions a source may give once the set is large. It decides the table's first size, and nothing of
        what results: one that has to grow costs more, and more memory, than one that was too large.
    """
    # The table's first size: large enough for most steps.
    count = sources.shape[0]
    threads = threads if count >= ALONE else 1
    hint = min(512 * count, max(1 << 16, growth * count))
    if deadline is not None:
        # No larger than what can be found in time: fresh memory costs time too.
        hint = min(hint, max(1 << 16, int((deadline - time.monotonic()) * _FOUND_PER_S)))
    if not stream:
        table = PositionTable(key, cap, hint, spare, threads)
        produced, treated = _fill(table, sources, successors, deadline, threads, progress)
        positions = table.finish()
        late = treated < count
        part = treated / max(1, count) * (_part_below(table, positions) if table.cut else 1.0)
        return Step(positions, table.array, produced, "time" if late else "cap" if table.cut else None, part)
    # Slice by slice, each into the same table and then behind those before; the system gives memory only to what is
    # written of the whole.
    whole = np.empty((cap, 2), dtype=np.uint64)
    size, floor, produced = 0, 0, 0
    capped_by: Literal["cap", "time"] | None = None
    while True:
        bound = min(SLICE, cap - size)
        table = PositionTable(key, bound, hint, spare, threads, floor)
        made, treated = _fill(table, sources, successors, deadline, threads, _of_slice(progress, floor, size))
        late = treated < count
        produced = produced or made
        found = table.finish()
        more = table.cut and bound < cap - size
        # A slice that was not finished in time is no prefix of what there is. In one that is full, another entry with
        # the last one's hash may have been dropped: the next slice begins with it.
        if late and size:
            found = found[:0]
        elif more:
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
    return Step(whole, whole, produced, capped_by, _part_below(table, whole) if capped_by else 1.0)


def _part_below(table: PositionTable, positions: Words) -> float:
    """Part of all entries that were kept, the ones with the smallest hashes, read off the largest hash among them."""
    return (table.hash_of(positions[-1]) + 1) / (position_table.HASHES + 1) if len(positions) else 0.0


def _of_slice(progress: UpdateProgress | None, floor: int, before: int) -> UpdateProgress | None:
    """What a pass for one slice tells: of all hashes, those below ``floor`` are done, with ``before`` positions."""
    if progress is None:
        return None
    return lambda share, found: progress(floor / position_table.HASHES, before + found)


def _fill(
    table: PositionTable,
    sources: Words,
    successors: Successors,
    deadline: float | None,
    threads: int,
    progress: UpdateProgress | None,
) -> tuple[int, int]:
    """Put the consistent successors of ``sources`` into ``table``; see :func:`across_enemy_move`.

    Returns how many there were (those that the table has no slot for included), and how many sources were treated:
    fewer than all where the deadline ended it.
    """
    count = sources.shape[0]
    buffers = np.empty(
        (threads, 2, position_table.BUFFER if count > 200 else MOST_SUCCESSORS * (count + 1), 2),
        dtype=np.uint64,
    )
    # Each thread has its part of the sources, a buffer for each region, and counts that no other one writes to.
    share = -(-count // threads)
    cursors = [min(share * thread, count) for thread in range(threads)]
    starts = list(cursors)
    stops = [*cursors[1:], count]
    counts = np.zeros((threads, _APART), dtype=np.int64)[:, :3]
    news = [np.zeros(2, dtype=np.int64)] * threads
    produced = 0

    def generate(thread: int) -> None:
        cursors[thread] = successors(
            sources, cursors[thread], stops[thread], table.layout, threads == 2, buffers[thread], room, counts[thread]
        )

    # A thread inserts what belongs to its region, whoever made it.
    def insert(thread: int) -> None:
        new = np.zeros(2, dtype=np.int64)
        for writer in range(threads):
            new += table.insert(buffers[writer, thread], int(counts[writer, thread]))
        news[thread] = new

    def late(entry_s: float) -> bool:
        """Whether work of ``entry_s`` on each entry would pass the deadline; never before there is a position."""
        return deadline is not None and len(table) > 0 and time.monotonic() + len(table) * entry_s >= deadline

    while cursors != stops:
        treated = sum(cursors) - sum(starts)
        if late(_MAKE_ROOM_S if table.scarce else _GATHER_S):
            return produced, treated
        # A round: room for all that it may find, then both phases.
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
    return produced, count


def merged(halves: Words, *, key: np.uint64, cap: int) -> Step:
    """``halves`` without duplicates, in canonical order, at most ``cap``; ``successors`` is their number."""
    count = halves.shape[0]
    table = PositionTable(key, cap, 2 * count)
    for start in range(0, count, position_table.BUFFER):
        while table.scarce:
            table.make_room()
        part = halves[start : start + position_table.BUFFER]
        while part.shape[0]:
            fitting = min(part.shape[0], table.room)
            table.add(table.insert(part, fitting))
            part = part[fitting:]
            while table.scarce:
                table.make_room()
    positions = table.finish()
    kept = _part_below(table, positions) if table.cut else 1.0
    return Step(positions, table.array, count, "cap" if table.cut else None, kept)
