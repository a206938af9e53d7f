"""What players and their hosts say to each other in a game: limits and decisions, and the ways out of it.

A host is :class:`darkchess.fog.game.arbiter.Arbiter`, or whoever else has a player and her views.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import chess

from darkchess.errors import DarkchessError
from darkchess.fog.game.rules import PAPER, Ruleset
from klss.table.contest import Positions
from klss.table.limits import Limit, Progress

if TYPE_CHECKING:  # a command line draws its first board before these load compiled code
    from darkchess.board.position import Position
    from darkchess.fog.game.view import View

__all__ = [
    "DEFAULT_PLAYER", "Decision", "Player", "PlayerError", "is_loud", "king_capture",
]  # fmt: skip

DEFAULT_PLAYER = "kluss"
"""The configuration that plays where none is named: the strongest."""


class PlayerError(DarkchessError, ValueError):
    """A player was used out of order; the message says what, got, expected."""


@dataclass(frozen=True)
class Decision:
    """A move and what the player has to say about it (the engine protocol's ``diagnostics``)."""

    move: chess.Move
    diagnostics: dict[str, Any]


class Player(Protocol):
    """Whoever plays one colour of one game: ours, a human at a terminal, a process.

    A class that names it as its base has the answers of one who keeps nothing and holds nothing.

    Attributes
    ----------
    trouble : str or None
        Her last fault that cost her something, for the records.
    """

    trouble: str | None = None

    @property
    def position_set(self) -> Positions | None:
        """What she holds possible, up to date with her last view; None if she keeps that to herself."""
        return None

    def start(self, view: View, start: Position, ruleset: Ruleset = PAPER) -> None:
        """Begin a game from ``start``, which both players know; ``view`` is what she sees of it."""
        ...

    def observe(self, view: View) -> None:
        """Take in what is seen after a ply, her own or the opponent's; every ply is shown once, in order."""
        ...

    def end(self, view: View) -> None:
        """Hear of an end that is no ply, by resignation, flag or forfeit: the last view again, with the outcome."""
        return

    def choose(self, limit: Limit, progress: Progress | None = None) -> Decision:
        """Her move; it has to be her turn."""
        ...

    def close(self) -> None:
        """Free what is held."""
        return


def king_capture(view: View) -> chess.Move | None:
    """A move that takes the enemy king, which is always seen when it can be taken."""
    for move in view.legal_moves:
        piece = view.pieces.get(move.to_square)
        if piece is not None and piece.piece_type == chess.KING and piece.color != view.color:
            return move
    return None


def is_loud(before: View, view: View) -> bool:
    """Whether the player observed a pawn move or a capture on the way from ``before`` to ``view``."""
    if view.own_capture_square is not None:
        return True
    if view.own_move is None:
        return False
    mover = before.pieces.get(view.own_move.from_square)
    target = before.pieces.get(view.own_move.to_square)
    return (mover is not None and mover.piece_type == chess.PAWN) or (target is not None and target.color != view.color)
