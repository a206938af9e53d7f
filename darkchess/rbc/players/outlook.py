"""What requests are worth in many positions: the table that both of a turn's questions are answered from.

The child of a position by a request is valued by an evaluator, deeper where there is time for that in all positions,
as if the opponent saw everything. She doesn't, which ``unaware`` allows for: an attack on her king counts as if it
would be overlooked so often.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from darkchess.board.kernels.tables import TABLES
from darkchess.evaluation.evaluator import Evaluator
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.players._kernels.families import families
from klss.search import Budget
from klss.support.arrays import Floats, Int32s, Ints, Words

__all__ = ["Outlook", "outlook"]

_A_PLY = 12
"""How many times as many nodes a ply more takes, at the least."""

_DEEPEST = 6
"""Most plies below a child."""

_FIRST = 0.4
"""The part of the children that go into finding out which requests are worth more of them."""


@dataclass(frozen=True)
class Outlook:
    """Values of requests in positions.

    Attributes
    ----------
    indices
        int64[n]: positions of the set.
    codes
        int32[m]: requests, seen from her side of the board, −1 to pass.
    values
        float64[n, m], for her, in [−1, 1]; −exposed where her king can be taken.
    children
        How many positions were valued.
    """

    indices: Ints
    codes: Int32s
    values: Floats
    children: int


def outlook(
    known: PositionSet,
    indices: Ints,
    evaluator: Evaluator,
    *,
    children: int,
    unaware: float,
    exposed: float,
    deadline: float | None = None,
) -> Outlook:
    """Value requests in as many positions as a number of children allows.

    All requests in the first positions, then those that were the best in one of these, or are among the best half on
    the average, in the others.

    Parameters
    ----------
    known
        The positions; it is her turn.
    indices
        Which of them, int64[n], the ones to value first first.
    evaluator
        Values a position for its side to move.
    children
        About how many positions may be valued; the first position is in any case.
    unaware
        How often the opponent overlooks that her king can be taken, from 0 to 1.
    exposed
        What it costs that her own king can be taken, in lost games: 1 is what it is worth, more avoids it.
    deadline
        A moment of :func:`time.monotonic` after which nothing is searched deeper; None reads no clock.
    """
    mine = known.own_row
    every = known.requests()
    first = max(1, min(indices.shape[0], int(_FIRST * children) // len(every)))
    if indices.shape[0] * len(every) <= children:
        first = indices.shape[0]
    rest = indices[first:]
    table, used = _table(
        known, indices[:first], every, mine, evaluator, unaware, exposed, 0 if len(rest) else children, deadline
    )
    if not rest.shape[0] or used >= children:
        return Outlook(indices[:first], every, table, used)
    means = table.mean(axis=0)
    chosen = np.zeros(len(every), dtype=np.bool_)
    chosen[table.argmax(axis=1)] = True
    chosen[np.argsort(-means, kind="stable")[: max(4, min(len(every) // 4, 12))]] = True
    columns = np.flatnonzero(chosen)
    if columns.shape[0] > 24:
        columns = np.sort(columns[np.argsort(-means[columns], kind="stable")[:24]])
    more = rest[: max(0, (children - used) // columns.shape[0])]
    if not more.shape[0]:
        return Outlook(indices[:first], every, table, used)
    added, valued = _table(known, more, every[columns], mine, evaluator, unaware, exposed, 0, None)
    return Outlook(
        indices[: first + more.shape[0]], every[columns], np.concatenate([table[:, columns], added]), used + valued
    )


def _table(
    known: PositionSet,
    indices: Ints,
    codes: Int32s,
    mine: Words,
    evaluator: Evaluator,
    unaware: float,
    exposed: float,
    nodes: int,
    deadline: float | None,
) -> tuple[Floats, int]:
    """Values of requests in positions; as many plies deeper as ``nodes`` allow. And what it took."""
    shape = indices.shape[0], codes.shape[0]
    rows = np.empty((shape[0] * shape[1], 9), dtype=np.uint64)
    place = np.empty(shape, dtype=np.int32)
    checks = np.empty(rows.shape[0], dtype=np.bool_)
    count = families(known.halves, indices, mine, known.own.row, known.flipped, codes, TABLES, rows, place, checks)
    values = np.empty(count + 1)
    values[count] = 1.0
    hers = -evaluator.values(rows[:count])
    spent = last = count
    ends = np.maximum.accumulate(place.max(axis=1)) + 1
    offsets = np.concatenate([[0], ends]).astype(np.int64)
    for depth in range(1, _DEEPEST + 1):
        if nodes - spent < _A_PLY * last:
            break
        budget = Budget(nodes=nodes - spent)
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0.0:
                break
            budget = Budget(seconds=left)
        deeper, last = evaluator.search_values(known.rows(indices), offsets, rows[:count], depth, budget, 0.0)
        spent += last
        if deeper is None:
            break
        hers = np.where(np.abs(hers) == 1.0, hers, -deeper)
    lost = hers == -1.0  # her own king can be taken, whatever she attacks
    overlooked = checks[:count] & ~lost
    hers[overlooked] += unaware * (1.0 - hers[overlooked])
    hers[lost] = -exposed
    values[:count] = hers
    return values[place], spent
