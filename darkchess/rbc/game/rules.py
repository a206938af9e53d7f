"""The limits that draw a game of Reconnaissance Blind Chess, and the names of its ends (docs/rbc.md, "The end")."""

from __future__ import annotations

from dataclasses import dataclass

WIN_REASONS = {
    "king_captured": "KING_CAPTURE",
    "fifty_moves": "MOVE_LIMIT",
    "turn_limit": "TURN_LIMIT",
    "resign": "RESIGN",
    "flag": "TIMEOUT",
    "forfeit": "RESIGN",
}
"""The names of ``reconchess`` for our reasons; it has no forfeit, which is written as a resignation."""


@dataclass(frozen=True)
class Limits:
    """The limits that draw a game. There is no draw by stalemate, repetition or lack of material."""

    # plies in a row without a pawn move or a capture, counting turns without a move; None: no limit
    quiet_plies: int | None = 100
    full_turns: int | None = None  # full moves (a turn of each player); None: no limit


LIMITS = Limits()
"""The limits of ``reconchess``."""
