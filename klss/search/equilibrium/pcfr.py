"""PCFR+ on a growing trunk: a few iterations after every growth, playable at any moment.

Predictive CFR+ (Farina, Kroer & Sandholm, AAAI 2021), alternating, last iterate. The root layer is Obscuro's blend
(Zhang & Sandholm, arXiv 2506.01242): player 1 comes to root infoset J with

    p · α(J) · r(J) + (1 − p) · m(J),        p = max r,

where r(J) is how willingly she plays on in Resolve, m her mixture over root infosets in Maxmargin, both found by the
same regrets, and α the prior. With ``root="resolve"`` or ``"maxmargin"`` it is one gadget alone, whose exact value
:mod:`klss.search.equilibrium.linear_program` finds.

Decided here:

* What the opponent does not reach is skipped: its regrets stay as they were.
* A new infoset starts on its best child by evaluation; a carried one with the strategy it had, its regrets forgotten at
  once by the first real ones (they belong to another root layer).
* The prior is ½(y(J)/Σy + 1/m), y the previous plan where a root was carried, 1/m where it was sampled.
* The gap is that of the subgame whose root infosets come with the last weights: what both players would gain below.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from klss.arrays import Floats, Ints
from klss.search._kernels import regrets as kernels
from klss.search.budget import Budget
from klss.search.parts import Effort, Subgame
from klss.search.profile import Profile, liking
from klss.search.trunk import Trunk
from klss.subgame import Gadget

__all__ = ["RegretMinimiser", "RootLayer"]

RootLayer = Literal["blend", "maxmargin", "resolve"]

_SEED = 1e-9
"""Regret that a strategy starts with: any real one outweighs it."""

_LAST_SHARE = 0.1
"""Of a move's time, at its end: the solver's alone."""

_MARGIN_S = 0.004
"""Time left over at the end of a move."""

_IN_USE = 0.5
"""Resolve is in use where player 1 plays on at some root infoset with a greater probability."""

_AT_ONCE = 16
"""Iterations between two looks at the clock."""


class RegretMinimiser:
    """Solves by PCFR+.

    Attributes
    ----------
    root : "blend", "maxmargin" or "resolve"
    iterations : int
        After each growth of the trunk.
    last_iterations : int
        With a node budget, after the last one. With a time limit it is the last tenth of the time.
    """

    def __init__(self, root: RootLayer = "blend", iterations: int = 8, last_iterations: int = 200) -> None:
        self.root = root
        self.iterations = iterations
        self.last_iterations = last_iterations
        self.last: list[Floats] | None = None  # both players' strategies on the previous trunk
        self._seconds: float | None = None

    def begin(self, subgame: Subgame, penalty: Floats | None, budget: Budget) -> _Iterating:
        """See :class:`klss.search.parts.Solver`."""
        self._seconds = budget.seconds
        return _Iterating(self, subgame, penalty, budget)

    def reserve_s(self, trunk: Trunk) -> float:
        """See :class:`klss.search.parts.Solver`."""
        return _MARGIN_S + (0.0 if self._seconds is None else _LAST_SHARE * self._seconds)


class _Iterating:
    """See :class:`klss.search.parts.Solving`."""

    def __init__(self, solver: RegretMinimiser, subgame: Subgame, penalty: Floats | None, budget: Budget) -> None:
        self.effort = Effort()
        self._solver, self._trunk, self._penalty, self._budget = solver, subgame.trunk, penalty, budget
        roots = subgame.trunk.group_count
        self._regret = [np.zeros(0), np.zeros(0)]
        self._strategy = [np.zeros(0), np.zeros(0)]
        self._acting: list[Ints] = [np.zeros(0, dtype=np.int64)] * 2
        self._expanded = np.zeros(0, dtype=np.int64)
        self._known = 0
        self._sequences = [0, 0]
        self._prior = np.full(roots, 1.0 / roots) if subgame.prior is None else subgame.prior
        self._margin_regret, self._chosen = np.zeros(roots), np.full(roots, 1.0 / roots)
        self._play_regret = np.zeros((2, roots))
        self._playing = np.ones(roots)
        self._plan: list[Floats] = [np.zeros(0), np.zeros(0)]
        if subgame.origin is not None and solver.last is not None:
            for player, origin in enumerate(subgame.origin):
                strategy = np.where(origin >= 0, solver.last[player][origin], 0.0)
                self._strategy[player], self._regret[player] = strategy, _SEED * strategy
                self._plan[player], self._sequences[player] = np.zeros(len(origin)), len(origin)

    def improve(self) -> Profile:
        """See :class:`klss.search.parts.Solving`."""
        began = self._budget.elapsed()
        self._take_in()
        for _ in range(self._solver.iterations):
            self._iterate()
        self.effort.seconds += self._budget.elapsed() - began
        return self._profile(0.0, 0.0, 0.0)

    def finish(self) -> Profile:
        """See :class:`klss.search.parts.Solving`."""
        began = self._budget.elapsed()
        self._take_in()
        if self._budget.seconds is None:
            for _ in range(self._solver.last_iterations):
                self._iterate()
        while self._budget.seconds is not None and self._budget.left() > _MARGIN_S:
            for _ in range(_AT_ONCE):
                self._iterate()
        self.effort.seconds += self._budget.elapsed() - began
        self._solver.last = self._strategy
        return self._judged()

    def _take_in(self) -> None:
        """Note what has grown: room for new sequences, and where new infosets start."""
        trunk, known = self._trunk, self._known
        if trunk.node_count == known:
            return
        self._known = trunk.node_count
        self._expanded = trunk.expanded
        for player in range(2):
            infosets, count = trunk.infosets[player], trunk.sequence_count(player)
            have = self._sequences[player]
            self._acting[player] = acting = trunk.acting(player)
            for arrays in (self._regret, self._strategy, self._plan):
                if count > len(arrays[player]):
                    arrays[player] = np.concatenate([arrays[player], np.zeros(max(count, 1024))])
            self._sequences[player] = count
            liked = liking(trunk, player, known)
            for infoset in acting[np.searchsorted(infosets.first[acting], max(have, 1)) :]:
                first, size = int(infosets.first[infoset]), int(infosets.size[infoset])
                best = first + int(np.argmax(liked[first : first + size]))
                self._regret[player][best], self._strategy[player][best] = _SEED, 1.0
            self._plan[player][0] = 1.0
        self._realize(0)
        self._set_roots()
        self._realize(1)

    def _iterate(self) -> None:
        """Player 0 against player 1's plan, then player 1 against player 0's new one."""
        utility, _ = self._gradient(0)
        kernels.improve(self._acting[0], self._trunk.infosets[0], 1.0, utility, self._regret[0], self._strategy[0])
        self._realize(0)
        utility, _ = self._gradient(1)
        kernels.improve(self._acting[1], self._trunk.infosets[1], -1.0, utility, self._regret[1], self._strategy[1])
        self._improve_roots(utility[1 : 1 + self._trunk.group_count])
        self._realize(1)

    def _gradient(self, player: int) -> tuple[Floats, Floats]:
        trunk = self._trunk
        utility, reach = np.zeros(trunk.sequence_count(player)), np.zeros(trunk.infoset_count(player))
        kernels.gradient(player, trunk.nodes, trunk.root_count, self._expanded, self._plan[1 - player], utility, reach)
        if player == 0 and self._penalty is not None:
            first = int(trunk.infosets[0].first[0])
            utility[first : first + len(self._penalty)] -= self._penalty
        if player == 1:
            utility[1 : 1 + trunk.group_count] -= trunk.alternate
            np.add.at(utility, trunk.infosets[1].sequence[trunk.folded_infoset], trunk.folded_value)
        return utility, reach

    def _improve_roots(self, margins: Floats) -> None:
        """One step of both gadgets' choice at the top; ``margins`` float64[J] are those of both plans."""
        instant = float(self._chosen @ margins) - margins
        self._margin_regret = np.maximum(0.0, self._margin_regret + instant)
        self._chosen = _normal(np.maximum(0.0, self._margin_regret + instant), margins)
        value = self._playing * margins  # exit brings 0
        moves = np.stack([value - margins, value])  # regrets of playing on and of leaving
        self._play_regret = np.maximum(0.0, self._play_regret + moves)
        ahead = np.maximum(0.0, self._play_regret + moves)
        total = ahead.sum(axis=0)
        self._playing = np.where(total > 0.0, ahead[0] / np.where(total > 0.0, total, 1.0), margins < 0.0)
        self._set_roots()

    def _set_roots(self) -> None:
        roots, plan = self._trunk.group_count, self._plan[1]
        if self._solver.root == "maxmargin":
            weights = self._chosen
        elif self._solver.root == "resolve":
            weights = self._prior * self._playing
        else:
            most = float(self._playing.max(initial=0.0))
            weights = most * self._prior * self._playing + (1.0 - most) * self._chosen
        plan[1 : 1 + roots] = weights

    def _realize(self, player: int) -> None:
        kernels.realize(self._acting[player], self._trunk.infosets[player], self._strategy[player], self._plan[player])

    def _profile(self, margin: float, objective: float, gap: float) -> Profile:
        blended = self._solver.root == "blend" and self._playing.max(initial=0.0) > _IN_USE
        x, y = (self._plan[player][: self._sequences[player]].copy() for player in range(2))
        gadget: Gadget = "resolve" if self._solver.root == "resolve" or blended else "maxmargin"
        return Profile(gadget, x, y, margin, objective, gap, solved=True)

    def _judged(self) -> Profile:
        """The profile with its margin, what it is sure of, and its gap, by best responses."""
        trunk = self._trunk
        roots = trunk.group_count
        weights = self._plan[1][1 : 1 + roots]
        best0, _ = self._gradient(0)
        kernels.best_plan(self._acting[0], trunk.infosets[0], 1.0, best0)
        best1, _ = self._gradient(1)
        kernels.best_plan(self._acting[1], trunk.infosets[1], -1.0, best1)
        margins = best1[1 : 1 + roots]
        # A less alternate values, both with the last weights of the root infosets.
        folded = trunk.infosets[1].sequence[trunk.folded_infoset]
        upper = float(best0[0] - weights @ trunk.alternate + self._plan[1][folded] @ trunk.folded_value)
        lower = float(weights @ margins)
        if self._penalty is not None:
            first = int(trunk.infosets[0].first[0])
            lower -= float(self._plan[0][first : first + len(self._penalty)] @ self._penalty)
        self.effort.gap = upper - lower
        profile = self._profile(float(margins.min()), lower, upper - lower)
        if profile.gadget == "resolve":
            profile = replace(profile, margin=float(self._prior @ np.minimum(margins, 0.0)))
        return profile


def _normal(weights: Floats, margins: Floats) -> Floats:
    total = float(weights.sum())
    if total > 0.0:
        return np.asarray(weights / total)
    chosen = np.zeros(len(weights))
    chosen[int(np.argmin(margins))] = 1.0
    return chosen
