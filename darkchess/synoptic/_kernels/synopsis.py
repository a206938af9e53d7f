"""The synopsis's kernels: :mod:`darkchess.synoptic.synopsis` says what each plane means.

What is about the men is :mod:`darkchess.board.kernels.summary`'s; what is seen, and what a memory adds, is here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.bits import bit
from darkchess.board.kernels.board import ep_square
from darkchess.board.kernels.halves import decode_half
from darkchess.board.kernels.summary import FIRST_HELD, HELD, PLANES, summary
from darkchess.game._kernels.vision import visible
from klss.kernel import kernel

__all__ = ["MEMORY", "PLANES", "remember_lost", "remember_moved", "synopses", "synopsis"]

MEMORY = 23
"""Words of a memory: planes 32–35 and 79 of this turn, then planes 86–103."""

_NONE = np.uint64(0)
_SEEN = 4
_TURN = 5
"""The first word of what memory keeps a turn long."""


@kernel(allocates=False)
def remember_lost(memory: Any, captured: Any) -> None:
    """Her turn begins: ``captured`` (uint64, a set of one or none) is where the opponent's move took a man of hers.

    ``memory``: uint64[MEMORY], changed in place; of zeros before the first turn.
    """
    memory[3] = captured


@kernel(allocates=False)
def remember_moved(memory: Any, origin: int, target: int, captured: Any, seen: Any, planes: Any) -> None:
    """Her turn ends.

    Parameters
    ----------
    memory
        uint64[MEMORY], changed in place.
    origin, target
        Squares of her move.
    captured
        Where it took a man, a set of one or none.
    seen
        What she sees after it, a set.
    planes
        uint64[PLANES], the synopsis of the set before it, made with this memory.
    """
    for i in range(HELD):
        memory[_TURN + i] = planes[FIRST_HELD + i]
    for i in range(4):
        memory[_TURN + HELD + i] = memory[i]
    memory[0] = bit(origin)
    memory[1] = bit(target)
    memory[2] = captured
    memory[3] = _NONE
    memory[_SEEN] = seen


@kernel(allocates=False)
def synopsis(own_row: Any, halves: Any, memory: Any, tables: Any, row: Any, out: Any) -> None:
    """Write the synopsis of a set.

    Parameters
    ----------
    own_row
        uint64[9], her half, the square on which she can take in passing with it; she is to move.
    halves
        uint64[n, 2], the enemy's, at least one.
    memory
        uint64[MEMORY].
    tables
        :data:`darkchess.board.kernels.tables.TABLES`.
    row
        uint64[9], room.
    out
        uint64[PLANES].
    """
    passing = ep_square(own_row)
    summary(own_row, halves, bit(passing) if passing >= 0 else _NONE, tables, out)
    decode_half(halves[0, 0], halves[0, 1], own_row, False, row)
    out[10] = visible(row, 0, tables)
    for i in range(4):
        out[32 + i] = memory[i]
    out[79] = memory[_SEEN]
    for i in range(MEMORY - _TURN):
        out[86 + i] = memory[_TURN + i]


@kernel
def synopses(own_rows: Any, halves: Any, offsets: Any, memories: Any, tables: Any, out: Any) -> None:
    """Write the synopses of ``halves[offsets[i]:offsets[i + 1]]`` into ``out`` (uint64[b, PLANES]).

    ``own_rows``: uint64[b, 9], ``offsets``: int64[b + 1], ``memories``: uint64[b, MEMORY].
    """
    row = np.empty(9, dtype=np.uint64)
    for i in range(own_rows.shape[0]):
        synopsis(own_rows[i], halves[offsets[i] : offsets[i + 1]], memories[i], tables, row, out[i])
