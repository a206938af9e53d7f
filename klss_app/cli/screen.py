"""How people see a game in the terminal, and play it: what a kit's ``screen`` is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from klss.table.contest import Player
from klss.table.outcome import Seat
from klss_app.cli.terminal import Terminal

__all__ = ["Quit", "Screen"]


class Quit(Exception):
    """The human leaves the game."""


class Screen(ABC):
    """One game on a terminal.

    Parameters
    ----------
    terminal
        Where.
    names
        What both players are called.
    clocks
        Seconds left on the clocks, kept up to date by the arbiter.

    Attributes
    ----------
    turns
        What the game's turns are called.
    """

    turns = "turns"

    def __init__(self, terminal: Terminal, names: Mapping[Seat, str], clocks: Mapping[Seat, float]) -> None:
        self.terminal, self.names, self.clocks = terminal, names, clocks

    def first_prompt(self) -> None:
        """Draw White's first board from the usual start, and take the first line, before anything is loaded."""
        return

    @abstractmethod
    def human(self, resumed: int) -> Player:
        """The human as a player; ``resumed``: turns of a game that goes on."""

    def seconds_left(self) -> float | None:
        """On the human's clock in the middle of a turn; None without one, and on the opponent's time."""
        return None

    def start_lines(self, referee: Any) -> list[str]:
        """The beginning of a game that two engines play."""
        return []

    @abstractmethod
    def turn_lines(self, referee: Any, ply: int) -> list[str]:
        """The turn of such a game that led to ``ply``."""

    @abstractmethod
    def end_lines(self, referee: Any) -> list[str]:
        """The end of any game."""

    def review(self, referee: Any) -> None:
        """Step through a game that is over, with everything on the table."""
        return

    def hints(self, path: str) -> list[str]:
        """What can be done with the game that is kept in ``path``, as a shell takes it."""
        return []
