"""Limits of a player's thinking."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

from klss.support.configuration_text import ConfigurationError

DEFAULT_TIME_S = 5.0
"""Seconds for a move without any other limit."""

MOST_NODES = 10**8
"""Most nodes of a move that the engine protocol takes."""


@dataclass(frozen=True)
class Limit:
    """The limit of one move, or of each move of a game. Nodes have priority over time, time over the clock; without
    any, a move has 5 s.
    """

    time_s: float | None = None  # seconds for a move
    nodes: int | None = None  # nodes added to the trunk in a move; then no clock is read
    # seconds on the player's clock now, or at the start of the game, and seconds added after each turn; a player that
    # runs out of time loses
    clock: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        """Refuse what is no limit. Raises ConfigurationError."""
        if self.nodes is not None and not (isinstance(self.nodes, Integral) and self.nodes >= 0):
            raise ConfigurationError(f"nodes: got {self.nodes!r}, expected a whole number that is not negative")
        if self.time_s is not None and not self.time_s >= 0.0:  # also refuses NaN
            raise ConfigurationError(f"seconds: got {self.time_s!r}, expected a number that is not negative")
