"""The repair of a sample without a consistent position: its last members are changed until they agree with the view.

No source; a heuristic of ours for a state that an exact set never reaches. As few pieces as possible are moved. A piece
is lifted if its square is known to be empty or another piece is seen there. Squares of seen pieces and of blockers are
filled from the lifted pieces, then from unseen pieces of the same kind, then from a pawn (an unseen promotion). Lifted
pieces that are left go to unseen squares at random. So the material is kept, and the result agrees with the view by
construction.

Board and masks as in :mod:`darkchess.fog.belief._kernels.position_set`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.bits import bit, lowest, popcount, without_lowest
from darkchess.board.kernels.board import KING, KNIGHT, PAWN, ROOK
from darkchess.board.kernels.halves import CASTLING_ROOK, without
from darkchess.fog.belief._kernels.position_set import EMPTY, EP_CAPTORS, OWN, REQUIRED, SEEN, can_move
from klss.support.hashing import mix64
from klss.support.kernel import kernel

_ANY_BUT_KING = -2


@kernel
def _draw(state: Any, bound: int) -> Any:
    """Return a random number below ``bound`` (SplitMix64; ``state`` uint64[1] is modified in place)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    return np.int64((mix64(state[0]) >> np.uint64(32)) * np.uint64(bound) >> np.uint64(32))


@kernel
def _pick(squares: Any, state: Any) -> int:
    """Return a random square of the set ``squares``, which is not empty."""
    for _ in range(_draw(state, popcount(squares))):
        squares = without_lowest(squares)
    return lowest(squares)


@kernel
def _find(board: Any, squares: Any, piece: int, state: Any) -> int:
    """Return a random square of ``squares`` with ``piece`` on it (or _ANY_BUT_KING), −1 if there is none."""
    fitting = np.uint64(0)
    while squares != np.uint64(0):
        square = lowest(squares)
        squares = without_lowest(squares)
        if board[square] == piece or (piece == _ANY_BUT_KING and 0 <= board[square] < KING):
            fitting |= bit(square)
    return -1 if fitting == np.uint64(0) else _pick(fitting, state)


@kernel
def _take(board: Any, lifted: Any, piece: int, loose: Any, state: Any) -> Any:
    """Take one of the lifted pieces, or one off the board, for a square that must be filled with ``piece`` (−1: any).

    Return the piece that fills it, −1 if there is none.
    """
    # A certain piece: one of the lifted ones, else an unseen one of the same kind.
    if piece >= 0:
        if lifted[piece] > 0:
            lifted[piece] -= 1
            return piece
        square = _find(board, loose, piece, state)
        if square >= 0:
            board[square] = -1
            return piece
        # There is only one king, and a pawn cannot become one.
        if piece == KING:
            return -1
        # Else it was promoted, or the sample is wrong: give a pawn for it, or any piece.
        if lifted[PAWN] > 0:
            lifted[PAWN] -= 1
            return piece
        square = _find(board, loose, PAWN, state)
        if square < 0:
            square = _find(board, loose, _ANY_BUT_KING, state)
        if square >= 0:
            board[square] = -1
        return piece
    # Any piece: the least valuable lifted one, else an unseen one.
    for kind in range(6):
        if lifted[kind] > 0:
            lifted[kind] -= 1
            return kind
    square = _find(board, loose, _ANY_BUT_KING, state)
    if square < 0:
        return -1
    kind = board[square]
    board[square] = -1
    return kind


@kernel
def _repair_one(
    enemy: Any, codes: Any, masks: Any, expected: Any, board: Any, lifted: Any, state: Any, out: Any
) -> bool:
    # What the view says.
    own = masks[OWN]
    empty = masks[EMPTY]
    required = masks[REQUIRED]
    seen = masks[SEEN]
    # Unpack the half: lift the pieces that contradict the view, and leave the others on the board.
    lifted[:] = 0
    board[:] = -1
    castles = np.uint64(0)
    left = enemy
    while left != np.uint64(0):
        square = lowest(left)
        left = without_lowest(left)
        code: Any = np.int64(codes & np.uint64(15))
        codes >>= np.uint64(4)
        if code == CASTLING_ROOK:
            castles |= bit(square)
            code = ROOK
        if empty & bit(square) != np.uint64(0) or (seen & bit(square) != np.uint64(0) and expected[square] != code):
            lifted[code] += 1
        else:
            board[square] = code
    loose = ~(required | empty)
    # Fill the seen squares, then those that block a pawn: of a blocker any kind will do.
    for pass_ in range(2):
        wanted = seen if pass_ == 0 else required & ~seen
        while wanted != np.uint64(0):
            square = lowest(wanted)
            wanted = without_lowest(wanted)
            if board[square] >= 0:
                continue
            piece = expected[square] if pass_ == 0 else -1
            taken = _take(board, lifted, piece, loose, state)
            if taken < 0 and piece == KING:
                # The king is seen here, but stands on another required square of this board: put a knight there.
                for other in range(64):
                    if board[other] == KING:
                        board[other] = KNIGHT
                taken = KING
            # A knight, if nothing is left to take, or if a pawn would stand on the first or last rank.
            if taken < 0 or (taken == PAWN and (square < 8 or square >= 56)):
                taken = KNIGHT
            board[square] = taken
    # Put the rest on free unseen squares, the king first; if there is none for it, it replaces another piece.
    for piece in range(KING, PAWN - 1, -1):
        for _ in range(lifted[piece]):
            free = loose & ~own
            for square in range(64):
                if board[square] >= 0:
                    free &= ~bit(square)
            if piece == PAWN:
                free &= np.uint64(0x00FFFFFFFFFFFF00)
            if free != np.uint64(0):
                board[_pick(free, state)] = piece
            elif piece == KING:
                square = _find(board, ~(empty | seen), _ANY_BUT_KING, state)
                if square < 0:
                    return False
                board[square] = KING
    # Pack the half again: at most sixteen pieces, with castling rights if king and rook are still at home.
    count = 0
    kings = 0
    enemy = np.uint64(0)
    codes = np.uint64(0)
    at_home = board[60] == KING
    for square in range(64):
        if board[square] >= 0:
            if count == 16:
                return False
            code = board[square]
            if code == ROOK and at_home and castles & bit(square) != np.uint64(0):
                code = CASTLING_ROOK
            kings += code == KING
            enemy |= bit(square)
            codes |= np.uint64(code) << np.uint64(4 * count)
            count += 1
    out[0] = enemy
    out[1] = codes
    return kings == 1


@kernel
def repair(positions: Any, masks: Any, expected: Any, must_move: bool, seed: Any, tables: Any, out: Any) -> int:
    """Fill ``out`` (uint64[·, 2]) with repaired copies of ``positions`` (uint64[·, 2], taken in turn, again from the
    first after the last).

    Return how many were made, equal ones included. ``must_move``: leave out halves that cannot move.
    """
    board = np.empty(64, dtype=np.int64)
    lifted = np.empty(6, dtype=np.int64)
    state = np.empty(1, dtype=np.uint64)
    state[0] = seed
    count = 0
    for i in range(out.shape[0]):
        source = i % positions.shape[0]
        fits = _repair_one(
            positions[source, 0], positions[source, 1], masks, expected, board, lifted, state, out[count]
        )
        if fits and must_move:
            fits = can_move(out[count, 0], out[count, 1], masks[OWN], masks[EP_CAPTORS], tables)
        if fits:
            count += 1
    return count


@kernel
def without_captured(positions: Any, captured: Any) -> Any:
    """Return copies of ``positions`` (uint64[·, 2]) without the piece, if any, on ``captured`` (uint64, one square)."""
    out = positions.copy()
    for i in range(positions.shape[0]):
        enemy = positions[i, 0]
        if enemy & captured != np.uint64(0):
            out[i, 0] = enemy & ~captured
            out[i, 1] = without(positions[i, 1], popcount(enemy & (captured - np.uint64(1))))
    return out
