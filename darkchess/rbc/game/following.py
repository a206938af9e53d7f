"""Whether what a player is told can follow from what she was told before: who hears it from elsewhere asks here.

What only contradicts itself in sum (no position agrees) is not found; a position set finds it.
"""

from __future__ import annotations

from typing import Literal

import chess

from darkchess.board.position import Position
from darkchess.errors import ViewError
from darkchess.rbc.game.observation import Moved, Notice, Observation, Sensed, window
from darkchess.rbc.game.own_half import OwnHalf

__all__ = ["Followed"]

_SLIDERS = (chess.BISHOP, chess.ROOK, chess.QUEEN)
_KINDS = {Notice: "notice", Sensed: "sensed", Moved: "moved"}
_AFTER: dict[str, Literal["notice", "sensed", "moved"]] = {"notice": "sensed", "sensed": "moved", "moved": "notice"}


class Followed:
    """What a player of one game has been told so far.

    Parameters
    ----------
    color
        Hers.
    start
        The start position.

    Attributes
    ----------
    awaited : "notice", "sensed" or "moved"
        What she is told next.
    ply : int
        Turns of either side that were played before her turn, or before the one that is next.
    """

    def __init__(self, color: chess.Color, start: Position) -> None:
        self.awaited: Literal["notice", "sensed", "moved"] = "notice"
        self.ply = 0 if start.turn == color else 1
        self._color = color
        self._own = OwnHalf(color, start)

    def copy(self) -> Followed:
        """One that goes its own way from here."""
        other = object.__new__(Followed)
        other.awaited, other.ply, other._color = self.awaited, self.ply, self._color
        other._own = object.__new__(OwnHalf)
        other._own.__dict__.update(self._own.__dict__)  # rows are replaced, never written to
        return other

    def requests(self) -> tuple[chess.Move, ...]:
        """What she may ask for, sorted by from, to, promotion."""
        return self._own.requests()

    def take(self, told: Observation) -> None:
        """Take in what she is told next.

        Raises
        ------
        ViewError
            It can't follow; nothing is taken in.
        """
        if _KINDS[type(told)] != self.awaited:
            raise ViewError(f"turn of ply {self.ply}: got a {_KINDS[type(told)]}, expected a {self.awaited}")
        if isinstance(told, Notice):
            self._check_notice(told)
            if told.square is not None:
                self._own.lose(told.square)
        elif isinstance(told, Sensed):
            self._check_sensed(told)
        else:
            self._check_moved(told)
            self._own.play(told.taken)
            self.ply += 2
        self.awaited = _AFTER[self.awaited]

    def _man(self, square: int) -> chess.Piece | None:
        """Her man on ``square``."""
        row = Position(self._own.row)
        found = row.piece_at(square)
        return found if found is not None and found.color == self._color else None

    def _check_notice(self, told: Notice) -> None:
        if told.square is None:
            return
        man = self._man(told.square)
        if man is None or man.piece_type == chess.KING or self.ply == 0:
            raise ViewError(
                f"turn of ply {self.ply}: got a capture on {chess.SQUARE_NAMES[told.square]}, where "
                f"{'her king stands' if man is not None and self.ply else 'nothing can have been taken'}, expected none"
            )

    def _check_sensed(self, told: Sensed) -> None:
        shown = () if told.square is None else window(told.square)
        if tuple(square for square, _ in told.contents) != shown:
            raise ViewError(
                f"turn of ply {self.ply}: got {len(told.contents)} squares sensed, expected the {len(shown)} around "
                f"{'nothing' if told.square is None else chess.SQUARE_NAMES[told.square]}, from above and the left"
            )
        kings = 0
        for square, piece in told.contents:
            own = self._man(square)
            enemy = piece is not None and piece.color != self._color
            kings += enemy and piece is not None and piece.piece_type == chess.KING
            lost_pawn = enemy and piece is not None and piece.piece_type == chess.PAWN and square // 8 in (0, 7)
            if lost_pawn or kings > 1 or (piece != own and not (own is None and enemy)):
                raise ViewError(
                    f"turn of ply {self.ply}: got {piece or 'nothing'} sensed on {chess.SQUARE_NAMES[square]}, "
                    f"expected {own or 'nothing or a man of the opponent that may stand there'}"
                )

    def _check_moved(self, told: Moved) -> None:
        asked, taken = told.requested, told.taken
        if asked is not None and asked not in self._own.requests() and self._closed(asked) is None:
            raise ViewError(f"turn of ply {self.ply}: got the request {asked.uci()}, expected one that she may make")
        if not self._may_become(asked, taken, told.capture_square):
            where = None if told.capture_square is None else chess.SQUARE_NAMES[told.capture_square]
            raise ViewError(
                f"turn of ply {self.ply}: got {asked and asked.uci()} that became {taken and taken.uci()} with a "
                f"capture on {where}, expected what a request can become"
            )

    def _closed(self, asked: chess.Move) -> chess.Move | None:
        """The promotion to a queen that a pawn's request without a promotion is; None: it is no such request."""
        queen = chess.Move(asked.from_square, asked.to_square, chess.QUEEN)
        return queen if asked.promotion is None and queen in self._own.requests() else None

    def _may_become(self, asked: chess.Move | None, taken: chess.Move | None, capture: int | None) -> bool:
        if asked is None or taken is None:
            return taken is None and capture is None and (asked is None or self._may_fail(asked))
        asked = self._closed(asked) or asked
        man = self._man(asked.from_square)
        assert man is not None
        start, end = asked.from_square, asked.to_square
        step = chess.square_file(end) - chess.square_file(start)
        if man.piece_type == chess.PAWN and step:
            rank = 4 if self._color else 3
            passed = end + (-8 if self._color else 8)
            return taken == asked and (capture == end or (capture == passed and start // 8 == rank))
        if man.piece_type == chess.PAWN:
            single = chess.Move(start, (start + end) // 2)
            return capture is None and (taken == asked or (abs(end - start) == 16 and taken == single))
        if man.piece_type == chess.KING and abs(step) == 2:
            return taken == asked and capture is None
        if taken == asked:
            return capture in (None, end)
        between = chess.SquareSet(chess.between(start, end))
        return (
            man.piece_type in _SLIDERS
            and taken.from_square == start
            and taken.promotion is None
            and taken.to_square in between
            and capture == taken.to_square
        )

    def _may_fail(self, asked: chess.Move) -> bool:
        """Whether nothing may come of a request: a pawn's, or castling."""
        man = self._man(asked.from_square)
        assert man is not None
        castling = man.piece_type == chess.KING and abs(asked.to_square - asked.from_square) == 2
        return man.piece_type == chess.PAWN or castling
