"""Where the thread of a game waits: for a move, and for what may come instead of it at any time."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from dataclasses import dataclass

import chess

from klss.table.contest import Decision, OutOfTime, Resignation
from klss.table.outcome import Outcome

__all__ = ["Answer", "Ended", "Inbox", "Leave", "Resign"]


class Ended(Exception):
    """The game ends while somebody else is to move; ``outcome`` says how, None: it is left."""

    def __init__(self, outcome: Outcome | None) -> None:
        super().__init__(outcome)
        self.outcome = outcome


@dataclass(frozen=True)
class Answer:
    """What a player answers to the turn at ``ply``: a decision, or the reason that there is none."""

    color: chess.Color
    ply: int
    answer: Decision | Exception


@dataclass(frozen=True)
class Resign:
    """A player gives up, in its turn or not."""

    color: chess.Color


@dataclass(frozen=True)
class Leave:
    """The game is left as it is."""


class Inbox:
    """One game's; ``answered`` is called by the game's thread as soon as a decision is there."""

    def __init__(self, answered: Callable[[], None]) -> None:
        self._answered = answered
        self._letters: queue.SimpleQueue[Answer | Resign | Leave] = queue.SimpleQueue()

    def put(self, letter: Answer | Resign | Leave) -> None:
        """Send; from any thread."""
        self._letters.put(letter)

    def answer(self, color: chess.Color, ply: int, deadline: float | None = None) -> Decision:
        """Wait for the decision of ``color`` at ``ply``, until the moment ``deadline`` of :func:`time.monotonic`;
        answers to other turns are dropped.

        Raises
        ------
        Resignation, OutOfTime
            See :mod:`klss.table.contest`.
        Ended
            The other player resigned, or the game is left.
        """
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            try:
                letter = self._letters.get(timeout=left)
            except queue.Empty:
                raise OutOfTime from None
            if isinstance(letter, Leave):
                raise Ended(None)
            if isinstance(letter, Resign):
                if letter.color == color:
                    raise Resignation
                raise Ended(Outcome(not letter.color, "resign"))
            if (letter.color, letter.ply) != (color, ply):
                continue
            if isinstance(letter.answer, Exception):
                raise letter.answer
            self._answered()
            return letter.answer
