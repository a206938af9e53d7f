"""The search of one game: build the subgame, then solve it and grow it in turns until the budget is spent, then choose
a move. This is the last algorithm of App. E; every step is an exchangeable part (:mod:`klss.search.parts`).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from klss.paper.subgame import Gadget
from klss.search.budget import Budget
from klss.search.growth import Growth, Progress
from klss.search.model import Belief, Model
from klss.search.parts import (
    ExpanderRun,
    PonderableRun,
    SearchConfiguration,
    SearchedSubgame,
    SearchState,
    SolverRun,
)
from klss.search.profile import Profile, strategy_at, support_at, utility_at
from klss.search.trunk import Trunk, game_root
from klss.support.arrays import Bools, Floats, Int32s, Keys, States

_NO_KEYS = np.zeros(0, dtype=np.uint64)

_FIRST_NODES, _FIRST_S = 400.0, 0.01
"""Nodes and seconds that start the estimate of nodes a second, before any search has been measured."""

_FADED = 0.5
"""Decay of past nodes and seconds in the estimate of nodes a second, at each move. Both are summed, not their ratio, so
that a move with almost no time does not distort the next estimate.
"""

_SETTLED_GAP = 1e-3
"""Largest saddle gap (both players' gains by deviating, summed) of a profile that counts as an equilibrium."""

_BELOW_A_LEAF = 3
"""Least nodes expected below an open leaf. If a search has fewer for each leaf, the rest of the game does not fit into
it, and subgames are less exploitable than the whole trunk (docs/tables.md, "What it teaches").
"""

_PONDERED, _LEAST_PONDERED = 4, 20_000
"""Most nodes that pondering adds: this factor times the last search's nodes, or this number if that is more. The next
move copies the nodes that it carries on; copying must stay a small part of its time, which may be as short as the last.
"""


@dataclass(frozen=True)
class Report:
    """How a move was found; the fields are the keys of the engine protocol's diagnostics."""

    positions: int  # size of the belief
    carried: int  # roots from the previous trunk
    value: float  # the profile's expected utility for player 0
    seconds: float  # since the move's budget began; 0 where no clock is read
    capped_by: str | None = None  # "cap" or "time": why the belief is only a sample; None: it is complete
    sampled: int = 0  # roots from the belief
    gadget: Gadget = "maxmargin"  # the gadget of ``margin``
    margin: float = 0.0  # the profile's
    nodes: int = 0  # nodes added
    depth: int = 0  # largest distance of the leaves from the root
    depth_mean: float = 0.0  # mean distance
    iterations: int = 0  # rounds of the expander
    gap: float = 0.0  # the largest saddle gap met
    fallbacks: int = 0  # how often one of the solver's methods failed
    lp_share: float | None = None  # fraction of the time spent in the solver; None if there was no search

    def diagnostics(self) -> dict[str, Any]:
        """Return the documented keys and their values."""
        fields = dataclasses.asdict(self)
        if self.lp_share is None:
            del fields["lp_share"]
        return fields


@dataclass(frozen=True)
class Result:
    """Result of a search."""

    actions: Int32s  # [n], codes of the actions at player 0's infoset
    probabilities: Floats  # [n], of the strategy from which the action is drawn
    action: int  # code of the action drawn
    report: Report


@dataclass(frozen=True)
class Solved:
    """A subgame after the loop, with the parts' runs."""

    profile: Profile  # the last one
    supports: list[Bools]  # [n] each, one a round: which actions its profile plays at the root infoset
    growth: Growth
    growing: ExpanderRun
    solving: SolverRun


class Search:
    """One player's search in one game: keeps the trunk from move to move."""

    def __init__(
        self,
        model: Model,
        configuration: SearchConfiguration,
        *,
        seed: int = 0,
        threads: int = 1,
        ponders: bool = False,
    ) -> None:
        """``seed``: of the draws among particles and moves. ``threads``: 1, or more if several may call the model at
        once (:mod:`klss.search.growth`); with a node budget the result is the same. ``ponders``: whether to keep what
        :meth:`ponder` needs.
        """
        # The last trunk and profile, and player 0's infoset in that trunk; None before the first search.
        self.standing: SearchState | None = None
        self._ponders = ponders
        self._played: tuple[Solved, int] | None = None  # the last search, and the sequence drawn
        self._last: Solved | None = None  # the last search, if the next one may go on in its trunk
        self._model = model
        self._configuration = configuration
        self._parts = configuration.parts()
        self._seed = seed
        self._threads = threads
        self._searches = 0
        self._measured = np.array([_FIRST_NODES, _FIRST_S])

    def observe(self, own_action: int, observation: int, acts: bool) -> None:
        """Step down the trunk by player 0's action (−1: the opponent or nature acted), the key of the observation that
        followed, and whether player 0 acts next.
        """
        if self.standing is not None:
            infoset = self.standing.trunk.step(self.standing.infoset, own_action, observation, acts)
            self.standing = dataclasses.replace(self.standing, infoset=infoset)

    def begin(self, root: States, budget: Budget) -> None:
        """Search the whole game from its start without choosing a move; the first move's subgame is then nested in it.

        Parameters
        ----------
        root : uint64[1, w]
            The state at which the game begins, before nature's draws.
        budget : Budget
        """
        subgame = SearchedSubgame(Trunk.from_roots(game_root(self._model, root)), carried=0, sampled=1)
        solved = self.solve(subgame, None, budget)
        self._last = solved if self._parts.whole else None
        self.standing = SearchState(subgame.trunk, solved.profile, 0, solved.solving.strategies)

    @property
    def known(self) -> int:
        """Number of the trunk's nodes that are consistent with all observations so far."""
        if self.standing is None or self.standing.infoset < 0:
            return 0
        return len(self.standing.trunk.members(self.standing.infoset))

    def search(
        self, belief: Belief, budget: Budget, *, history: Keys | None = None, progress: Progress | None = None
    ) -> Result:
        """Search one move: build the subgame, grow and solve it within ``budget``, draw an action.

        Parameters
        ----------
        belief : Belief
            Not empty.
        budget : Budget
        history : uint64[k], optional
            Keys of player 0's observations in the game so far, the current one included, in any order.
        progress : callable, optional
            Called with nodes, depth and seconds after each round.
        """
        # Build the subgame (lines 11–19): what is left of the last trunk at this infoset, and particles of the belief.
        # Their number depends on the expected number of nodes, from the rate measured at earlier moves.
        self._searches += 1
        self._played = None
        seed = [self._seed, self._searches]
        nodes, seconds = self._measured
        expected = nodes / seconds * budget.left() if budget.nodes is None else float(budget.nodes)
        subgame = self._whole(belief, expected) or self._parts.builder.build(
            self.standing, belief, self._model, np.random.default_rng(seed), expected
        )
        drawn = np.random.default_rng([*seed, 1]).random()
        # If the last search solved the rest of the game, go on playing its strategy.
        if self._settled(subgame):
            return self._played_on(subgame, belief, budget, drawn)
        # Solve and grow it until the budget is spent (lines 22–38).
        began = budget.elapsed()
        solved = self.solve(subgame, belief, budget, history=history, progress=progress)
        if budget.nodes is None:
            self._measured = _FADED * self._measured + (solved.growth.added, budget.elapsed() - began)
        # Keep it for the next move with the whole mixture, since the opponent does not see which action is drawn now.
        at = subgame.infoset
        self.standing = SearchState(subgame.trunk, solved.profile, at, solved.solving.strategies)
        # Below a gadget, going on was no gain: only in a trunk that begins where the game does.
        self._last = solved if self._parts.whole and subgame.trunk.root_count == 1 else None
        # Choose (line 39). The draw has its own random stream, so it does not depend on how many draws came before.
        actions, mixture = strategy_at(subgame.trunk, solved.profile, at)
        probabilities = self._parts.choice(mixture, solved.profile.pure, solved.supports)
        chosen = _drawn_by(probabilities, drawn)
        if self._ponders and at == 0:
            self._played = solved, int(subgame.trunk.infosets[0].first[0]) + chosen
        action = int(actions[chosen])
        return Result(actions, probabilities, action, self._report(subgame, belief, solved, budget))

    def _whole(self, belief: Belief, nodes: float) -> SearchedSubgame | None:
        """Return the last trunk as the subgame, if it has every state of the belief, its open leaves most likely fit
        into ``nodes``, and player 0's plan leads there.
        """
        standing = self.standing
        if self._last is None or standing is None or belief.capped_by is not None or self.known != belief.size:
            return None
        if _BELOW_A_LEAF * int(standing.trunk.open_leaf.sum()) > nodes or not len(
            strategy_at(standing.trunk, standing.profile, standing.infoset)[0]
        ):
            return None
        return SearchedSubgame(standing.trunk, belief.size, 0, infoset=standing.infoset)

    def _settled(self, subgame: SearchedSubgame) -> bool:
        """Whether the last search already solved this infoset: its trunk contains the whole rest of the game, the
        subgame is a part of that trunk, and its profile is an equilibrium. Solving the part again would not improve it,
        and would be safe for this infoset alone: 1-KLSS at several infosets together need not be safe.
        """
        standing = self.standing
        if standing is None or standing.infoset < 0 or subgame.sampled or not subgame.carried:
            return False
        settled = standing.profile.gap <= _SETTLED_GAP and not standing.trunk.open_leaf.any()
        return settled and len(strategy_at(standing.trunk, standing.profile, standing.infoset)[0]) > 0

    def _played_on(self, subgame: SearchedSubgame, belief: Belief, budget: Budget, drawn: float) -> Result:
        """Draw a move from the last profile; the last trunk stays the current one."""
        standing = self.standing
        assert standing is not None
        actions, mixture = strategy_at(standing.trunk, standing.profile, standing.infoset)
        probabilities = self._parts.choice(mixture, standing.profile.pure, [mixture > 0.0])
        report = Report(
            positions=belief.size,
            carried=subgame.carried,
            value=utility_at(standing.trunk, standing.profile, standing.infoset),
            seconds=budget.elapsed(),
            capped_by=belief.capped_by,
            gadget=standing.profile.gadget,
            gap=standing.profile.gap,
            lp_share=0.0,
        )
        return Result(actions, probabilities, int(actions[_drawn_by(probabilities, drawn)]), report)

    def ponder(self, budget: Budget) -> None:
        """Go on with the last search below the action drawn (:mod:`klss.search.pondering`). Call it at most once after
        each search, before anything is observed. Does nothing if the search can't be carried on.

        Parameters
        ----------
        budget : Budget
            Pondering ends with it, or earlier at its own limit of nodes.
        """
        if self._played is None or self.standing is None:
            return
        # Only below an action that the profile plays: below the others no strategy was learned.
        (solved, played), self._played = self._played, None
        profile, growth, solving = solved.profile, solved.growth, solved.solving
        if profile.x[played] <= 0.0 or not isinstance(solving, PonderableRun):
            return
        # The same growth under another budget, and the same solver with player 0's strategy at the roots fixed.
        before = growth.added
        most = before + max(_LEAST_PONDERED, _PONDERED * before)
        growth = dataclasses.replace(growth, budget=budget, most=most, played=played, threads=1, progress=None)
        solving.hold(profile, budget)
        # The loop of solve. Meanwhile there is no standing state, so that after an error the next move starts afresh.
        standing, self.standing = self.standing, None
        while not growth.spent and solved.growing.grow(growth, profile, solving.beside):
            profile = solving.improve()
        self.standing = dataclasses.replace(standing, profile=profile, strategies=solving.strategies)

    def solve(
        self,
        subgame: SearchedSubgame,
        belief: Belief | None,
        budget: Budget,
        *,
        history: Keys | None = None,
        progress: Progress | None = None,
    ) -> Solved:
        """Run the loop (App. E, lines 22–38)."""
        # The limits of growth; it stops early enough for the solver to solve the final trunk once more.
        trunk, configuration, parts = subgame.trunk, self._configuration, self._parts
        seen = np.sort(history) if history is not None else _NO_KEYS
        last, standing = self._last, self.standing
        if last is not None and standing is not None and last.growth.trunk is trunk:
            return self._go_on(last, standing, budget, seen, progress)
        growth = Growth(
            trunk,
            self._model,
            budget,
            seen,
            configuration.memory_mb,
            parts.solver.reserve_s,
            rng=np.random.default_rng([self._seed, self._searches, 2]),
            utilities=subgame.utilities,
            threads=self._threads,
            progress=progress,
        )
        # Expand the roots, so that player 0 has actions.
        growing = parts.expander.begin(growth)
        return self._loop(growth, growing, parts.solver.begin(subgame, belief, budget), 0)

    def _go_on(
        self, last: Solved, standing: SearchState, budget: Budget, seen: Keys, progress: Progress | None
    ) -> Solved:
        """Go on with the last search in its trunk, below the present infoset first."""
        trunk, solving = standing.trunk, last.solving
        assert isinstance(solving, PonderableRun)
        here = trunk.members(standing.infoset).astype(np.int64)
        growth = dataclasses.replace(
            last.growth, budget=budget, history=seen, added=0, leaf_s=None, starts=here, progress=progress
        )
        past, above = list[int](), int(trunk.infosets[0].parent[standing.infoset])
        while above >= 0:
            past.append(above)
            above = int(trunk.infosets[0].parent[above])
        solving.go_on(standing.profile, budget, np.array(past, dtype=np.int64))
        growth.expand(here[trunk.open_leaf[here]], at_least=1)
        return self._loop(growth, last.growing, solving, standing.infoset)

    @staticmethod
    def _loop(growth: Growth, growing: ExpanderRun, solving: SolverRun, infoset: int) -> Solved:
        """Solve and grow the trunk in turns until the budget is spent."""
        # In turns: a profile on the current trunk, then new leaves where that profile leads. While leaves are prepared
        # the solver goes on in parallel. The support at the root in each round is kept for the choice.
        supports: list[Bools] = []
        while True:
            profile = solving.improve()
            supports.append(support_at(growth.trunk, profile, infoset))
            if growth.progress is not None:
                growth.tell(growing.depths()[0])
            if not profile.solved or growth.spent or not growing.grow(growth, profile, solving.beside):
                return Solved(solving.finish(), supports, growth, growing, solving)

    @staticmethod
    def _report(subgame: SearchedSubgame, belief: Belief, solved: Solved, budget: Budget) -> Report:
        seconds = budget.elapsed()
        depth, depth_mean = solved.growing.depths()
        share = 0.0 if budget.seconds is None else min(1.0, solved.solving.effort.seconds / max(seconds, 1e-9))
        return Report(
            positions=belief.size,
            capped_by=belief.capped_by,
            carried=subgame.carried,
            sampled=subgame.sampled,
            gadget=solved.profile.gadget,
            margin=solved.profile.margin,
            value=utility_at(subgame.trunk, solved.profile, subgame.infoset),
            nodes=solved.growth.added,
            depth=depth,
            depth_mean=depth_mean,
            iterations=solved.growing.iterations,
            gap=solved.solving.effort.gap,
            fallbacks=solved.solving.effort.fallbacks,
            lp_share=share,
            seconds=seconds,
        )


def _drawn_by(probabilities: Floats, drawn: float) -> int:
    """Return the index that ``drawn``, uniform in [0, 1), selects by ``probabilities``."""
    return int(np.searchsorted(np.cumsum(probabilities)[:-1], drawn, side="right"))
