"""Exact equilibria by linear programs, one after every growth of the trunk (App. E, lines 23–30).

Deviations, and what the text leaves open:

* Lines 24–30 test u(x, y); we test the *margins*, information penalty left out, within :data:`TOLERANCE`.
* Resolve comes first, not Maxmargin (line 23): where time suffices for one equilibrium only, that has to be the one
  which makes sense with negative margins too. Where it suffices for two, the order makes no difference. With
  ``first="maxmargin"`` it is the paper's order.
* Resolve is a cautious one (:mod:`klss.search.equilibrium.program`): it asks for the mean of the worst third of the
  margins, not for the mean of all.
* Growth stops while there is time left for the equilibrium of the trunk as it then stands (judged by the last one's);
  one that takes longer all the same is cut off, and the one before it stands, with the best child by evaluation at
  infosets that are new since.
"""

from __future__ import annotations

import math
from typing import Any, Literal

from klss.search.budget import Budget
from klss.search.equilibrium.program import GadgetProgram
from klss.search.parts import SearchConfigurationError, SolverStats, Subgame
from klss.search.profile import Profile, extended
from klss.search.trunk import Trunk
from klss.subgame import Gadget
from klss.support.arrays import Floats

__all__ = ["TOLERANCE", "GadgetChoice", "LinearPrograms", "check_caution"]

GadgetChoice = Literal["hybrid", "maxmargin", "resolve"]
"""Hybrid: Maxmargin while no margin is negative, else Resolve."""

TOLERANCE = 1e-7
"""Margins above −TOLERANCE count as not negative."""

_ITERATIONS_PER_ROW = 50
"""Simplex iterations allowed with a node budget, for each row and column of the program."""

_FIRST_RATE = 4e-6
"""Seconds of solving for each node of the trunk, until a solve was measured."""

_LEAST_NODES = 2000
"""Least nodes by which a measured time is divided: the program of one position's children takes nearly as long as one
of so many nodes, so that its own rate says nothing about the next trunk.
"""

_FIRST_SOLVE_S = 0.3
"""Least seconds of the first equilibrium of a move, however short the move's time."""

_LATER_SOLVE_S = 0.02
"""Least seconds of the later ones."""

_GROWTH = 1.5
"""Factor by which the next equilibrium may take longer for each node than the last one did."""

_MARGIN_S = 0.01
"""Seconds left over at the end of a move, for what is not measured."""


def check_caution(caution: float) -> None:
    """Refuse a caution that makes no sense."""
    if not 1.0 <= caution < math.inf:
        raise SearchConfigurationError(f"caution is {caution}, expected a number from 1 on (1: the paper's)")


class LinearPrograms:
    """Solves by linear programs; keeps how long they take from move to move."""

    def __init__(
        self,
        gadget: GadgetChoice = "hybrid",
        caution: float = 1.0,
        program: type[GadgetProgram] = GadgetProgram,
        *,
        first: Gadget = "resolve",
    ) -> None:
        """``caution``: how many times its uniform weight a root infoset may have in Resolve, 1 or more; 1: the
        paper's. ``program``: what solves. ``first``: what a hybrid begins a move with.
        """
        self.gadget = gadget
        self.caution = caution
        self.program = program
        self.first: Gadget = first if gadget == "hybrid" else gadget
        self.rate = _FIRST_RATE

    def begin(self, subgame: Subgame, penalty: Floats | None, budget: Budget) -> _Solving:
        """See :class:`klss.search.parts.Solver`."""
        return _Solving(self, subgame.trunk, penalty, budget)

    def reserve_s(self, trunk: Trunk, budget: Budget) -> float:
        """See :class:`klss.search.parts.Solver`."""
        return _GROWTH * self.rate * trunk.node_count + _MARGIN_S


class _Solving:
    """See :class:`klss.search.parts.SolverRun`."""

    def __init__(self, solver: LinearPrograms, trunk: Trunk, penalty: Floats | None, budget: Budget) -> None:
        self.effort = SolverStats()
        self._solver = solver
        self._trunk = trunk
        self._penalty = penalty
        self._budget = budget
        self._program = solver.program(caution=solver.caution)
        self._gadget = solver.first
        self._profile: Profile | None = None

    @property
    def strategies(self) -> None:
        return None  # a program starts without the last move's

    def improve(self) -> Profile:
        # The gadget that was right the last time; where its margins ask for the other one, that too, once.
        began = self._budget.elapsed()
        for _ in range(2):
            profile, finished = self._solve()
            if not finished or self._solver.gadget != "hybrid" or not _switches(profile):
                break
            self._gadget = "resolve" if self._gadget == "maxmargin" else "maxmargin"
        # Cut off: the profile before it, with what has grown since played by evaluation. That ends the search.
        if not finished:
            self._profile = extended(self._trunk, profile)
            return self._profile
        # What the next one is expected to take.
        if self._budget.seconds is not None:
            self._solver.rate = (self._budget.elapsed() - began) / max(self._trunk.node_count, _LEAST_NODES)
        return profile

    def beside(self) -> None:
        pass  # a program is solved at once, or not

    def finish(self) -> Profile:
        assert self._profile is not None, "improve comes first"
        return self._profile

    def _solve(self) -> tuple[Profile, bool]:
        """The best profile there is, of this gadget or, where its solver did not finish, an earlier one; and whether
        it did.
        """
        answer = self._program.solve(self._trunk, self._gadget, self._penalty, **self._limits())
        self.effort.fallbacks += answer.fallbacks
        self.effort.seconds += answer.solve_s + answer.edit_s
        if answer.profile.solved or self._profile is None:
            self._profile = answer.profile
            self.effort.gap = max(self.effort.gap, answer.profile.gap)
        return self._profile, answer.profile.solved

    def _limits(self) -> dict[str, Any]:
        # By nodes, no clock is read: iterations in proportion to the program.
        if self._budget.seconds is None:
            trunk = self._trunk
            size = trunk.sequence_count(0) + trunk.sequence_count(1) + trunk.infoset_count(0)
            return {"iteration_limit": _ITERATIONS_PER_ROW * size}
        # Without the first equilibrium there is little to go by.
        least = _FIRST_SOLVE_S if self._profile is None else _LATER_SOLVE_S
        return {"time_limit_s": max(least, self._budget.left())}


def _switches(profile: Profile) -> bool:
    """Whether the other gadget is the one to solve."""
    if profile.gadget == "maxmargin":
        return profile.margin < -TOLERANCE
    return profile.margin >= -TOLERANCE
