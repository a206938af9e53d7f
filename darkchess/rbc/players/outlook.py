"""Values of requests in many positions: the table that both of a turn's questions are answered from.

An evaluator values the child of a position by a request, deeper where there is time for that in all positions, as if
the opponent saw everything. It does not, which ``unaware`` allows for: an attack on its king counts as if it were
overlooked that often.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from darkchess.board.kernels.tables import TABLES
from darkchess.evaluation.evaluator import Evaluator
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.players._kernels.families import ends, families
from klss.search import Budget
from klss.support.arrays import Floats, Int32s, Ints, Words

__all__ = ["Outlook", "outlook"]

_A_PLY = 12
"""A search of one more ply takes at least so many times the nodes of the last one; none is begun with fewer left."""

_DEEPEST = 6
"""Most plies below a child."""

_FIRST = 0.4
"""The part of the children that goes into the first positions, with all requests, which choose those for the others."""


_SETTLED = 0.9
"""What the best position is worth, of a king taken: so that the king is taken in the end."""

_NEXT = 0.97
"""What a king is worth that can be taken in a turn, if the opponent overlooks that: less than one that is taken now, by
more than what a player's ``spread`` counts for nothing.
"""


@dataclass(frozen=True)
class Outlook:
    """Values of requests in positions."""

    indices: Ints  # int64[n]: positions of the set
    codes: Int32s  # int32[m]: requests, seen from the player's side of the board, −1 to pass
    values: Floats  # float64[n, m], for the player, in [−1, 1]; −exposed where its king can be captured
    children: int  # number of positions that were valued
    boards: int  # children of so many first positions; elsewhere a request is worth its mean, unless a king falls


def outlook(
    known: PositionSet,
    indices: Ints,
    weights: Floats,
    evaluator: Evaluator,
    *,
    children: int,
    boards: int,
    unaware: float,
    exposed: float,
    deadline: float | None = None,
) -> Outlook:
    """Value requests in as many positions as a number of children allows.

    All requests are valued in the first positions. In the others, those that were the best in one of these, or are
    among the best on average.

    Parameters
    ----------
    known
        The positions, at the player's turn.
    indices
        Which of them, int64[n], in the order of valuing them.
    weights
        float64[n], how likely each is.
    evaluator
        Values a position for its side to move.
    children
        About how many children may be valued; those of the first position are in any case.
    boards
        Most positions that are valued.
    unaware
        How often the opponent overlooks that its king can be captured, from 0 to 1.
    exposed
        Cost of a position in which the player's own king can be captured, in lost games. 1: the game is taken for lost;
        more: such positions are avoided.
    deadline
        A moment of :func:`time.monotonic` after which nothing is searched deeper; None reads no clock.
    """
    # What ends a game at once is looked for in all positions; and each gets the mean value of a request elsewhere.
    mine = known.own_row
    every = known.requests()
    fates = np.empty((indices.shape[0], len(every)), dtype=np.int8)
    ends(known.halves, indices, mine, every, TABLES, fates)

    def completed(table: Floats, columns: Ints) -> Floats:
        fate = fates[:, columns]
        counted = weights[: len(table), None] * (fate[: len(table)] == 0)
        means = (counted * table).sum(axis=0) / np.maximum(counted.sum(axis=0), 1e-300)
        whole = np.where(fate == 0, means, np.where(fate > 0, 1.0, -exposed))
        whole[: len(table)] = table
        return whole

    # All requests in as many first positions as their part of the children allows; everything, if that is enough.
    boards = min(boards, indices.shape[0])
    first = max(1, min(boards, int(_FIRST * children) // len(every)))
    if boards * len(every) <= children:
        first = boards
    table, used = _table(
        known, indices[:first], every, mine, evaluator, unaware, exposed, 0 if first < boards else children, deadline
    )
    values = completed(table, np.arange(len(every)))
    if first == boards or used >= children:
        return Outlook(indices, every, values, used, first)
    # Requests for the other positions: the best of any first position, and the best on average, 24 at the most.
    means = weights @ values
    chosen = np.zeros(len(every), dtype=np.bool_)
    chosen[table.argmax(axis=1)] = True
    chosen[np.argsort(-means, kind="stable")[: max(4, min(len(every) // 4, 12))]] = True
    columns = np.flatnonzero(chosen)
    if columns.shape[0] > 24:
        columns = np.sort(columns[np.argsort(-means[columns], kind="stable")[:24]])
    # These requests in as many other positions as children are left for.
    more = indices[first : min(boards, first + max(0, (children - used) // columns.shape[0]))]
    if not more.shape[0]:
        return Outlook(indices, every, values, used, first)
    added, valued = _table(known, more, every[columns], mine, evaluator, unaware, exposed, 0, None)
    values = completed(np.concatenate([table[:, columns], added]), columns)
    return Outlook(indices, every[columns], values, used + valued, first + len(more))


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
    """Values of requests in positions (float64[n, m]), as many plies deeper as ``nodes`` allow; and the nodes spent."""
    # The distinct children: ``place`` says which one a request leads to in a position, the last for a captured king.
    shape = indices.shape[0], codes.shape[0]
    rows = np.empty((shape[0] * shape[1], 9), dtype=np.uint64)
    place = np.empty(shape, dtype=np.int32)
    checks = np.empty(rows.shape[0], dtype=np.bool_)
    count = families(known.halves, indices, mine, known.own.row, known.flipped, codes, TABLES, rows, place, checks)
    values = np.empty(count + 1)
    values[count] = 1.0
    # Their values for the player: by the evaluator, then by searches, a ply deeper at a time.
    ours = -evaluator.values(rows[:count])
    spent = last = count
    stops = np.maximum.accumulate(place.max(axis=1)) + 1
    offsets = np.concatenate([[0], stops]).astype(np.int64)
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
        ours = np.where(np.abs(ours) == 1.0, ours, -deeper)  # ±1 is a king that falls: exact already
    # What the opponent does not see: a check wins as often as it is overlooked, unless it captures first.
    lost = ours == -1.0
    ours = np.where(np.abs(ours) == 1.0, ours, _SETTLED * ours)
    overlooked = checks[:count] & ~lost
    ours[overlooked] += unaware * (_NEXT - ours[overlooked])
    ours[lost] = -exposed
    values[:count] = ours
    return values[place], spent
