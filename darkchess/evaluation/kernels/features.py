"""The features of a position for the built-in evaluation, as a sparse list of (feature, count).

One list serves both the evaluation (its sum with the weights) and the tuning (its row of the regression), so that the
tuned terms are exactly the played ones. Every square is relative to its owner (Black's ranks are mirrored). A piece of
the side to move counts +1, the same piece of the other side −1. Only the block "threats" has separate features for the
two sides, because a hanging piece is worth less to the side that is not to move.

Sources of the ideas: C. Shannon 1950 (material, mobility, pawn structure), the Chess Programming Wiki's pages
"Evaluation", "Tapered Eval", "King Safety". All numbers live in the weights file and come from our own tuning
(``experiments/learn/evaluation.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.attacks import pawn_attacks, slanted, straight
from darkchess.board.kernels.bits import beside, bit, lowest, popcount, squares
from darkchess.board.kernels.board import BISHOP, BLACK, KING, KNIGHT, PAWN, QUEEN, ROOK, WHITE, turn
from darkchess.board.kernels.tables import KING_STEPS, KNIGHT_STEPS
from klss.support.kernel import kernel

FEATURE_BLOCKS: dict[str, tuple[int, int]] = {
    "piece on square": (0, 384),
    "mobility": (384, 66),
    "bishop pair": (450, 1),
    "passed pawn": (451, 18),
    "pawn structure": (469, 10),
    "rook on file": (479, 2),
    "king shelter": (481, 8),
    "king danger": (489, 16),
    "safe checks": (505, 4),
    "threats": (509, 24),
    "tempo": (533, 1),
    "runner": (534, 7),
}
"""Name → (first feature, number of features), in order."""

FEATURES = 541
"""Number of features; the weights are float64[FEATURES, 2] (middlegame, endgame), in pawns."""

MAX_FEATURES = 320
"""Room for the features of one position, with three more that :func:`darkchess.evaluation.kernels.network.forward`
pads with.
"""

ANY, TWICE, BY_PAWN, BY_KNIGHT, BY_BISHOP, BY_ROOK, BY_QUEEN, BY_KING, FILES, DANGER = range(0, 20, 2)
"""Places of the attack maps that :func:`features` leaves behind, each for White, then for Black: squares attacked at
all, twice, by a pawn, a knight, a bishop, a rook (these two through their own queens, a rook also through rooks), a
queen, the king; its pawns' files; then a number, the danger to the enemy king.
"""
MAPS = 20
"""Number of these places."""


@kernel(allocates=False)
def phase(row: Any) -> float:
    """Return 1.0 with all pieces on the board (24 units), 0.0 with kings and pawns only."""
    units = popcount(row[KNIGHT] | row[BISHOP]) + 2 * popcount(row[ROOK]) + 4 * popcount(row[QUEEN])
    return min(units, 24) / 24.0


STAGES = 4
"""Number of stages that :func:`stage` distinguishes."""


@kernel(allocates=False)
def stage(row: Any) -> int:
    """Return 0 to 3 by the number of both sides' pieces other than kings and pawns: none, 1 to 4, 5 to 9, more."""
    pieces = popcount(row[KNIGHT] | row[BISHOP] | row[ROOK] | row[QUEEN])
    return int(pieces > 0) + int(pieces > 4) + int(pieces > 9)


@kernel(allocates=False)
def _forward_fill(mask: Any, side: int) -> Any:
    """Return ``mask`` and all squares ahead of it on its files, as seen by ``side``."""
    if side == 0:
        mask |= mask << np.uint64(8)
        mask |= mask << np.uint64(16)
        mask |= mask << np.uint64(32)
    else:
        mask |= mask >> np.uint64(8)
        mask |= mask >> np.uint64(16)
        mask |= mask >> np.uint64(32)
    return mask


@kernel(allocates=False)
def _put(index: Any, count: Any, n: int, feature: int, value: int) -> int:
    index[n] = feature
    count[n] = value
    return n + 1


@kernel(allocates=False)
def _put_if(wanted: Any, index: Any, count: Any, n: int, feature: int, value: int) -> int:
    """Do :func:`_put` if ``wanted`` (bool), without a branch, which would be mispredicted too often."""
    index[n] = feature
    count[n] = value
    return n + int(wanted)


@kernel(allocates=False)
def _distance(a: int, b: int) -> int:
    return max(abs((a & 7) - (b & 7)), abs((a >> 3) - (b >> 3)))


@kernel(allocates=False, forceinline=True)
def _pawn_maps(row: Any, tables: Any, maps: Any) -> None:
    """Begin the attack maps with both sides' pawns and kings, which the terms of the other pieces use."""
    for i in range(FILES):
        maps[i] = np.uint64(0)
    for side in range(2):
        pawns = row[PAWN] & row[WHITE + side]
        maps[FILES + side] = _forward_fill(pawns, 0) | _forward_fill(pawns, 1)
        a, b = pawn_attacks(pawns, side)
        maps[BY_PAWN + side] = a | b
        king = row[KING] & row[WHITE + side]
        reach = np.uint64(0)
        if king != np.uint64(0):
            reach = tables[lowest(king), KING_STEPS]
        maps[BY_KING + side] = reach
        maps[TWICE + side] = (a & b) | (reach & (a | b))
        maps[ANY + side] = a | b | reach


@kernel(allocates=False, forceinline=True)
def _piece_terms(row: Any, side: int, sign: int, tables: Any, index: Any, count: Any, n: int, maps: Any) -> int:
    """Add piece-square, mobility and file terms of ``side``; fill its attack maps and its danger to the enemy king."""
    own = row[WHITE + side]
    occupied = own | row[BLACK - side]
    flip = 56 * side
    # Mobility counts only useful squares: not those of own pawns or the own king, nor those that enemy pawns attack.
    mobile = ~(own & (row[PAWN] | row[KING])) & ~maps[BY_PAWN + 1 - side]
    # The enemy king's ring: its square, the squares next to it, and one rank more towards this side.
    enemy_king = row[KING] & row[BLACK - side]
    ring = maps[BY_KING + 1 - side] | enemy_king
    ring |= (ring << np.uint64(8)) if side == 1 else (ring >> np.uint64(8))
    units = 0
    attackers = 0
    for piece in range(6):
        for square in squares(row[piece] & own):
            n = _put(index, count, n, 64 * piece + (square ^ flip), sign)
            # Pawns and kings have their own terms and maps.
            if piece in (PAWN, KING):
                continue
            # The squares that it attacks, also through own pieces of a battery: a bishop's through a queen, a rook's
            # through a queen or rook. ``first`` is the feature of mobility 0.
            if piece == KNIGHT:
                reach = tables[square, KNIGHT_STEPS]
                first = 384
                maps[BY_KNIGHT + side] |= reach
            elif piece == BISHOP:
                reach = slanted(square, occupied ^ (row[QUEEN] & own), tables)
                first = 393
                maps[BY_BISHOP + side] |= reach
            elif piece == ROOK:
                reach = straight(square, occupied ^ ((row[ROOK] | row[QUEEN]) & own), tables)
                first = 407
                maps[BY_ROOK + side] |= reach
                shut = bit(square) & maps[FILES + 1 - side] != np.uint64(0)
                n = _put_if(bit(square) & maps[FILES + side] == np.uint64(0), index, count, n, 479 + int(shut), sign)
            else:
                reach = straight(square, occupied, tables) | slanted(square, occupied, tables)
                first = 422
                maps[BY_QUEEN + side] |= reach
            # Maps, mobility, and units of danger: one for each attacked square of the ring, and some for the piece.
            maps[TWICE + side] |= reach & maps[ANY + side]
            maps[ANY + side] |= reach
            n = _put(index, count, n, first + popcount(reach & mobile), sign)
            hits = popcount(reach & ring)
            attackers += int(hits != 0)
            units += hits + int(hits != 0) * (2 if piece < ROOK else (3 if piece == ROOK else 5))
    # One attacker alone is little danger.
    danger = min(15, (units + 1) // 2) if attackers > 1 else min(4, (units + 2) // 3)
    maps[DANGER + side] = np.uint64(danger)
    n = _put_if(popcount(row[BISHOP] & own) > 1, index, count, n, 450, sign)
    return n


@kernel(allocates=False, forceinline=True)
def _pawn_terms(row: Any, side: int, sign: int, index: Any, count: Any, n: int, maps: Any) -> int:
    """Add the terms of passed, isolated, doubled and supported pawns of ``side``."""
    pieces = row[KNIGHT] | row[BISHOP] | row[ROOK] | row[QUEEN]
    only_king = row[BLACK - side] & pieces == np.uint64(0)
    own = row[PAWN] & row[WHITE + side]
    enemy = row[PAWN] & row[BLACK - side]
    occupied = row[WHITE] | row[BLACK]
    king = row[KING] & row[WHITE + side]
    other_king = row[KING] & row[BLACK - side]
    # A pawn is stopped if an enemy pawn is ahead of it on its own file or a neighbouring one.
    enemy_front = _forward_fill((enemy >> np.uint64(8)) if side == 0 else (enemy << np.uint64(8)), 1 - side)
    stopped = enemy_front | beside(enemy_front)
    back = (own >> np.uint64(8)) if side == 0 else (own << np.uint64(8))
    # A passed pawn: its rank, whether it is blocked, and the distances of both kings from the square before it.
    for square in squares(own & ~(stopped | _forward_fill(back, 1 - side))):
        rank = (square >> 3) if side == 0 else 7 - (square >> 3)
        ahead = (bit(square) << np.uint64(8)) if side == 0 else (bit(square) >> np.uint64(8))
        n = _put(index, count, n, 451 + rank, sign)
        n = _put_if(ahead & occupied != np.uint64(0), index, count, n, 459 + rank, sign)
        if rank > 2 and king != np.uint64(0) and other_king != np.uint64(0):
            stop = lowest(ahead) if ahead != np.uint64(0) else square
            n = _put(index, count, n, 467, sign * _distance(lowest(king), stop))
            n = _put(index, count, n, 468, sign * _distance(lowest(other_king), stop))
        # A runner: its way is free, and the enemy, who has only a king, comes too late (the rule of the square).
        if only_king and other_king != np.uint64(0) and _forward_fill(ahead, side) & occupied == np.uint64(0):
            steps = 7 - rank - int(rank == 1)
            goal = (square & 7) + (56 if side == 0 else 0)
            n = _put_if(_distance(lowest(other_king), goal) - int(sign < 0) > steps, index, count, n, 534 + steps, sign)
    # Supported pawns by rank; the numbers of isolated and of doubled ones.
    for square in squares(own & (beside(own) | maps[BY_PAWN + side])):
        n = _put(index, count, n, 471 + ((square >> 3) if side == 0 else 7 - (square >> 3)), sign)
    isolated = popcount(own & ~beside(maps[FILES + side]))
    n = _put_if(isolated != 0, index, count, n, 469, sign * isolated)
    behind = _forward_fill(own, side)
    doubled = popcount(own & ((behind << np.uint64(8)) if side == 0 else (behind >> np.uint64(8))))
    n = _put_if(doubled != 0, index, count, n, 470, sign * doubled)
    return n


@kernel(allocates=False, forceinline=True)
def _king_terms(row: Any, side: int, sign: int, tables: Any, index: Any, count: Any, n: int, maps: Any) -> int:
    """Add the terms of the shelter of the king of ``side`` and of the danger to it."""
    king = row[KING] & row[WHITE + side]
    if king == np.uint64(0):
        return n
    square = lowest(king)
    # Own pawns on the two ranks before the king, on its file and the neighbouring files.
    own_pawns = row[PAWN] & row[WHITE + side]
    front = king | beside(king)
    ahead = (
        ((front << np.uint64(8)) | (front << np.uint64(16)))
        if side == 0
        else ((front >> np.uint64(8)) | (front >> np.uint64(16)))
    )
    n = _put(index, count, n, 481 + min(3, popcount(ahead & own_pawns)), sign)
    # The number of these files without an own pawn; and the danger from the enemy pieces.
    open_files = popcount(front & ~maps[FILES + side])
    n = _put(index, count, n, 485 + open_files, sign)
    n = _put(index, count, n, 489 + np.int64(maps[DANGER + 1 - side]), sign)
    # Squares on which a check is safe: not attacked by this side, or only by its king while two enemy pieces attack.
    other = 1 - side
    occupied = row[WHITE] | row[BLACK]
    safe = ~row[WHITE + other] & ~(
        maps[ANY + side] & ~(maps[BY_KING + side] & ~maps[TWICE + side] & maps[TWICE + other])
    )
    # Checks from there, by each kind of piece.
    on_lines = straight(square, occupied, tables)
    on_diagonals = slanted(square, occupied, tables)
    jumps = tables[square, KNIGHT_STEPS]
    n = _put_if(maps[BY_KNIGHT + other] & jumps & safe != np.uint64(0), index, count, n, 505, sign)
    # The bishops' map looks through queens, so it is computed again, without that, if it would give a check.
    reach = maps[BY_BISHOP + other]
    if reach & on_diagonals & safe != np.uint64(0) and row[QUEEN] & row[WHITE + other] != np.uint64(0):
        reach = np.uint64(0)
        for square in squares(row[BISHOP] & row[WHITE + other]):
            reach |= slanted(square, occupied, tables)
    n = _put_if(reach & on_diagonals & safe != np.uint64(0), index, count, n, 506, sign)
    n = _put_if(maps[BY_ROOK + other] & on_lines & safe != np.uint64(0), index, count, n, 507, sign)
    n = _put_if(maps[BY_QUEEN + other] & (on_lines | on_diagonals) & safe != np.uint64(0), index, count, n, 508, sign)
    return n


@kernel(allocates=False, forceinline=True)
def _threat_terms(row: Any, side: int, to_move: int, index: Any, count: Any, n: int, maps: Any) -> int:
    """Add the terms of threatened pieces of ``side``: twelve features for the side to move, twelve for the other."""
    # Features 0–3: knight to queen attacked by pawns; 4, 5: rook, queen by minor pieces; 6: queen by rooks; 7–11: pawn
    # to queen hanging.
    own = row[WHITE + side]
    other = 1 - side
    first = 509 if side == to_move else 521
    # Pieces that pawns attack.
    hit = maps[BY_PAWN + other] & own & ~row[PAWN]
    if hit != np.uint64(0):
        for piece in range(1, 5):
            number = popcount(hit & row[piece])
            n = _put_if(number != 0, index, count, n, first + piece - 1, number)
    # Rooks and queens that knights or bishops attack, and queens that rooks do.
    hit = (maps[BY_KNIGHT + other] | maps[BY_BISHOP + other]) & own & ~maps[BY_PAWN + other]
    if hit & (row[ROOK] | row[QUEEN]) != np.uint64(0):
        for piece in range(3, 5):
            number = popcount(hit & row[piece])
            n = _put_if(number != 0, index, count, n, first + 1 + piece, number)
    number = popcount(maps[BY_ROOK + other] & row[QUEEN] & own)
    n = _put_if(number != 0, index, count, n, first + 6, number)
    # Hanging pieces: attacked and not defended, or attacked twice and defended only once, and not by a pawn.
    loose = (
        own
        & maps[ANY + other]
        & (~maps[ANY + side] | (maps[TWICE + other] & ~maps[TWICE + side] & ~maps[BY_PAWN + side]))
    )
    if loose & ~row[KING] != np.uint64(0):
        for piece in range(5):
            number = popcount(loose & row[piece])
            n = _put_if(number != 0, index, count, n, first + 7 + piece, number)
    return n


@kernel(allocates=False, forceinline=True)
def features(row: Any, tables: Any, index: Any, count: Any, maps: Any) -> int:
    """Write the features of ``row`` (uint64[9]) as seen by the side to move; return how many.

    ``index`` and ``count`` are int32[MAX_FEATURES]; ``maps`` (uint64[MAPS]) is overwritten, and callers may read it
    afterwards.
    """
    to_move = turn(row)
    _pawn_maps(row, tables, maps)
    # Two passes: both sides' maps must be complete before the terms that read them.
    n = 0
    for side in range(2):
        n = _piece_terms(row, side, 1 if side == to_move else -1, tables, index, count, n, maps)
    for side in range(2):
        sign = 1 if side == to_move else -1
        n = _pawn_terms(row, side, sign, index, count, n, maps)
        n = _king_terms(row, side, sign, tables, index, count, n, maps)
        n = _threat_terms(row, side, to_move, index, count, n, maps)
    n = _put(index, count, n, 533, 1)
    return int(n)
