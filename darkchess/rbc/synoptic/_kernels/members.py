"""Sets of enemy halves in batches, for playouts: cutting, drawing and looking up.

A *member* is an enemy half (uint64[2], :mod:`darkchess.board.kernels.halves`) seen from the side of the set's owner,
whose own half (uint64[9]) is stored apart. Actions are numbered from the side that acts, which moves up: 65 · from +
to, and a pawn that reaches the last rank becomes a queen; :data:`PASS` is a pass, where it is possible. A *state* is
uint64[10]: a row of :mod:`darkchess.board.kernels.board` on the real board, then a word of flags: bit 0 is the stage,
then :data:`OVER`, :data:`BLACK_WON`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.bits import bit
from darkchess.board.kernels.board import BLACK, META, PAWN, QUEEN, WHITE, ep_square
from darkchess.board.kernels.position_table import half_hash
from klss.support.hashing import mix64
from klss.support.kernel import kernel

PASS = 4160
"""The action of passing."""
ACTIONS = 4161
STATE = 10
"""Words of a state."""
OVER, BLACK_WON = np.uint64(2), np.uint64(4)

_NONE = np.uint64(0)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel(inline="always")
def _mirrored(word: Any) -> Any:
    """Return a set of squares with the ranks mirrored."""
    # Ranks are bytes: swap neighbours, then pairs, then halves.
    word = ((word >> np.uint64(8)) & np.uint64(0x00FF00FF00FF00FF)) | (
        (word & np.uint64(0x00FF00FF00FF00FF)) << np.uint64(8)
    )
    word = ((word >> np.uint64(16)) & np.uint64(0x0000FFFF0000FFFF)) | (
        (word & np.uint64(0x0000FFFF0000FFFF)) << np.uint64(16)
    )
    return (word >> np.uint64(32)) | (word << np.uint64(32))


@kernel(allocates=False)
def upward(row: Any, side: int, out: Any) -> None:
    """Write a row (uint64[9]) as ``side`` sees it, as White moving up; or the inverse. Quiet plies are left out."""
    if side == 0:
        for i in range(8):
            out[i] = row[i]
        out[META] = row[META] & np.uint64(0x7F1F)
        return
    # Mirror the ranks and exchange the colours; also of the turn, the rights and the en passant square.
    for i in range(6):
        out[i] = _mirrored(row[i])
    out[WHITE] = _mirrored(row[BLACK])
    out[BLACK] = _mirrored(row[WHITE])
    meta = row[META]
    out[META] = (
        ((meta & np.uint64(1)) ^ np.uint64(1))
        | ((meta >> np.uint64(2)) & np.uint64(6))
        | ((meta << np.uint64(2)) & np.uint64(0x18))
    )
    target = ep_square(row)
    if target >= 0:
        out[META] |= np.uint64((target ^ 56) + 1) << np.uint64(8)


@kernel
def cut(found: Any, count: int, key: Any, most: int, true: Any, out: Any) -> int:
    """Keep the ``most`` halves with the smallest keyed hash, each once, in ``out``, and always the true one; return how
    many.
    """
    # Of many halves, sort only those below a threshold that about three times as many as are wanted should pass.
    threshold = _ALL
    if count > 4 * most:
        threshold = np.uint64((_ALL // np.uint64(count)) * np.uint64(3 * most))
    while True:
        hashes = np.empty(count, dtype=np.uint64)
        places = np.empty(count, dtype=np.int64)
        chosen = 0
        for i in range(count):
            value = half_hash(found[i, 0], found[i, 1], key)
            if value <= threshold:
                hashes[chosen] = value
                places[chosen] = i
                chosen += 1
        # In the order of the hashes, duplicates follow each other.
        order = np.argsort(hashes[:chosen])
        kept = 0
        met = False
        last = np.uint64(0)
        for j in range(chosen):
            if kept == most:
                break
            at = places[order[j]]
            value = hashes[order[j]]
            if kept > 0 and value == last:
                continue
            last = value
            out[kept, 0] = found[at, 0]
            out[kept, 1] = found[at, 1]
            met = met or (found[at, 0] == true[0] and found[at, 1] == true[1])
            kept += 1
        # Too few are left, since many were duplicates: repeat with all halves.
        if kept == most or threshold == _ALL:
            break
        threshold = _ALL
    # If the true one is not among them, it is added, in place of the last one if there is no room.
    if not met:
        if kept == most:
            kept -= 1
        out[kept, 0] = true[0]
        out[kept, 1] = true[1]
        kept += 1
    return kept


@kernel(inline="always")
def request_of(own: Any, action: int) -> Any:
    """Return the code of an action's request, −1 for a pass."""
    if action == PASS:
        return np.int64(-1)
    origin = action // 65
    target = action - 65 * origin
    code = (origin << 9) | (target << 3)
    if target >= 56 and own[PAWN] & bit(origin) != _NONE:
        code |= QUEEN
    return np.int64(code)


@kernel(inline="always")
def landing(memory: Any, own: Any, captured: Any) -> Any:
    """Return the square that the viewer's pawn on ``captured`` passed if the last move was its double step; or none."""
    origin = memory[0]
    if captured & memory[1] & own[PAWN] != _NONE and origin << np.uint64(16) == captured:
        return captured >> np.uint64(8)
    return _NONE


@kernel
def drawn(seed: Any, size: int, out: Any) -> int:
    """Write different random numbers below ``size`` into ``out`` (int64[n]), in the order in which a hash under
    ``seed`` draws them. Up to 2n numbers are drawn with replacement; return how many different ones came, at most n.
    """
    # A hash table of the numbers drawn so far, at most half full.
    places = 16
    while places < 4 * out.shape[0]:
        places *= 2
    taken = np.full(places, -1, dtype=np.int64)
    start = mix64(seed)
    kept = 0
    for i in range(2 * out.shape[0]):
        word = mix64(start + np.uint64(i) * np.uint64(0x9E3779B97F4A7C15))
        number = np.int64(word % np.uint64(size))
        place = number & (places - 1)
        while taken[place] >= 0 and taken[place] != number:
            place = (place + 1) & (places - 1)
        if taken[place] < 0:
            taken[place] = number
            out[kept] = number
            kept += 1
            if kept == out.shape[0]:
                break
    return kept


@kernel
def hashed(halves: Any) -> Any:
    """Return a hash table (uint64[2^k], 0: free) of some halves, by their hashes alone."""
    size = 16
    while size < 2 * halves.shape[0]:
        size *= 2
    table = np.zeros(size, dtype=np.uint64)
    for i in range(halves.shape[0]):
        value = half_hash(halves[i, 0], halves[i, 1], _NONE) | np.uint64(1)
        slot = np.int64(value >> np.uint64(20)) & (size - 1)
        while table[slot] != _NONE and table[slot] != value:
            slot = (slot + 1) & (size - 1)
        table[slot] = value
    return table


@kernel(allocates=False)
def held(table: Any, enemy: Any, codes: Any) -> bool:
    """Whether a table of :func:`hashed` has a half's hash."""
    value = half_hash(enemy, codes, _NONE) | np.uint64(1)
    slot = np.int64(value >> np.uint64(20)) & (table.shape[0] - 1)
    while table[slot] != _NONE:
        if table[slot] == value:
            return True
        slot = (slot + 1) & (table.shape[0] - 1)
    return False


@kernel
def match(halves: Any, wanted: Any, found: Any) -> None:
    """Write which of ``wanted`` (uint64[q, 2]) are among ``halves`` (uint64[n, 2]), by their hashes, into ``found``
    (bool[q]).
    """
    table = hashed(halves)
    for q in range(wanted.shape[0]):
        found[q] = held(table, wanted[q, 0], wanted[q, 1])
