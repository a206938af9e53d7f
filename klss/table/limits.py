"""What limits a player's thinking: in one move (:class:`Limit`), in a game (:class:`TimeControl`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from klss.table.outcome import Seat

__all__ = ["DEFAULT_TIME_S", "Limit", "Progress", "TimeControl", "charged"]

Progress = Callable[[dict[str, float]], None]
"""Called now and then while a player thinks, with ``nodes``, ``depth`` and ``seconds``."""

DEFAULT_TIME_S = 5.0
"""Seconds a move where nothing else limits it."""


@dataclass(frozen=True)
class Limit:
    """What limits one move; nodes go before time, time before the clock, and 5 s a move stand where nothing is
    given.
    """

    time_s: float | None = None  # seconds for this move
    nodes: int | None = None  # nodes added to the trunk in this move; nothing then reads a clock
    # seconds remaining on the player's clock, and increment
    clock: tuple[float, float] | None = None


@dataclass(frozen=True)
class TimeControl:
    """What limits a player's thinking in a game."""

    time_s: float | None = None  # seconds a move
    nodes: int | None = None  # nodes a move; a search limited so reads no clock
    # seconds at the start and seconds added after each move; who runs out loses
    clock: tuple[float, float] | None = None


def charged(remaining_s: dict[Seat, float], seat: Seat, clock: tuple[float, float] | None, seconds: float) -> bool:
    """Take ``seconds`` off the clock of ``seat`` and add the increment; False when it ran out. Without a clock
    (:attr:`TimeControl.clock`), True.
    """
    if clock is None:
        return True
    remaining_s[seat] -= seconds
    if remaining_s[seat] <= 0.0:
        remaining_s[seat] = 0.0
        return False
    remaining_s[seat] += clock[1]
    return True
