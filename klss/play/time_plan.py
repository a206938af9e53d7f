"""The division of one answer's time: a plan is made when the question comes, and gives deadlines and budgets for the
parts of the answer.

Seconds or nodes for an answer are used as given; the game decides how much of a clock an answer may use
(:class:`ClockUse`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from klss.play.limits import DEFAULT_TIME_S, Limit

if TYPE_CHECKING:  # limits are used before a search is loaded
    from klss.search.budget import Budget

_TRACKING = 0.5
"""Fraction of an answer's time for following the opponent (updating the belief): as much as for the search."""

_TRACKING_ON_CLOCK = 40.0
"""With a clock, the clock's time divided by this is another limit of following (:attr:`ClockUse.tracking`)."""

_LATENESS_OVER = 4.0
"""Number of answers over which lateness is averaged."""


@dataclass(frozen=True)
class ClockUse:
    """How much of a clock an answer may use. The defaults are for games with one question a turn."""

    turns_to_go: float = 25.0  # the clock is divided by this number of turns
    questions: int = 1  # of a turn
    increment: float = 0.8  # fraction of the increment for a turn
    most: float = 0.5  # largest fraction of the clock for a turn
    # seconds never used in a plan: reserve for one slow answer, an equilibrium that can't be cut off, a busy machine
    reserve_s: float = 1.2
    least_s: float = 0.01  # least seconds of an answer
    # the time for following, from half of the answer's time and a fortieth of the clock: ``min``, or ``max`` in games
    # where it seldom takes long
    tracking: Callable[[float, float], float] = min

    def seconds(self, clock: tuple[float, float], part: float) -> float:
        """Return the seconds of an answer that takes this part of a turn; ``clock``: seconds left, and increment."""
        remaining, increment = clock
        usable = max(0.0, remaining - self.reserve_s)
        turn = min(usable / self.turns_to_go + self.increment * increment, self.most * usable)
        return max(self.least_s, part * turn)


@dataclass(frozen=True)
class TimePlan:
    """The division of one answer's time. With a node budget no clock is read, and all times here are None.

    Examples
    --------
    >>> plan = TimePlan(Limit(clock=(101.2, 0.0)))
    >>> plan.seconds, plan.tracking_s
    (4.0, 2.0)
    >>> TimePlan(Limit(nodes=100)).deadline is None
    True
    """

    limit: Limit  # of the answer
    use: ClockUse = ClockUse()  # the game's
    part: float = 1.0  # the answer's part of a turn on the clock, if a turn has several questions
    began: float = field(default_factory=lambda: time.monotonic())  # when the question came, of ``time.monotonic``

    @property
    def nodes(self) -> int | None:
        """Nodes of the answer; None if it is limited by time."""
        return self.limit.nodes

    @property
    def seconds(self) -> float | None:
        """Seconds of the answer; None with nodes, which have priority over time, and time over the clock. Without any
        limit, 5 s.
        """
        limit = self.limit
        if limit.nodes is not None:
            return None
        if limit.time_s is not None:
            return limit.time_s
        return DEFAULT_TIME_S if limit.clock is None else self.use.seconds(limit.clock, self.part)

    @property
    def tracking_s(self) -> float | None:
        """Seconds for following the opponent, that is for the belief, before the search."""
        seconds, limit = self.seconds, self.limit
        if seconds is None:
            return None
        if limit.time_s is not None or limit.clock is None:
            return _TRACKING * seconds
        return self.use.tracking(_TRACKING * seconds, limit.clock[0] / _TRACKING_ON_CLOCK)

    @property
    def deadline(self) -> float | None:
        """When the answer is due, of :func:`time.monotonic`."""
        return None if self.seconds is None else self.began + self.seconds

    def tracking_deadline(self, set_aside_s: float = 0.0) -> float | None:
        """Return when following ends. ``set_aside_s`` of its time, at most half, are kept for work after its steps."""
        share = self.tracking_s
        return None if share is None else self.began + share - min(set_aside_s, share / 2)

    def estimated_s(self, nodes_a_second: float) -> float:
        """Return the seconds of the answer; if it is limited by nodes, the time that they would take at that rate."""
        return (self.nodes or 0) / nodes_a_second if self.seconds is None else self.seconds

    def elapsed(self) -> float:
        """Return the seconds since the question came; 0 if no clock is read."""
        return 0.0 if self.seconds is None else time.monotonic() - self.began

    def budget(self, least_s: float = 0.0) -> Budget:
        """Return the budget that is left for the search, at least ``least_s`` seconds from now on."""
        from klss.search.budget import Budget

        if self.seconds is None:
            return Budget(nodes=self.nodes)
        return Budget(seconds=max(self.seconds, self.elapsed() + least_s), started=self.began)

    def half(self) -> Budget:
        """Return half of the budget that is left from now on."""
        from klss.search.budget import Budget

        if self.seconds is None:
            return Budget(nodes=max(1, (self.nodes or 0) // 2))
        return Budget(seconds=max(0.0, self.seconds - self.elapsed()) / 2)

    def renewed(self) -> TimePlan:
        """Return the plan of a question that comes now, with the rest of this plan's time or clock."""
        limit, spent, least = self.limit, self.elapsed(), self.use.least_s
        if limit.time_s is not None:
            limit = replace(limit, time_s=max(least, limit.time_s - spent))
        elif limit.clock is not None:
            limit = replace(limit, clock=(max(least, limit.clock[0] - spent), limit.clock[1]))
        return TimePlan(limit, self.use, self.part)


class Timekeeper:
    """Makes the plans of a player's answers in one game, one for each question.

    On a busy machine answers come later than planned, so that the clock shows less than it should. The next ones will
    be late by as much, so the mean of the last ones is taken from the clock for every question to come.
    """

    def __init__(self, use: ClockUse = ClockUse()) -> None:
        self._use = use
        self._late_s = self._expected_s = 0.0  # that mean; and the clock now if the last answer did not come late

    def plan(self, limit: Limit, part: float = 1.0, *, ends_turn: bool = True) -> TimePlan:
        """Return the plan of the answer to a question that comes now, which takes this part of a turn."""
        if limit.clock is None:
            return TimePlan(limit, self._use, part)
        left, increment = limit.clock
        self._late_s += (max(0.0, self._expected_s - left) - self._late_s) / _LATENESS_OVER
        to_come = self._late_s * self._use.turns_to_go * self._use.questions
        plan = TimePlan(replace(limit, clock=(max(0.0, left - to_come), increment)), self._use, part)
        self._expected_s = left - (plan.seconds or 0.0) + (increment if ends_turn else 0.0)
        return plan
