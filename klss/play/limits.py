"""Limits of a player's thinking: in one move (:class:`Limit`), in a game (:class:`TimeControl`)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

from klss.support.configuration_text import ConfigurationError

DEFAULT_TIME_S = 5.0
"""Seconds for a move without any other limit."""


@dataclass(frozen=True)
class Limit:
    """The limit of one move. Nodes have priority over time, time over the clock; without any, a move has 5 s."""

    time_s: float | None = None  # seconds for this move
    nodes: int | None = None  # nodes added to the trunk in this move; then no clock is read
    # seconds remaining on the player's clock, and increment
    clock: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        """Refuse what is no limit. Raises ConfigurationError."""
        if self.nodes is not None and not (isinstance(self.nodes, Integral) and self.nodes >= 0):
            raise ConfigurationError(f"nodes: got {self.nodes!r}, expected a whole number that is not negative")
        if self.time_s is not None and not self.time_s >= 0.0:  # also refuses NaN
            raise ConfigurationError(f"seconds: got {self.time_s!r}, expected a number that is not negative")


@dataclass(frozen=True)
class TimeControl:
    """The limits of a player in a game."""

    time_s: float | None = None  # seconds a move
    nodes: int | None = None  # nodes a move; then the search reads no clock
    # seconds at the start and seconds added after each turn; a player that runs out of time loses
    clock: tuple[float, float] | None = None
