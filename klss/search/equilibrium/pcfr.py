"""PCFR+ on a growing trunk: a few iterations after every growth; there is a profile to play at any moment.

Predictive CFR+ (Farina, Kroer & Sandholm, AAAI 2021), alternating, last iterate. The root layer is one of

* ``"maxmargin"``, the gadget, whose exact value :mod:`klss.search.equilibrium.linear_program` finds;
* ``"nature"``: player 1 reaches root infoset J, whether it gains by that or not, with probability

      (1 − maxmargin_share) · α(J) + maxmargin_share · m(J),

  where α is the prior and m player 1's mixture in Maxmargin over the feared root infosets
  (:meth:`klss.search.model.Model.threats`); if none is feared, α alone;
* ``"safe"``: nature if some roots are particles. If every root is carried on from the previous trunk, alternate values
  are meaningful: Maxmargin if every leaf is terminal, half nature and half Maxmargin while some are estimates.

The calls of one move, from the top down: ``improve`` and ``beside`` run a round's iterations after each growth of the
trunk, ``finish`` runs the last ones. All go through ``_run`` to :func:`klss.search._kernels.regrets.iterate`, which
says in formulas what one iteration does.

Decided here:

* Infosets that the opponent does not reach are skipped: their regrets stay the same.
* A new infoset starts on its best child by evaluation, a carried one with its last strategy. Carried regrets are
  dropped, since they belong to another root layer: the first real regrets outweigh the tiny ones of the start.
* Why nature: in Resolve player 1 exits wherever player 0 does better than the alternate value. Only root infosets where
  player 0 does worse then count, and doing better still gains nothing. But a particle's alternate value is a quiet
  estimate of one position, and most margins over such values are positive. Nature is less safe, and wins more
  (docs/search.md).
* Why half of each: Maxmargin considers the worst root infoset only. If nothing can be gained there, all actions are
  equally good, whatever they lose elsewhere; and with estimates the worst is often the one with the largest error.
* The prior is the builder's, 1/m if it gives none.
* Half of the iterations run while the trunk's next leaves are prepared (:meth:`klss.search.parts.SolverRun.beside`).
* After the last growth the plans of the last iterations are also averaged, with weights t². The last iterate or that
  average is played, whichever has the smaller gap. Seven tenths of all regret are forgotten before: they come from
  smaller trunks, and with so much regret strategies change too slowly for the average to converge
  (docs/notebook/search.md, "How far from an equilibrium"). A third of the last iterations' time
  goes to the whole trunk; the rest goes to the game of the sequences that both players use
  (:mod:`klss.search.equilibrium.restricted`), where an iteration on a large trunk takes a tenth of the time.
* Obscuro's blend of both gadgets (Zhang & Sandholm, arXiv 2506.01242) is not used: player 1 almost always plays on at
  some root infoset, and then Maxmargin's term, the worst case, vanishes. Beside nature Maxmargin's share is constant.
* After the move player 0's strategies at the roots are fixed (:mod:`klss.search.pondering`); the others go on changing.
* The gap is that of the subgame in which the root infosets have the last weights: both players' gains below them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from klss.paper.subgame import Gadget
from klss.search._kernels import regrets as kernels
from klss.search.budget import Budget
from klss.search.equilibrium.restricted import RestrictedGame
from klss.search.gadget import treeplexes
from klss.search.model import Belief
from klss.search.parts import SearchedSubgame, SolverStats, Strategies
from klss.search.profile import Profile
from klss.search.trunk import Trunk, doubled, grown
from klss.search.utilities import IteratedGame, TrunkTreeplex
from klss.support.arrays import Bools, Floats, Ints
from klss.theory.best_response import best_response
from klss.theory.treeplex import Treeplex

RootLayer = Literal["maxmargin", "nature", "safe"]

_HALF = 4
"""Half of the iterations after each growth of the trunk."""

_SEED = 1e-9
"""Regret with which a new or carried strategy starts; so small that the first real regret outweighs it."""

_LAST_SHARE = 0.1
"""Fraction of a move's time, at its end, in which the trunk does not grow and only the solver works."""

_REMEMBERED = 0.3
"""Fraction of all regret that is kept after the last growth (see the module)."""

_MARGIN_S = 0.004
"""Seconds kept at the end of a move for work that is not measured."""

_SAFE_SHARE = 0.5
"""Share of Maxmargin beside nature with ``"safe"``, while some leaves are estimates."""

_NONE = np.zeros(0)

_JUDGING = 4
"""Time to compare the last iterate and the average, in iterations on a large trunk (on a small one both are short)."""

_EVERYWHERE = 1 / 3
"""Fraction of the last iterations' time that goes to the whole trunk; the rest goes to the restricted game."""

_CHEAPER = 20
"""With a node budget: iterations of the restricted game for each last iteration on the whole trunk. At a tenth of the
time each, about two thirds of the time go to the restricted game, as with :data:`_EVERYWHERE`.
"""

_AT_ONCE = 2
"""Iterations on the whole trunk between two checks of the clock."""

_LEAST, _MOST = 20, 100
"""Least and most iterations of the restricted game between two best responses on the trunk."""


class RegretState(NamedTuple):
    """Regrets, strategy and plan of a player's sequences."""

    regret: Floats  # [S]
    strategy: Floats  # [S], each sequence's probability at its infoset
    plan: Floats  # [S]
    total: Floats  # [S], weighted sum of plans; [0] if no sum is kept
    live: Bools  # [A], whether the plan of an infoset's sequences may be other than 0


class RootState(NamedTuple):
    """Player 1's choice among the J root infosets."""

    prior: Floats  # [J]
    chosen: Floats  # [J], player 1's mixture in Maxmargin
    feared: Bools  # [J], where that mixture may be positive
    margin_regret: Floats  # [J]


class Scratch(NamedTuple):
    """Work arrays of both players."""

    utilities: tuple[Floats, Floats]  # [S]
    reaches: tuple[Floats, Floats]  # [A]


@dataclass(frozen=True)
class RegretMinimiser:
    """Solves by PCFR+."""

    root: RootLayer = "nature"
    # With a node budget: iterations of the restricted game after the last growth. With a time limit they take what is
    # left of the move's last tenth.
    last_iterations: int = 1_000
    maxmargin_share: float = 0.0  # of Maxmargin beside nature, from 0 to 1

    def begin(self, subgame: SearchedSubgame, belief: Belief | None, budget: Budget) -> _Iterating:
        return _Iterating(self, subgame, budget)

    def reserve_s(self, trunk: Trunk, budget: Budget) -> float:
        return _MARGIN_S + (0.0 if budget.seconds is None else _LAST_SHARE * budget.seconds)


class _Iterating:
    def __init__(self, solver: RegretMinimiser, subgame: SearchedSubgame, budget: Budget) -> None:
        self.effort = SolverStats()
        self._solver, self._trunk, self._budget = solver, subgame.trunk, budget
        self._utilities = subgame.utilities
        # Numbers of nodes, and of each player's infosets with sequences and sequences, taken in so far.
        self._known, self._acting, self._sequences = 0, [0, 0], [0, 0]
        roots = subgame.trunk.group_count
        self._root: RootLayer = solver.root
        # Whether nature and Maxmargin are mixed until every leaf is exact, and whether one was not when last taken in.
        self._mixed = self._open = False
        if self._root == "safe":
            self._root = "nature" if subgame.sampled else "maxmargin"
            self._mixed = self._root == "maxmargin"
        # Beside nature, Maxmargin chooses among the feared roots only; if there are none, its share is 0.
        feared = np.ones(roots, dtype=np.bool_)
        if self._root == "nature" and subgame.feared is not None:
            feared = subgame.feared
        self._share = solver.maxmargin_share if feared.any() else 0.0
        if self._root == "maxmargin":
            self._share = 1.0
        self._top = RootState(
            prior=np.full(roots, 1.0 / roots) if subgame.prior is None else subgame.prior,
            chosen=feared / max(1, feared.sum()),
            feared=feared,
            margin_regret=np.zeros(roots),
        )
        self._held = False
        self._learned = list[RegretState]()
        for player, strategy in enumerate(subgame.strategies or (_NONE, _NONE)):
            self._sequences[player] = len(strategy)
            nobody = np.zeros(0, dtype=np.bool_)
            self._learned.append(RegretState(_SEED * strategy, strategy, np.zeros(len(strategy)), _NONE, nobody))

    @property
    def strategies(self) -> Strategies:
        return self._learned[0].strategy, self._learned[1].strategy

    def improve(self) -> Profile:
        """Run half of a round's iterations, on the current trunk."""
        self._take_in()
        self._iterate(_HALF)
        return self._profile(self._plans(), 0.0, 0.0, np.inf)

    def beside(self) -> None:
        """Run the other half, while the next leaves are prepared."""
        self._iterate(_HALF)

    def _iterate(self, times: int, before: int = 0) -> None:
        """Run this many iterations on the whole trunk, after ``before`` others in the weighted sums of plans. While
        pondering, run them one at a time and stop when the budget is over.
        """
        assert self._utilities.known == self._known, "what has grown since is taken in here first"
        began = self._budget.elapsed()
        views = self._views()
        if not self._held:
            self._run(times, before, self._game, views)
        while self._held and times > 0 and self._budget.left() > 0.0:
            self._run(1, before, self._game, views)
            times -= 1
        self.effort.seconds += self._budget.elapsed() - began

    def _run(self, times: int, before: int, game: IteratedGame, learned: tuple[RegretState, RegretState]) -> None:
        """Run iterations of the trunk's game, or of a part of it."""
        utilities = np.empty_like(learned[0].plan), np.empty_like(learned[1].plan)
        work = Scratch(utilities, (np.empty_like(game.least[0]), np.empty_like(game.least[1])))
        kernels.iterate(times, before, self._maxmargin(), game, learned, self._top, work)

    def _maxmargin(self) -> float:
        """Return Maxmargin's share of the root layer on the current trunk; the rest is nature's."""
        return _SAFE_SHARE if self._open else self._share

    def finish(self) -> Profile:
        # Forget most of the regret, which comes from smaller trunks, and sum plans from here on.
        self._take_in()
        for regret in (*(kept.regret for kept in self._learned), self._top.margin_regret):
            regret *= _REMEMBERED
        sums = [np.zeros(count) for count in self._sequences]
        self._learned = [kept._replace(total=total) for kept, total in zip(self._learned, sums, strict=True)]
        # Iterate on the whole trunk, then on the game of the sequences that both players use.
        done = 0
        if self._budget.left() > _MARGIN_S:
            done = self._restricted(self._everywhere())
        # Play the last iterate or the average, whichever has the smaller gap. The empty sequence's sum is all weight.
        forms = treeplexes(self._trunk)
        profile = self._judged(self._plans(), forms)
        if done:
            averaged = self._judged((sums[0] / sums[0][0], sums[1] / sums[0][0]), forms)
            profile = min(profile, averaged, key=lambda found: found.gap)
        self.effort.gap = profile.gap
        return profile

    def _everywhere(self) -> int:
        """Run the last iterations on the whole trunk and return their number. Strategies off the path weigh little in
        this move, but the next move begins there if the opponent leaves the path.
        """
        budget = self._budget
        if budget.seconds is None:
            times = max(1, self._solver.last_iterations // _CHEAPER)
            self._iterate(times)
            return times
        until, done = _MARGIN_S + (1.0 - _EVERYWHERE) * (budget.left() - _MARGIN_S), 0
        while done == 0 or budget.left() > until:
            self._iterate(_AT_ONCE, done)
            done += _AT_ONCE
        return done

    def _restricted(self, done: int) -> int:
        """Run iterations of the restricted game, after ``done`` others, until only the time for :meth:`_judged` is left
        or, with a node budget, about the wanted number is reached; return the number of all iterations.
        """
        budget, sums = self._budget, [kept.total for kept in self._learned]
        # The game starts with the sequences that both plans use before or after one more iteration, which is timed too.
        began = budget.elapsed()
        used = [plan > 0.0 for plan in self._plans()]
        self._iterate(1, done)
        used = [before | (plan > 0.0) for before, plan in zip(used, self._plans(), strict=True)]
        judging_s = _JUDGING * (budget.elapsed() - began)
        game = RestrictedGame(self._utilities, (used[0], used[1]))
        done, last, times = done + 1, self._solver.last_iterations, _LEAST
        while times >= _LEAST and budget.left() > _MARGIN_S + judging_s:
            # Admit best responses on the whole trunk, then iterate.
            began = budget.elapsed()
            for player, kept in enumerate(self._learned):
                game.answer(player, sums[1 - player] / sums[1 - player][0], kept.strategy)
            self._iterate_restricted(*game.game(), times, done)
            done += times
            spent = max(budget.elapsed() - began, 1e-9)
            self.effort.seconds += spent
            # As many iterations more as fit, at this round's rate.
            more = last - done if budget.seconds is None else (budget.left() - _MARGIN_S - judging_s) * times / spent
            times = min(_MOST, int(more))
        self._realise(self._utilities.sides, self._views())
        return done

    def _iterate_restricted(self, game: IteratedGame, numbers: tuple[Ints, Ints], times: int, before: int) -> None:
        """Run iterations of a restricted game on copies of its sequences' learned state, then write that back.
        ``numbers`` are the sequences' numbers in the trunk.
        """

        def copied(player: int) -> RegretState:
            kept, live = self._learned[player], np.ones(len(game.sides[player].first_sequence), dtype=np.bool_)
            regret, strategy, plan, total = (array[numbers[player]] for array in kept[:4])
            return RegretState(regret, strategy, plan, total, live)

        views = (copied(0), copied(1))
        self._realise(game.sides, views)
        self._run(times, before, game, views)
        # Without the plans: these are recomputed from the strategies at the end.
        for kept, at, new in zip(self._learned, numbers, views, strict=True):
            kept.regret[at], kept.strategy[at], kept.total[at] = new.regret, new.strategy, new.total

    def hold(self, profile: Profile, budget: Budget) -> None:
        # From here on player 0's strategies at the roots are the profile's, and plans are no longer summed.
        self.go_on(profile, budget, np.flatnonzero(self._trunk.infosets[0].parent[: self._trunk.infoset_count(0)] < 0))
        self._held = True

    def go_on(self, profile: Profile, budget: Budget, past: Ints) -> None:
        self._budget, self.effort = budget, SolverStats()
        self._learned = [kept._replace(total=_NONE) for kept in self._learned]
        # At the past infosets player 0 has played the profile's strategy, and the opponent may have noticed.
        own, strategy = self._trunk.infosets[0], self._learned[0].strategy
        past = past[own.first[past] >= 0]
        self._utilities.freeze(past)
        for first, size in zip(own.first[past].tolist(), own.size[past].tolist(), strict=True):
            at = slice(first, first + size)
            strategy[at] = profile.x[at] / profile.x[at].sum()

    def _realise(self, sides: tuple[TrunkTreeplex, TrunkTreeplex], views: tuple[RegretState, RegretState]) -> None:
        """Compute both plans from the learned strategies."""
        kernels.realise_both(sides, self._maxmargin(), self._top, views)

    def _views(self) -> tuple[RegretState, RegretState]:
        """Return views of the learned state, without the unused room at the ends."""
        views = []
        for kept, count, acting in zip(self._learned, self._sequences, self._acting, strict=True):
            regret, strategy, plan = kept.regret[:count], kept.strategy[:count], kept.plan[:count]
            views.append(RegretState(regret, strategy, plan, kept.total, kept.live[:acting]))
        return views[0], views[1]

    def _take_in(self) -> None:
        """Take in the trunk's growth: make room for new sequences, and set the start of new infosets."""
        trunk, known = self._trunk, self._known
        if trunk.node_count == known:
            return
        self._utilities.take_in()
        sides, have, acting = self._utilities.sides, tuple(self._sequences), tuple(self._acting)
        for player, side in enumerate(sides):
            count, now, kept = trunk.sequence_count(player), len(side.first_sequence), self._learned[player]
            self._sequences[player], self._acting[player] = count, now
            # Arrays double, so that a trunk's growth costs time in proportion to its size.
            if len(kept.plan) < count:
                regret, strategy, plan = grown(kept[:3], doubled(count, len(kept.plan)))
                kept = kept._replace(regret=regret, strategy=strategy, plan=plan)
            if len(kept.live) < now:
                (live,) = grown((kept.live,), doubled(now, len(kept.live)))
                kept = kept._replace(live=live)
            self._learned[player] = kept
        least = self._utilities.least_reach(0), self._utilities.least_reach(1)
        self._game = IteratedGame(self._utilities.tree, sides, least)
        # New sequences need their plans before the first utilities are computed.
        self._known = trunk.node_count
        self._open = self._mixed and bool(trunk.open_leaf.any())
        views = self._views()
        kernels.start(trunk.nodes, known, trunk.node_count, have, acting, _SEED, sides, views)
        self._realise(sides, views)

    def _plans(self) -> tuple[Floats, Floats]:
        x, y = (kept.plan[:count].copy() for kept, count in zip(self._learned, self._sequences, strict=True))
        return x, y

    def _profile(self, plans: tuple[Floats, Floats], margin: float, objective: float, gap: float) -> Profile:
        # With one root infoset player 1 has nothing to choose: nature and Maxmargin are the same.
        gadget: Gadget = "resolve" if len(self._top.prior) > 1 and self._root == "nature" else "maxmargin"
        return Profile(gadget, *plans, margin, objective, gap, pure=gadget == "resolve", solved=True)

    def _judged(self, plans: tuple[Floats, Floats], forms: tuple[Treeplex, Treeplex]) -> Profile:
        """Return a profile with its margin, guaranteed value and gap, computed by best responses."""
        trunk, (x, y) = self._trunk, plans
        roots = trunk.group_count
        # The upper bound: player 0's best response to y, with the terms that depend on y alone …
        utility, _ = self._utilities.against(0, y)
        weights = y[1 : 1 + roots]
        given = float(y[trunk.infosets[1].sequence[trunk.folded_infoset]] @ trunk.folded_value)
        upper = best_response(forms[0], utility, maximize=True).value + given - float(weights @ trunk.alternate)
        # … and the lower bound: what x guarantees at the last weights of the root infosets.
        utility, _ = self._utilities.against(1, x)
        margins = best_response(forms[1], utility, maximize=False).sequence_value[1 : 1 + roots]
        lower = float(weights @ margins)
        profile = self._profile(plans, float(margins.min()), lower, upper - lower)
        if profile.gadget == "resolve":
            profile = replace(profile, margin=float(self._top.prior @ np.minimum(margins, 0.0)))
        return profile
