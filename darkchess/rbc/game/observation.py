"""What a player observes: all that crosses the wall.

In a turn, three things in this order: whether and where the opponent captured a piece (:class:`Notice`), what
stands where the player sensed (:class:`Sensed`), what became of its request (:class:`Moved`).
"""

from __future__ import annotations

from dataclasses import dataclass

import chess

from darkchess.board.position import Position

__all__ = ["INNER", "Moved", "Notice", "Observation", "Sensed", "looked", "window"]

INNER = tuple(square for square in chess.SQUARES if 0 < chess.square_file(square) < 7 and 0 < square // 8 < 7)
"""The 36 squares that are worth looking at: what is seen from any other is part of what one of these shows."""


@dataclass(frozen=True)
class Notice:
    """The beginning of a turn."""

    # where the opponent's move captured a piece of the player; en passant: where the pawn stood. None: nowhere
    square: int | None


@dataclass(frozen=True)
class Sensed:
    """What a sense showed."""

    square: int | None  # its middle; None: the player sensed nowhere
    # the squares around it that are on the board, by rank from above and by file from the left, and what stands on each
    contents: tuple[tuple[int, chess.Piece | None], ...]


@dataclass(frozen=True)
class Moved:
    """What became of a request."""

    requested: chess.Move | None  # the request; None: a pass
    taken: chess.Move | None  # what was played; None: nothing
    # where the move captured a piece (en passant: where the pawn stood); which piece is not known
    capture_square: int | None


Observation = Notice | Sensed | Moved


def window(square: int) -> tuple[int, ...]:
    """The squares that a look at ``square`` shows, in the order of :class:`Sensed`.

    >>> [chess.SQUARE_NAMES[shown] for shown in window(chess.A1)]
    ['a2', 'b2', 'a1', 'b1']
    """
    rank, file = divmod(square, 8)
    ranks = [rank + step for step in (1, 0, -1) if 0 <= rank + step < 8]
    return tuple(8 * r + file + step for r in ranks for step in (-1, 0, 1) if 0 <= file + step < 8)


def looked(position: Position, square: int | None) -> Sensed:
    """What a look at ``square`` shows of ``position``."""
    shown = () if square is None else window(square)
    return Sensed(square, tuple((seen, position.piece_at(seen)) for seen in shown))
