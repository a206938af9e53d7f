"""Sure wins of a set of positions, which need no search: the king can be taken in every possible position.

Before its move, the player to act wins if one request takes the king in every position of its set. Before its sense, it
wins if there is a window such that, whatever it shows, one request then does. This is a proof as long as the true
position is in the set, whatever the opponent knows, since the opponent has no move in between. For a set that was cut,
it is a proof only for the remaining members.

Deviation from the source (G. Clark, "Deep Synoptic Monte Carlo Planning in Reconnaissance Blind Chess", which also
finds losses on the opponent's turn without saying how): a *loss* can't be proved from the loser's set alone. Even if
the opponent can take the king in every position of that set, it may not know this, and then it may play another move.
So a loss is only found as a win for the opponent, from its own set, when it acts.

A *taker* is a way to take a king, as a number: 128 · the piece's square, plus the king's square or, for a slider, 64 +
the direction. If several positions have a taker in common, one request takes the king in all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.attacks import slanted, straight
from darkchess.board.kernels.bits import squares
from darkchess.board.kernels.board import BISHOP, KING, KNIGHT, PAWN, QUEEN, ROOK, WHITE
from darkchess.board.kernels.tables import KING_STEPS, KNIGHT_STEPS, PAWN_CAPTURES
from darkchess.rbc.belief._kernels.senses import partitions
from darkchess.rbc.synoptic._kernels.synopsis import MOVE
from klss.support.kernel import kernel

_LOOK = 64
"""A sense's action is this and 65 times its square."""
_TAKERS = 16
"""Most takers of a position: each of a side's sixteen pieces is at most one."""


@kernel(inline="always")
def _king(enemy: Any, codes: Any) -> Any:
    """Return the square of the king of an enemy half; 64: there is none."""
    for square in squares(enemy):
        if codes & np.uint64(15) == np.uint64(KING):
            return square
        codes >>= np.uint64(4)
    return 64


@kernel(inline="always")
def _direction(origin: int, target: int) -> Any:
    """Return the direction from ``origin`` to ``target``, 0 to 8."""
    files = (target & 7) - (origin & 7)
    ranks = (target >> 3) - (origin >> 3)
    across = 1 if files > 0 else -1 if files < 0 else 0
    up = 1 if ranks > 0 else -1 if ranks < 0 else 0
    return 3 * (across + 1) + up + 1


@kernel(allocates=False)
def _takers(own_row: Any, enemy: Any, codes: Any, tables: Any, out: Any) -> int:
    """Write every way to take the king into ``out`` (int64[_TAKERS]); return how many."""
    king = _king(enemy, codes)
    if king == 64:
        return 0
    occupied = own_row[WHITE] | enemy
    # Look from the king: first the pieces that step, then the sliders, for which only the direction counts: a request
    # for a far square takes the king anywhere on the way.
    count = 0
    left = tables[king, KNIGHT_STEPS] & own_row[KNIGHT]
    left |= tables[king, KING_STEPS] & own_row[KING]
    left |= tables[king, PAWN_CAPTURES + 1] & own_row[PAWN]
    for square in squares(left):
        out[count] = 128 * square + king
        count += 1
    left = slanted(king, occupied, tables) & (own_row[BISHOP] | own_row[QUEEN])
    left |= straight(king, occupied, tables) & (own_row[ROOK] | own_row[QUEEN])
    for square in squares(left):
        out[count] = 128 * square + 64 + _direction(square, king)
        count += 1
    return count


@kernel(allocates=False)
def _shared(held: Any, count: int, others: Any, other_count: int) -> int:
    """Keep those of ``held[:count]`` that are among the others, in place; return how many."""
    kept = 0
    for i in range(count):
        for j in range(other_count):
            if held[i] == others[j]:
                held[kept] = held[i]
                kept += 1
                break
    return kept


@kernel
def _request(own_row: Any, halves: Any, tables: Any) -> Any:
    """Return the action of a request that takes the king in every position; −1: there is none."""
    # The takers that all positions have in common; the lowest one is used.
    held, here = np.empty(_TAKERS, dtype=np.int64), np.empty(_TAKERS, dtype=np.int64)
    count = _takers(own_row, halves[0, 0], halves[0, 1], tables, held)
    for i in range(1, halves.shape[0]):
        if count == 0:
            return -1
        count = _shared(held, count, here, _takers(own_row, halves[i, 0], halves[i, 1], tables, here))
    if count == 0:
        return -1
    taker = held[0]
    for i in range(1, count):
        taker = min(taker, held[i])
    origin = taker // 128
    # A slider requests the furthest square on which the king may stand, and captures it there or on the way.
    furthest = 0
    target = 0
    for i in range(halves.shape[0]):
        king = _king(halves[i, 0], halves[i, 1])
        if abs(king - origin) > furthest:
            furthest = abs(king - origin)
            target = king
    return 65 * origin + target


@kernel
def forced_win(own_row: Any, halves: Any, stage: int, tables: Any) -> Any:
    """Return the action of a sure win of a set; −1: none is sure.

    As the player sees the board: 65 · from + to of a request that takes the king in every position; or 65 · square + 64
    of a sense after which there is such a request whatever it shows, with the lowest such square. The set, at least one
    position, is that of the player to act, as in :func:`darkchess.rbc.synoptic._kernels.synopsis.synopsis`.
    """
    # Most sets are decided by their first position, in which the king can't be taken.
    number = halves.shape[0]
    first = np.empty(_TAKERS, dtype=np.int64)
    if _takers(own_row, halves[0, 0], halves[0, 1], tables, first) == 0:
        return -1
    if stage == MOVE:
        return _request(own_row, halves, tables)
    # Before the sense: the takers of each position, and the partitions by the windows.
    takers = np.empty((number, _TAKERS), dtype=np.int64)
    counts = np.empty(number, dtype=np.int64)
    for i in range(number):
        counts[i] = _takers(own_row, halves[i, 0], halves[i, 1], tables, takers[i])
        if counts[i] == 0:
            return -1
    classes, class_counts = np.empty((36, number), dtype=np.int32), np.empty(36, dtype=np.int64)
    partitions(halves, np.arange(number), classes, class_counts)
    held, held_counts = np.empty((number, _TAKERS), dtype=np.int64), np.empty(number, dtype=np.int64)
    # A window wins if in each of its classes the positions have a taker in common.
    for window in range(36):
        held_counts[:] = -1
        wins = True
        for i in range(number):
            cell = classes[window, i]
            if held_counts[cell] < 0:
                held[cell] = takers[i]
                held_counts[cell] = counts[i]
            else:
                held_counts[cell] = _shared(held[cell], held_counts[cell], takers[i], counts[i])
            if held_counts[cell] == 0:
                wins = False
                break
        if wins:
            return 65 * (8 * (window // 6 + 1) + window % 6 + 1) + _LOOK
    return -1
