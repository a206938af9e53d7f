"""Checks that an observation can follow the earlier ones, for observations that come from another program.

It does not find that all of them together contradict one another (no position agrees); a position set does.
"""

from __future__ import annotations

from copy import copy
from typing import Literal

import chess

from darkchess.board.position import Position
from darkchess.errors import ViewError
from darkchess.rbc.game.observation import Moved, Notice, Observation, Sensed, window
from darkchess.rbc.game.own_half import OwnHalf

_SLIDERS = (chess.BISHOP, chess.ROOK, chess.QUEEN)
_KINDS = {Notice: "notice", Sensed: "sensed", Moved: "moved"}
_AFTER: dict[str, Literal["notice", "sensed", "moved"]] = {"notice": "sensed", "sensed": "moved", "moved": "notice"}


class Followed:
    """The observations of the player of ``color`` so far, in a game from ``start``."""

    def __init__(self, color: chess.Color, start: Position) -> None:
        self.awaited: Literal["notice", "sensed", "moved"] = "notice"  # the kind of the next observation
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
        if _KINDS[type(seen)] != self.awaited:
            raise ViewError(f"turn of ply {self.ply}: got a {_KINDS[type(seen)]}, expected a {self.awaited}")
        if isinstance(seen, Notice):
            self._check_notice(seen)
            if seen.square is not None:
                self._own.lose(seen.square)
        elif isinstance(seen, Sensed):
            self._check_sensed(seen)
        else:
            self._check_moved(seen)
            self._own.play(seen.taken)
            self.ply += 2
        self.awaited = _AFTER[self.awaited]

    def _own_piece(self, square: int) -> chess.Piece | None:
        """Return the player's piece on ``square``, None if there is none."""
        row = Position(self._own.row)
        found = row.piece_at(square)
        return found if found is not None and found.color == self._color else None

    def _check_notice(self, seen: Notice) -> None:
        if seen.square is None:
            return
        piece = self._own_piece(seen.square)
        if piece is None or piece.piece_type == chess.KING or self.ply == 0:
            there = "the own king stands" if piece is not None and self.ply else "nothing can have been captured"
            raise ViewError(
                f"turn of ply {self.ply}: got a capture on {chess.SQUARE_NAMES[seen.square]}, where {there}, "
                "expected none"
            )

    def _check_sensed(self, seen: Sensed) -> None:
        shown = () if seen.square is None else window(seen.square)
        if tuple(square for square, _ in seen.contents) != shown:
            raise ViewError(
                f"turn of ply {self.ply}: got {len(seen.contents)} squares sensed, expected the {len(shown)} around "
                f"{'nothing' if seen.square is None else chess.SQUARE_NAMES[seen.square]}, from above and the left"
            )
        # A square shows the player's own piece or, if it has none there, nothing or an enemy piece; of these no pawn on
        # the first or last rank, and at most one king.
        kings = 0
        for square, piece in seen.contents:
            own = self._own_piece(square)
            enemy = piece is not None and piece.color != self._color
            kings += enemy and piece is not None and piece.piece_type == chess.KING
            lost_pawn = enemy and piece is not None and piece.piece_type == chess.PAWN and square // 8 in (0, 7)
            if lost_pawn or kings > 1 or (piece != own and not (own is None and enemy)):
                raise ViewError(
                    f"turn of ply {self.ply}: got {piece or 'nothing'} sensed on {chess.SQUARE_NAMES[square]}, "
                    f"expected {own or 'nothing or an enemy piece that may stand there'}"
                )

    def _check_moved(self, seen: Moved) -> None:
        asked, taken = seen.requested, seen.taken
        if asked is not None and asked not in self._own.requests() and self._closed(asked) is None:
            raise ViewError(f"turn of ply {self.ply}: got the request {asked.uci()}, expected a legal one")
        if not self._may_become(asked, taken, seen.capture_square):
            where = None if seen.capture_square is None else chess.SQUARE_NAMES[seen.capture_square]
            raise ViewError(
                f"turn of ply {self.ply}: got {asked and asked.uci()} that became {taken and taken.uci()} with a "
                f"capture on {where}, expected what a request can become"
            )

    def _closed(self, asked: chess.Move) -> chess.Move | None:
        """Return the promotion to a queen that a pawn's request without a promotion means; None for other requests."""
        queen = chess.Move(asked.from_square, asked.to_square, chess.QUEEN)
        return queen if asked.promotion is None and queen in self._own.requests() else None

    def _may_become(self, asked: chess.Move | None, taken: chess.Move | None, capture: int | None) -> bool:
        """Whether a request may become the move ``taken`` with a capture on ``capture``."""
        if asked is None or taken is None:
            return taken is None and capture is None and (asked is None or self._may_fail(asked))
        asked = self._closed(asked) or asked
        piece = self._own_piece(asked.from_square)
        assert piece is not None
        start, end = asked.from_square, asked.to_square
        step = chess.square_file(end) - chess.square_file(start)
        # A pawn's capture is played as requested, on its target or en passant.
        if piece.piece_type == chess.PAWN and step:
            rank = 4 if self._color else 3
            passed = end + (-8 if self._color else 8)
            return taken == asked and (capture == end or (capture == passed and start // 8 == rank))
        # A pawn's double step may end after one square; castling is played as requested.
        if piece.piece_type == chess.PAWN:
            single = chess.Move(start, (start + end) // 2)
            return capture is None and (taken == asked or (abs(end - start) == 16 and taken == single))
        if piece.piece_type == chess.KING and abs(step) == 2:
            return taken == asked and capture is None
        # Any other piece reaches its target, or a slider stops at a piece on its way, which it captures.
        if taken == asked:
            return capture in (None, end)
        between = chess.SquareSet(chess.between(start, end))
        return (
            piece.piece_type in _SLIDERS
            and taken.from_square == start
            and taken.promotion is None
            and taken.to_square in between
            and capture == taken.to_square
        )

    def _may_fail(self, asked: chess.Move) -> bool:
        """Whether nothing at all may be played of a request: it is a pawn's, or castling."""
        piece = self._own_piece(asked.from_square)
        assert piece is not None
        castling = piece.piece_type == chess.KING and abs(asked.to_square - asked.from_square) == 2
        return piece.piece_type == chess.PAWN or castling
