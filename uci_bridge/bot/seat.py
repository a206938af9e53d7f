"""The gate in the wall between a game of the bot and its engine: all that may pass.

Views and a clock go in, moves come out. :mod:`uci_bridge.bot.game` stands on the side of the true game,
:mod:`uci_bridge.bot.engine` on the engine's; import-linter keeps the second from importing what the first knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import chess

from darkchess.fog.game.view import View

__all__ = ["Clock", "Seat", "SeatError"]


@dataclass(frozen=True)
class Clock:
    """What the engine may know of time."""

    remaining_ms: int  # the player's, what the way to the server takes already taken off
    increment_ms: int  # added after each move


class SeatError(Exception):
    """The engine gave no move: it is dead, silent, late, or talks nonsense. The seat can be asked again."""


class Seat(Protocol):
    """The engine's side of the wall, as the bridge sees it: views and a clock go in, moves come out."""

    async def choose(self, views: Sequence[View], clock: Clock) -> chess.Move:
        """Return the move after the last of ``views`` (all of them, from ply 0 on); raises SeatError."""

    async def tell(self, views: Sequence[View]) -> None:
        """Show the player what it sees after its own move, or at the end; never raises."""

    async def close(self) -> None:
        """End the engine's process."""
