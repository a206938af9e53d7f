"""Parts of the move generation of enemy halves (:mod:`darkchess.board.kernels.halves`), for the kernels that carry a
position set across an enemy move. The enemy is Black and moves down. Codes and sets of squares are uint64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.attacks import bishop_attacks, rook_attacks
from darkchess.board.kernels.bits import bit, lowest, popcount, squares
from darkchess.board.kernels.board import BISHOP, KING, KNIGHT, PAWN, QUEEN, ROOK
from darkchess.board.kernels.halves import CASTLING_ROOK, DOUBLE_STEPPED, code_at, with_code, without, without_rights
from darkchess.board.kernels.position_table import put
from darkchess.board.kernels.tables import KING_STEPS, KNIGHT_STEPS, PAWN_CAPTURES
from klss.support.kernel import kernel

_RANK_2 = np.uint64(1 << 8)
"""The lowest square of rank 2: a set of one square is on rank 1 if and only if it is less."""


@kernel(inline="always")
def pawn_steps(mask: Any, free: Any) -> Any:
    """Return the squares to which pawns on ``mask`` may step, by one and by two; ``free`` are the empty squares."""
    single = (mask >> np.uint64(8)) & free
    return single, ((single & np.uint64(0x0000FF0000000000)) >> np.uint64(8)) & free


@kernel(inline="always")
def piece_targets(code: Any, square: int, occupied: Any, tables: Any) -> Any:
    """Return the squares that a piece other than a pawn attacks."""
    targets = np.uint64(0)
    if code == np.uint64(KNIGHT):
        targets = tables[square, KNIGHT_STEPS]
    elif code == np.uint64(KING):
        targets = tables[square, KING_STEPS]
    else:
        if code != np.uint64(BISHOP):
            targets |= rook_attacks(square, occupied, tables)
        if code == np.uint64(BISHOP) or code == np.uint64(QUEEN):
            targets |= bishop_attacks(square, occupied, tables)
    return targets


@kernel(inline="always")
def reaches(
    code: Any, square: int, mask: Any, target: Any, rook_lines: Any, bishop_lines: Any, tables: Any
) -> Any:  # fmt: skip
    """Whether a piece other than a pawn, on ``square`` (``mask`` as a set), attacks ``target``; the lines are the
    squares that a rook and a bishop on ``target`` attack.
    """
    if code == np.uint64(KNIGHT):
        found = tables[square, KNIGHT_STEPS] & target != np.uint64(0)
    elif code == np.uint64(KING):
        found = tables[square, KING_STEPS] & target != np.uint64(0)
    else:
        found = (code != np.uint64(BISHOP) and rook_lines & mask != np.uint64(0)) or (
            (code == np.uint64(BISHOP) or code == np.uint64(QUEEN)) and bishop_lines & mask != np.uint64(0)
        )
    return found


@kernel(inline="always")
def lifted(codes: Any, index: int, code: Any) -> Any:
    """Return the other pieces' codes when the piece of that index moves, and the code with which it arrives.

    A move of the king ends the rights of its rooks; a rook that moves loses its own.
    """
    rest = without(codes, index)
    arrives = code
    if code == np.uint64(KING):
        rest = without_rights(rest)
    elif code == np.uint64(CASTLING_ROOK):
        arrives = np.uint64(ROOK)
    return rest, arrives


@kernel(inline="always")
def put_moves(enemy: Any, mask: Any, rest: Any, code: Any, targets: Any, marked: Any, out: Any, k: int) -> Any:
    """Write the moves of the piece on ``mask`` to ``targets``; a pawn on ``marked`` can be captured en passant.

    ``rest`` and ``code`` are those of :func:`lifted`.
    """
    others = enemy ^ mask
    for square in squares(targets):
        target = bit(square)
        # A promotion is four moves; a double step that can be captured en passant has its own code.
        if code == np.uint64(PAWN) and target < _RANK_2:
            for promotion in range(KNIGHT, QUEEN + 1):
                k = put(others | target, with_code(others, rest, target, np.uint64(promotion)), out, k)
        elif target == marked:
            k = put(others | target, with_code(others, rest, target, np.uint64(DOUBLE_STEPPED)), out, k)
        else:
            k = put(others | target, with_code(others, rest, target, code), out, k)
    return k


@kernel(allocates=False)
def put_arrivals(
    enemy: Any, codes: Any, pieces: Any, target: Any, captures: bool, forbidden: Any, wanted: int, occupied: Any,
    tables: Any, out: Any, k: int,
) -> int:  # fmt: skip
    """Write the moves of ``pieces`` to the one square ``target``.

    Parameters
    ----------
    captures
        Whether a piece is captured there, so that pawns move diagonally.
    forbidden
        Squares on which no double step may end.
    wanted
        The piece that must arrive; −1: any.
    """
    # Look from the target: only pieces on lines or knight's steps from there can reach it. So two slider look-ups serve
    # all pieces.
    to_square = lowest(target)
    rook_lines = rook_attacks(to_square, occupied, tables)
    bishop_lines = bishop_attacks(to_square, occupied, tables)
    pieces &= rook_lines | bishop_lines | tables[to_square, KNIGHT_STEPS]
    for square in squares(pieces):
        # The code's place is the number of enemy pieces on lower squares.
        mask = bit(square)
        index = popcount(enemy & (mask - np.uint64(1)))
        code = (codes >> np.uint64(4 * index)) & np.uint64(15)
        # A pawn captures diagonally and steps straight; the other pieces capture as they move.
        if code != np.uint64(PAWN):
            reached = reaches(code, square, mask, target, rook_lines, bishop_lines, tables)
        elif captures:
            reached = tables[square, PAWN_CAPTURES + 1] & target != np.uint64(0)
        elif to_square == square - 16:
            reached = square >= 48 and rook_lines & mask != np.uint64(0) and forbidden & target == np.uint64(0)
        else:
            reached = to_square == square - 8
        if not reached:
            continue
        # Only a piece that may be the one seen on the target is written.
        rest, code = lifted(codes, index, code)
        others = enemy ^ mask
        if code == np.uint64(PAWN) and to_square < 8:
            for promotion in range(KNIGHT, QUEEN + 1):
                if wanted == -1 or wanted == promotion:
                    k = put(others | target, with_code(others, rest, target, np.uint64(promotion)), out, k)
        elif wanted == -1 or wanted == np.int64(code):
            k = put(others | target, with_code(others, rest, target, code), out, k)
    return k


@kernel(inline="always")
def castling_paths(enemy: Any, occupied: Any) -> Any:
    """Whether the squares allow castling, short and long: enemy pieces on e8 and on the corner, and none between."""
    back = occupied >> np.uint64(56)
    at_home = enemy & bit(60) != np.uint64(0)
    return at_home and back & np.uint64(0xF0) == np.uint64(0x90), at_home and back & np.uint64(0x1F) == np.uint64(0x11)


@kernel(inline="always")
def has_castling_rook(enemy: Any, codes: Any, square: int) -> Any:
    """Whether the piece on ``square``, which is occupied, is a rook that may castle; the king is then at home too."""
    return code_at(enemy, codes, bit(square)) == np.uint64(CASTLING_ROOK)
