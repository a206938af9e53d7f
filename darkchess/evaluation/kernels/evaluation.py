"""The built-in evaluation: a tapered sum of :mod:`features` and a small network's output, at the leaves of a
quiescence search.

Chess values under dark chess's rules: there is no check rule, but a side whose king can be taken loses. So a node is
won if its side to move can take the king. If the king of the side to move is attacked, standing pat is not allowed and
all moves that may save it are searched (one that leaves the king attacked loses it on the next ply). Defined on every
Fog of War position, legal in chess or not.

Source: the Chess Programming Wiki, "Quiescence Search", "Delta Pruning", "MVV-LVA". *Deviations*: a losing capture is
recognised from the attack maps (a more valuable piece takes a defended one), not by a static exchange evaluation; all
evasions are searched only in the first plies.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from darkchess.board.kernels.attacks import attackers, attacks, slanted, straight
from darkchess.board.kernels.bits import bit, lowest, squares
from darkchess.board.kernels.board import (
    BISHOP,
    BLACK,
    KING,
    KNIGHT,
    PAWN,
    QUEEN,
    ROOK,
    WHITE,
    ep_square,
    piece_on,
    turn,
)
from darkchess.board.kernels.moves import MAX_MOVES, generate, king_capture, make
from darkchess.board.kernels.tables import PAWN_CAPTURES
from darkchess.evaluation.kernels.features import ANY, MAPS, MAX_FEATURES, features, phase, stage
from darkchess.evaluation.kernels.network import FIRST, forward
from darkchess.evaluation.kernels.pawn_ending import is_pawn_ending, pawn_ending_score
from klss.support.kernel import kernel

WON = 1000.0
"""Score in pawns of a side that takes the king; tanh(WON/6) is 1.0 exactly."""

MOST = 50.0
"""Bound of a static evaluation in pawns; tanh(MOST/6) is below 1, which is reserved for a king that falls."""

DEPTH = 12
"""Most plies of the quiescence search."""

_EVASION_PLIES = 3
"""First plies, in which a side whose king is attacked searches all its moves."""

_DELTA = 1.5
"""Margin of delta pruning, in pawns: a capture is left out if its gain and this together can't reach alpha."""

_NODES = 500
"""Nodes after which no more moves are searched: boards full of queens would take seconds."""

_ALPHA, _BETA, _BEST, _FLOOR = range(4)  # columns of ``bounds``
_NEXT, _END = range(2)  # columns of ``cursor``


class Knowledge(NamedTuple):
    """The tables and weights by which positions are evaluated."""

    tables: Any  # ``darkchess.board.kernels.tables.TABLES``
    worth: Any  # float64[6]: rough values of the pieces in pawns, for ordering and pruning
    model: Any  # float32[PACKED_SIZE]: the packed weights (:mod:`network`)
    first: Any  # these two of :func:`darkchess.evaluation.kernels.network.integers`
    linear: Any
    pawn_ending: Any  # of :func:`darkchess.evaluation.kernels.pawn_ending.pawn_ending_table`


class Scratch(NamedTuple):
    """Work arrays of a quiescence search, with a row for each ply (DEPTH + 1), and those of a static evaluation."""

    rows: Any  # uint64[·, 9]: the position
    leaves: Any  # uint64[·, 9]: the position whose static evaluation its score is
    moves: Any  # int32[·, MAX_MOVES]: the moves to search
    keys: Any  # float64[·, MAX_MOVES]: their gain at first sight
    bounds: Any  # float64[·, 4]: alpha, beta, the best score so far, and the floor that a move's gain is added to
    cursor: Any  # int64[·, 2]: the next move, and the end of the moves
    index: Any  # these three of :func:`darkchess.evaluation.kernels.features.features`
    count: Any
    maps: Any
    units: Any  # float32[FIRST], of :func:`darkchess.evaluation.kernels.network.forward`


@kernel(allocates=False, forceinline=True)
def static(row: Any, knowledge: Any, scratch: Any) -> Any:
    """Return the evaluation in pawns for the side to move, without search (float64, computed in float32)."""
    index, count = scratch.index, scratch.count
    n = features(row, knowledge.tables, index, count, scratch.maps)
    share = np.float32(phase(row))
    output, middle, end = forward(
        index, count, n, stage(row), knowledge.first, knowledge.linear, knowledge.model, scratch.units
    )
    score = share * middle + (np.float32(1.0) - share) * end + output
    return min(max(np.float64(score), -MOST), MOST)


@kernel(allocates=False)
def _tie(square: int, target: int, flip: int) -> float:
    """Return a tiny number that breaks ties between captures, alike for both colours (``flip``: 0 White, 56 Black)."""
    return 1e-6 * (64 * (square ^ flip) + (target ^ flip))


@kernel(allocates=False, forceinline=True)
def _push(
    row: Any, own_piece: int, square: int, targets: Any, defended: Any, worth: Any, moves: Any, keys: Any, n: int,
    flip: int,
) -> int:  # fmt: skip
    """Append the captures of one piece, without those that lose material at first sight; return the new number."""
    for target in squares(targets):
        mask = bit(target)
        # The gain is the piece that stands there; on a free square, a pawn captured en passant.
        occupied = mask & (row[WHITE] | row[BLACK]) != np.uint64(0)
        gain = worth[piece_on(row, mask)] if occupied else worth[PAWN]
        promotion = 0
        if own_piece == PAWN and (target >= 56 or target < 8):
            # A promotion gains a queen for a pawn, and loses the queen again if the square is defended.
            promotion = QUEEN
            gain = (gain if occupied else 0.0) + worth[QUEEN] - worth[PAWN]
            if mask & defended != np.uint64(0):
                gain -= worth[QUEEN]
        # Half a pawn of tolerance: a bishop may take a defended knight.
        elif mask & defended != np.uint64(0) and worth[own_piece] > gain + 0.5:
            continue
        # The largest gain first, and among equal ones the least valuable captor (MVV-LVA).
        moves[n] = (square << 9) | (target << 3) | promotion
        keys[n] = gain - 0.01 * worth[own_piece] + _tie(square, target, flip)
        n += 1
    return n


@kernel(allocates=False, forceinline=True)
def _captures(row: Any, tables: Any, defended: Any, worth: Any, moves: Any, keys: Any) -> int:
    """Write the captures and queen promotions worth searching, with their gain at first sight; return how many."""
    side = turn(row)
    own = row[WHITE + side]
    enemy = row[BLACK - side]
    occupied = own | enemy
    # Pawns: captures, also en passant, and the step onto the last rank.
    capturable = enemy
    ep = ep_square(row)
    if ep >= 0:
        capturable |= bit(ep)
    last = np.uint64(0xFF00000000000000) if side == 0 else np.uint64(0xFF)
    n = 0
    for square in squares(row[PAWN] & own):
        ahead = bit(square + 8 if side == 0 else square - 8)
        targets = (tables[square, PAWN_CAPTURES + side] & capturable) | (ahead & last & ~occupied)
        n = _push(row, PAWN, square, targets, defended, worth, moves, keys, n, 56 * side)
    # The other pieces; a king captures nothing that is defended.
    for piece in range(KNIGHT, KING + 1):
        for square in squares(row[piece] & own):
            targets = attacks(piece, square, side, occupied, tables)
            if piece == KING:
                targets &= ~defended
            n = _push(row, piece, square, targets & enemy, defended, worth, moves, keys, n, 56 * side)
    return n


@kernel(allocates=False)
def shields(row: Any, king: int, checkers: Any, tables: Any) -> Any:
    """Return the squares (uint64) on which another piece may end the attack of ``checkers`` on the king's square:
    their own, those between, and the target of a capture en passant. Two checkers can't be met so.
    """
    square, occupied = lowest(checkers), row[WHITE] | row[BLACK]
    if checkers != bit(square):
        return np.uint64(0)
    useful = checkers
    if checkers & (row[BISHOP] | row[ROOK] | row[QUEEN]) != np.uint64(0):
        if straight(king, occupied, tables) & checkers != np.uint64(0):
            useful |= straight(king, occupied, tables) & straight(square, occupied, tables)
        else:
            useful |= slanted(king, occupied, tables) & slanted(square, occupied, tables)
    ep = ep_square(row)
    return useful | bit(ep) if ep >= 0 else useful


@kernel(allocates=False, forceinline=True)
def bring_best(moves: Any, keys: Any, first: int, n: int) -> None:
    """Swap the best-ranked of moves[first:n] to ``first``: few are ever searched, so sorting all would cost more."""
    best = first
    for i in range(first + 1, n):
        if keys[i] > keys[best]:
            best = i
    if best != first:
        moves[first], moves[best] = moves[best], moves[first]
        keys[first], keys[best] = keys[best], keys[first]


@kernel(allocates=False, forceinline=True)
def _enter(ply: int, last: Any, scratch: Any, knowledge: Any) -> None:
    """Enter the node ``rows[ply]``: set its best score so far, its pruning floor, and its moves to search; no moves if
    it is the ``last`` on its line (bool).
    """
    row, worth = scratch.rows[ply], knowledge.worth
    moves, keys = scratch.moves[ply], scratch.keys[ply]
    bounds, cursor = scratch.bounds[ply], scratch.cursor[ply]
    side = turn(row)
    cursor[_NEXT] = 0
    cursor[_END] = 0
    for i in range(9):
        scratch.leaves[ply, i] = row[i]
    # A king that can be taken, or is already gone, decides the score.
    king = row[KING] & row[WHITE + side]
    if row[KING] & row[BLACK - side] == np.uint64(0) or king_capture(row, knowledge.tables) >= 0:
        bounds[_BEST] = WON
        return
    bounds[_BEST] = -WON
    if king == np.uint64(0):
        return
    # Solved endings need no search.
    if is_pawn_ending(row):
        bounds[_BEST] = pawn_ending_score(row, knowledge.pawn_ending)
        return
    # With an attacked king, search all moves that may save it, captures first, and let the floor prune none.
    checkers = np.uint64(0)
    if ply < _EVASION_PLIES and not last:
        checkers = attackers(row, 1 - side, lowest(king), row[WHITE] | row[BLACK], knowledge.tables)
    if checkers != np.uint64(0):
        useful = shields(row, lowest(king), checkers, knowledge.tables)
        n = 0
        for i in range(generate(row, knowledge.tables, moves)):
            target = bit((moves[i] >> 3) & 63)
            if (target & useful) | (bit(moves[i] >> 9) & king) == np.uint64(0):
                continue
            moves[n] = moves[i]
            keys[n] = _tie(moves[i] >> 9, (moves[i] >> 3) & 63, 56 * side)
            if target & row[BLACK - side] != np.uint64(0):
                keys[n] += worth[piece_on(row, target)]
            n += 1
        bounds[_FLOOR] = 1e9
        cursor[_END] = n
        return
    # Else stand pat: the static evaluation bounds the score from below, and only captures that may gain enough follow.
    best = static(row, knowledge, scratch)
    bounds[_BEST] = best
    if best >= bounds[_BETA] or last:
        return
    bounds[_ALPHA] = max(bounds[_ALPHA], best)
    bounds[_FLOOR] = best + _DELTA
    cursor[_END] = _captures(row, knowledge.tables, scratch.maps[ANY + 1 - side], worth, moves, keys)


@kernel(allocates=False, forceinline=True)
def quiescence(stand: float, scratch: Any, knowledge: Any) -> Any:
    """Return the score (float64) of ``rows[0]`` by a fail-soft quiescence search; ``leaves[0]`` becomes the position
    whose static evaluation the score is.

    ``stand`` is the caller's beta: if the static evaluation of ``rows[0]`` reaches it, that is returned at once, as a
    lower bound of the score. Nothing else depends on ``stand``; with WON or more the search is never cut short so.

    A loop with its own stack, because numba's cache can't hold a recursive function. The arguments are a
    :class:`Scratch` and a :class:`Knowledge`.
    """
    rows, leaves = scratch.rows, scratch.leaves
    moves, keys = scratch.moves, scratch.keys
    bounds, cursor = scratch.bounds, scratch.cursor
    bounds[0, _ALPHA] = -WON
    bounds[0, _BETA] = stand
    _enter(0, False, scratch, knowledge)
    bounds[0, _BETA] = WON
    ply = 0
    nodes = 1
    while True:
        i = cursor[ply, _NEXT]
        if i < cursor[ply, _END]:
            bring_best(moves[ply], keys[ply], i, cursor[ply, _END])
            most = bounds[ply, _FLOOR] + keys[ply, i]
            if most > bounds[ply, _ALPHA]:
                # Go down to the next node, with the window negated.
                cursor[ply, _NEXT] = i + 1
                make(rows[ply], moves[ply, i], knowledge.tables, rows[ply + 1])
                bounds[ply + 1, _ALPHA] = -bounds[ply, _BETA]
                bounds[ply + 1, _BETA] = -bounds[ply, _ALPHA]
                ply += 1
                nodes += 1
                _enter(ply, ply >= DEPTH - 1 or nodes > _NODES, scratch, knowledge)
                continue
            # All moves that are left gain too little to reach alpha; the score, now a bound, must allow for them.
            bounds[ply, _BEST] = max(bounds[ply, _BEST], most)
        # Go back up with the score; one that reaches beta ends the node above.
        score = -bounds[ply, _BEST]
        if ply == 0:
            return -score
        ply -= 1
        if score > bounds[ply, _BEST]:
            bounds[ply, _BEST] = score
            for j in range(9):
                leaves[ply, j] = leaves[ply + 1, j]
            if score > bounds[ply, _ALPHA]:
                bounds[ply, _ALPHA] = score
                if score >= bounds[ply, _BETA]:
                    cursor[ply, _END] = 0


@kernel
def new_scratch() -> Any:
    """Return new work arrays of a quiescence search, uninitialised: each call of a kernel has its own, so that threads
    can run side by side.
    """
    return Scratch(
        np.empty((DEPTH + 1, 9), dtype=np.uint64),
        np.empty((DEPTH + 1, 9), dtype=np.uint64),
        np.empty((DEPTH + 1, MAX_MOVES), dtype=np.int32),
        np.empty((DEPTH + 1, MAX_MOVES), dtype=np.float64),
        np.empty((DEPTH + 1, 4), dtype=np.float64),
        np.empty((DEPTH + 1, 2), dtype=np.int64),
        np.empty(MAX_FEATURES, dtype=np.int32),
        np.empty(MAX_FEATURES, dtype=np.int32),
        np.empty(MAPS, dtype=np.uint64),
        np.empty(FIRST, dtype=np.float32),
    )


@kernel
def evaluate_many(rows: Any, knowledge: Any, scores: Any, leaves_out: Any) -> None:
    """Write the scores in pawns for the side to move of ``rows`` (uint64[n, 9]) into ``scores`` (float64[n]).

    ``knowledge`` is a :class:`Knowledge`. ``leaves_out`` (uint64[n, 9], or of length 0 if not wanted) gets the
    positions whose static evaluations the scores are.
    """
    _evaluate_each(rows, scores, leaves_out, new_scratch(), knowledge)


@kernel(allocates=False)
def _evaluate_each(rows: Any, scores: Any, leaves_out: Any, scratch: Any, knowledge: Any) -> None:
    for k in range(rows.shape[0]):
        for i in range(9):
            scratch.rows[0, i] = rows[k, i]
        scores[k] = quiescence(WON, scratch, knowledge)
        if leaves_out.shape[0] != 0:
            for i in range(9):
                leaves_out[k, i] = scratch.leaves[0, i]
