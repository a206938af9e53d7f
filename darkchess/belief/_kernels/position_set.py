"""The position set's kernels: docs/rules.md, "Consistency is a few masks"; docs/position_set.md.

Everything here is seen from the viewer's side of the board: she is White and moves up (the face flips the board for
Black). Her own half is known; a position is the *enemy's* half, 16 bytes:

- ``enemy``: occupancy, uint64;
- ``codes``: four bits a man in the order of the squares, the lowest square lowest: 0 … 5 pawn to king, 6 a rook that
  may castle (then the king is at home too).

What a view says is ``masks`` (uint64[10], indices below) and ``expected`` (int64[64], the piece seen on each square, −1
where none is):

======================  ================================================================================================
OWN                     her men after the ply
EMPTY                   no enemy man stands here: her men, squares seen empty, unseen diagonals of her pawns
REQUIRED                an enemy man stands here: seen ones, and what blocks a pawn
SEEN                    the seen ones
OWN_BEFORE              her men before an enemy move
CAPTURED                where that move took one of them; 0 if it took none, and after en passant
FORBIDDEN               where a double step may not end: she could capture en passant there, and was told nothing
EP_TOLD                 the en passant square that she was told
EP_LANDING              the square on which an enemy pawn captured en passant
EP_CAPTORS              after her own double step: the squares from which an enemy pawn could capture en passant
======================  ================================================================================================

With the masks, an enemy move is *known* to lead to a consistent position before it is generated; the few moves that
change more than two squares, and en passant, are made first and then held against the masks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.belief._kernels.position_table import half_hash, home
from darkchess.board.kernels.attacks import bishop_attacks, rook_attacks
from darkchess.board.kernels.bits import bit, lowest, popcount, without_lowest
from darkchess.board.kernels.board import BISHOP, BLACK, KING, KNIGHT, META, PAWN, QUEEN, ROOK, WHITE
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
from klss.kernel import kernel

__all__ = [
    "CAPTURED", "CASTLING_ROOK", "EMPTY", "EP_CAPTORS", "EP_LANDING", "EP_TOLD", "FORBIDDEN", "MASKS",
    "MOST_SUCCESSORS", "OWN", "OWN_BEFORE", "REQUIRED", "SEEN", "can_move", "castled", "code_at", "decode_half",
    "decode_halves", "encode_half", "filter_positions", "observation_masks", "successors", "with_code", "without",
    "without_rights",
]  # fmt: skip

OWN, EMPTY, REQUIRED, SEEN, OWN_BEFORE, CAPTURED, FORBIDDEN, EP_TOLD, EP_LANDING, EP_CAPTORS = range(10)
MASKS = 10
CASTLING_ROOK = 6
"""Code of a rook that may castle."""
MOST_SUCCESSORS = 320
"""No enemy half has more moves than this."""


# -------------------------------------------------------------------------------------------------- the 16 bytes
@kernel(allocates=False)
def encode_half(row: Any, out: Any) -> None:
    """Write the enemy half of a position row (uint64[9], the viewer White) into ``out`` (uint64[2])."""
    enemy = row[BLACK]
    rights = (row[META] >> np.uint64(3)) & np.uint64(3)
    codes = np.uint64(0)
    shift = np.uint64(0)
    men = enemy
    while men != np.uint64(0):
        mask = men & ~(men - np.uint64(1))
        men = without_lowest(men)
        code = np.uint64(0)
        for piece in range(1, 6):
            if row[piece] & mask != np.uint64(0):
                code = np.uint64(piece)
        castles = (mask == bit(63) and rights & np.uint64(1) != np.uint64(0)) or (
            mask == bit(56) and rights & np.uint64(2) != np.uint64(0)
        )
        if code == np.uint64(3) and castles:
            code = np.uint64(6)
        codes |= code << shift
        shift += np.uint64(4)
    out[0] = enemy
    out[1] = codes


@kernel(allocates=False)
def decode_half(enemy: Any, codes: Any, own_row: Any, flipped: bool, out: Any) -> None:
    """Write the full row of a position into ``out`` (uint64[9]).

    ``own_row`` (uint64[9]) holds her half, her castling rights and the side to move as the board really lies;
    ``flipped`` says that she is Black. An en passant square in it is copied.
    """
    for i in range(9):
        out[i] = own_row[i]
    side = 6 if flipped else 7
    men = enemy
    while men != np.uint64(0):
        square = lowest(men)
        men = without_lowest(men)
        code: Any = np.int64(codes & np.uint64(15))
        codes >>= np.uint64(4)
        if code == CASTLING_ROOK:
            code = ROOK
            right = np.uint64(2) if square == 63 else np.uint64(4)
            out[META] |= right if flipped else right << np.uint64(2)
        mask = bit(square ^ 56) if flipped else bit(square)
        out[code] |= mask
        out[side] |= mask


@kernel
def decode_halves(
    positions: Any, indices: Any, own_row: Any, flipped: bool, ep_captors: Any, ep_meta: Any, out: Any
) -> None:
    """:func:`decode_half` of ``positions[indices]`` into ``out`` (uint64[n, 9]).

    Where an enemy pawn stands on one of ``ep_captors`` it can capture en passant, and the row gets ``ep_meta`` (the
    bits of META for that square).
    """
    for i in range(indices.shape[0]):
        enemy = positions[indices[i], 0]
        codes = positions[indices[i], 1]
        decode_half(enemy, codes, own_row, flipped, out[i])
        beside = enemy & ep_captors
        while beside != np.uint64(0):
            if code_at(enemy, codes, beside & ~(beside - np.uint64(1))) == np.uint64(0):
                out[i, 8] |= ep_meta
            beside = without_lowest(beside)


@kernel(inline="always")
def code_at(enemy: Any, codes: Any, mask: Any) -> Any:
    """Code (uint64) of the man on the one square of ``mask``, which is occupied."""
    return (codes >> np.uint64(4 * popcount(enemy & (mask - np.uint64(1))))) & np.uint64(15)


@kernel(inline="always")
def without(codes: Any, index: int) -> Any:
    """``codes`` less the man of that index."""
    low = (np.uint64(1) << np.uint64(4 * index)) - np.uint64(1)
    return (codes & low) | ((codes >> np.uint64(4)) & ~low)


@kernel(inline="always")
def with_code(enemy: Any, codes: Any, mask: Any, code: Any) -> Any:
    """``codes`` of the men ``enemy`` with one more, of ``code``, put on the free square of ``mask``."""
    place = np.uint64(4 * popcount(enemy & (mask - np.uint64(1))))
    low = (np.uint64(1) << place) - np.uint64(1)
    return (codes & low) | (code << place) | ((codes & ~low) << np.uint64(4))


@kernel(inline="always")
def without_rights(codes: Any) -> Any:
    """``codes`` once the king has moved: every rook that could castle is a plain one (6 becomes 3)."""
    unlike = codes ^ np.uint64(0x6666666666666666)
    unlike |= unlike >> np.uint64(1)
    unlike |= unlike >> np.uint64(2)
    return codes ^ ((~unlike & np.uint64(0x1111111111111111)) * np.uint64(5))


@kernel(inline="always")
def castled(enemy: Any, codes: Any, short: bool) -> Any:
    """The enemy half after castling, which has to be possible."""
    if short:
        after = enemy ^ (np.uint64(0xF) << np.uint64(60))
        place = np.uint64(4 * popcount(enemy & np.uint64(0x0FFFFFFFFFFFFFFF)))
        moved = without_rights((codes & ((np.uint64(1) << place) - np.uint64(1))) | (np.uint64(0x53) << place))
    else:
        after = enemy ^ (np.uint64(0x1D) << np.uint64(56))
        place = np.uint64(4 * popcount(enemy & np.uint64(0x00FFFFFFFFFFFFFF)))
        moved = without_rights((codes & ~(np.uint64(0xFF) << place)) | (np.uint64(0x35) << place))
    return after, moved


# -------------------------------------------------------------------------------------------------- what a view says
@kernel
def observation_masks(view: Any, seen: Any, masks: Any, expected: Any) -> None:
    """Fill OWN, EMPTY, REQUIRED and SEEN of ``masks``, clear the others, and fill ``expected``.

    ``view`` (uint64[9]) is what she knows, ``seen`` the squares that she sees; she is White.
    """
    for i in range(masks.shape[0]):
        masks[i] = np.uint64(0)
    own = view[WHITE]
    known = view[BLACK] & seen
    pawns = view[PAWN] & own
    diagonals = ((pawns << np.uint64(7)) & np.uint64(0x7F7F7F7F7F7F7F7F)) | (
        (pawns << np.uint64(9)) & np.uint64(0xFEFEFEFEFEFEFEFE)
    )
    blockers = (pawns << np.uint64(8)) & ~seen
    open_first = ((pawns & np.uint64(0xFF00)) << np.uint64(8)) & seen & ~known & ~own
    blockers |= (open_first << np.uint64(8)) & ~seen
    masks[OWN] = own
    masks[EMPTY] = own | (seen & ~known) | (diagonals & ~seen)
    masks[REQUIRED] = known | blockers
    masks[SEEN] = known
    for square in range(64):
        expected[square] = -1
    while known != np.uint64(0):
        square = lowest(known)
        known = without_lowest(known)
        for piece in range(6):
            if view[piece] & bit(square) != np.uint64(0):
                expected[square] = piece


@kernel(inline="always")
def mistyped(enemy: Any, codes: Any, seen: Any, expected: Any) -> Any:
    """Whether a man on one of the squares ``seen`` (all occupied) is not the piece that is seen there."""
    wrong = False
    while seen != np.uint64(0):
        mask = seen & ~(seen - np.uint64(1))
        code: Any = np.int64(code_at(enemy, codes, mask))
        if code == CASTLING_ROOK:
            code = ROOK
        if code != expected[lowest(seen)]:
            wrong = True
        seen = without_lowest(seen)
    return wrong


@kernel(inline="always")
def agrees(enemy: Any, codes: Any, masks: Any, expected: Any) -> Any:
    """Whether a position is what the view says."""
    if enemy & masks[EMPTY] != np.uint64(0) or masks[REQUIRED] & ~enemy != np.uint64(0):
        return False
    return not mistyped(enemy, codes, masks[SEEN], expected)


@kernel(allocates=False)
def can_move(enemy: Any, codes: Any, own: Any, ep_captors: Any, tables: Any) -> Any:
    """Whether the enemy has a move. Castling needs no look: the rook could move too."""
    occupied = enemy | own
    men = enemy
    while men != np.uint64(0):
        square = lowest(men)
        men = without_lowest(men)
        code = np.int64(codes & np.uint64(15))
        codes >>= np.uint64(4)
        if code == PAWN:
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
            # A slider moves iff a neighbour on one of its lines is not its own man.
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
    positions: Any, weights: Any, count: int, captured: Any, masks: Any, expected: Any, must_move: bool, tables: Any
) -> int:
    """After her own move: keep what agrees with the new view, in place and in order; returns how many are left.

    Nothing is written when none is left. ``weights`` (float64[count], or of length 0: there are none) go with them.
    ``captured`` is the square (uint64, one bit or none) from which she took a man; a position without a man there is
    not consistent. ``must_move``: the game goes on, so the enemy has a move.
    """
    kept = 0
    own = masks[OWN]
    empty = masks[EMPTY]
    required = masks[REQUIRED]
    seen = masks[SEEN]
    captors = masks[EP_CAPTORS]
    for i in range(count):
        enemy = positions[i, 0]
        codes = positions[i, 1]
        rest = enemy & ~captured
        if rest & empty != np.uint64(0) or required & ~rest != np.uint64(0) or captured & ~enemy != np.uint64(0):
            continue
        if captured != np.uint64(0):
            codes = without(codes, popcount(enemy & (captured - np.uint64(1))))
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
@kernel(inline="always")
def _emit(
    enemy: Any,
    codes: Any,
    layout: Any,
    split: bool,
    out: Any,
    counts: Any,
) -> None:
    """Write a successor to its region's buffer, unless the table has no slot for its hash; count it in any case."""
    counts[2] += 1
    region = 0
    if split or layout.threshold != np.uint64(0xFFFFFFFFFFFFFFFF):
        value = half_hash(enemy, codes, layout.key) - layout.floor
        if value > layout.threshold:
            return
        if split and home(value, layout) >= layout.half:
            region = 1
    k = counts[region]
    out[region, k, 0] = enemy
    out[region, k, 1] = codes
    counts[region] = k + 1


@kernel(allocates=False)
def successors(
    positions: Any, start: int, stop: int, masks: Any, expected: Any, tables: Any, layout: Any,
    split: bool, out: Any, room: int, counts: Any,
) -> int:  # fmt: skip
    """After an enemy move: write every consistent successor of ``positions[start:stop]``.

    Parameters
    ----------
    positions
        uint64[·, 2].
    layout
        Of the table (:class:`darkchess.belief._kernels.position_table.Layout`); a successor for which it has no slot is
        counted, not written.
    split
        Whether successors of the table's second region go to the second buffer.
    out
        uint64[2, ·, 2]: the buffers, filled from ``counts[0]`` and ``counts[1]`` on to at most ``room`` each.
    counts
        int64[3]: entries in each buffer, and the number of consistent successors; modified in place.

    Returns
    -------
    int
        The first position that was not treated, for want of room; ``stop`` when all were.
    """
    empty = masks[EMPTY]
    required = masks[REQUIRED]
    seen = masks[SEEN]
    own_before = masks[OWN_BEFORE]
    captured = masks[CAPTURED]
    forbidden = masks[FORBIDDEN]
    special = masks[EP_TOLD] | masks[EP_LANDING]
    known = empty | required
    for i in range(start, stop):
        if max(counts[0], counts[1]) + MOST_SUCCESSORS > room:
            return i
        enemy = positions[i, 0]
        codes = positions[i, 1]
        if special != np.uint64(0):
            _en_passant(enemy, codes, masks, expected, layout, split, out, counts)
            continue
        missing = required & ~enemy
        surplus = enemy & empty
        one_move = without_lowest(missing) | without_lowest(surplus) == np.uint64(0)
        occupied = enemy | own_before
        back = occupied >> np.uint64(56)
        at_home = captured == np.uint64(0) and enemy & bit(60) != np.uint64(0)
        short = at_home and back & np.uint64(0xF0) == np.uint64(0x90)
        long = at_home and back & np.uint64(0x1F) == np.uint64(0x11)
        if not (one_move or short or long):
            continue
        if mistyped(enemy, codes, seen & enemy, expected):
            continue
        if short or long:
            _castling(enemy, codes, short, long, masks, expected, layout, split, out, counts)
        if not one_move:
            continue
        movable = enemy & ~required
        if surplus != np.uint64(0):
            movable = surplus
        if missing == np.uint64(0):
            allowed = ~(known | enemy)
            while movable != np.uint64(0):
                square = lowest(movable)
                mask = bit(square)
                movable = without_lowest(movable)
                index = popcount(enemy & (mask - np.uint64(1)))
                code = (codes >> np.uint64(4 * index)) & np.uint64(15)
                if code == np.uint64(0):
                    targets = (mask >> np.uint64(8)) & ~occupied
                    targets |= (((targets & np.uint64(0x0000FF0000000000)) >> np.uint64(8)) & ~occupied) & ~forbidden
                elif code == np.uint64(1):
                    targets = tables[square, KNIGHT_STEPS]
                elif code == np.uint64(5):
                    targets = tables[square, KING_STEPS]
                else:
                    targets = np.uint64(0)
                    if code != np.uint64(2):
                        targets |= rook_attacks(square, occupied, tables)
                    if code == np.uint64(2) or code == np.uint64(4):
                        targets |= bishop_attacks(square, occupied, tables)
                targets &= allowed
                if targets == np.uint64(0):
                    continue
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
                            _emit(others | target, moved, layout, split, out, counts)
                    else:
                        moved = with_code(others, rest, target, code)
                        _emit(others | target, moved, layout, split, out, counts)
        else:
            _fill(
                enemy,
                codes,
                missing,
                movable,
                occupied,
                masks,
                expected,
                tables,
                layout,
                split,
                out,
                counts,
            )
    return stop


@kernel(allocates=False)
def _fill(
    enemy: Any, codes: Any, target: Any, movable: Any, occupied: Any, masks: Any, expected: Any, tables: Any,
    layout: Any, split: bool, out: Any, counts: Any,
) -> None:  # fmt: skip
    """The moves of the men ``movable`` to the one square ``target``, which has to be filled.

    By a capture of hers, or because an enemy man is known to be there.
    """
    to_square = lowest(target)
    rook_lines = rook_attacks(to_square, occupied, tables)
    bishop_lines = bishop_attacks(to_square, occupied, tables)
    wanted = np.int64(-1)
    if masks[SEEN] & target != np.uint64(0):
        wanted = expected[to_square]
    movable &= rook_lines | bishop_lines | tables[to_square, KNIGHT_STEPS]
    while movable != np.uint64(0):
        square = lowest(movable)
        mask = bit(square)
        movable = without_lowest(movable)
        index = popcount(enemy & (mask - np.uint64(1)))
        code: Any = np.int64((codes >> np.uint64(4 * index)) & np.uint64(15))
        if code == PAWN:
            if masks[CAPTURED] != np.uint64(0):
                reaches = tables[square, PAWN_CAPTURES + 1] & target != np.uint64(0)
            else:
                reaches = to_square == square - 8 or (
                    to_square == square - 16 and square >= 48 and rook_lines & mask != np.uint64(0)
                )
                if to_square == square - 16 and masks[FORBIDDEN] & target != np.uint64(0):
                    reaches = False
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
                if wanted == -1 or wanted == promotion:
                    moved = with_code(others, rest, target, np.uint64(promotion))
                    _emit(others | target, moved, layout, split, out, counts)
        elif wanted == -1 or wanted == code:
            moved = with_code(others, rest, target, np.uint64(code))
            _emit(others | target, moved, layout, split, out, counts)


@kernel(allocates=False)
def _castling(
    enemy: Any, codes: Any, short: bool, long: bool, masks: Any, expected: Any,
    layout: Any, split: bool, out: Any, counts: Any,
) -> None:  # fmt: skip
    """Castling, where the squares allow it; the rook's code 6 says that the right is there (and the king with it)."""
    if short and code_at(enemy, codes, bit(63)) == np.uint64(6):
        after, moved = castled(enemy, codes, True)
        if agrees(after, moved, masks, expected):
            _emit(after, moved, layout, split, out, counts)
    if long and code_at(enemy, codes, bit(56)) == np.uint64(6):
        after, moved = castled(enemy, codes, False)
        if agrees(after, moved, masks, expected):
            _emit(after, moved, layout, split, out, counts)


@kernel(allocates=False)
def _en_passant(
    enemy: Any, codes: Any, masks: Any, expected: Any,
    layout: Any, split: bool, out: Any, counts: Any,
) -> None:  # fmt: skip
    """The double step that she was told of, or the en passant captures of her pawn.

    At most two moves of a pawn, made and then held against the masks.
    """
    if masks[EP_TOLD] != np.uint64(0):
        origins = masks[EP_TOLD] << np.uint64(8)
        target = masks[EP_TOLD] >> np.uint64(8)
        if enemy & (masks[EP_TOLD] | target) != np.uint64(0):
            return
    else:
        target = masks[EP_LANDING]
        origins = ((target << np.uint64(7)) & np.uint64(0x7F7F7F7F7F7F7F7F)) | (
            (target << np.uint64(9)) & np.uint64(0xFEFEFEFEFEFEFEFE)
        )
        if enemy & target != np.uint64(0):
            return
    origins &= enemy
    while origins != np.uint64(0):
        mask = origins & ~(origins - np.uint64(1))
        origins = without_lowest(origins)
        if code_at(enemy, codes, mask) == np.uint64(0):
            others = enemy ^ mask
            moved = with_code(others, without(codes, popcount(enemy & (mask - np.uint64(1)))), target, np.uint64(0))
            if agrees(others | target, moved, masks, expected):
                _emit(others | target, moved, layout, split, out, counts)
