"""Hash table of enemy halves: ``uint64[slots, 2]`` (occupancy, codes), open addressing with linear probing, slots in
the order of a keyed hash.

The slot is a monotone function of the hash, so that the table, read from left to right, is almost sorted by hash:
:func:`gather` packs the entries to the front and sorts the few displaced ones. The result depends only on the *set* of
entries, not on the order of insertion, the number of threads or the table's size. "The positions with the smallest
keyed hash" are then a prefix, and a table bounded by a threshold on the hash keeps exactly those.

Several threads may fill one table at once, without a lock: who finds a free slot *claims* it by an atomic exchange, and
then writes the codes. An occupancy of 0 marks a free slot: every enemy half has a king. For the same reason codes of 0
are not written yet.

A table may also hold only a *slice*: hashes from a floor on. Then the difference of hash and floor takes the place of
the hash.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from klss.support.hashing import mix64
from klss.support.kernel import kernel

SPILL = 4096
"""Slots behind the others for entries that probe past their end. At a load of 0.75 even a run of a few hundred filled
slots practically never occurs.
"""


class Layout(NamedTuple):
    """The rule by which a hash gets its slot."""

    key: np.uint64  # key of the hash
    floor: np.uint64  # hashes below it have no slot
    threshold: np.uint64  # hashes that exceed the floor by more than this have no slot
    # map the others onto the slots, see ``_home``
    lead: np.uint64
    scale: np.uint64


_AHEAD = 24
"""Entries whose slots a kernel prefetches ahead: one cache miss takes as long as many insertions without one."""

_BLOCK = 4096
"""Entries that :func:`spread` places together, so that it needs places for one block only."""


def _word(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Return the address of ``array[slot, column]``, the first three arguments."""
    view = context.make_array(signature.args[0])(context, builder, args[0])
    return cgutils.get_item_pointer(context, builder, signature.args[0], view, args[1:3])


@intrinsic
def _touch(typingctx: Any, array: Any, slot: Any, column: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _word(context, builder, signature, args)
        byte = ir.IntType(8).as_pointer()
        word = ir.IntType(32)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [byte, word, word, word]), "llvm.prefetch.p0"
        )
        builder.call(function, [builder.bitcast(pointer, byte), word(1), word(2), word(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), codegen


@intrinsic
def _load(typingctx: Any, array: Any, slot: Any, column: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(_word(context, builder, signature, args), "acquire", 8)

    return types.uint64(array, types.intp, types.intp), codegen


@intrinsic
def _store(typingctx: Any, array: Any, slot: Any, column: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store_atomic(args[3], _word(context, builder, signature, args), "release", 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, types.uint64), codegen


@intrinsic
def _exchange(typingctx: Any, array: Any, slot: Any, column: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        free = context.get_constant(types.uint64, 0)
        pair = builder.cmpxchg(_word(context, builder, signature, args), free, args[3], "acq_rel", "acquire")
        return builder.extract_value(pair, 0)

    return types.uint64(array, types.intp, types.intp, types.uint64), codegen


def prefetch(table: Any, slot: int) -> None:
    """Prefetch the cache line of ``table[slot]``; interpreted, do nothing."""


def read(table: Any, slot: int, column: int) -> Any:
    """Return ``table[slot, column]`` as it is now, and after that read nothing older."""
    return table[slot, column]


def write(table: Any, slot: int, column: int, value: Any) -> None:
    """Set ``table[slot, column]``."""
    table[slot, column] = value


_one_at_a_time = threading.Lock()


def claim(table: Any, slot: int, enemy: Any) -> Any:
    """Set ``table[slot, 0]`` if it is 0, as one atomic step; return what was there."""
    with _one_at_a_time:  # interpreted
        found = table[slot, 0]
        if found == 0:
            table[slot, 0] = enemy
    return found


@overload(prefetch, inline="always")
def _prefetch(table, slot):  # type: ignore[no-untyped-def]
    return lambda table, slot: _touch(table, slot, 0)  # type: ignore[call-arg]


@overload(read, inline="always")
def _read(table, slot, column):  # type: ignore[no-untyped-def]
    return lambda table, slot, column: _load(table, slot, column)  # type: ignore[call-arg]


@overload(write, inline="always")
def _write(table, slot, column, value):  # type: ignore[no-untyped-def]
    return lambda table, slot, column, value: _store(table, slot, column, value)  # type: ignore[call-arg]


@overload(claim, inline="always")
def _claim(table, slot, enemy):  # type: ignore[no-untyped-def]
    return lambda table, slot, enemy: _exchange(table, slot, 0, enemy)  # type: ignore[call-arg]


@kernel(inline="always")
def half_hash(enemy: Any, codes: Any, key: Any) -> Any:
    """Return the keyed hash (uint64) of an enemy half: multiply, shift, mix in the codes, and twice more."""
    value = (enemy ^ key) * np.uint64(0x9E3779B97F4A7C15)
    value = ((value ^ (value >> np.uint64(32))) ^ codes) * np.uint64(0xD6E8FEB86659FD93)
    value = (value ^ (value >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return value ^ (value >> np.uint64(32))


@kernel(inline="always")
def _home(enemy: Any, codes: Any, layout: Any) -> Any:
    """Return the slot at which probing starts for an enemy half; −1 if it has none, or for a free slot's entry."""
    value = half_hash(enemy, codes, layout.key) - layout.floor
    if enemy == np.uint64(0) or value > layout.threshold:
        return np.int64(-1)
    return np.int64((((value << layout.lead) >> np.uint64(32)) * layout.scale) >> np.uint64(32))


@kernel
def insert(entries: Any, count: int, table: Any, layout: Any) -> int:
    """Put those of ``entries[:count]`` (uint64[·, 2]) that have a slot into ``table``; other threads may do so too.
    Return how many are new, or −1 if the spill room is exhausted (never at loads up to 0.75).
    """
    slots = table.shape[0]
    new = 0
    # A ring of the slots that were prefetched.
    homes = np.empty(32, dtype=np.int64)
    for i in range(min(_AHEAD, count)):
        slot = _home(entries[i, 0], entries[i, 1], layout)
        homes[i & 31] = slot
        prefetch(table, max(slot, 0))
    for i in range(count):
        # Take this entry's slot from the ring, and prefetch that of a later entry.
        enemy = entries[i, 0]
        codes = entries[i, 1]
        slot = homes[i & 31]
        if i + _AHEAD < count:
            later = _home(entries[i + _AHEAD, 0], entries[i + _AHEAD, 1], layout)
            homes[(i + _AHEAD) & 31] = later
            prefetch(table, max(later, 0))
        # Probe: stop at a free slot, which takes the entry, at an equal entry, or at the end: the table is full.
        while slot >= 0:
            found = read(table, slot, 0)
            if found == np.uint64(0):
                found = claim(table, slot, enemy)
                if found == np.uint64(0):
                    write(table, slot, 1, codes)
                    new += 1
                    break
            if found == enemy:
                held = read(table, slot, 1)
                while held == np.uint64(0):  # another thread has just claimed the slot
                    held = read(table, slot, 1)
                if held == codes:
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
def gather(table: Any, start: int, stop: int, end: Any, key: Any) -> Any:
    """Pack the entries of ``table[start:stop]`` to ``end`` (at most ``start``) and sort them in among those before it,
    which are in canonical order; in place.

    Return their end. The slots behind it, up to ``stop``, are then undefined.
    """
    # To the front, without a branch: it would be mispredicted, since free slots follow no pattern.
    first = end
    for slot in range(start, stop):
        enemy = table[slot, 0]
        table[end, 0] = enemy
        table[end, 1] = table[slot, 1]
        end += np.int64(enemy != np.uint64(0))
    # Insertion sort: probing displaces an entry by a few places only.
    # An entry whose hash is above all before it is in its place.
    last = np.uint64(0)
    if first:
        last = half_hash(table[first - 1, 0], table[first - 1, 1], key)
    for i in range(first, end):
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
    return end


@kernel
def spread(table: Any, count: int, layout: Any) -> None:
    """Undo :func:`gather` for another threshold, in place: the entries ``table[:count]``, in canonical order, go to
    their slots, and all other slots become free.
    """
    # From the left: an entry's place is its home, or the slot after the entry before it. Store it for each block's
    # start.
    blocks = np.empty(count // _BLOCK + 1, dtype=np.int64)
    previous = -1
    for i in range(count):
        if i % _BLOCK == 0:
            blocks[i // _BLOCK] = previous
        previous = max(_home(table[i, 0], table[i, 1], layout), previous + 1)
    # Move block by block from the right: every place is at or right of the entry, so no entry is overwritten before it
    # has moved.
    places = np.empty(_BLOCK, dtype=np.int64)
    hole = table.shape[0]
    stop = count
    for block in range((count - 1) // _BLOCK, -1, -1):
        start = block * _BLOCK
        previous = blocks[block]
        for i in range(start, stop):
            previous = max(_home(table[i, 0], table[i, 1], layout), previous + 1)
            places[i - start] = previous
        # Move each entry to its place, and free the slots between it and the next entry.
        for i in range(stop - 1, start - 1, -1):
            place = places[i - start]
            enemy = table[i, 0]
            codes = table[i, 1]
            for slot in range(place + 1, hole):
                table[slot, 0] = np.uint64(0)
                table[slot, 1] = np.uint64(0)
            table[place, 0] = enemy
            table[place, 1] = codes
            hole = place
        stop = start
    table[:hole] = np.uint64(0)


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
    """Write a successor as entry ``k`` of a buffer; return ``k + 1``."""
    out[k, 0] = enemy
    out[k, 1] = codes
    return k + 1
