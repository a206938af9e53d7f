"""Values of the children of one parent, where only those near the best one have to be exact.

Who chooses among siblings, and a search that asks where the choice may fall, wants to know of a child that is far below
the best one only that it is. So the best is found first, and the others' quiescence searches run with it, less a
*window*, as their bound (fail-soft; Knuth & Moore 1975, "An analysis of alpha-beta pruning"). The side to move at a
child may leave the men where they are; her static evaluation alone settles most children, and the order in which the
rest is searched: first the one where she has least.

What is said of a parent's children depends on them alone. A score within the window is the one that
:func:`darkchess.evaluation.kernels.evaluation.evaluate_many` gives. *Deviation*: a narrowed search leaves out captures
(delta pruning) and stops (nodes) at other places than that one, so that about one child in ten thousand gets a bound
below the window though it belongs there.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from darkchess.board.kernels.attacks import attacked_by
from darkchess.board.kernels.bits import lowest
from darkchess.board.kernels.board import BLACK, KING, WHITE, turn
from darkchess.board.kernels.moves import king_capture
from darkchess.evaluation.kernels.evaluation import WON, quiescence, quiescence_from, scratch, static
from darkchess.evaluation.kernels.features import ANY
from klss.kernel import kernel

__all__ = ["evaluate_siblings"]

_UNKNOWN = -2.0 * WON
"""Score of a child that has no static evaluation: its side to move is in check. It is searched before all others."""


@kernel(allocates=False)
def _least(scores: Any, waiting: Any, first: int, count: int) -> int:
    """Swap the child with the least score among waiting[first:count] to ``first``, and return it."""
    chosen = first
    for i in range(first + 1, count):
        if scores[waiting[i]] < scores[waiting[chosen]]:
            chosen = i
    waiting[first], waiting[chosen] = waiting[chosen], waiting[first]
    return int(waiting[first])


@kernel
def evaluate_siblings(
    rows: Any, offsets: Any, window: float, scale: float, tables: Any, worth: Any, model: Any, scores: Any
) -> None:
    """Write the scores in pawns for the side to move of the children of some parents into ``scores`` (float64[m]).

    Scratch memory is allocated by each call: threads may run it side by side on different parents.

    Parameters
    ----------
    rows : uint64[m, 9]
        The children.
    offsets : int64[n + 1]
        ``rows[offsets[i]:offsets[i + 1]]`` are one parent's.
    window, scale : float
        A child needs no exact score if tanh(−score/scale) is more than ``window``, above 0, below the best sibling's.
        Its score is then a lower bound that says so.
    tables, worth, model
        As in :func:`darkchess.evaluation.kernels.evaluation.evaluate_many`.
    """
    stack, leaves, moves, keys, bounds, cursor, index, count, maps, units = scratch()
    most = 0
    for parent in range(offsets.shape[0] - 1):
        most = max(most, offsets[parent + 1] - offsets[parent])
    waiting = np.empty(most, dtype=np.int64)
    defended = np.empty(most, dtype=np.uint64)
    _evaluate_each(
        rows, offsets, window, scale, scores, waiting, defended, stack, leaves, moves, keys, bounds, cursor,
        tables, worth, model, index, count, maps, units,
    )  # fmt: skip


@kernel(allocates=False)
def _evaluate_each(
    rows: Any, offsets: Any, window: float, scale: float, scores: Any, waiting: Any, defended: Any,
    stack: Any, leaves: Any, moves: Any, keys: Any, bounds: Any, cursor: Any,
    tables: Any, worth: Any, model: Any, index: Any, count: Any, maps: Any, units: Any,
) -> None:  # fmt: skip
    for parent in range(offsets.shape[0] - 1):
        start = offsets[parent]
        number = 0
        least = WON  # the best child's score, being the opponent's there
        for k in range(start, offsets[parent + 1]):
            row = rows[k]
            side = turn(row)
            king = row[KING] & row[WHITE + side]
            if row[KING] & row[BLACK - side] == np.uint64(0) or king_capture(row, tables) >= 0:
                scores[k] = WON
                continue
            if king == np.uint64(0):
                scores[k] = least = -WON
                continue
            scores[k] = _UNKNOWN
            if not attacked_by(row, 1 - side, lowest(king), tables):
                scores[k] = static(row, tables, model, index, count, maps, units)
                defended[k - start] = maps[ANY + 1 - side]
            waiting[number] = k
            number += 1
        beta = _bound(least, window, scale)
        for place in range(number):
            k = _least(scores, waiting, place, number)
            best = scores[k]
            if best >= beta:
                break
            for i in range(9):
                stack[0, i] = rows[k, i]
            if best == _UNKNOWN:
                scores[k] = quiescence(
                    beta, beta, stack, leaves, moves, keys, bounds, cursor,
                    tables, worth, model, index, count, maps, units,
                )  # fmt: skip
            else:
                scores[k] = quiescence_from(
                    best, defended[k - start], beta, stack, leaves, moves, keys, bounds, cursor,
                    tables, worth, model, index, count, maps, units,
                )  # fmt: skip
            if scores[k] < least:
                least = scores[k]
                beta = _bound(least, window, scale)


@kernel(allocates=False)
def _bound(least: float, window: float, scale: float) -> float:
    """Score from which a child is out of the window."""
    value = math.tanh(least / scale) + window
    return scale * math.atanh(value) if value < 1.0 else WON
