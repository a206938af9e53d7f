"""Nested, depth-limited 1-KLSS from a value function only: the last algorithm of App. E, line by line.

Previous trunk → nodes consistent with what player 0 has observed since → particles from her belief beside them, up to
L → the subgame with alternate values and the information penalty → equilibrium → expand in the support → repeat until
time or nodes are spent → Maxmargin, falling back to Resolve → sample the move.

Decided here, where the paper leaves it open:

* Lines 24–30 test u(x, y); we test the *margins*, information penalty left out (algorithms.md §3), within
  ``TOLERANCE``.
* Resolve comes first, not Maxmargin (line 23): where time suffices for one equilibrium only, that has to be the one
  which makes sense with negative margins too. Where it suffices for two, the order makes no difference.
* Of I' at most ``most_carried`` roots are carried on, those first to which player 1 is expected to come; particles fill
  up to L. The paper sets no limit, and a trunk with thousands of roots is one ply deep when its time is up.
* The move is drawn from the purified strategy (:mod:`klss.search.choice.purification`), not from the mixture.
* Resolve is a cautious one (:mod:`klss.search.equilibrium.program`): it asks for the mean of the worst third of the
  margins, not for the mean of all.
* The roots are expanded before the first equilibrium: line 32's rule expands them in the first iteration whatever the
  plans are.
* A move that the plan never plays (a forced or an obvious move made without a search) has no reach to divide by: the
  next search starts afresh.
* Expansion stops while there is time left for the equilibrium of the trunk as it then stands (judged by the last
  one's); one that takes longer all the same is cut off, and the one before it stands, with the best child by
  evaluation at infosets that are new since.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from klss.search.budget import Budget
from klss.search.choice.purification import purified
from klss.search.equilibrium.program import GadgetProgram, Kind
from klss.search.expansion.support import SUPPORT, Rule, leaves_to_expand
from klss.search.gadget import Equilibrium, solve_gadget
from klss.search.model import Belief, Model
from klss.search.subgame.nesting import fresh_roots, likeliest, merge_transpositions, sections_at, subgame, value_at
from klss.search.trunk import Roots, Trunk

__all__ = ["TOLERANCE", "Result", "Search", "SearchConfiguration"]

TOLERANCE = 1e-7
"""Margins above −TOLERANCE count as not negative."""

_BATCH = 64
"""Leaves expanded between two looks at the budget."""

_LP_ITERATIONS_PER_ROW = 50
"""Simplex iterations allowed with a node budget, for each row and column of the program."""

_LEAVES_A_SECOND = 250
"""Leaves of a batch for each second that is left.

A batch then takes a quarter of that time at the most on a slow, busy machine.
"""

_FIRST_SOLVE_RATE = 4e-6
"""Seconds of solving a node of the trunk, before any was measured."""

LEAST_NODES = 2000
"""A rate that was measured with fewer nodes would tell nothing about the next trunk: the program of one position's
children takes not much less time than one of so many.
"""

_FIRST_SOLVE_S = 0.3
"""Time that the first equilibrium of a move gets at least, however short the move's time is."""

_SOLVE_GROWTH = 1.5
"""How much longer, a node, the next equilibrium may take than the last one did."""

_MARGIN_S = 0.01
"""Time left over at the end of a move."""

_BYTES_A_NODE = 1000
"""Measured, rounded up.

A node of a dark-chess trunk of 400,000, its share of the program and of HiGHS's work included.
"""

_LAST_ITERATION = 1 << 15
"""Deeper than any trunk gets: leaves held back for their depth alone are wanted by then."""

Progress = Callable[[dict[str, float]], None]


@dataclass(frozen=True)
class SearchConfiguration:
    """The choices of one search; the defaults are the paper's (§6, Appendix D) but for the deviations above.

    Attributes
    ----------
    particles : int
        L: sample the belief up to this many roots.
    most_carried : int
        Most roots carried on from the previous trunk.
    information : float
        M: denominator of the information penalty; infinite: none.
    reach : bool
        Whether gifts lower the alternate values.
    gadget : "hybrid", "maxmargin" or "resolve"
        Hybrid: Maxmargin while no margin is negative, else Resolve.
    nested : bool
        Whether the previous trunk is carried on; if not, every search starts afresh.
    memory_mb : int
        The trunk stops growing (the game goes on) when it and its programs are estimated at so many megabytes.
    expansion : "node" or "leaf"
        See :mod:`klss.search.expansion.support`.
    purify : bool
        Whether the move is drawn from the *purified* strategy (:mod:`klss.search.choice.purification`).
    caution : float
        How many times its uniform weight a root infoset may have in Resolve, 1 or more; 1: the paper's.
    """

    particles: int = 200
    most_carried: int = 100
    information: float = 1e7
    reach: bool = True
    gadget: Literal["hybrid", "maxmargin", "resolve"] = "hybrid"
    nested: bool = True
    memory_mb: int = 4096
    expansion: Rule = "node"
    purify: bool = True
    caution: float = 3.0


@dataclass(frozen=True)
class Result:
    """What a search found.

    Attributes
    ----------
    actions : int32[n]
        Codes of the actions at player 0's infoset.
    probabilities : float64[n]
        The strategy there.
    action : int
        The one sampled.
    diagnostics : dict
        Keys as in the engine protocol: positions, carried, sampled, gadget, margin, value, nodes, depth, depth_mean,
        iterations, gap, fallbacks, lp_share (the part of the time that went into linear programs), seconds.
    """

    actions: npt.NDArray[np.int32]
    probabilities: npt.NDArray[np.float64]
    action: int
    diagnostics: dict[str, Any]


@dataclass
class Search:
    """One player's search through one game: keeps the trunk from move to move."""

    model: Model
    configuration: SearchConfiguration = field(default_factory=SearchConfiguration)
    seed: int = 0
    trunk: Trunk | None = None
    equilibrium: Equilibrium | None = None
    infoset: int = -1
    _searches: int = 0
    _supports: list[npt.NDArray[np.bool_]] = field(default_factory=list)
    _lp_s: float = 0.0
    _solve_rate: float = _FIRST_SOLVE_RATE

    def observe(self, own_action: int, observation: int, acts: bool) -> None:
        """Walk down: her action (−1: the opponent's or nature's), the key of what she then observed, and whether
        she acts next.
        """
        if self.trunk is not None:
            self.infoset = self.trunk.step(self.infoset, own_action, observation, acts)

    @property
    def known(self) -> int:
        """How many nodes of the trunk agree with all that was observed so far."""
        return 0 if self.trunk is None or self.infoset < 0 else len(self.trunk.members(self.infoset))

    def begin(self, belief: Belief) -> tuple[int, int]:
        """Build this move's subgame from the previous trunk and the belief (App.

        E, lines 11–19). Returns how many roots were carried and sampled.
        """
        self._searches += 1
        rng = np.random.default_rng([self.seed, self._searches])
        seeds = rng.integers(0, 2**63, size=3)
        sections = []
        estimate = np.inf
        if self.trunk is not None and self.equilibrium is not None and self.infoset >= 0 and self.configuration.nested:
            sections = sections_at(self.trunk, self.equilibrium.x, self.infoset, reach=self.configuration.reach)
        if sections:
            assert self.trunk is not None and self.equilibrium is not None
            estimate = value_at(self.trunk, self.equilibrium.x, self.equilibrium.y, self.infoset)
            sections = merge_transpositions(self.trunk, sections, self.model, int(seeds[0]))
            sections = likeliest(
                self.trunk, self.equilibrium.y, sections, self.configuration.most_carried, int(seeds[0])
            )
            known = self.trunk.states[np.concatenate([section.nodes for section in sections])]
        else:
            known = np.zeros((0, self.model.state_width), dtype=np.uint64)
        wanted = self.configuration.particles - len(known)
        states = belief.sample(wanted, known, int(seeds[1])) if wanted > 0 and len(known) < belief.size else known[:0]
        fresh = fresh_roots(states, self.model, estimate, int(seeds[2]))
        if sections:
            assert self.trunk is not None
            self.trunk = subgame(self.trunk, self.infoset, sections, fresh)
        else:
            self.trunk = Trunk.from_roots(fresh)
        self.infoset = 0
        self.equilibrium = None
        return len(known), len(states)

    def start(self, roots: Roots) -> None:
        """Begin from given roots instead of a belief (toy games, tests)."""
        self.trunk, self.equilibrium, self.infoset = Trunk.from_roots(roots), None, 0

    def search(
        self,
        belief: Belief,
        budget: Budget,
        *,
        history: npt.NDArray[np.uint64] | None = None,
        progress: Progress | None = None,
    ) -> Result:
        """One move: build the subgame, grow and solve it within ``budget``, sample an action.

        Parameters
        ----------
        belief : Belief
            Not empty.
        budget : Budget
        history : uint64[k], optional
            Keys of player 0's observations in the game so far, the current one included, in any order.
        progress : callable, optional
            Called with nodes, depth and seconds after each equilibrium.
        """
        carried, sampled = self.begin(belief)
        added, iterations, gap, fallbacks = self.grow(belief, budget, history=history, progress=progress)
        trunk, equilibrium = self.trunk, self.equilibrium
        assert trunk is not None and equilibrium is not None
        actions, probabilities = self.strategy()
        if self.configuration.purify:
            probabilities = purified(probabilities, equilibrium.kind, self._supports)
        rng = np.random.default_rng([self.seed, self._searches, 1])
        action = int(actions[np.searchsorted(np.cumsum(probabilities)[:-1], rng.random(), side="right")])
        depth = trunk.nodes.depth[: trunk.node_count][trunk.leaf]
        diagnostics: dict[str, Any] = {
            "positions": belief.size,
            "carried": carried,
            "sampled": sampled,
            "gadget": equilibrium.kind,
            "margin": equilibrium.margin,
            "value": value_at(trunk, equilibrium.x, equilibrium.y, 0),
            "nodes": added,
            "depth": int(depth.max(initial=0)),
            "depth_mean": float(depth.mean()) if len(depth) else 0.0,
            "iterations": iterations,
            "gap": gap,
            "fallbacks": fallbacks,
            "lp_share": 0.0 if budget.seconds is None else min(1.0, self._lp_s / max(budget.elapsed(), 1e-9)),
            "seconds": budget.elapsed(),
        }
        return Result(actions=actions, probabilities=probabilities, action=action, diagnostics=diagnostics)

    def strategy(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
        """Player 0's actions at her infoset and their probabilities."""
        trunk, equilibrium = self.trunk, self.equilibrium
        assert trunk is not None and equilibrium is not None
        first, count = int(trunk.infosets[0].first[0]), int(trunk.infosets[0].size[0])
        probabilities = equilibrium.x[first : first + count].copy()
        probabilities[probabilities <= SUPPORT] = 0.0
        return trunk.sequences[0].action[first : first + count].copy(), probabilities / probabilities.sum()

    def grow(
        self,
        belief: Belief | None,
        budget: Budget,
        *,
        history: npt.NDArray[np.uint64] | None = None,
        progress: Progress | None = None,
    ) -> tuple[int, int, float, int]:
        """The loop (App.

        E, lines 22–38). Returns nodes added, iterations, the largest saddle gap met and how often a solver's method
        failed.
        """
        trunk = self.trunk
        assert trunk is not None
        seen = np.sort(history) if history is not None else np.zeros(0, dtype=np.uint64)
        kind = self._first_kind()
        unopened = np.flatnonzero(trunk.open_leaf[: trunk.root_count])
        added = self._expand(trunk, unopened, budget, 0, seen, at_least=1 if len(unopened) == trunk.root_count else 0)
        penalty = self._penalty(trunk, belief)
        iteration, gap, fallbacks = 0, 0.0, 0
        program = GadgetProgram(caution=self.configuration.caution)
        self._supports, self._lp_s = [], 0.0
        while True:
            iteration += 1
            began = budget.elapsed()
            equilibrium, kind, failed, widest = self._balance(trunk, kind, penalty, budget, program)
            fallbacks += failed
            gap = max(gap, widest)
            assert self.equilibrium is not None
            if not equilibrium.solved:
                self.equilibrium = self._extended(trunk, self.equilibrium)
                break
            if budget.seconds is not None:
                self._solve_rate = (budget.elapsed() - began) / max(trunk.node_count, LEAST_NODES)
            if progress is not None:
                depth = int(trunk.nodes.depth[: trunk.node_count].max(initial=0))
                progress({"nodes": float(added), "depth": float(depth), "seconds": budget.elapsed()})
            if budget.nodes_left(added) <= 0 or budget.left() <= self._solve_time(trunk) or self._is_full(trunk):
                break
            leaves = self._leaves(trunk, iteration)
            if not len(leaves):
                if not self._deeper(trunk, iteration):
                    break
                continue
            added += self._expand(trunk, leaves, budget, added, seen)
        return added, iteration, gap, fallbacks

    def _solve_time(self, trunk: Trunk) -> float:
        """Seconds to keep for the next equilibrium of the trunk as it stands."""
        return _SOLVE_GROWTH * self._solve_rate * trunk.node_count + _MARGIN_S

    def _leaves(self, trunk: Trunk, iteration: int) -> npt.NDArray[np.int64]:
        assert self.equilibrium is not None
        return leaves_to_expand(trunk, self.equilibrium.x, self.equilibrium.y, iteration, self.configuration.expansion)

    def _is_full(self, trunk: Trunk) -> bool:
        return trunk.node_count * _BYTES_A_NODE >= self.configuration.memory_mb * 1_000_000

    def _deeper(self, trunk: Trunk, iteration: int) -> bool:
        """Whether a later iteration may expand what this one held back for its depth."""
        return iteration < _LAST_ITERATION and len(self._leaves(trunk, _LAST_ITERATION)) > 0

    def _first_kind(self) -> Kind:
        """The gadget that is solved first."""
        return "maxmargin" if self.configuration.gadget == "maxmargin" else "resolve"

    def _balance(
        self, trunk: Trunk, kind: Kind, penalty: npt.NDArray[np.float64] | None, budget: Budget, program: GadgetProgram
    ) -> tuple[Equilibrium, Kind, int, float]:
        """Solve the gadget ``kind``, and the other one where the margins ask for it (App. E, lines 23–30).

        The answer becomes the search's equilibrium, unless it is no answer and there is an earlier one. Returns the
        last one solved for, the gadget to go on with, how often a solver's method failed, and the largest saddle gap.
        """
        fallbacks, gap = 0, 0.0
        for _ in range(2):
            equilibrium = self._solve(trunk, kind, penalty, budget, program)
            fallbacks += equilibrium.fallbacks
            self._lp_s += equilibrium.solve_s + equilibrium.edit_s
            if equilibrium.solved or self.equilibrium is None:
                self.equilibrium = equilibrium
                gap = max(gap, equilibrium.gap)
            if self.configuration.gadget != "hybrid" or not equilibrium.solved or not self._switches(equilibrium):
                break
            kind = "resolve" if kind == "maxmargin" else "maxmargin"
        if trunk.infosets[0].first[0] >= 0:
            self._supports.append(self.strategy()[1] > 0.0)
        return equilibrium, kind, fallbacks, gap

    def _switches(self, equilibrium: Equilibrium) -> bool:
        if equilibrium.kind == "maxmargin":
            return equilibrium.margin < -TOLERANCE
        return equilibrium.margin >= -TOLERANCE

    def _solve(
        self, trunk: Trunk, kind: Kind, penalty: npt.NDArray[np.float64] | None, budget: Budget, program: GadgetProgram
    ) -> Equilibrium:
        if budget.seconds is None:
            size = trunk.sequence_count(0) + trunk.sequence_count(1) + trunk.infoset_count(0)
            limits: tuple[int | None, float | None] = _LP_ITERATIONS_PER_ROW * size, None
        else:
            # Without the first equilibrium there is little to go by.
            least = _FIRST_SOLVE_S if self.equilibrium is None else 0.02
            limits = None, max(least, budget.left())
        return solve_gadget(
            trunk,
            kind,
            penalty,
            program=program,
            iteration_limit=limits[0],
            time_limit_s=limits[1],
        )

    def _expand(
        self,
        trunk: Trunk,
        leaves: npt.NDArray[np.int64],
        budget: Budget,
        added: int,
        history: npt.NDArray[np.uint64],
        *,
        at_least: int = 0,
    ) -> int:
        """Expand ``leaves`` in batches while the budget lasts, ``at_least`` so many of them; returns the number of
        nodes added.
        """
        new = 0
        at = 0
        while at < len(leaves):
            room = budget.nodes_left(added + new)
            if at >= at_least and (room <= 0 or budget.left() <= self._solve_time(trunk) or self._is_full(trunk)):
                break
            size = _BATCH if room == float("inf") else max(1, min(_BATCH, int(room) // 32))
            if budget.seconds is not None:
                size = max(1, min(size, int(_LEAVES_A_SECOND * budget.left())))
            new += trunk.expand(leaves[at : at + size], self.model, history)
            at += size
        return new

    def _penalty(self, trunk: Trunk, belief: Belief | None) -> npt.NDArray[np.float64] | None:
        """2^(−H(a))·|I|/M for each action at player 0's infoset (D.3); None where there is nothing to pay."""
        if belief is None or np.isinf(self.configuration.information) or trunk.infosets[0].first[0] < 0:
            return None
        first, count = int(trunk.infosets[0].first[0]), int(trunk.infosets[0].size[0])
        bits = belief.information(trunk.sequences[0].action[first : first + count])
        return np.asarray(2.0**-bits * (belief.size / self.configuration.information))

    @staticmethod
    def _extended(trunk: Trunk, equilibrium: Equilibrium) -> Equilibrium:
        """An earlier equilibrium on a trunk that has grown since: at infosets that are new, the action whose children
        the evaluator likes best for the mover (as Obscuro starts new infosets, arXiv 2506.01242).
        """
        nodes, count = trunk.nodes, trunk.node_count
        parent = np.maximum(nodes.parent[:count], 0)
        plans = []
        for player, plan in ((0, equilibrium.x), (1, equilibrium.y)):
            infosets, sequence = trunk.infosets[player], nodes.sequence[:count, player]
            after = sequence != sequence[parent]  # the children of the player's own nodes
            sign = 1.0 if player == 0 else -1.0
            liking = sign * np.bincount(
                sequence[after], weights=nodes.chance[:count][after] * nodes.value[:count][after],
                minlength=trunk.sequence_count(player),
            )  # fmt: skip
            longer = np.concatenate([plan, np.zeros(trunk.sequence_count(player) - len(plan))])
            active = np.flatnonzero(infosets.first[: trunk.infoset_count(player)] >= len(plan))
            for infoset in active[np.argsort(infosets.first[active])]:
                reached = longer[infosets.sequence[infoset]]
                if reached > 0.0:  # most are not
                    first, size = int(infosets.first[infoset]), int(infosets.size[infoset])
                    longer[first + int(np.argmax(liking[first : first + size]))] = reached
            plans.append(longer)
        return dataclasses.replace(equilibrium, x=plans[0], y=plans[1], solved=False)
