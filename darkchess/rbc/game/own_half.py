"""A player's own pieces and castling rights, which it always knows, updated by its observations."""

from __future__ import annotations

import chess
import numpy as np

from darkchess.board.kernels import board
from darkchess.board.kernels.moves import make, rights_kept
from darkchess.board.kernels.tables import TABLES
from darkchess.board.move import decode, encode
from darkchess.board.position import Position
from darkchess.rbc.game._kernels.requests import MAX_REQUESTS, generate_requests
from klss.support.arrays import Int32s, Words


class OwnHalf:
    """The pieces and rights of the player of ``color``, in a game from ``start``."""

    def __init__(self, color: chess.Color, start: Position) -> None:
        self.color = color
        self._turn = np.uint64(0 if color else 1)
        # uint64[9]: its pieces alone, its castling rights, the player to move; replaced, never modified
        self.row: Words = start.row & start.row[board.WHITE if color else board.BLACK]
        self.row[board.META] = start.row[board.META] & np.uint64(0x06 if color else 0x18) | self._turn

    @property
    def pieces(self) -> int:
        """The player's pieces, as a 64-bit set."""
        return int(self.row[board.WHITE if self.color else board.BLACK])

    def upward(self, square: int) -> int:
        """Return ``square`` as seen from the player's side; and the real square of one seen so."""
        return square if self.color else square ^ 56

    def lose(self, square: int) -> None:
        """Remove the piece on ``square``, which the opponent captured, and the castling right of a rook at home."""
        mask = np.uint64(1 << square)
        row = self.row.copy()
        row[: board.META] &= ~mask
        row[board.META] &= rights_kept(mask) | np.uint64(1)
        self.row = row

    def play(self, taken: chess.Move | None) -> None:
        """Make the player's move; None: there was none."""
        if taken is None:
            return
        out = np.empty_like(self.row)
        make(self.row, encode(taken), TABLES, out)
        out[board.META] = (out[board.META] & np.uint64(0x1E)) | self._turn
        self.row = out

    def codes(self) -> Int32s:
        """Return the codes of the requests, sorted: int32[n]."""
        out = np.empty(MAX_REQUESTS, dtype=np.int32)
        return np.sort(out[: generate_requests(self.row, 0 if self.color else 1, TABLES, out)])

    def requests(self) -> tuple[chess.Move, ...]:
        """Return the requests, sorted by from, to, promotion."""
        return tuple(decode(code) for code in self.codes().tolist())
