"""The position set's kernels: the possible turns of the opponent, and the positions that a player's senses and moves
rule out (docs/rbc.md, "The position set").

Everything here is seen from the viewer's side of the board, and a position is the *enemy's* half, 16 bytes
(:mod:`darkchess.board.kernels.halves`). A pawn that has just made a double step has code 7 if one of the viewer's pawns
can capture it en passant, and only until the viewer's own move.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.bits import beside, bit, lowest, popcount, squares
from darkchess.board.kernels.board import KING, META, PAWN
from darkchess.board.kernels.enemy_moves import (
    castling_paths,
    has_castling_rook,
    lifted,
    pawn_steps,
    piece_targets,
    put_arrivals,
    put_moves,
)
from darkchess.board.kernels.halves import (
    DOUBLE_STEPPED,
    MOST_SUCCESSORS,
    castled,
    code_at,
    decode_half,
    marks,
    mistyped,
    stepped,
    with_code,
    without,
)
from darkchess.board.kernels.position_table import put
from darkchess.rbc.game._kernels.requests import revised
from klss.support.kernel import kernel


@kernel(inline="always")
def without_step(codes: Any) -> Any:
    """Return ``codes`` without a possible en passant capture: DOUBLE_STEPPED (7) becomes PAWN (0)."""
    return codes ^ (marks(codes, DOUBLE_STEPPED) * np.uint64(DOUBLE_STEPPED))


@kernel(allocates=False)
def encode_stepped(half: Any, target: Any) -> None:
    """Give the pawn on the one square of ``target`` code 7, in place."""
    place = np.uint64(4 * popcount(half[0] & (target - np.uint64(1))))
    half[1] |= np.uint64(DOUBLE_STEPPED) << place


# -------------------------------------------------------------------------------------------------- the enemy's turn
@kernel(allocates=False)
def successors(
    positions: Any, start: int, stop: int, own: Any, own_pawns: Any, captured: Any, landing: Any, tables: Any,
    out: Any, room: int, counts: Any,
) -> int:  # fmt: skip
    """After a turn of the enemy: write every successor of ``positions[start:stop]`` that agrees with the notice.

    Parameters
    ----------
    own, own_pawns
        The viewer's pieces, and its pawns, before the turn.
    captured
        The square (a set of one or none) on which the turn captured one of them.
    landing
        The square that the viewer's last double step passed, if that pawn was captured; else empty.

    The others: :data:`darkchess.board.position_step.Successors`.
    """
    for i in range(start, stop):
        # A source is treated completely or not at all, so that the caller can continue with the one returned.
        k = counts[0]
        if k + MOST_SUCCESSORS > room:
            return i
        enemy = positions[i, 0]
        codes = positions[i, 1]
        # After a reported capture, only moves to its square are possible, and en passant.
        if captured != np.uint64(0):
            any_piece = np.int64(-1)
            k = put_arrivals(enemy, codes, enemy, captured, True, np.uint64(0), any_piece, enemy | own, tables, out, k)
            if landing & ~enemy != np.uint64(0):
                k = _in_passing(enemy, codes, captured, landing, out, k)
            counts[0] = k
            continue
        occupied = enemy | own
        free = ~occupied
        # A turn without a move, then castling.
        k = put(enemy, codes, out, k)
        short, long = castling_paths(enemy, occupied)
        if short and has_castling_rook(enemy, codes, 63):
            after, moved = castled(enemy, codes, True)
            k = put(after, moved, out, k)
        if long and has_castling_rook(enemy, codes, 56):
            after, moved = castled(enemy, codes, False)
            k = put(after, moved, out, k)
        # All other moves to free squares: piece by piece from the lowest square up, in the order of the codes.
        codes_left = codes
        for index, square in enumerate(squares(enemy)):
            mask = bit(square)
            code = codes_left & np.uint64(15)
            codes_left >>= np.uint64(4)
            double = np.uint64(0)
            if code == np.uint64(PAWN):
                single, double = pawn_steps(mask, free)
                targets = single | double
            else:
                targets = piece_targets(code, square, occupied, tables) & free
            if targets != np.uint64(0):
                # Mark a double step only if a pawn of the viewer can capture it en passant; else the position is the
                # same as without the mark, and may merge.
                marked = double if beside(double) & own_pawns != np.uint64(0) else np.uint64(0)
                rest, code = lifted(codes, index, code)
                k = put_moves(enemy, mask, rest, code, targets, marked, out, k)
        counts[0] = k
    return stop


@kernel(allocates=False)
def _in_passing(enemy: Any, codes: Any, captured: Any, landing: Any, out: Any, k: int) -> int:
    """Write the en passant captures of the pawn on ``captured``: from the squares beside it, to the one behind it."""
    for square in squares(beside(captured) & enemy):
        mask = bit(square)
        if code_at(enemy, codes, mask) == np.uint64(PAWN):
            others = enemy ^ mask
            rest = without(codes, popcount(enemy & (mask - np.uint64(1))))
            k = put(others | landing, with_code(others, rest, landing, np.uint64(PAWN)), out, k)
    return k


# -------------------------------------------------------------------------------------------------- the own turn
@kernel(allocates=False)
def keep_sensed(positions: Any, area: Any, pieces: Any, expected: Any) -> int:
    """Keep the positions with enemy pieces on ``pieces``, and on no other square of ``area``, in place and in order.

    Parameters
    ----------
    positions
        uint64[n, 2].
    expected
        int64[64], the piece that stands on each square of ``pieces``.

    Returns
    -------
    int
        The number of positions left; if it is 0, nothing was written.
    """
    kept = 0
    for i in range(positions.shape[0]):
        enemy = positions[i, 0]
        # Occupancy first: it rules out most positions and is the cheapest test.
        if enemy & area != pieces:
            continue
        codes = positions[i, 1]
        if mistyped(enemy, codes, pieces, expected):
            continue
        positions[kept, 0] = enemy
        positions[kept, 1] = codes
        kept += 1
    return kept


@kernel(inline="always")
def outcome(own_row: Any, enemy: Any, codes: Any, request: int, tables: Any) -> Any:
    """Return the move that a request (−1: a pass) becomes, its code, −1: none; and the square on which it captures, −1:
    none.
    """
    pawn = stepped(enemy, codes)
    taken, capture = np.int64(-1), np.int64(-1)
    if request >= 0:
        taken = np.int64(revised(own_row, 0, enemy, pawn << np.uint64(8), request, tables))
    if taken >= 0:
        target = bit((taken >> 3) & 63)
        if enemy & target != np.uint64(0):
            capture = np.int64((taken >> 3) & 63)
        elif (  # en passant: the own pawn moves diagonally to the square behind the enemy's
            target == pawn << np.uint64(8)
            and own_row[PAWN] & bit(taken >> 9) != np.uint64(0)
            and ((taken >> 3) - (taken >> 9)) & 7 != 0
        ):
            capture = np.int64(((taken >> 3) & 63) - 8)
    return taken, capture


@kernel(allocates=False)
def keep_moved(positions: Any, weights: Any, own_row: Any, request: int, taken: int, capture: int, tables: Any) -> int:
    """After an own move: keep the positions in which the request becomes this move, in place, and remove the captured
    piece. A position in which it captures the king is not kept, since the game goes on.

    Parameters
    ----------
    positions
        uint64[n, 2].
    weights
        float64[n], which move with their positions; or of length 0: none.
    own_row
        uint64[9], the player's half before the move, as White's.
    request, taken
        Codes; −1: a pass, or that nothing was played.
    capture
        The square of the captured piece, −1: none.

    Returns
    -------
    int
        The number of positions left; if it is 0, nothing was written. They may be out of order and contain duplicates.
    """
    kept = 0
    for i in range(positions.shape[0]):
        enemy = positions[i, 0]
        codes = positions[i, 1]
        # The request becomes another move if other pieces stand in its way: such positions are ruled out.
        if request >= 0:
            made, captured = outcome(own_row, enemy, codes, request, tables)
            if made != taken or captured != capture:
                continue
        # Remove the captured piece, and the mark of a double step, since the right to capture en passant is over.
        if capture >= 0:
            mask = bit(capture)
            if code_at(enemy, codes, mask) == np.uint64(KING):
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
    """Write the full row of a position into ``out`` (uint64[9]), as
    :func:`darkchess.board.kernels.halves.decode_half` does, but with the en passant square.
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
    """Apply :func:`decode` to ``positions[indices]`` and write the rows into ``out`` (uint64[n, 9])."""
    for i in range(indices.shape[0]):
        decode(positions[indices[i], 0], positions[indices[i], 1], own_row, flipped, out[i])
