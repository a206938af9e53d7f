"""When a game of Reconnaissance Blind Chess is drawn, and how games end (docs/rbc.md, "The end")."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LIMITS", "WIN_REASONS", "Limits"]

WIN_REASONS = {
    "king_captured": "KING_CAPTURE",
    "fifty_moves": "MOVE_LIMIT",
    "turn_limit": "TURN_LIMIT",
    "resign": "RESIGN",
    "flag": "TIMEOUT",
    "forfeit": "RESIGN",
}
"""What ``reconchess`` calls them; it has no forfeit."""


@dataclass(frozen=True)
class Limits:
    """What draws a game, beside nothing: there is no stalemate, no repetition, no want of material."""

    # plies in a row without a pawn move or a capture, turns without a move among them; None: never
    quiet_plies: int | None = 100
    full_turns: int | None = None  # turns of both players; None: never


LIMITS = Limits()
"""As ``reconchess`` plays."""
