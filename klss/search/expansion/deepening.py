"""One ply of imperfect information, a perfect-information search below it: the paper's baseline (§7, "the same
algorithm as our agent, except that it only performs imperfect-information search to depth 1, and after that uses
Stockfish's perfect-information evaluation with iterative deepening").

Particles from the belief → all of them expanded once → each child valued by the model's perfect-information search,
one ply deeper at a time while the budget lasts → the gadget's equilibrium over that one-ply game, information penalty
and all, Resolve and, where no margin is negative, Maxmargin → draw the move from the purified strategy.

Decided here, where the paper leaves it open:

* A tree of depth 1 holds no node of player 0's *next* infoset: I' is always empty, so all roots are fresh samples, û is
  infinite and the alternate values are ũ(h), the model's plain values.
* The children's values are those of the last depth that was completed for *all* children, the plain ones where depth 1
  was not. A mix of depths would compare values that differ by who moved last.
* A move that wins in all positions ends the deepening: deeper, slower wins look the same.
* The depth reported is that of the lines looked at: one ply and the completed depth.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from klss.search.budget import Budget
from klss.search.equilibrium.program import GadgetProgram
from klss.search.model import TERMINAL, Belief, Model
from klss.search.search import LEAST_NODES, Result, Search
from klss.search.trunk import Trunk

__all__ = ["DEEPEST", "DeepeningModel", "OnePlySearch", "deepening"]

DEEPEST = 30
"""Plies below the children that are tried at the most; only all but finished games get there."""

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
States = npt.NDArray[np.uint64]
Progress = Callable[[dict[str, float]], None]


class DeepeningModel(Model, Protocol):
    """A model that can also value states by searching on as if both players saw everything."""

    def deepened(
        self, parents: States, offsets: Int, children: States, depth: int, budget: Budget
    ) -> tuple[Float | None, int]:
        """Utilities for player 0 of children by a perfect-information search.

        Parameters
        ----------
        parents : uint64[n, w]
        offsets : int64[n + 1]
        children : uint64[m, w]
            Rows ``offsets[i]:offsets[i + 1]`` are children of state i, some or all of them; none is terminal.
        depth : int
            Plies below each child, from 1 to :data:`DEEPEST`.
        budget : Budget
            For this call.

        Returns
        -------
        (float64[m] or None, int)
            None when the budget ran out before all were there; and the number of states visited.
        """
        ...


def deepening(
    model: DeepeningModel,
    parents: States,
    offsets: Int,
    children: States,
    budget: Budget,
    spent: int,
    reserve_s: float = 0.0,
) -> Iterator[tuple[Float | None, int]]:
    """Iterative deepening over all children at once.

    Parameters
    ----------
    model, parents, offsets, children
        As for :meth:`DeepeningModel.deepened`.
    budget : Budget
        Of the whole move.
    spent : int
        Nodes of it that are used up.
    reserve_s : float
        Seconds of it to leave over.

    Yields
    ------
    (float64[m] or None, int)
        For depth 1, 2, 3 … while the budget lasts: the values, None where it ran out before all were there; and the
        nodes visited for this depth.
    """
    for depth in range(1, DEEPEST + 1):
        nodes = None if budget.nodes is None else budget.nodes - spent
        seconds = None if budget.seconds is None else budget.left() - reserve_s
        if not len(children) or (nodes is not None and nodes <= 0) or (seconds is not None and seconds <= 0.0):
            return
        values, visited = model.deepened(parents, offsets, children, depth, Budget(nodes, seconds))
        spent += visited
        yield values, visited
        if values is None:
            return


@dataclass
class OnePlySearch(Search):
    """The baseline's search; everything but the loop is :class:`klss.search.Search`'s."""

    _plies: int = 0

    def __post_init__(self) -> None:
        self.configuration = dataclasses.replace(self.configuration, nested=False)

    def search(
        self,
        belief: Belief,
        budget: Budget,
        *,
        history: npt.NDArray[np.uint64] | None = None,
        progress: Progress | None = None,
    ) -> Result:
        """See :meth:`klss.search.Search.search`; ``model`` has to be a :class:`DeepeningModel`. ``depth``, and
        ``depth_mean`` likewise, count the plies of the perfect-information search; ``iterations`` its depths begun.
        """
        result = super().search(belief, budget, history=history, progress=progress)
        for key in ("depth", "depth_mean"):
            result.diagnostics[key] *= 1 + self._plies  # leaves are roots, at depth 0, or children, at depth 1
        return result

    def grow(
        self,
        belief: Belief | None,
        budget: Budget,
        *,
        history: npt.NDArray[np.uint64] | None = None,
        progress: Progress | None = None,
    ) -> tuple[int, int, float, int]:
        """Expand the roots once, deepen below, solve. Returns what :meth:`klss.search.Search.grow` does; nodes are
        those of the trunk and those visited below it.
        """
        trunk = self.trunk
        assert trunk is not None
        seen = np.sort(history) if history is not None else np.zeros(0, dtype=np.uint64)
        roots = np.flatnonzero(trunk.open_leaf[: trunk.root_count])
        nodes = self._expand(trunk, roots, budget, 0, seen, at_least=1)
        penalty = self._penalty(trunk, belief)
        visited = self._deepen(trunk, budget, nodes, progress)
        began = budget.elapsed()
        self._supports, self._lp_s = [], 0.0
        program = GadgetProgram(caution=self.configuration.caution)
        _, _, fallbacks, gap = self._balance(trunk, self._first_kind(), penalty, budget, program)
        if budget.seconds is not None:
            self._solve_rate = (budget.elapsed() - began) / max(trunk.node_count, LEAST_NODES)
        return nodes + visited, 1 + self._plies, gap, fallbacks

    def _deepen(self, trunk: Trunk, budget: Budget, spent: int, progress: Progress | None) -> int:
        """Put the values of the deepest completed search into the trunk's leaves; returns the nodes visited."""
        nodes, count = trunk.nodes, trunk.node_count
        children = trunk.root_count + np.flatnonzero(nodes.mover[trunk.root_count : count] != TERMINAL)
        children = children[np.argsort(nodes.parent[children], kind="stable")]
        parents, sizes = np.unique(nodes.parent[children], return_counts=True)
        model: DeepeningModel = self.model  # type: ignore[assignment]  # what this class is given
        self._plies, visited = 0, 0
        for values, more in deepening(
            model,
            trunk.states[parents],
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            trunk.states[children],
            budget,
            spent,
            self._solve_time(trunk),
        ):
            visited += more
            if values is None:
                break
            self._plies += 1
            nodes.value[children] = np.where(nodes.capped[children], np.minimum(values, 0.0), values)
            if progress is not None:
                told = {"nodes": spent + visited, "depth": 1 + self._plies, "seconds": budget.elapsed()}
                progress({key: float(value) for key, value in told.items()})
            if self._is_won(trunk):
                break
        return visited

    @staticmethod
    def _is_won(trunk: Trunk) -> bool:
        """Whether an action wins wherever player 0 may be; of all that do, a deeper look could not tell the quick."""
        nodes, at = trunk.nodes, slice(trunk.root_count, trunk.node_count)
        if np.any(nodes.first_child[: trunk.root_count] < 0):
            return False
        least = np.full(trunk.sequence_count(0), np.inf)
        np.minimum.at(least, nodes.sequence[at, 0], nodes.value[at])
        return bool(np.any(least[np.isfinite(least)] >= 1.0))
