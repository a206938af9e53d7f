"""How games end."""

from __future__ import annotations

from dataclasses import dataclass

Seat = bool
"""One of the two players: True is the one that moves first in the usual start position, White in chess."""


@dataclass(frozen=True)
class Outcome:
    """How a game ended."""

    winner: Seat | None  # the seat that won; None for a draw, and for an aborted game
    # why it ended, in one word: ``resign``, ``flag``, ``forfeit``, ``agreement``, ``aborted``, or a word of the
    # game's rules
    reason: str

    @property
    def result(self) -> str:
        """The result in PGN's notation: ``1-0``, ``0-1``, ``1/2-1/2``; ``*`` if the game was aborted."""
        if self.winner is None:
            return "*" if self.reason == "aborted" else "1/2-1/2"
        return "1-0" if self.winner else "0-1"
