"""The observations of a player: all that it learns of the game.

A turn has three, in this order: whether and where the opponent captured a piece (:class:`Notice`), the pieces on the
sensed squares (:class:`Sensed`), and the result of the player's request (:class:`Moved`).
"""

from __future__ import annotations

from dataclasses import dataclass

import chess

from darkchess.board.position import Position

INNER = tuple(square for square in chess.SQUARES if 0 < chess.square_file(square) < 7 and 0 < square // 8 < 7)
"""The 36 squares that are worth sensing: the window of any other square is part of the window of one of these."""


@dataclass(frozen=True)
class Notice:
    """The notice at the beginning of a turn."""

    # where the opponent's move captured a piece of the player; en passant: where the pawn stood. None: nowhere
    square: int | None


@dataclass(frozen=True)
class Sensed:
    """The result of a sense."""

    square: int | None  # the middle of the window; None: the player sensed nowhere
    # the window's squares on the board, by rank from above and by file from the left, and the piece on each
    contents: tuple[tuple[int, chess.Piece | None], ...]


@dataclass(frozen=True)
class Moved:
    """The result of a request."""

    requested: chess.Move | None  # the request; None: a pass
    taken: chess.Move | None  # the move that was played; None: none
    # where the move captured a piece (en passant: where the pawn stood); which piece is not known
    capture_square: int | None


Observation = Notice | Sensed | Moved


def window(square: int) -> tuple[int, ...]:
    """Return the squares that a sense at ``square`` shows, in the order of :class:`Sensed`.

    >>> [chess.SQUARE_NAMES[shown] for shown in window(chess.A1)]
    ['a2', 'b2', 'a1', 'b1']
    """
    rank, file = divmod(square, 8)
    ranks = [rank + step for step in (1, 0, -1) if 0 <= rank + step < 8]
    return tuple(8 * r + file + step for r in ranks for step in (-1, 0, 1) if 0 <= file + step < 8)


def looked(position: Position, square: int | None) -> Sensed:
    """Return the result of a sense at ``square`` in ``position``."""
    shown = () if square is None else window(square)
    return Sensed(square, tuple((seen, position.piece_at(seen)) for seen in shown))
