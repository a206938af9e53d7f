"""The interface between players of Fog of War and their hosts: a setup, views, decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import chess

import klss.play.contest
from darkchess.fog.game.rules import PAPER, Ruleset

if TYPE_CHECKING:  # a command line draws its first board before these load compiled code
    from darkchess.board.position import Position
    from darkchess.fog.game.view import View

DEFAULT_PLAYER = "kluss"
"""The configuration that plays if none is named: the strongest."""


@dataclass(frozen=True)
class Setup:
    """The start position and the ruleset, which both players know before the game."""

    start: Position
    ruleset: Ruleset = PAPER


Player: TypeAlias = klss.play.contest.Player[Setup, "View", chess.Move]
"""Player of one colour: every question is for a move."""


def king_capture(view: View) -> chess.Move | None:
    """Return a move that takes the enemy king, None if there is none; a king that can be taken is always seen."""
    for move in view.legal_moves:
        piece = view.pieces.get(move.to_square)
        if piece is not None and piece.piece_type == chess.KING and piece.color != view.color:
            return move
    return None


def is_loud(before: View, view: View) -> bool:
    """Whether the player moved a pawn, captured or lost a piece on the way from ``before`` to ``view``. An enemy pawn's
    move does not count, even if it is seen.
    """
    if view.own_capture_square is not None:
        return True
    if view.own_move is None:
        return False
    mover = before.pieces.get(view.own_move.from_square)
    target = before.pieces.get(view.own_move.to_square)
    return (mover is not None and mover.piece_type == chess.PAWN) or (target is not None and target.color != view.color)
