"""Limits of a player's thinking: in one move (:class:`Limit`), in a game (:class:`TimeControl`)."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_TIME_S = 5.0
"""Seconds for a move without any other limit."""


@dataclass(frozen=True)
class Limit:
    """The limit of one move. Nodes have priority over time, time over the clock; without any, a move has 5 s."""

    time_s: float | None = None  # seconds for this move
    nodes: int | None = None  # nodes added to the trunk in this move; then no clock is read
    # seconds remaining on the player's clock, and increment
    clock: tuple[float, float] | None = None


@dataclass(frozen=True)
class TimeControl:
    """The limits of a player in a game."""

    time_s: float | None = None  # seconds a move
    nodes: int | None = None  # nodes a move; then the search reads no clock
    # seconds at the start and seconds added after each turn; a player that runs out of time loses
    clock: tuple[float, float] | None = None
