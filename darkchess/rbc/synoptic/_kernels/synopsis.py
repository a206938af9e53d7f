"""The synopsis's kernels: :mod:`darkchess.rbc.synoptic.synopsis` says what each plane means.

:mod:`darkchess.rbc.synoptic._kernels.summary` has the planes about the pieces; those of the stage and of the memory are
here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.bits import bit
from darkchess.rbc.synoptic._kernels.summary import FIRST_HELD, HELD, summary
from klss.support.kernel import kernel

MEMORY = 22
"""Words of a memory: planes 32–35 of this turn, then planes 86–103."""
SENSE, MOVE = 0, 1
"""Stages of a turn."""

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_NONE = np.uint64(0)
_TURN = 4
"""The first word of the part of a memory that is about the previous turn."""


@kernel(allocates=False)
def remember_notice(memory: Any, captured: int) -> None:
    """Begin the player's turn: ``captured`` is the square on which the opponent's turn captured a piece, 64: none.

    ``memory`` (uint64[MEMORY]) is modified in place; it is all zeros before the first turn.
    """
    memory[3] = bit(captured) if captured < 64 else _NONE


@kernel(allocates=False)
def remember_moved(memory: Any, origin: int, target: int, capture: int, planes: Any) -> None:
    """End the player's turn.

    Parameters
    ----------
    memory
        uint64[MEMORY], modified in place.
    origin, target
        Squares of the move that was played; 64 and 64: none was.
    capture
        Where it captured a piece, 64: nowhere.
    planes
        uint64[PLANES], the synopsis of the set after the sense, made with this memory.
    """
    # The planes of the set after the sense, and this turn's own, become those of the previous turn.
    for i in range(HELD):
        memory[_TURN + i] = planes[FIRST_HELD + i]
    for i in range(4):
        memory[_TURN + HELD + i] = memory[i]
    memory[0] = bit(origin) if origin < 64 else _NONE
    memory[1] = bit(target) if target < 64 else _NONE
    memory[2] = bit(capture) if capture < 64 else _NONE


@kernel(allocates=False)
def synopsis(own_row: Any, halves: Any, stage: int, memory: Any, tables: Any, out: Any) -> None:
    """Write the synopsis of a set into ``out`` (uint64[PLANES]); the rest is as in
    :func:`darkchess.rbc.synoptic.synopsis.synopsis`.
    """
    summary(own_row, halves, tables, out)
    out[10] = _ALL if stage == MOVE else _NONE
    for i in range(4):
        out[32 + i] = memory[i]
    for i in range(MEMORY - _TURN):
        out[86 + i] = memory[_TURN + i]
