"""The new facts in a view, compared with the one before, to be put into words or drawn.

The terminal makes sentences of them (:mod:`klss_app.cli.fog.human`); the browser's page does so itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import chess

if TYPE_CHECKING:  # not at run time: the first board is drawn before compiled code is loaded
    from darkchess.fog.game.view import View


@dataclass(frozen=True)
class ViewEvent:
    """One fact."""

    # ``captured``: the player took ``piece`` on ``square``. ``lost``: its ``piece`` on ``square`` was taken. ``moved``:
    # the enemy moved, and nothing more is known. ``shown``, ``sight``: the enemy's ``piece`` on ``square`` was not seen
    # there before; the player's own move showed it, or the enemy's. What was shown may have moved on since.
    # ``en_passant``: the player can capture so on ``square``
    kind: Literal["captured", "lost", "moved", "shown", "sight", "en_passant"]
    # where, and what; None where the kind says neither
    square: int | None = None
    piece: chess.Piece | None = None
    en_passant: bool = False  # whether a capture was one


def view_events(before: View | None, view: View) -> list[ViewEvent]:
    """The new facts in ``view``, compared with ``before``, one ply earlier."""
    if before is None or view.kind == "initial":
        return []
    found = _own_move(before, view) if view.kind == "own_move" else [_enemy_move(before, view)]
    found += [
        ViewEvent("shown" if view.kind == "own_move" else "sight", square, piece)
        for square, piece in view.pieces.items()
        if piece.color != view.color and before.pieces.get(square) != piece
    ]
    if view.ep_square is not None and view.to_move == view.color:
        found.append(ViewEvent("en_passant", view.ep_square))
    return found


def _own_move(before: View, view: View) -> list[ViewEvent]:
    move = view.own_move
    assert move is not None
    taken = before.pieces.get(move.to_square)
    if taken is not None:
        return [ViewEvent("captured", move.to_square, taken)]
    moved = before.pieces[move.from_square]
    if moved.piece_type == chess.PAWN and move.to_square == before.ep_square:
        return [ViewEvent("captured", move.to_square, chess.Piece(chess.PAWN, not view.color), en_passant=True)]
    return []


def _enemy_move(before: View, view: View) -> ViewEvent:
    square = view.own_capture_square
    if square is None:
        return ViewEvent("moved")
    return ViewEvent("lost", square, before.pieces[square], en_passant=view.opp_capture_landing_square is None)
