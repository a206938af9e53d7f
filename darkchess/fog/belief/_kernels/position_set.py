"""The position set's kernels: docs/rules.md, "Consistency is a few masks"; docs/position_set.md.

Everything here is seen from the viewer's side of the board, and a position is the *enemy's* half, 16 bytes
(:mod:`darkchess.board.kernels.halves`).

What a view says is ``masks`` (uint64[10], indices below) and ``expected`` (int64[64], the piece seen on each square, −1
where none is):

======================  ================================================================================================
OWN                     the viewer's pieces after the ply
EMPTY                   no enemy piece stands here: own pieces, squares seen empty, unseen diagonals of own pawns
REQUIRED                an enemy piece stands here: a seen one, or one that blocks a pawn
SEEN                    an enemy piece is seen here
OWN_BEFORE              the viewer's pieces before an enemy move
CAPTURED                where that move captured one of them; 0 if it captured none, or en passant
FORBIDDEN               no double step ended here: it could be captured en passant, and none was reported
EP_REPORTED             the en passant square that was reported
EP_LANDING              the square on which an enemy pawn captured en passant
EP_CAPTORS              after an own double step: the squares from which an enemy pawn could capture en passant
======================  ================================================================================================

The masks tell whether an enemy move leads to a consistent position before it is generated. Only castling, en passant
and reported double steps are made first and then compared with the masks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.attacks import pawn_attacks
from darkchess.board.kernels.bits import beside, bit, lowest, popcount, squares, without_lowest
from darkchess.board.kernels.board import BISHOP, BLACK, KING, KNIGHT, PAWN, QUEEN, WHITE
from darkchess.board.kernels.enemy_moves import (
    castling_paths,
    has_castling_rook,
    lifted,
    pawn_steps,
    piece_targets,
    put_arrivals,
    put_moves,
)
from darkchess.board.kernels.halves import MOST_SUCCESSORS, castled, code_at, decode_half, mistyped, with_code, without
from darkchess.board.kernels.moves import has_move, make
from darkchess.board.kernels.position_table import put
from darkchess.board.kernels.tables import (
    ANTIDIAGONAL_ABOVE,
    ANTIDIAGONAL_BELOW,
    DIAGONAL_ABOVE,
    DIAGONAL_BELOW,
    FILE_ABOVE,
    FILE_BELOW,
    KING_STEPS,
    KNIGHT_STEPS,
    PAWN_CAPTURES,
    RANK_ABOVE,
    RANK_BELOW,
)
from darkchess.fog.game._kernels.vision import observation_key
from klss.support.hashing import mix64
from klss.support.kernel import kernel

OWN, EMPTY, REQUIRED, SEEN, OWN_BEFORE, CAPTURED, FORBIDDEN, EP_REPORTED, EP_LANDING, EP_CAPTORS = range(10)
MASKS = 10


# -------------------------------------------------------------------------------------------------- what a view says
@kernel
def observation_masks(view: Any, seen: Any, masks: Any, expected: Any) -> None:
    """Fill OWN, EMPTY, REQUIRED and SEEN of ``masks``, clear the others, and fill ``expected``.

    ``view`` (uint64[9]) is the board as the viewer, turned to White, knows it; ``seen`` (uint64) the squares it sees.
    """
    for i in range(masks.shape[0]):
        masks[i] = np.uint64(0)
    own = view[WHITE]
    known = view[BLACK] & seen
    # An unseen diagonal of a pawn is empty: the pawn would see a piece that it attacks.
    pawns = view[PAWN] & own
    left, right = pawn_attacks(pawns, 0)
    # An unseen square ahead of a pawn is blocked, and so is one two ahead over a free one: else the pawn would see it.
    blockers = (pawns << np.uint64(8)) & ~seen
    open_first = ((pawns & np.uint64(0xFF00)) << np.uint64(8)) & seen & ~known & ~own
    blockers |= (open_first << np.uint64(8)) & ~seen
    # What all this requires of an enemy half.
    masks[OWN] = own
    masks[EMPTY] = own | (seen & ~known) | ((left | right) & ~seen)
    masks[REQUIRED] = known | blockers
    masks[SEEN] = known
    for square in range(64):
        expected[square] = -1
    for square in squares(known):
        for piece in range(6):
            if view[piece] & bit(square) != np.uint64(0):
                expected[square] = piece


@kernel(inline="always")
def agrees(enemy: Any, codes: Any, masks: Any, expected: Any) -> Any:
    """Whether a position agrees with the view."""
    if enemy & masks[EMPTY] != np.uint64(0) or masks[REQUIRED] & ~enemy != np.uint64(0):
        return False
    return not mistyped(enemy, codes, masks[SEEN], expected)


@kernel(allocates=False)
def can_move(enemy: Any, codes: Any, own: Any, ep_captors: Any, tables: Any) -> Any:
    """Whether the enemy has a move. Castling need not be tested: where it is possible, the rook can move too."""
    occupied = enemy | own
    for square in squares(enemy):
        code = np.int64(codes & np.uint64(15))
        codes >>= np.uint64(4)
        if code == PAWN:
            # One step ahead is enough: a double step needs that square too.
            if (occupied >> np.uint64(square - 8)) & np.uint64(1) == np.uint64(0):
                return True
            if tables[square, PAWN_CAPTURES + 1] & own != np.uint64(0) or ep_captors & bit(square) != np.uint64(0):
                return True
        elif code == KNIGHT:
            if tables[square, KNIGHT_STEPS] & ~enemy != np.uint64(0):
                return True
        elif code == KING:
            if tables[square, KING_STEPS] & ~enemy != np.uint64(0):
                return True
        else:
            # A slider can move if and only if a square next to it on one of its lines has no piece of its own side.
            beside = tables[square, KING_STEPS]
            if code == BISHOP:
                lines = tables[square, DIAGONAL_BELOW] | tables[square, DIAGONAL_ABOVE]
                beside &= lines | tables[square, ANTIDIAGONAL_BELOW] | tables[square, ANTIDIAGONAL_ABOVE]
            elif code != QUEEN:
                lines = tables[square, FILE_BELOW] | tables[square, FILE_ABOVE]
                beside &= lines | tables[square, RANK_BELOW] | tables[square, RANK_ABOVE]
            if beside & ~enemy != np.uint64(0):
                return True
    return False


@kernel(allocates=False)
def filter_positions(
    positions: Any, weights: Any, captured: Any, masks: Any, expected: Any, must_move: bool, tables: Any
) -> int:
    """After an own move: keep the positions that agree with the new view, in place and in order; return their number.

    If it is 0, nothing was written. ``weights`` (float64[n], or of length 0: none) move with their positions.
    ``captured`` (uint64, one bit or none) is the square on which a piece was captured; a position without one there is
    not consistent. ``must_move``: the game goes on, so the enemy has a move.
    """
    kept = 0
    own = masks[OWN]
    empty = masks[EMPTY]
    required = masks[REQUIRED]
    seen = masks[SEEN]
    captors = masks[EP_CAPTORS]
    for i in range(positions.shape[0]):
        enemy = positions[i, 0]
        codes = positions[i, 1]
        # Occupancy first: it rules out most positions and is the cheapest test.
        rest = enemy & ~captured
        if rest & empty != np.uint64(0) or required & ~rest != np.uint64(0) or captured & ~enemy != np.uint64(0):
            continue
        if captured != np.uint64(0):
            codes = without(codes, popcount(enemy & (captured - np.uint64(1))))
        # Then which pieces are seen; last, as the most expensive test, that the enemy has a move.
        if seen != np.uint64(0) and mistyped(rest, codes, seen, expected):
            continue
        if must_move and not can_move(rest, codes, own, captors, tables):
            continue
        positions[kept, 0] = rest
        positions[kept, 1] = codes
        if weights.shape[0]:
            weights[kept] = weights[i]
        kept += 1
    return kept


# -------------------------------------------------------------------------------------------------- enemy moves
@kernel(allocates=False)
def successors(
    positions: Any, start: int, stop: int, masks: Any, expected: Any, tables: Any, out: Any, room: int, counts: Any
) -> int:  # fmt: skip
    """After an enemy move: write every consistent successor of ``positions[start:stop]``.

    Parameters
    ----------
    positions
        uint64[·, 2].
    out
        uint64[·, 2]: a buffer, filled from ``counts[0]`` on, up to ``room``.
    counts
        int64[1]: entries in the buffer; modified in place.

    Returns
    -------
    int
        The first position that was not treated because the buffer is full; ``stop`` if all were treated.
    """
    empty = masks[EMPTY]
    required = masks[REQUIRED]
    seen = masks[SEEN]
    own_before = masks[OWN_BEFORE]
    captured = masks[CAPTURED]
    forbidden = masks[FORBIDDEN]
    special = masks[EP_REPORTED] | masks[EP_LANDING]
    known = empty | required
    for i in range(start, stop):
        # A source is treated completely or not at all, so that the caller can continue with the one returned.
        k = counts[0]
        if k + MOST_SUCCESSORS > room:
            return i
        enemy = positions[i, 0]
        codes = positions[i, 1]
        # After a reported double step or an en passant capture, only one or two pawn moves are possible.
        if special != np.uint64(0):
            k = _en_passant(enemy, codes, masks, expected, out, k)
            counts[0] = k
            continue
        # Any other move fills one square and leaves one: if two must be filled, or two left, only castling fits.
        missing = required & ~enemy
        surplus = enemy & empty
        one_move = without_lowest(missing) | without_lowest(surplus) == np.uint64(0)
        occupied = enemy | own_before
        short, long = castling_paths(enemy, occupied)
        short = short and captured == np.uint64(0)
        long = long and captured == np.uint64(0)
        if not (one_move or short or long):
            continue
        # One move cannot change which piece stands on a square that was and stays occupied: a mismatch rules it out.
        if mistyped(enemy, codes, seen & enemy, expected):
            continue
        if short or long:
            k = _castling(enemy, codes, short, long, masks, expected, out, k)
        if not one_move:
            counts[0] = k
            continue
        # The piece that moved is the one on the square that must become empty, or else any on a square not required.
        movable = enemy & ~required
        if surplus != np.uint64(0):
            movable = surplus
        if missing == np.uint64(0):
            # No square must be filled: the piece went to any square of which nothing is known.
            allowed = ~(known | enemy)
            for square in squares(movable):
                mask = bit(square)
                index = popcount(enemy & (mask - np.uint64(1)))
                code = (codes >> np.uint64(4 * index)) & np.uint64(15)
                if code == np.uint64(PAWN):
                    single, double = pawn_steps(mask, ~occupied)
                    targets = single | (double & ~forbidden)
                else:
                    targets = piece_targets(code, square, occupied, tables)
                targets &= allowed
                if targets == np.uint64(0):
                    continue
                rest, code = lifted(codes, index, code)
                k = put_moves(enemy, mask, rest, code, targets, np.uint64(0), out, k)
        else:
            # One square must be filled: the viewer's piece was captured there, or an enemy piece is known to be there.
            wanted = np.int64(-1)
            if seen & missing != np.uint64(0):
                wanted = expected[lowest(missing)]
            captures = captured != np.uint64(0)
            k = put_arrivals(enemy, codes, movable, missing, captures, forbidden, wanted, occupied, tables, out, k)
        counts[0] = k
    return stop


@kernel(allocates=False)
def _castling(enemy: Any, codes: Any, short: bool, long: bool, masks: Any, expected: Any, out: Any, k: int) -> int:
    """Write the positions after castling, if the squares allow it and the rook's code says that the right exists."""
    if short and has_castling_rook(enemy, codes, 63):
        after, moved = castled(enemy, codes, True)
        if agrees(after, moved, masks, expected):
            k = put(after, moved, out, k)
    if long and has_castling_rook(enemy, codes, 56):
        after, moved = castled(enemy, codes, False)
        if agrees(after, moved, masks, expected):
            k = put(after, moved, out, k)
    return k


@kernel(allocates=False)
def _en_passant(enemy: Any, codes: Any, masks: Any, expected: Any, out: Any, k: int) -> int:
    """Write the positions after the reported double step, or after en passant captures of the viewer's pawn.

    At most two pawn moves, which are made and then compared with the masks.
    """
    if masks[EP_REPORTED] != np.uint64(0):
        # A double step past the reported square: from the rank above to the rank below, both squares free.
        origins = masks[EP_REPORTED] << np.uint64(8)
        target = masks[EP_REPORTED] >> np.uint64(8)
        if enemy & (masks[EP_REPORTED] | target) != np.uint64(0):
            return k
    else:
        # A capture: from the squares beside the captured pawn, which stood one rank above the landing square.
        target = masks[EP_LANDING]
        origins = beside(target << np.uint64(8))
        if enemy & target != np.uint64(0):
            return k
    origins &= enemy
    for square in squares(origins):
        mask = bit(square)
        if code_at(enemy, codes, mask) == np.uint64(PAWN):
            others = enemy ^ mask
            rest = without(codes, popcount(enemy & (mask - np.uint64(1))))
            moved = with_code(others, rest, target, np.uint64(PAWN))
            if agrees(others | target, moved, masks, expected):
                k = put(others | target, moved, out, k)
    return k


# -------------------------------------------------------------------------------------------------- information
@kernel
def observation_keys(
    positions: Any, indices: Any, own_row: Any, flipped: bool, codes: Any, tables: Any, out: Any
) -> None:
    """Write a key of what the viewer sees right after each of its moves from each position (equal keys: equal views):
    the observations behind the paper's information penalty (D.3).

    Parameters
    ----------
    positions, indices
        Enemy halves, uint64[·, 2], and the indices of those to take, int64[n].
    own_row, flipped
        See :func:`darkchess.board.kernels.halves.decode_half`.
    codes
        The viewer's moves, int64[m].
    out
        uint64[m, n].
    """
    row = np.empty(9, dtype=np.uint64)
    child = np.empty(9, dtype=np.uint64)
    side = 1 if flipped else 0
    for i in range(indices.shape[0]):
        decode_half(positions[indices[i], 0], positions[indices[i], 1], own_row, flipped, row)
        for k in range(codes.shape[0]):
            make(row, codes[k], tables, child)
            key = observation_key(child, side, tables)
            # An enemy without a move ends the game, which is an observation too: any constant makes its key differ from
            # the key of going on.
            if not has_move(child, tables):
                key = mix64(key ^ np.uint64(0x517CC1B727220A95))
            out[k, i] = key
