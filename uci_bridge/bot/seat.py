"""The gate in the wall between a game of the bot and its engine: the only data that may pass.

Views and a clock go in, moves come out. :mod:`uci_bridge.bot.game` is on the side of the true game,
:mod:`uci_bridge.bot.engine` on the engine's side; import-linter keeps the second from importing modules that know the
true game.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import chess

from darkchess.fog.game.view import View


@dataclass(frozen=True)
class Clock:
    """The engine's knowledge of the time."""

    remaining_ms: int  # on the player's clock, less the margin for the network's delay
    increment_ms: int  # added after each move


class SeatError(Exception):
    """The engine gave no move: it is dead, silent, late, or breaks the protocol. The seat can be asked again."""


class Seat(Protocol):
    """The engine's side of the wall, as the bridge sees it: views and a clock go in, moves come out."""

    async def choose(self, views: Sequence[View], clock: Clock) -> chess.Move:
        """Return the move after the last of ``views`` (all of them, from ply 0 on); raises SeatError."""

    async def tell(self, views: Sequence[View]) -> None:
        """Show the player its view after its own move, or at the end; never raises."""

    async def close(self) -> None:
        """End the engine's process."""
