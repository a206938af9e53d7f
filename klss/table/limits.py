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
    """What limits one move; nodes go before time, time before the clock, and 5 s a move stand where nothing is given.

    Attributes
    ----------
    time_s : float or None
        Seconds for this move.
    nodes : int or None
        Nodes added to the trunk in this move; nothing then reads a clock.
    clock : (float, float) or None
        Seconds remaining on the player's clock, and increment.
    """

    time_s: float | None = None
    nodes: int | None = None
    clock: tuple[float, float] | None = None


@dataclass(frozen=True)
class TimeControl:
    """What limits a player's thinking in a game.

    Attributes
    ----------
    time_s
        Seconds a move.
    nodes
        Nodes a move; a search limited so reads no clock.
    clock
        Seconds at the start and seconds added after each move; who runs out loses.
    """

    time_s: float | None = None
    nodes: int | None = None
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
