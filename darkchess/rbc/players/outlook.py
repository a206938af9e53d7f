"""Values of requests in many positions: the table from which both of a turn's questions are answered.

An evaluator values the position after each request as if the opponent saw everything; if there is time for that in all
positions, by a search. The opponent does not see everything, which ``unaware`` allows for: the probability that it
overlooks an attack on its king.
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
from klss.support.arrays import Floats, Int32s, Ints

_A_PLY = 12
"""Growth of a search's nodes with one more ply, at least: no search is begun with fewer nodes left than this times the
last one's.
"""

_A_PLY_S = 3.0
"""The same for seconds, which limit a search by a clock: an evaluator's nodes may take very different times."""

_DEEPEST = 12
"""Most plies below a child."""

_FIRST = 0.4
"""Share of the children for the first positions, with all requests; these choose the requests for the others."""


_SETTLED = 0.9
"""Factor of all values but that of a king's capture, 1: this must be better than any other, so that the king is
captured in the end.
"""

_NEXT = 0.97
"""Value of a capture of the king in the next turn, if the opponent overlooks it. It is below that of a capture now, by
more than the ``spread`` within which a player chooses at random.
"""


@dataclass(frozen=True)
class Outlook:
    """Values of requests in positions."""

    indices: Ints  # int64[n]: positions of the set
    codes: Int32s  # int32[m]: requests, seen from the player's side of the board, −1: a pass
    values: Floats  # float64[n, m], for the player, in [−1, 1]; −exposed if its king can be captured
    children: int  # number of children that were valued
    # number of first positions whose children were valued; in the others a request has its mean value, unless a king
    # falls
    boards: int


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
    """Value requests in as many positions as the number of children allows.

    In the first positions, all requests are valued; in the others, those that were best in one of the first, or are
    among the best on average.

    Parameters
    ----------
    known
        The positions, at the player's turn.
    indices
        int64[n], the positions to value, in this order.
    weights
        float64[n], the probability of each.
    evaluator
        Evaluator of positions for their side to move.
    children
        About how many children may be valued; those of the first position always are.
    boards
        Most positions that are valued.
    unaware
        Probability that the opponent overlooks that its king can be captured.
    exposed
        Cost of a position in which the player's own king can be captured, in lost games. 1: it counts as a lost game;
        more: such positions are avoided.
    deadline
        A moment of :func:`time.monotonic` after which no deeper search begins; None reads no clock.
    """
    # Captures of a king are cheap to find, so they are known in all positions. Elsewhere, positions that are not valued
    # get a request's mean value.
    every = known.requests()
    fates = np.empty((indices.shape[0], len(every)), dtype=np.int8)
    ends(known.halves, indices, known.own_row, every, TABLES, fates)

    def completed(table: Floats, columns: Ints) -> Floats:
        fate = fates[:, columns]
        counted = weights[: len(table), None] * (fate[: len(table)] == 0)
        means = (counted * table).sum(axis=0) / np.maximum(counted.sum(axis=0), 1e-300)
        whole = np.where(fate == 0, means, np.where(fate > 0, 1.0, -exposed))
        whole[: len(table)] = table
        return whole

    # All requests in as many first positions as their share of the children allows; in all, if there are enough.
    boards = min(boards, indices.shape[0])
    first = max(1, min(boards, int(_FIRST * children) // len(every)))
    if boards * len(every) <= children:
        first = boards
    table, used = _table(
        known, indices[:first], every, evaluator, unaware, exposed, 0 if first < boards else children, deadline
    )
    values = completed(table, np.arange(len(every)))
    if first == boards or used >= children:
        return Outlook(indices, every, values, used, first)
    # Requests for the other positions: the best of each first position, and the best on average; at most 24.
    means = weights @ values
    chosen = np.zeros(len(every), dtype=np.bool_)
    chosen[table.argmax(axis=1)] = True
    chosen[np.argsort(-means, kind="stable")[: max(4, min(len(every) // 4, 12))]] = True
    columns = np.flatnonzero(chosen)
    if columns.shape[0] > 24:
        columns = np.sort(columns[np.argsort(-means[columns], kind="stable")[:24]])
    # These requests in as many other positions as the remaining children allow.
    more = indices[first : min(boards, first + max(0, (children - used) // columns.shape[0]))]
    if not more.shape[0]:
        return Outlook(indices, every, values, used, first)
    added, valued = _table(known, more, every[columns], evaluator, unaware, exposed, 0, None)
    values = completed(np.concatenate([table[:, columns], added]), columns)
    return Outlook(indices, every[columns], values, used + valued, first + len(more))


def _table(
    known: PositionSet,
    indices: Ints,
    codes: Int32s,
    evaluator: Evaluator,
    unaware: float,
    exposed: float,
    nodes: int,
    deadline: float | None,
) -> tuple[Floats, int]:
    """Return values of requests in positions (float64[n, m]), as deep as ``nodes`` allow, and the nodes spent."""
    # The distinct children: ``place`` has the child of each request in each position; −1, the last, is a captured king.
    shape = indices.shape[0], codes.shape[0]
    rows = np.empty((shape[0] * shape[1], 9), dtype=np.uint64)
    place = np.empty(shape, dtype=np.int32)
    checks = np.empty(rows.shape[0], dtype=np.bool_)
    own_row, real_row = known.own_row, known.own.row
    count = families(known.halves, indices, own_row, real_row, known.flipped, codes, TABLES, rows, place, checks)
    values = np.empty(count + 1)
    values[count] = 1.0
    # Their values for the player: by the evaluator, then by searches of one more ply each, while nodes and time last.
    began = 0.0 if deadline is None else time.monotonic()
    parents = known.rows(indices)
    # Where each position's children end; a position in which every request takes the king has none.
    stops = np.maximum.accumulate(place.max(axis=1)) + 1
    offsets = np.concatenate([[0], stops]).astype(np.int64)
    ours = -evaluator.child_values(parents, offsets, rows[:count])
    spent = last = count
    for depth in range(1, _DEEPEST + 1):
        if deadline is None:
            if nodes - spent < _A_PLY * last:
                break
            budget = Budget(nodes=nodes - spent)
        else:
            now = time.monotonic()
            left, took, began = deadline - now, now - began, now
            if nodes == 0 or left <= _A_PLY_S * took:
                break
            budget = Budget(seconds=left)
        deeper, last = evaluator.search_values(parents, offsets, rows[:count], depth, budget, 0.0)
        spent += last
        if deeper is None:
            break
        ours = np.where(np.abs(ours) == 1.0, ours, -deeper)  # ±1 is a king that falls: exact already
    # An attack on the opponent's king wins as often as it is overlooked, unless the opponent captures first.
    lost = ours == -1.0
    ours = np.select([lost, ours == 1.0], [ours, _NEXT], _SETTLED * ours)  # 1: a king that a search saw captured later
    overlooked = checks[:count] & ~lost
    ours[overlooked] += unaware * (_NEXT - ours[overlooked])
    ours[lost] = -exposed
    values[:count] = ours
    return values[place], spent
