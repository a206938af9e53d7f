"""Hash table of enemy halves: ``uint64[slots, 2]`` (occupancy, codes), open addressing with linear probing, slots in
the order of a keyed hash.

The slot is a monotone function of the hash, so that the table, read from left to right, is almost sorted by hash:
:func:`gather` packs the entries to the front and sorts the few displaced ones. The result depends only on the *set* of
entries, not on the order of insertion, the number of threads or the table's size. "The positions with the smallest
keyed hash" are then a prefix, and a table bounded by a threshold on the hash keeps exactly those.

There are regions of equal size, one for each thread, in the order of the hashes and each with spill room behind it. So
several threads can fill one table without a lock. An occupancy of 0 marks a free slot: every enemy half has a king.

A table may also hold only a *slice*: hashes from a floor on. Then the difference of hash and floor takes the place of
the hash.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from darkchess.board.kernels.halves import MOST_SUCCESSORS
from klss.support.hashing import mix64
from klss.support.kernel import kernel

SPILL = 4096
"""Slots behind each region for entries that probe past its end. At a load of 0.75 even a run of a few hundred filled
slots practically never occurs.
"""


class Layout(NamedTuple):
    """The rule by which a hash gets its slot."""

    key: np.uint64  # key of the hash
    floor: np.uint64  # hashes below it have no slot
    threshold: np.uint64  # hashes that exceed the floor by more than this have no slot
    # map the others onto the regions, see ``_scaled``
    lead: np.uint64
    scale: np.uint64
    size: int  # slots of one region, without its spill room


EVERY = Layout(np.uint64(0), np.uint64(0), np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(0), np.uint64(0), 0)
"""The layout that drops no successor, for kernels that use no table."""

_AHEAD = 24
"""Entries whose slots a kernel prefetches ahead: one cache miss takes as long as many insertions without one."""

_BLOCK = 4096
"""Entries that :func:`spread` places together, so that it needs places for one block only."""


@intrinsic
def _touch(typingctx: Any, array: Any, slot: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, args[0])
        pointer = cgutils.get_item_pointer(
            context, builder, signature.args[0], view, [args[1], context.get_constant(types.intp, 0)]
        )
        byte = ir.IntType(8).as_pointer()
        word = ir.IntType(32)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [byte, word, word, word]), "llvm.prefetch.p0"
        )
        builder.call(function, [builder.bitcast(pointer, byte), word(1), word(2), word(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), codegen


def prefetch(table: Any, slot: int) -> None:
    """Prefetch the cache line of ``table[slot]``; interpreted, do nothing."""


@overload(prefetch, inline="always")
def _prefetch(table, slot):  # type: ignore[no-untyped-def]
    return lambda table, slot: _touch(table, slot)  # type: ignore[call-arg]


@kernel(inline="always")
def half_hash(enemy: Any, codes: Any, key: Any) -> Any:
    """Return the keyed hash (uint64) of an enemy half: multiply, shift, mix in the codes, and twice more."""
    value = (enemy ^ key) * np.uint64(0x9E3779B97F4A7C15)
    value = ((value ^ (value >> np.uint64(32))) ^ codes) * np.uint64(0xD6E8FEB86659FD93)
    value = (value ^ (value >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return value ^ (value >> np.uint64(32))


@kernel(inline="always")
def _scaled(value: Any, layout: Any) -> Any:
    """Return ``(value << lead) >> 32``, for a hash that exceeds the floor by ``value``, scaled to the number of regions
    with 56 bits of fraction.
    """
    return ((value << layout.lead) >> np.uint64(32)) * layout.scale


@kernel(inline="always")
def _region(value: Any, layout: Any) -> Any:
    """Return the region (uint64) of such a hash, whatever the regions' size."""
    return _scaled(value, layout) >> np.uint64(56)


@kernel(inline="always")
def _home(enemy: Any, codes: Any, layout: Any) -> Any:
    """Return the slot of its region at which probing starts for an enemy half."""
    scaled = _scaled(half_hash(enemy, codes, layout.key) - layout.floor, layout)
    return np.int64((((scaled >> np.uint64(24)) & np.uint64(0xFFFFFFFF)) * np.uint64(layout.size)) >> np.uint64(32))


@kernel
def insert(entries: Any, count: int, table: Any, layout: Any) -> int:
    """Put ``entries[:count]`` (uint64[·, 2]), all of one region, into that region, ``table``. Return how many are new,
    or −1 if its spill room is exhausted (never at loads up to 0.75).
    """
    slots = table.shape[0]
    new = 0
    # A ring of the slots that were prefetched.
    homes = np.empty(32, dtype=np.int64)
    for i in range(min(_AHEAD, count)):
        slot = _home(entries[i, 0], entries[i, 1], layout)
        homes[i & 31] = slot
        prefetch(table, slot)
    for i in range(count):
        # Take this entry's slot from the ring, and prefetch that of a later entry.
        enemy = entries[i, 0]
        codes = entries[i, 1]
        slot = homes[i & 31]
        if i + _AHEAD < count:
            later = _home(entries[i + _AHEAD, 0], entries[i + _AHEAD, 1], layout)
            homes[(i + _AHEAD) & 31] = later
            prefetch(table, later)
        # Probe: stop at a free slot, which takes the entry, at an equal entry, or at the end of the region: it is full.
        while True:
            found = table[slot, 0]
            if found == np.uint64(0):
                table[slot, 0] = enemy
                table[slot, 1] = codes
                new += 1
                break
            if found == enemy and table[slot, 1] == codes:
                break
            slot += 1
            if slot == slots:
                return -1
    return new


@kernel(inline="always")
def _after(enemy: Any, codes: Any, value: Any, other_enemy: Any, other_codes: Any, other_value: Any) -> Any:
    """Whether the first entry comes after the second in the canonical order: by hash, then by the 16 bytes."""
    if value != other_value:
        return value > other_value
    if enemy != other_enemy:
        return enemy > other_enemy
    return codes > other_codes


@kernel(allocates=False)
def gather(table: Any, key: Any) -> Any:
    """Pack the entries of ``table`` to its front in canonical order (in place).

    Return how many there are. The slots behind them are then undefined.
    """
    # To the front, without a branch: it would be mispredicted, since free slots follow no pattern.
    count: Any = 0
    for slot in range(table.shape[0]):
        enemy = table[slot, 0]
        table[count, 0] = enemy
        table[count, 1] = table[slot, 1]
        count += np.int64(enemy != np.uint64(0))
    # Insertion sort: probing displaces an entry by a few places only.
    # An entry whose hash is above all before it is in its place.
    last = np.uint64(0)
    for i in range(count):
        enemy = table[i, 0]
        codes = table[i, 1]
        value = half_hash(enemy, codes, key)
        if value <= last:
            place = i
            while place > 0:
                before = half_hash(table[place - 1, 0], table[place - 1, 1], key)
                if not _after(table[place - 1, 0], table[place - 1, 1], before, enemy, codes, value):
                    break
                table[place, 0] = table[place - 1, 0]
                table[place, 1] = table[place - 1, 1]
                place -= 1
            table[place, 0] = enemy
            table[place, 1] = codes
        last = max(last, value)
    return count


@kernel
def rehash(old: Any, table: Any, layout: Any) -> None:
    """Put the entries of the region ``old`` into the larger region ``table``, which is empty.

    Entries have the same order in both, so that both are walked from left to right.
    """
    for i in range(old.shape[0]):
        enemy = old[i, 0]
        if enemy == np.uint64(0):
            continue
        codes = old[i, 1]
        # All entries are different, so the first free slot takes it without a comparison.
        slot = _home(enemy, codes, layout)
        while table[slot, 0] != np.uint64(0):
            slot += 1
        table[slot, 0] = enemy
        table[slot, 1] = codes


@kernel(inline="always")
def _place(enemy: Any, codes: Any, layout: Any) -> Any:
    """Return the slot of the whole table at which probing starts for an enemy half."""
    region = np.int64(_region(half_hash(enemy, codes, layout.key) - layout.floor, layout))
    return region * (layout.size + SPILL) + _home(enemy, codes, layout)


@kernel
def spread(table: Any, count: int, layout: Any, counts: Any) -> None:
    """Undo :func:`gather` for another threshold, in place.

    The entries ``table[:count]``, in canonical order, go to their slots, and all other slots become free; ``counts``
    (int64[regions]) becomes the number of entries in each region.
    """
    # From the left: an entry's place is its home, or the slot after the entry before it. Store it for each block's
    # start.
    counts[:] = 0
    blocks = np.empty(count // _BLOCK + 1, dtype=np.int64)
    previous = -1
    for i in range(count):
        if i % _BLOCK == 0:
            blocks[i // _BLOCK] = previous
        previous = max(_place(table[i, 0], table[i, 1], layout), previous + 1)
        counts[previous // (layout.size + SPILL)] += 1
    # Move block by block from the right: every place is at or right of the entry, so no entry is overwritten before it
    # has moved.
    places = np.empty(_BLOCK, dtype=np.int64)
    hole = table.shape[0]
    stop = count
    for block in range((count - 1) // _BLOCK, -1, -1):
        start = block * _BLOCK
        previous = blocks[block]
        for i in range(start, stop):
            previous = max(_place(table[i, 0], table[i, 1], layout), previous + 1)
            places[i - start] = previous
        # Move each entry to its place, and free the slots between it and the next entry.
        for i in range(stop - 1, start - 1, -1):
            place = places[i - start]
            enemy = table[i, 0]
            codes = table[i, 1]
            for slot in range(place + 1, hole):
                table[slot, 0] = np.uint64(0)
            table[place, 0] = enemy
            table[place, 1] = codes
            hole = place
        stop = start
    for slot in range(hole):
        table[slot, 0] = np.uint64(0)


@kernel(allocates=False)
def select(positions: Any, key: Any, threshold: Any, indices: Any, hashes: Any) -> int:
    """Write index and hash of every position whose hash is at most ``threshold``, up to the room in ``indices``.

    Return how many such positions there are in all. The hash is :func:`half_hash`, mixed once more.
    """
    count = 0
    for i in range(positions.shape[0]):
        value = mix64(half_hash(positions[i, 0], positions[i, 1], key))
        if value <= threshold:
            if count < indices.shape[0]:
                indices[count] = i
                hashes[count] = value
            count += 1
    return count


@kernel(allocates=False)
def rank(positions: Any, enemy: Any, codes: Any) -> int:
    """Return the index of an enemy half in ``positions``, −1 if it is not there."""
    for i in range(positions.shape[0]):
        if positions[i, 0] == enemy and positions[i, 1] == codes:
            return i
    return -1


@kernel(inline="always")
def put(enemy: Any, codes: Any, out: Any, k: int) -> int:
    """Write a successor as entry ``k`` of the first buffer, for :func:`settle`; return ``k + 1``."""
    out[0, k, 0] = enemy
    out[0, k, 1] = codes
    return k + 1


@kernel(inline="always")
def full(out: Any, room: int, counts: Any) -> Any:
    """Whether one of the buffers may have no room for the successors of one more source."""
    most = counts[0]
    for region in range(1, out.shape[0]):
        most = max(most, counts[region])
    return most + MOST_SUCCESSORS > room


@kernel(inline="always")
def settle(end: int, layout: Any, out: Any, counts: Any) -> None:
    """Count the successors that :func:`put` wrote from ``counts[0]`` to ``end``; move each to the buffer of its region,
    or drop it if the table has no slot for its hash.
    """
    counts[out.shape[0]] += end - counts[0]
    if out.shape[0] > 1 or layout.threshold != np.uint64(0xFFFFFFFFFFFFFFFF):
        _sort_out(end, layout, out, counts)
    else:
        counts[0] = end


@kernel(allocates=False)
def _sort_out(end: int, layout: Any, out: Any, counts: Any) -> None:
    # Entries of the first region close up in the first buffer; those of another go to the other's buffer.
    for i in range(counts[0], end):
        enemy = out[0, i, 0]
        codes = out[0, i, 1]
        value = half_hash(enemy, codes, layout.key) - layout.floor
        if value > layout.threshold:
            continue
        # No branch: it would be mispredicted too often.
        region = _region(value, layout)
        place = counts[region]
        out[region, place, 0] = enemy
        out[region, place, 1] = codes
        counts[region] = place + 1
