"""Sure wins of a set of positions, which need no search: the king can be taken in every possible position.

Before its move, the player to act wins if one request takes the king in every position of its set. Before its sense, it
wins if there is a window such that, whatever it shows, one request then does. This is a proof as long as the true
position is in the set, whatever the opponent knows, since the opponent has no move in between. For a set that was cut,
it is a proof only for the remaining members.

Deviation from the source (G. Clark, "Deep Synoptic Monte Carlo Planning in Reconnaissance Blind Chess", which also
finds losses on the opponent's turn without saying how): a *loss* can't be proved from the loser's set alone. Even if
the opponent can take the king in every position of that set, it may not know this, and then it may play another move.
So a loss is only found as a win for the opponent, from its own set, when it acts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.bits import bit
from darkchess.board.kernels.board import KING
from darkchess.board.kernels.halves import code_at
from darkchess.rbc.belief._kernels.position_set import outcome
from darkchess.rbc.belief._kernels.senses import partitions
from darkchess.rbc.game._kernels.requests import MAX_REQUESTS, generate_requests
from darkchess.rbc.synoptic._kernels.synopsis import MOVE
from klss.support.kernel import kernel

_LOOK = 64
"""A sense's action is this and 65 times its square."""


@kernel
def _shared(takes: Any, classes: Any, held: Any, met: Any) -> bool:
    """Write the requests that all positions of a class have in common (bool[n, m]); whether each class has one."""
    met[:] = False
    for i in range(takes.shape[0]):
        cell = classes[i]
        some = False
        for j in range(takes.shape[1]):
            held[cell, j] = takes[i, j] and (held[cell, j] or not met[cell])
            some = some or held[cell, j]
        met[cell] = True
        if not some:
            return False
    return True


@kernel
def forced_win(own_row: Any, halves: Any, stage: int, tables: Any) -> Any:
    """Return the action of a sure win of a set; −1: none is sure.

    As the player sees the board: 65 · from + to of a request that takes the king in every position, from the lowest
    square and to the nearest; or 65 · square + 64 of a sense after which there is such a request whatever it shows,
    with the lowest such square. The set, at least one position, is that of the player to act, as in
    :func:`darkchess.rbc.synoptic._kernels.synopsis.synopsis`.
    """
    # Which requests take the king in which position. Most sets are decided by the first one, in which none does.
    number = halves.shape[0]
    requests = np.empty(MAX_REQUESTS, dtype=np.int32)
    count = generate_requests(own_row, 0, tables, requests)
    takes = np.zeros((number, count), dtype=np.bool_)
    for i in range(number):
        enemy, codes = halves[i, 0], halves[i, 1]
        some = False
        for j in range(count):
            _, capture = outcome(own_row, enemy, codes, requests[j], tables)
            takes[i, j] = capture >= 0 and code_at(enemy, codes, bit(capture)) == np.uint64(KING)
            some = some or takes[i, j]
        if not some:
            return -1
    classes, class_counts = np.zeros((36, number), dtype=np.int32), np.empty(36, dtype=np.int64)
    held, met = np.empty_like(takes), np.empty(number, dtype=np.bool_)
    if stage == MOVE:
        if not _shared(takes, classes[0], held, met):
            return -1
        # All winning requests of a piece lie in one direction, in which the nearest one reaches the furthest king.
        best, least = np.int64(-1), np.int64(0)
        for j in range(count):
            origin, target = np.int64(requests[j]) >> 9, (np.int64(requests[j]) >> 3) & 63
            far = 64 * origin + abs(target - origin)
            if held[0, j] and (best < 0 or far < least):
                best, least = 65 * origin + target, far
        return best
    # A window wins if in each of its classes the positions have a request in common.
    partitions(halves, np.arange(number), classes, class_counts)
    for window in range(36):
        if _shared(takes, classes[window], held, met):
            return 65 * (8 * (window // 6 + 1) + window % 6 + 1) + _LOOK
    return -1
