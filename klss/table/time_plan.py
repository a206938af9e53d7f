"""How the time of one answer is divided: a plan is made when the question comes, and hands its slices down as deadlines
and budgets.

Seconds or nodes for an answer are taken as they are; how much of a clock an answer may take is the game's
(:class:`ClockUse`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from klss.table.limits import DEFAULT_TIME_S, Limit

if TYPE_CHECKING:  # the table is laid before a search is loaded
    from klss.search.budget import Budget

__all__ = ["ClockUse", "TimePlan"]

_TRACKING = 0.5
"""The part of an answer's time that following the opponent may take: as much as the search."""

_TRACKING_ON_CLOCK = 40.0
"""Such a part of the clock, one in so many, is what following is held against where a clock runs."""


@dataclass(frozen=True)
class ClockUse:
    """How much of a clock an answer may take. The defaults are a game's with one question a turn."""

    turns_to_go: float = 25.0  # the clock is divided as if so many turns were still to come
    increment: float = 0.8  # the part of the increment that a turn takes
    most: float = 0.5  # the part of the clock that a turn takes at the most
    # seconds that are never planned for: for one slow answer, an equilibrium that can't be cut off, a busy machine
    reserve_s: float = 0.4
    least_s: float = 0.01  # seconds that an answer takes in any case
    # what following may take, of half the answer's time and a fortieth of the clock: ``min``, or ``max`` where long
    # following is rare
    tracking: Callable[[float, float], float] = min

    def seconds(self, clock: tuple[float, float], part: float) -> float:
        """Seconds of an answer that takes this part of a turn; ``clock``: seconds that remain, and increment."""
        remaining, increment = clock
        usable = max(0.0, remaining - self.reserve_s)
        turn = min(usable / self.turns_to_go + self.increment * increment, self.most * usable)
        return max(self.least_s, part * turn)


@dataclass(frozen=True)
class TimePlan:
    """The division of one answer's time. With a node budget nothing reads a clock, and every time here is None.

    Examples
    --------
    >>> plan = TimePlan(Limit(clock=(100.4, 0.0)))
    >>> plan.seconds, plan.tracking_s
    (4.0, 2.0)
    >>> TimePlan(Limit(nodes=100)).deadline is None
    True
    """

    limit: Limit  # of the answer
    use: ClockUse = ClockUse()  # the game's
    part: float = 1.0  # the part of a turn on the clock that the answer takes, where a turn has several questions
    began: float = field(default_factory=lambda: time.monotonic())  # when the question came, of ``time.monotonic``

    @property
    def nodes(self) -> int | None:
        """Nodes of the answer; None where time limits it."""
        return self.limit.nodes

    @property
    def seconds(self) -> float | None:
        """Seconds of the answer; nodes go before time, time before the clock, and 5 s stand where nothing is given."""
        limit = self.limit
        if limit.nodes is not None:
            return None
        if limit.time_s is not None:
            return limit.time_s
        return DEFAULT_TIME_S if limit.clock is None else self.use.seconds(limit.clock, self.part)

    @property
    def tracking_s(self) -> float | None:
        """Seconds of it for following the opponent: for the belief, before the search."""
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
        """When following ends. ``set_aside_s`` of it, but no more than half, are for what comes after its steps."""
        share = self.tracking_s
        return None if share is None else self.began + share - min(set_aside_s, share / 2)

    def estimated_s(self, nodes_a_second: float) -> float:
        """Seconds of the answer; of one limited by nodes, what they would take at that rate."""
        return (self.nodes or 0) / nodes_a_second if self.seconds is None else self.seconds

    def elapsed(self) -> float:
        """Seconds since the question came; 0 where no clock is read."""
        return 0.0 if self.seconds is None else time.monotonic() - self.began

    def budget(self, least_s: float = 0.0) -> Budget:
        """What is left for the search, at least ``least_s`` from now on."""
        from klss.search.budget import Budget

        if self.seconds is None:
            return Budget(nodes=self.nodes)
        return Budget(seconds=max(self.seconds, self.elapsed() + least_s), started=self.began)

    def half(self) -> Budget:
        """Half of what there is to spend, from now on."""
        from klss.search.budget import Budget

        if self.seconds is None:
            return Budget(nodes=max(1, (self.nodes or 0) // 2))
        return Budget(seconds=max(0.0, self.seconds - self.elapsed()) / 2)

    def renewed(self) -> TimePlan:
        """The plan of a question that comes now, with what this one's has left of its time or clock."""
        limit, spent, least = self.limit, self.elapsed(), self.use.least_s
        if limit.time_s is not None:
            limit = replace(limit, time_s=max(least, limit.time_s - spent))
        elif limit.clock is not None:
            limit = replace(limit, clock=(max(least, limit.clock[0] - spent), limit.clock[1]))
        return TimePlan(limit, self.use, self.part)
