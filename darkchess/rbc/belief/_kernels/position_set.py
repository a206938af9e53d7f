"""The position set's kernels: what a turn of the opponent may have done, and what a player's own senses and moves rule
out (docs/rbc.md, "The position set").

Everything here is seen from the viewer's side of the board, and a position is the *enemy's* half, 16 bytes
(:mod:`darkchess.board.kernels.halves`). A pawn that has just made a double step has the code 7 where one of her pawns
can take it in passing, and only until her own move.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.attacks import bishop_attacks, rook_attacks
from darkchess.board.kernels.bits import beside, bit, lowest, popcount, without_lowest
from darkchess.board.kernels.board import BISHOP, KING, KNIGHT, META, PAWN, QUEEN, ROOK
from darkchess.board.kernels.halves import (
    CASTLING_ROOK,
    DOUBLE_STEPPED,
    MOST_SUCCESSORS,
    castled,
    code_at,
    decode_half,
    stepped,
    with_code,
    without,
    without_rights,
)
from darkchess.board.kernels.position_table import put, settle
from darkchess.board.kernels.tables import KING_STEPS, KNIGHT_STEPS, PAWN_CAPTURES
from darkchess.rbc.game._kernels.requests import revised
from klss.support.kernel import kernel

__all__ = ["decode_all", "encode_stepped", "keep_moved", "keep_sensed", "outcome", "successors"]

_NOT_A, _NOT_H = np.uint64(0xFEFEFEFEFEFEFEFE), np.uint64(0x7F7F7F7F7F7F7F7F)
_ONES = np.uint64(0x1111111111111111)


@kernel(inline="always")
def without_step(codes: Any) -> Any:
    """``codes`` once nothing can be taken in passing: 7 becomes 0."""
    unlike = codes ^ np.uint64(0x7777777777777777)
    unlike |= unlike >> np.uint64(1)
    unlike |= unlike >> np.uint64(2)
    return codes ^ ((~unlike & _ONES) * np.uint64(7))


@kernel(allocates=False)
def encode_stepped(half: Any, target: Any) -> None:
    """Give the pawn on the one square of ``target`` the code 7, in place."""
    place = np.uint64(4 * popcount(half[0] & (target - np.uint64(1))))
    half[1] |= np.uint64(7) << place


# -------------------------------------------------------------------------------------------------- the enemy's turn
@kernel(allocates=False)
def successors(
    positions: Any, start: int, stop: int, own: Any, own_pawns: Any, captured: Any, landing: Any, tables: Any,
    layout: Any, split: bool, out: Any, room: int, counts: Any,
) -> int:  # fmt: skip
    """After a turn of the enemy: write every successor of ``positions[start:stop]`` that agrees with the notice.

    Parameters
    ----------
    own, own_pawns
        Her men, and her pawns, before the turn.
    captured
        The square (a set of one or none) where it cost her a man.
    landing
        The square that her last double step passed, if it was that pawn; else empty.

    The others: :data:`darkchess.board.position_step.Successors`.
    """
    for i in range(start, stop):
        if max(counts[0], counts[1]) + MOST_SUCCESSORS > room:
            return i
        k = counts[0]
        enemy = positions[i, 0]
        codes = positions[i, 1]
        if captured != np.uint64(0):
            k = _captures(enemy, codes, own, captured, landing, tables, out, k)
            settle(k, layout, split, out, counts)
            continue
        occupied = enemy | own
        free = ~occupied
        k = put(enemy, codes, out, k)
        back = occupied >> np.uint64(56)
        if enemy & bit(60) != np.uint64(0):
            if back & np.uint64(0xF0) == np.uint64(0x90) and code_at(enemy, codes, bit(63)) == np.uint64(6):
                after, moved = castled(enemy, codes, True)
                k = put(after, moved, out, k)
            if back & np.uint64(0x1F) == np.uint64(0x11) and code_at(enemy, codes, bit(56)) == np.uint64(6):
                after, moved = castled(enemy, codes, False)
                k = put(after, moved, out, k)
        men = enemy
        index = 0
        left = codes
        while men != np.uint64(0):
            square = lowest(men)
            mask = bit(square)
            men = without_lowest(men)
            code = left & np.uint64(15)
            left >>= np.uint64(4)
            double = np.uint64(0)
            if code == np.uint64(0):
                targets = (mask >> np.uint64(8)) & free
                double = ((targets & np.uint64(0x0000FF0000000000)) >> np.uint64(8)) & free
                targets |= double
            elif code == np.uint64(1):
                targets = tables[square, KNIGHT_STEPS] & free
            elif code == np.uint64(5):
                targets = tables[square, KING_STEPS] & free
            else:
                targets = np.uint64(0)
                if code != np.uint64(2):
                    targets |= rook_attacks(square, occupied, tables)
                if code == np.uint64(2) or code == np.uint64(4):
                    targets |= bishop_attacks(square, occupied, tables)
                targets &= free
            if targets != np.uint64(0):
                rest = without(codes, index)
                if code == np.uint64(5):
                    rest = without_rights(rest)
                elif code == np.uint64(6):
                    code = np.uint64(3)
                others = enemy ^ mask
                while targets != np.uint64(0):
                    target = targets & ~(targets - np.uint64(1))
                    targets = without_lowest(targets)
                    if code == np.uint64(0) and target < np.uint64(256):
                        for promotion in range(1, 5):
                            moved = with_code(others, rest, target, np.uint64(promotion))
                            k = put(others | target, moved, out, k)
                    elif target == double and beside(target) & own_pawns != np.uint64(0):
                        moved = with_code(others, rest, target, np.uint64(7))
                        k = put(others | target, moved, out, k)
                    else:
                        moved = with_code(others, rest, target, code)
                        k = put(others | target, moved, out, k)
            index += 1
        settle(k, layout, split, out, counts)
    return stop


@kernel(allocates=False)
def _captures(
    enemy: Any, codes: Any, own: Any, target: Any, landing: Any, tables: Any, out: Any, k: int
) -> int:  # fmt: skip
    """The captures on the one square ``target``, and that of a pawn there in passing, if ``landing`` is not empty."""
    occupied = enemy | own
    to_square = lowest(target)
    rook_lines = rook_attacks(to_square, occupied, tables)
    bishop_lines = bishop_attacks(to_square, occupied, tables)
    movable = enemy & (rook_lines | bishop_lines | tables[to_square, KNIGHT_STEPS])
    while movable != np.uint64(0):
        square = lowest(movable)
        mask = bit(square)
        movable = without_lowest(movable)
        index = popcount(enemy & (mask - np.uint64(1)))
        code: Any = np.int64((codes >> np.uint64(4 * index)) & np.uint64(15))
        if code == PAWN:
            reaches = tables[square, PAWN_CAPTURES + 1] & target != np.uint64(0)
        elif code == KNIGHT:
            reaches = tables[square, KNIGHT_STEPS] & target != np.uint64(0)
        elif code == KING:
            reaches = tables[square, KING_STEPS] & target != np.uint64(0)
        else:
            reaches = (code != BISHOP and rook_lines & mask != np.uint64(0)) or (
                (code == BISHOP or code == QUEEN) and bishop_lines & mask != np.uint64(0)  # noqa: SIM109 (a tuple is slower)
            )
        if not reaches:
            continue
        rest = without(codes, index)
        if code == KING:
            rest = without_rights(rest)
        elif code == CASTLING_ROOK:
            code = ROOK
        others = enemy ^ mask
        if code == PAWN and to_square < 8:
            for promotion in range(1, 5):
                moved = with_code(others, rest, target, np.uint64(promotion))
                k = put(others | target, moved, out, k)
        else:
            moved = with_code(others, rest, target, np.uint64(code))
            k = put(others | target, moved, out, k)
    if landing == np.uint64(0) or enemy & landing != np.uint64(0):
        return k
    origins = beside(target) & enemy
    while origins != np.uint64(0):
        mask = origins & ~(origins - np.uint64(1))
        origins = without_lowest(origins)
        if code_at(enemy, codes, mask) == np.uint64(0):
            others = enemy ^ mask
            rest = without(codes, popcount(enemy & (mask - np.uint64(1))))
            k = put(others | landing, with_code(others, rest, landing, np.uint64(0)), out, k)
    return k


# -------------------------------------------------------------------------------------------------- her own turn
@kernel(inline="always")
def plain(code: Any) -> Any:
    """The piece's index of a man with this code."""
    if code == CASTLING_ROOK:
        return ROOK
    if code == DOUBLE_STEPPED:
        return PAWN
    return code


@kernel(allocates=False)
def keep_sensed(positions: Any, weights: Any, area: Any, men: Any, expected: Any) -> int:
    """Keep what has the enemy men ``men``, and no others, on the squares ``area``, in place and in order.

    Parameters
    ----------
    positions
        uint64[n, 2].
    weights
        float64[n], or of length 0: there are none; they go along.
    expected
        int64[64], the piece that stands on each square of ``men``.

    Returns
    -------
    int
        How many are left; nothing is written when none is.
    """
    kept = 0
    for i in range(positions.shape[0]):
        enemy = positions[i, 0]
        if enemy & area != men:
            continue
        codes = positions[i, 1]
        wrong = False
        seen = men
        while seen != np.uint64(0):
            mask = seen & ~(seen - np.uint64(1))
            if plain(np.int64(code_at(enemy, codes, mask))) != expected[lowest(seen)]:
                wrong = True
                break
            seen = without_lowest(seen)
        if wrong:
            continue
        positions[kept, 0] = enemy
        positions[kept, 1] = codes
        if weights.shape[0]:
            weights[kept] = weights[i]
        kept += 1
    return kept


@kernel(inline="always")
def outcome(own_row: Any, enemy: Any, codes: Any, request: int, tables: Any) -> Any:
    """What her request becomes: a move's code, −1 for none, and where that takes a man, −1 for nowhere."""
    pawn = stepped(enemy, codes)
    taken = revised(own_row, 0, enemy, pawn << np.uint64(8), request, tables)
    capture = np.int64(-1)
    if taken >= 0:
        target = bit((taken >> 3) & 63)
        if enemy & target != np.uint64(0):
            capture = np.int64((taken >> 3) & 63)
        elif (
            target == pawn << np.uint64(8)
            and own_row[PAWN] & bit(taken >> 9) != np.uint64(0)
            and ((taken >> 3) - (taken >> 9)) & 7 != 0
        ):
            capture = np.int64(((taken >> 3) & 63) - 8)
    return taken, capture


@kernel(allocates=False)
def keep_moved(positions: Any, weights: Any, own_row: Any, request: int, taken: int, capture: int, tables: Any) -> int:
    """After her own move: keep the positions in which her request becomes this move, without what it took, in place.

    A position in which it would have taken the king is not kept: the game goes on.

    Parameters
    ----------
    positions, weights
        As in :func:`keep_sensed`.
    own_row
        uint64[9], her half before the move, she being White.
    request, taken
        Codes; −1: she passed, and nothing was played.
    capture
        The square, −1: none.

    Returns
    -------
    int
        How many are left; nothing is written when none is. They need not be in canonical order, nor different.
    """
    kept = 0
    for i in range(positions.shape[0]):
        enemy = positions[i, 0]
        codes = positions[i, 1]
        if request >= 0:
            made, captured = outcome(own_row, enemy, codes, request, tables)
            if made != taken or captured != capture:
                continue
        if capture >= 0:
            mask = bit(capture)
            if code_at(enemy, codes, mask) == np.uint64(5):
                continue
            codes = without(codes, popcount(enemy & (mask - np.uint64(1))))
            enemy ^= mask
        positions[kept, 0] = enemy
        positions[kept, 1] = without_step(codes)
        if weights.shape[0]:
            weights[kept] = weights[i]
        kept += 1
    return kept


# -------------------------------------------------------------------------------------------------- whole positions
@kernel(allocates=False)
def decode(enemy: Any, codes: Any, own_row: Any, flipped: bool, out: Any) -> None:
    """Write the full row of a position into ``out`` (uint64[9]), see
    :func:`darkchess.board.kernels.halves.decode_half`; with the square on which a pawn may be taken in passing.
    """
    pawn = stepped(enemy, codes)
    decode_half(enemy, without_step(codes), own_row, flipped, out)
    if pawn != np.uint64(0):
        target = lowest(pawn) + 8
        if flipped:
            target ^= 56
        out[META] |= np.uint64(target + 1) << np.uint64(8)


@kernel
def decode_all(positions: Any, indices: Any, own_row: Any, flipped: bool, out: Any) -> None:
    """:func:`decode` of ``positions[indices]`` into ``out`` (uint64[n, 9])."""
    for i in range(indices.shape[0]):
        decode(positions[indices[i], 0], positions[indices[i], 1], own_row, flipped, out[i])
