"""The built-in evaluation: a tapered sum of :mod:`features` at the leaves of a quiescence search.

Chess values, by dark chess's rules: there is no check rule, but a side whose king can be taken loses. So a node where the side to move can take the king is won; a
node where her own king is attacked may not stand pat and looks at all her moves (every one that leaves the king there loses it next ply). Defined on every
Fog of War position, legal in chess or not.

Source: the Chess Programming Wiki, "Quiescence Search", "Delta Pruning", "MVV-LVA". *Deviations*: a losing capture is told by one look at the attack maps (a
more valuable man takes a defended one), not by a static exchange evaluation; evasions are looked at in full only in the first plies.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess._kernels.attacks import attacked_by, bishop_attacks, rook_attacks
from darkchess._kernels.bits import bit, lowest, without_lowest
from darkchess._kernels.features import features, phase
from darkchess._kernels.moves import MAX_MOVES, generate, king_capture, make
from klss.kernel import kernel

__all__ = ["DEPTH", "WON", "evaluate_many", "quiet_leaf", "static"]

WON = 1000.0
"""Score in pawns of a side that takes the king; tanh(WON/6) is 1.0 exactly."""

DEPTH = 12
"""Plies that the quiescence search may go."""

_EVASION_PLIES = 3
_DELTA = 1.5


@kernel
def static(row: Any, tables: Any, weights: Any, index: Any, count: Any, maps: Any, danger: Any) -> float:
    """Tapered evaluation in pawns for the side to move, without search. Arrays as in :func:`features`; ``weights`` is float64[FEATURES, 2]."""
    n = features(row, tables, index, count, maps, danger)
    middle = 0.0
    end = 0.0
    for i in range(n):
        middle += weights[index[i], 0] * count[i]
        end += weights[index[i], 1] * count[i]
    share = phase(row)
    return share * middle + (1.0 - share) * end


@kernel(inline="always")
def _man(row: Any, mask: Any) -> int:
    piece = 5
    for i in range(5):
        if row[i] & mask != np.uint64(0):
            piece = i
    return piece


@kernel
def _push(row: Any, own_piece: int, square: int, targets: Any, defended: Any, worth: Any, moves: Any, keys: Any, n: int) -> int:
    """Append captures of one man, leaving out those that lose material at a glance."""
    while targets != np.uint64(0):
        target = lowest(targets)
        mask = bit(target)
        targets = without_lowest(targets)
        gain = worth[_man(row, mask)] if mask & (row[6] | row[7]) != np.uint64(0) else worth[0]
        promotion = 0
        if own_piece == 0 and (target >= 56 or target < 8):
            promotion = 4
            gain = (gain if mask & (row[6] | row[7]) != np.uint64(0) else 0.0) + worth[4] - worth[0]
            if mask & defended != np.uint64(0):
                gain -= worth[4]
        elif mask & defended != np.uint64(0) and worth[own_piece] > gain + 0.5:
            continue
        moves[n] = (square << 9) | (target << 3) | promotion
        keys[n] = gain - 0.01 * worth[own_piece]
        n += 1
    return n


@kernel
def _captures(row: Any, tables: Any, defended: Any, worth: Any, moves: Any, keys: Any) -> int:
    """Captures and queen promotions worth a look, with how much they gain at sight (float64); returns how many."""
    side = np.int64(row[8] & np.uint64(1))
    own = row[6 + side]
    enemy = row[7 - side]
    occupied = own | enemy
    ep = np.int64((row[8] >> np.uint64(8)) & np.uint64(0x7F)) - 1
    n = 0
    last = np.uint64(0xFF00000000000000) if side == 0 else np.uint64(0xFF)
    men = row[0] & own
    while men != np.uint64(0):
        square = lowest(men)
        men = without_lowest(men)
        targets = tables[square, 2 + side] & enemy
        if ep >= 0:
            targets |= tables[square, 2 + side] & bit(ep)
        ahead = bit(square + 8 if side == 0 else square - 8)
        targets |= ahead & last & ~occupied
        n = _push(row, 0, square, targets, defended, worth, moves, keys, n)
    for piece in range(1, 6):
        men = row[piece] & own
        while men != np.uint64(0):
            square = lowest(men)
            men = without_lowest(men)
            if piece == 1:
                targets = tables[square, 0]
            elif piece == 2:
                targets = bishop_attacks(square, occupied, tables)
            elif piece == 3:
                targets = rook_attacks(square, occupied, tables)
            elif piece == 4:
                targets = rook_attacks(square, occupied, tables) | bishop_attacks(square, occupied, tables)
            else:
                targets = tables[square, 1] & ~defended
            n = _push(row, piece, square, targets & enemy, defended, worth, moves, keys, n)
    return n


@kernel(inline="always")
def _next_best(moves: Any, keys: Any, first: int, n: int) -> None:
    best = first
    for i in range(first + 1, n):
        if keys[i] > keys[best]:
            best = i
    if best != first:
        move = moves[first]
        moves[first] = moves[best]
        moves[best] = move
        key = keys[first]
        keys[first] = keys[best]
        keys[best] = key


@kernel
def _search(
    ply: int, alpha: float, beta: float, rows: Any, moves: Any, keys: Any, leaves: Any,
    tables: Any, weights: Any, worth: Any, index: Any, count: Any, maps: Any, danger: Any,
) -> float:  # fmt: skip
    """Fail-soft quiescence search of ``rows[ply]``; ``leaves[ply]`` is the position whose static evaluation the score is."""
    row = rows[ply]
    side = np.int64(row[8] & np.uint64(1))
    for i in range(9):
        leaves[ply, i] = row[i]
    king = row[5] & row[6 + side]
    if row[5] & row[7 - side] == np.uint64(0) or king_capture(row, tables) >= 0:
        return 1000.0
    if king == np.uint64(0):
        return -1000.0
    best = -1000.0
    attacked = attacked_by(row, 1 - side, lowest(king), tables)
    if attacked and ply < _EVASION_PLIES:
        n = generate(row, tables, moves[ply])
        for i in range(n):
            target = bit((moves[ply, i] >> 3) & 63)
            keys[ply, i] = worth[_man(row, target)] if target & row[7 - side] != np.uint64(0) else 0.0
        floor = 1e9
    else:
        best = static(row, tables, weights, index, count, maps, danger)
        if best >= beta or ply >= DEPTH - 1:
            return best
        alpha = max(alpha, best)
        n = _captures(row, tables, maps[1 - side], worth, moves[ply], keys[ply])
        floor = best + _DELTA
    for i in range(n):
        _next_best(moves[ply], keys[ply], i, n)
        if floor + keys[ply, i] <= alpha:
            break
        make(row, moves[ply, i], tables, rows[ply + 1])
        score = -_search(ply + 1, -beta, -alpha, rows, moves, keys, leaves, tables, weights, worth, index, count, maps, danger)
        if score > best:
            best = score
            for j in range(9):
                leaves[ply, j] = leaves[ply + 1, j]
            if score > alpha:
                alpha = score
                if alpha >= beta:
                    break
    return best


@kernel
def evaluate_many(rows: Any, tables: Any, weights: Any, worth: Any, out: Any) -> None:
    """Write tanh(pawns/6) for the side to move of each of ``rows`` (uint64[n, 9]) into ``out`` (float64[n]).

    ``weights`` float64[FEATURES, 2], ``worth`` float64[6]: rough values of the men in pawns, for ordering and pruning.
    """
    stack = np.zeros((DEPTH + 1, 9), dtype=np.uint64)
    leaves = np.zeros((DEPTH + 1, 9), dtype=np.uint64)
    moves = np.zeros((DEPTH + 1, MAX_MOVES), dtype=np.int32)
    keys = np.zeros((DEPTH + 1, MAX_MOVES), dtype=np.float64)
    index = np.zeros(320, dtype=np.int32)
    count = np.zeros(320, dtype=np.int32)
    maps = np.zeros(12, dtype=np.uint64)
    danger = np.zeros(2, dtype=np.int64)
    for k in range(rows.shape[0]):
        for i in range(9):
            stack[0, i] = rows[k, i]
        score = _search(0, -1000.0, 1000.0, stack, moves, keys, leaves, tables, weights, worth, index, count, maps, danger)
        out[k] = np.tanh(score / 6.0)


@kernel
def quiet_leaf(rows: Any, tables: Any, weights: Any, worth: Any, leaves_out: Any, scores: Any) -> None:
    """For tuning: the position whose static evaluation decides each of ``rows``, and the score in pawns for the side to move at the root."""
    stack = np.zeros((DEPTH + 1, 9), dtype=np.uint64)
    leaves = np.zeros((DEPTH + 1, 9), dtype=np.uint64)
    moves = np.zeros((DEPTH + 1, MAX_MOVES), dtype=np.int32)
    keys = np.zeros((DEPTH + 1, MAX_MOVES), dtype=np.float64)
    index = np.zeros(320, dtype=np.int32)
    count = np.zeros(320, dtype=np.int32)
    maps = np.zeros(12, dtype=np.uint64)
    danger = np.zeros(2, dtype=np.int64)
    for k in range(rows.shape[0]):
        for i in range(9):
            stack[0, i] = rows[k, i]
        scores[k] = _search(0, -1000.0, 1000.0, stack, moves, keys, leaves, tables, weights, worth, index, count, maps, danger)
        for i in range(9):
            leaves_out[k, i] = leaves[0, i]
