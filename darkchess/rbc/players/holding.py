"""Base of players that keep a position set.

The set is updated by the opponent's move at the first question, not at the notice, because only a question tells how
much time there is. On a clock, a set that is too large for the time becomes a sample.
"""

from __future__ import annotations

from typing import Any

import chess

from darkchess.board.position import Position
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.game.contest import Player
from darkchess.rbc.game.observation import Moved, Notice, Sensed
from klss.play.limits import Limit
from klss.play.time_plan import ClockUse, Timekeeper, TimePlan

_CLOCK = ClockUse(turns_to_go=30.0, questions=2, most=0.25, reserve_s=0.0, least_s=0.005, tracking=max)
_SENSE = 0.3
"""Share of a turn's time on the clock for the sense; the rest is for the request."""


class HoldingPlayer(Player):
    """A player that keeps a position set.

    Parameters
    ----------
    seed
        Decides which positions are kept of a set that is too large.
    cap, threads
        Of the position set.
    """

    def __init__(self, *, seed: int, cap: int, threads: int) -> None:
        self._seed = seed
        self._cap = cap
        self._threads = threads
        self._known: PositionSet | None = None
        self._notice: Notice | None = None  # a notice that the set has not been updated by yet

    def begin(self, seat: chess.Color, setup: Position) -> None:
        self._known = PositionSet(seat, setup, cap=self._cap, seed=self._seed, threads=self._threads)
        self._notice, self._timekeeper = None, Timekeeper(_CLOCK)
        # what else follows the game; updated after the set, by the same observations
        self._beside: list[Any] = []

    def time_plan(self, limit: Limit, *, sense: bool) -> TimePlan:
        """Return the plan for one of a turn's two questions. The opponent's move is followed at the sense."""
        return self._timekeeper.plan(limit, _SENSE if sense else 1.0 - _SENSE, ends_turn=not sense)

    @property
    def position_set(self) -> PositionSet | None:
        """See :class:`darkchess.rbc.game.contest.Player`; it is brought up to date, however long that takes."""
        return None if self._known is None else self.known

    @property
    def known(self) -> PositionSet:
        """The position set of the present game, after all observations."""
        return self._up_to_date(None)

    def notice(self, notice: Notice) -> None:
        self._notice = notice

    def sensed(self, sensed: Sensed) -> None:
        self.known.sensed(sensed)
        for each in self._beside:
            each.sensed(sensed, self.known)

    def moved(self, moved: Moved) -> None:
        self.known.moved(moved)
        for each in self._beside:
            each.moved(moved, self.known)

    def close(self) -> None:
        self._known = None

    def _up_to_date(self, deadline: float | None) -> PositionSet:
        """Return :attr:`known`, brought up to date by the deadline (of :func:`time.monotonic`)."""
        known, notice = self._known, self._notice
        assert known is not None, "the game was not started"
        if notice is not None:
            self._notice = None
            known.noticed(notice, deadline=deadline)
            self._followed(notice, known)
        return known

    def _followed(self, notice: Notice, known: PositionSet) -> None:
        """Update what is beside the set, which was updated by a notice."""
        for each in self._beside:
            each.noticed(notice, known)

    @property
    def _about_set(self) -> dict[str, object]:
        """Diagnostics of the set."""
        return {"positions": self.known.size, "capped_by": self.known.capped_by}
