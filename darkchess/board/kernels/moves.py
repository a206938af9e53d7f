"""Generate and make moves: docs/rules.md, rules 1 and 3. Every pseudo-legal move is legal; check is not tested."""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.attacks import attackers, attacks, bishop_attacks, rook_attacks
from darkchess.board.kernels.bits import bit, lowest, squares
from darkchess.board.kernels.board import BISHOP, BLACK, KING, KNIGHT, META, PAWN, QUEEN, ROOK, WHITE, ep_square, turn
from darkchess.board.kernels.tables import KING_STEPS, KNIGHT_STEPS, PAWN_CAPTURES
from klss.support.kernel import kernel

MAX_MOVES = 448
"""Room for the moves of one position: sixteen queens have at most 16 × 27 moves, and there may be two castlings."""


@kernel(allocates=False)
def _add(from_square: int, targets: Any, out: Any, count: int) -> int:
    for square in squares(targets):
        out[count] = (from_square << 9) | (square << 3)
        count += 1
    return count


@kernel(allocates=False)
def _add_pawn(from_square: int, targets: Any, out: Any, count: int) -> int:
    for square in squares(targets):
        base = (from_square << 9) | (square << 3)
        if square >= 56 or square < 8:
            for promotion in range(KNIGHT, QUEEN + 1):
                out[count] = base | promotion
                count += 1
        else:
            out[count] = base
            count += 1
    return count


@kernel(inline="always")
def pawn_steps(square: int, side: int, occupied: Any) -> Any:
    """Return the squares that a pawn can step to: one ahead if it is empty, two from home if both are."""
    ahead = square + 8 if side == 0 else square - 8
    steps = np.uint64(0)
    if bit(ahead) & occupied == np.uint64(0):
        steps = bit(ahead)
        if (side == 0 and square < 16) or (side == 1 and square >= 48):
            second = ahead + 8 if side == 0 else ahead - 8
            if bit(second) & occupied == np.uint64(0):
                steps |= bit(second)
    return steps


@kernel(inline="always")
def castling_targets(row: Any, side: int, occupied: Any) -> Any:
    """Return the squares that the king of ``side`` can castle to: it has the right, and nothing is between it and the
    rook.
    """
    rights = (row[META] >> np.uint64(1 + 2 * side)) & np.uint64(3)
    shift = np.uint64(56 * side)
    targets = np.uint64(0)
    if rights & np.uint64(1) != np.uint64(0) and occupied & (np.uint64(0x60) << shift) == np.uint64(0):
        targets |= np.uint64(0x40) << shift
    if rights & np.uint64(2) != np.uint64(0) and occupied & (np.uint64(0x0E) << shift) == np.uint64(0):
        targets |= np.uint64(0x04) << shift
    return targets


@kernel(allocates=False)
def generate(row: Any, tables: Any, out: Any) -> int:
    """Write the codes of all moves of the side to move, unsorted, into ``out`` (int32[MAX_MOVES]); return how many."""
    side = turn(row)
    own = row[WHITE + side]
    enemy = row[BLACK - side]
    occupied = own | enemy
    ep = ep_square(row)
    # Pawns may also capture on the en passant square, which is empty.
    capturable = enemy
    if ep >= 0:
        capturable |= bit(ep)
    count = 0
    for square in squares(row[PAWN] & own):
        targets = pawn_steps(square, side, occupied) | (tables[square, PAWN_CAPTURES + side] & capturable)
        count = _add_pawn(square, targets, out, count)
    for square in squares(row[KNIGHT] & own):
        count = _add(square, tables[square, KNIGHT_STEPS] & ~own, out, count)
    # A queen is treated twice: as a bishop here and as a rook below.
    for square in squares((row[BISHOP] | row[QUEEN]) & own):
        count = _add(square, bishop_attacks(square, occupied, tables) & ~own, out, count)
    for square in squares((row[ROOK] | row[QUEEN]) & own):
        count = _add(square, rook_attacks(square, occupied, tables) & ~own, out, count)
    for square in squares(row[KING] & own):
        count = _add(square, tables[square, KING_STEPS] & ~own, out, count)
    # Castling is the king's move of two squares from its home.
    targets = castling_targets(row, side, occupied)
    if targets != np.uint64(0):
        count = _add(4 + 56 * side, targets, out, count)
    return count


@kernel(allocates=False)
def has_move(row: Any, tables: Any) -> Any:
    """Whether the side to move has a move (bool). Castling is not tested: where it is possible, the rook has a move."""
    side = turn(row)
    own = row[WHITE + side]
    enemy = row[BLACK - side]
    occupied = own | enemy
    # The row has an en passant square only if a capture there is possible.
    if (row[META] >> np.uint64(8)) & np.uint64(0x7F) != np.uint64(0):
        return True
    for square in squares(row[PAWN] & own):
        ahead = square + 8 if side == 0 else square - 8
        if bit(ahead) & occupied == np.uint64(0) or tables[square, PAWN_CAPTURES + side] & enemy != np.uint64(0):
            return True
    # Any other piece moves if a square that it attacks has no piece of its own side.
    for piece in range(KNIGHT, KING + 1):
        for square in squares(row[piece] & own):
            if attacks(piece, square, side, occupied, tables) & ~own != np.uint64(0):
                return True
    return False


@kernel(inline="always")
def rights_kept(mask: Any) -> Any:
    """Return the castling bits (META bits 1–4) that a move from and to the squares of ``mask`` leaves."""
    # A right is lost if the king's or the rook's home square is left or captured on.
    kept = np.uint64(0x1E)
    if mask & np.uint64(0x90) != np.uint64(0):
        kept &= ~np.uint64(0x02)
    if mask & np.uint64(0x11) != np.uint64(0):
        kept &= ~np.uint64(0x04)
    if mask & np.uint64(0x9000000000000000) != np.uint64(0):
        kept &= ~np.uint64(0x08)
    if mask & np.uint64(0x1100000000000000) != np.uint64(0):
        kept &= ~np.uint64(0x10)
    return kept


@kernel(allocates=False)
def make(row: Any, code: int, tables: Any, out: Any) -> int:
    """Write the position after the move ``code`` into ``out`` (uint64[9], must not be ``row``); return the index of the
    captured piece, or −1.

    The move must be one that :func:`generate` gives. A king can be captured; its side then has none.
    """
    side = turn(row)
    other = 1 - side
    from_square = code >> 9
    to_square = (code >> 3) & 63
    promotion = code & 7
    from_mask = bit(from_square)
    to_mask = bit(to_square)
    for i in range(8):
        out[i] = row[i]
    # Find the piece that moves, and remove the one that it captures on its target.
    piece = KING
    for i in range(KING):
        if row[i] & from_mask != np.uint64(0):
            piece = i
    captured = -1
    if row[WHITE + other] & to_mask != np.uint64(0):
        for i in range(6):
            if row[i] & to_mask != np.uint64(0):
                captured = i
                out[i] &= ~to_mask
        out[WHITE + other] &= ~to_mask
    ep = ep_square(row)
    # En passant captures the pawn behind the square.
    if piece == PAWN and to_square == ep:
        victim = bit(to_square - 8 if side == 0 else to_square + 8)
        out[PAWN] &= ~victim
        out[WHITE + other] &= ~victim
        captured = PAWN
    # Put the piece on its target, promoted if it is a promotion; castling moves the rook too.
    out[WHITE + side] = (out[WHITE + side] & ~from_mask) | to_mask
    out[piece] &= ~from_mask
    out[promotion if promotion != 0 else piece] |= to_mask
    if piece == KING and (to_square - from_square == 2 or from_square - to_square == 2):
        if to_square > from_square:
            rook_from, rook_to = bit(to_square + 1), bit(to_square - 1)
        else:
            rook_from, rook_to = bit(to_square - 2), bit(to_square + 1)
        out[ROOK] = (out[ROOK] & ~rook_from) | rook_to
        out[WHITE + side] = (out[WHITE + side] & ~rook_from) | rook_to
    meta = np.uint64(other) | (row[META] & rights_kept(from_mask | to_mask))
    # A double step sets the en passant square only if a pawn of the other side can capture there.
    if piece == PAWN and (to_square - from_square == 16 or from_square - to_square == 16):
        target = (from_square + to_square) >> 1
        if tables[target, PAWN_CAPTURES + side] & row[PAWN] & row[WHITE + other] != np.uint64(0):
            meta |= np.uint64(target + 1) << np.uint64(8)
    # Count quiet plies; a pawn move or a capture sets them to 0.
    if piece != PAWN and captured < 0:
        quiet = (row[META] >> np.uint64(16)) & np.uint64(0xFFFF)
        if quiet < np.uint64(0xFFFF):
            quiet += np.uint64(1)
        meta |= quiet << np.uint64(16)
    out[META] = meta
    return captured


@kernel(allocates=False)
def king_capture(row: Any, tables: Any) -> int:
    """Return the lowest code of a move that takes the enemy king, −1 if there is none."""
    side = turn(row)
    king = row[KING] & row[BLACK - side]
    if king == np.uint64(0):
        return -1
    square = lowest(king)
    captors = attackers(row, side, square, row[WHITE] | row[BLACK], tables)
    if captors == np.uint64(0):
        return -1
    from_square = lowest(captors)
    code = (from_square << 9) | (square << 3)
    if row[PAWN] & bit(from_square) != np.uint64(0) and (square >= 56 or square < 8):
        code |= KNIGHT  # the lowest of the four promotions
    return code


@kernel
def count_moves(rows: Any, tables: Any, offsets: Any) -> None:
    """Fill ``offsets`` (int64[n + 1]) with where the moves of each of ``rows`` begin in a list of all moves."""
    codes = np.empty(MAX_MOVES, dtype=np.int32)
    offsets[0] = 0
    for i in range(rows.shape[0]):
        offsets[i + 1] = offsets[i] + generate(rows[i], tables, codes)


@kernel
def make_all(rows: Any, tables: Any, offsets: Any, children: Any) -> None:
    """Write the position after each move of each of ``rows`` into ``children`` (uint64[m, 9]), in the order of
    :func:`generate`; ``offsets`` are those of :func:`count_moves`.
    """
    codes = np.empty(MAX_MOVES, dtype=np.int32)
    for i in range(rows.shape[0]):
        count = generate(rows[i], tables, codes)
        for k in range(count):
            make(rows[i], codes[k], tables, children[offsets[i] + k])
