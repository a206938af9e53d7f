"""Checks that an observation can follow the earlier ones, for observations that come from another program.

It does not find that all of them together contradict one another (no position agrees); a position set does.
"""

from __future__ import annotations

from copy import copy

import chess
import numpy as np

from darkchess.board.kernels import board
from darkchess.board.position import Position
from darkchess.errors import ViewError
from darkchess.rbc.game.observation import Moved, Notice, Observation, Sensed, window
from darkchess.rbc.game.own_half import OwnHalf
from darkchess.rbc.game.requests import is_request, played

_AFTER: dict[type[Observation], type[Observation]] = {Notice: Sensed, Sensed: Moved, Moved: Notice}


class Followed:
    """The observations of the player of ``color`` so far, in a game from ``start``."""

    def __init__(self, color: chess.Color, start: Position) -> None:
        self.awaited: type[Observation] = Notice  # the kind of the next observation
        # turns of both sides before the player's present turn, or before its next one
        self.ply = 0 if start.turn == color else 1
        self._color = color
        self._own = OwnHalf(color, start)

    def copy(self) -> Followed:
        """Return an independent copy."""
        other = copy(self)
        other._own = copy(self._own)  # a shallow copy is enough: rows are replaced, never modified
        return other

    def requests(self) -> tuple[chess.Move, ...]:
        """Return the player's requests, sorted by from, to, promotion."""
        return self._own.requests()

    def take(self, seen: Observation) -> None:
        """Check and record the next observation.

        Raises
        ------
        ViewError
            It can't follow the earlier ones; it is not recorded.
        """
        if type(seen) is not self.awaited or not self._possible(seen):
            raise ViewError(
                f"turn of ply {self.ply}: got {seen}, expected a {self.awaited.__name__} that the player's pieces, "
                "requests and the rules allow"
            )
        if isinstance(seen, Notice) and seen.square is not None:
            self._own.lose(seen.square)
        elif isinstance(seen, Moved):
            self._own.play(seen.taken)
            self.ply += 2
        self.awaited = _AFTER[self.awaited]

    def _possible(self, seen: Observation) -> bool:
        own, king = Position(self._own.row), chess.Piece(chess.KING, self._color)
        if isinstance(seen, Notice):
            return seen.square is None or (self.ply > 0 and own.piece_at(seen.square) not in (None, king))
        if isinstance(seen, Moved):
            asked = seen.requested
            if asked is None:
                return seen.taken is None and seen.capture_square is None
            return is_request(own, asked) and (seen.taken, seen.capture_square) in self._results(asked)
        # A sense shows exactly its window: the player's own pieces where they are; elsewhere nothing, or enemy pieces,
        # of these at most one king and no pawn on the first or last rank.
        shown = () if seen.square is None else window(seen.square)
        kings = 0
        for square, piece in seen.contents:
            mine = own.piece_at(square)
            if mine is not None or piece is None:
                if piece != mine:
                    return False
                continue
            kings += piece.piece_type == chess.KING
            lost_pawn = piece.piece_type == chess.PAWN and square // 8 in (0, 7)
            if piece.color == self._color or lost_pawn or kings > 1:
                return False
        return tuple(square for square, _ in seen.contents) == shown

    def _results(self, asked: chess.Move) -> set[tuple[chess.Move | None, int | None]]:
        """Return the moves that a request may become, each with the square of its capture: at most one enemy piece
        decides that, or one pawn that can be captured en passant.
        """
        rows = [self._own.row.copy() for _ in range(66)]
        for square in chess.SQUARES:
            if not self._own.pieces >> square & 1:
                rows[square][[board.QUEEN, board.BLACK if self._color else board.WHITE]] |= np.uint64(1 << square)
        if asked.to_square // 8 == (5 if self._color else 2) and (asked.to_square - asked.from_square) % 8:
            rows[64][board.META] |= np.uint64(asked.to_square + 1 << 8)
        found: set[tuple[chess.Move | None, int | None]] = set()
        for position in map(Position, rows):
            taken = played(position, asked)
            found.add((taken, None if taken is None else position.captured_square(taken)))
        return found
