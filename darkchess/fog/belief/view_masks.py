"""What a view says about the enemy's half, as the masks that the kernels compare positions with.

docs/rules.md, "Consistency is a few masks"; the masks are listed in :mod:`darkchess.fog.belief._kernels.position_set`.
All squares inside are seen from the viewer's side of the board.
"""

from __future__ import annotations

from dataclasses import dataclass

import chess
import numpy as np

from darkchess.board.kernels import board
from darkchess.board.position import upward
from darkchess.fog.belief._kernels import position_set as kernels
from darkchess.fog.game.view import View
from klss.support.arrays import Ints, Words

_NOT_FILE_A, _NOT_FILE_H = 0xFEFEFEFEFEFEFEFE, 0x7F7F7F7F7F7F7F7F
_RANK_5 = 0xFF00000000


@dataclass(frozen=True, eq=False)
class ViewMasks:
    """What one view says about the enemy's half."""

    masks: Words  # uint64[MASKS]
    expected: Ints  # int64[64]: the piece seen on each square, −1 where none is
    own_row: Words  # uint64[9]: the viewer's half on the real board (not turned), with the side to move
    captured: int = 0  # the square (a set of one or none) on which the viewer's own move took a piece
    ep_meta: int = 0  # bits of META for the square that the viewer's pawn has just passed by a double step, or 0

    @staticmethod
    def of(view: View, *, captured: int = 0, passed: int | None = None) -> ViewMasks:
        """Return what ``view`` shows, without the view before it.

        Parameters
        ----------
        captured
            See the attribute.
        passed
            The square of the real board that the viewer's pawn has just passed.
        """
        flipped = view.color == chess.BLACK
        row = view.row()
        masks, expected = np.zeros(kernels.MASKS, dtype=np.uint64), np.empty(64, dtype=np.int64)
        # Turning the board mirrors the ranks, which are the bytes of a mask.
        seen = int.from_bytes(view.visible.to_bytes(8, "little"), "big") if flipped else view.visible
        kernels.observation_masks(upward(row, flipped=flipped), np.uint64(seen), masks, expected)
        own_row = row & row[board.BLACK if flipped else board.WHITE]
        own_row[board.META] = row[board.META]
        if passed is None:
            return ViewMasks(masks, expected, own_row, captured)
        # The pawn stands one rank above the square that it passed; it can be captured from the squares beside it.
        masks[kernels.EP_CAPTORS] = _beside(1 << _side(passed, flipped) + 8)
        return ViewMasks(masks, expected, own_row, captured, (passed + 1) << 8)

    @staticmethod
    def after_own_move(before: View, view: View) -> ViewMasks:
        """Return what ``view`` shows after the viewer's own move, with the squares that it captured on and passed."""
        move = view.own_move
        assert move is not None
        flipped = view.color == chess.BLACK
        origin, target = _side(move.from_square, flipped), _side(move.to_square, flipped)
        piece, taken = before.piece_at(move.from_square), before.piece_at(move.to_square)
        is_pawn = piece is not None and piece.piece_type == chess.PAWN
        captured, passed = 0, None
        if taken is not None and taken.color != view.color:
            captured = 1 << target
        elif is_pawn and abs(target - origin) in (7, 9):  # en passant: the pawn stands below the landing square
            captured = 1 << target - 8
        if is_pawn and target - origin == 16:
            passed = (move.from_square + move.to_square) // 2
        return ViewMasks.of(view, captured=captured, passed=passed)

    @staticmethod
    def after_enemy_move(before: View, view: View) -> ViewMasks:
        """Return what ``view`` shows after an enemy move from ``before``."""
        flipped = view.color == chess.BLACK
        shown = ViewMasks.of(view)
        masks = shown.masks
        masks[kernels.OWN_BEFORE] = upward(before.row(), flipped=flipped)[board.WHITE]
        # A piece of the viewer was captured. Without a landing square it was en passant: the enemy pawn now stands one
        # rank below the captured one.
        if view.own_capture_square is not None:
            square = _side(view.own_capture_square, flipped)
            if view.opp_capture_landing_square is None:
                masks[kernels.EP_LANDING] = 1 << square - 8
                shown._expect_pawn(square - 8)
                masks[kernels.EMPTY] |= np.uint64(1 << square)
            else:
                masks[kernels.CAPTURED] = 1 << square
                masks[kernels.REQUIRED] |= np.uint64(1 << square)
        # A reported en passant square means a double step past it. If none is reported, no double step ended beside a
        # pawn that could capture it.
        if view.ep_square is not None:
            square = _side(view.ep_square, flipped)
            masks[kernels.EP_REPORTED] = 1 << square
            shown._expect_pawn(square - 8)
            masks[kernels.EMPTY] |= np.uint64(1 << square | 1 << square + 8)
        elif view.ep_known:
            row = upward(view.row(), flipped=flipped)
            masks[kernels.FORBIDDEN] = _beside(int(row[board.PAWN]) & int(row[board.WHITE]) & _RANK_5)
        return shown

    def _expect_pawn(self, square: int) -> None:
        """Require an enemy pawn on ``square``: it is known to stand there, whether it is seen or not."""
        self.masks[kernels.REQUIRED] |= np.uint64(1 << square)
        self.masks[kernels.SEEN] |= np.uint64(1 << square)
        self.expected[square] = board.PAWN


def _side(square: int, flipped: bool) -> int:
    """``square`` as the viewer's side sees it."""
    return square ^ 56 if flipped else square


def _beside(squares: int) -> int:
    """The squares left and right of ``squares``."""
    return (squares << 1 & _NOT_FILE_A) | (squares >> 1 & _NOT_FILE_H)
