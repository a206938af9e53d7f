"""Exact equilibria by linear programs, one after every growth of the trunk (App. E, lines 23–30).

Deviations, and points that the text leaves open:

* Lines 24–30 test u(x, y); we test the *margins*, without the information penalty, within :data:`TOLERANCE`.
* Resolve comes first, not Maxmargin (line 23): if the time suffices for one equilibrium only, it must be the one that
  is sensible with negative margins too. If it suffices for two, the order makes no difference. ``first="maxmargin"``
  is the paper's order.
* Resolve is cautious (:mod:`klss.search.equilibrium.program`): it maximises the mean of the worst third of the margins,
  not the mean of all.
* Growth stops while there is time left for the equilibrium of the current trunk, estimated from the last solve. A solve
  that takes longer is cut off; then the profile before it is extended, with the best child by evaluation at infosets
  that are new since.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from klss.paper.subgame import Gadget
from klss.search.budget import Budget
from klss.search.equilibrium.program import GadgetProgram
from klss.search.gadget import information_penalty
from klss.search.model import Belief
from klss.search.parts import SearchedSubgame, SolverStats
from klss.search.profile import Profile, extended
from klss.search.trunk import Trunk
from klss.support.arrays import Floats

TOLERANCE = 1e-7
"""Margins above −TOLERANCE count as not negative."""

_ITERATIONS_PER_ROW = 50
"""Limit of simplex iterations with a node budget, for each row and column of the program."""

_FIRST_RATE = 4e-6
"""Seconds of solving for each node of the trunk, before any solve has been measured."""

_LEAST_NODES = 2000
"""Least nodes by which a measured time is divided: a program of few nodes takes nearly as long as one of this many, so
its own rate would overestimate the time of the next trunk.
"""

_FIRST_SOLVE_S = 0.3
"""Least time limit of a move's first equilibrium, in seconds, even if the move has less: it is needed for any plan."""

_LATER_SOLVE_S = 0.02
"""Least time limit of the later ones, in seconds."""

_GROWTH = 1.5
"""Assumed ratio of the next equilibrium's time for each node to the last one's."""

_MARGIN_S = 0.01
"""Seconds kept at the end of a move for work that is not measured."""


@dataclass
class LinearPrograms:
    """Solves by linear programs."""

    first: Gadget = "resolve"  # the gadget that is solved first at each move
    # largest weight of a root infoset in Resolve, as a multiple of the uniform weight, at least 1; 1: the paper's
    caution: float = 1.0
    program: type[GadgetProgram] = GadgetProgram  # the class that solves
    alone: bool = False  # whether that gadget is the only one; otherwise Maxmargin while no margin is negative
    rate: float = _FIRST_RATE  # seconds for each node of the trunk, as measured last

    def begin(self, subgame: SearchedSubgame, belief: Belief | None, budget: Budget) -> _Solving:
        # An action costs more, the less its next observation tells.
        penalty = information_penalty(subgame.trunk, belief)
        return _Solving(self, subgame.trunk, penalty, budget)

    def reserve_s(self, trunk: Trunk, budget: Budget) -> float:
        return _GROWTH * self.rate * trunk.node_count + _MARGIN_S


class _Solving:
    strategies = None  # a move's first program starts without the last move's strategies

    def __init__(self, solver: LinearPrograms, trunk: Trunk, penalty: Floats | None, budget: Budget) -> None:
        self.effort = SolverStats()
        self._solver = solver
        self._trunk = trunk
        self._penalty = penalty
        self._budget = budget
        self._program = solver.program(caution=solver.caution)
        self._gadget = solver.first
        self._profile: Profile | None = None

    def improve(self) -> Profile:
        # The gadget of the last time; if its margins call for the other gadget, solve that too, once.
        began = self._budget.elapsed()
        for _ in range(2):
            profile, finished = self._solve()
            if not finished or self._solver.alone or (profile.margin < -TOLERANCE) != (profile.gadget == "maxmargin"):
                break
            self._gadget = "resolve" if self._gadget == "maxmargin" else "maxmargin"
        # Cut off: extend the profile before it to the trunk as it is now. That ends the search.
        if not finished:
            self._profile = extended(self._trunk, profile)
            return self._profile
        # The expected time of the next equilibrium, for each node.
        if self._budget.seconds is not None:
            self._solver.rate = (self._budget.elapsed() - began) / max(self._trunk.node_count, _LEAST_NODES)
        return profile

    def beside(self) -> None:
        pass  # a program has no part that could run in parallel

    def finish(self) -> Profile:
        assert self._profile is not None, "improve comes first"
        return self._profile

    def _solve(self) -> tuple[Profile, bool]:
        """Solve the current gadget. Return its profile (an earlier one if the solver did not finish and there is one),
        and whether the solver finished.
        """
        answer = self._program.solve(self._trunk, self._gadget, self._penalty, **self._limits())
        self.effort.fallbacks += answer.fallbacks
        self.effort.seconds += answer.solve_s + answer.edit_s
        if answer.profile.solved or self._profile is None:
            self._profile = answer.profile
            self.effort.gap = max(self.effort.gap, answer.profile.gap)
        return self._profile, answer.profile.solved

    def _limits(self) -> dict[str, Any]:
        # With a node budget no clock is read: the limit is a number of iterations in proportion to the program.
        if self._budget.seconds is None:
            trunk = self._trunk
            size = trunk.sequence_count(0) + trunk.sequence_count(1) + trunk.infoset_count(0)
            return {"iteration_limit": _ITERATIONS_PER_ROW * size}
        least = _FIRST_SOLVE_S if self._profile is None else _LATER_SOLVE_S
        return {"time_limit_s": max(least, self._budget.left())}
