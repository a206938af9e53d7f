"""One ply of imperfect information with a perfect-information search below it, as in the paper's baseline (§7, "the
same algorithm as our agent, except that it only performs imperfect-information search to depth 1, and after that uses
Stockfish's perfect-information evaluation with iterative deepening").

All roots are expanded once; then each child is valued by the model's perfect-information search, one ply deeper at a
time while the budget lasts. The gadget's equilibrium is over that one-ply game.

Decided here, where the paper leaves it open:

* The children's values are those of the last depth that was completed for *all* children; if depth 1 was not, the
  model's plain values. Values of different depths can't be compared, because they differ by which player moved last.
* An action that wins in all positions ends the deepening: a deeper search can't tell it from slower wins.
* The depth reported is that of the lines searched: one ply plus the completed depth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from klss.search.budget import Budget
from klss.search.growth import Growth
from klss.search.model import Model
from klss.search.profile import Profile
from klss.search.trunk import Trunk
from klss.support.arrays import Floats, Ints, States
from klss.theory.movers import TERMINAL

DEEPEST = 30
"""Most plies below the children; only games that are nearly over reach this depth in time."""


class DeepeningModel(Model, Protocol):
    """A model that can also value states by searching on as if both players saw everything."""

    def deepened(
        self, parents: States, offsets: Ints, children: States, depth: int, budget: Budget
    ) -> tuple[Floats | None, int]:
        """Return utilities (float64[m]) for player 0 of ``children`` by a perfect-information search ``depth`` plies
        below each, from 1 to :data:`DEEPEST`, and the number of states visited; None if the budget of this call was
        used up before all were found. Rows ``offsets[i]:offsets[i + 1]`` of ``children`` (uint64[m, w]) are some or all
        children of state i of ``parents`` (uint64[n, w]); none is terminal.
        """
        ...


def deepening(
    model: DeepeningModel,
    parents: States,
    offsets: Ints,
    children: States,
    budget: Budget,
    spent: int,
    reserve_s: float = 0.0,
) -> Iterator[tuple[Floats | None, int]]:
    """Deepen all children iteratively: yield the results of :meth:`DeepeningModel.deepened` for depths 1, 2, 3 …

    ``budget`` is the whole move's: ``spent`` of its nodes are used already, ``reserve_s`` of its seconds are kept.
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


class OnePly:
    """Expands the roots, values their children by a perfect-information search, and grows no further."""

    def begin(self, growth: Growth) -> _Deepened:
        """See :class:`klss.search.parts.Expander`; the model must be a :class:`DeepeningModel`."""
        growth.open_roots()
        return _Deepened(growth.trunk, _deepen(growth))


@dataclass(frozen=True)
class _Deepened:
    trunk: Trunk
    plies: int  # of the perfect-information search below the trunk's children

    @property
    def iterations(self) -> int:
        """Number of depths begun."""
        return 1 + self.plies

    def depths(self) -> tuple[int, float]:
        """Depths of the lines searched; the trunk's leaves are roots, at depth 0, or children, at depth 1."""
        depth, mean = self.trunk.leaf_depths()
        return depth * (1 + self.plies), mean * (1 + self.plies)

    def grow(self, growth: Growth, profile: Profile, beside: Callable[[], None]) -> bool:
        return False


def _deepen(growth: Growth) -> int:
    """Put the values of the deepest completed search into the trunk's leaves; return its depth in plies."""
    # The trunk's children that go on, parent by parent.
    trunk, nodes = growth.trunk, growth.trunk.nodes
    children = trunk.root_count + np.flatnonzero(nodes.mover[trunk.root_count : trunk.node_count] != TERMINAL)
    children = children[np.argsort(nodes.parent[children], kind="stable")]
    parents, sizes = np.unique(nodes.parent[children], return_counts=True)
    model: DeepeningModel = growth.model  # type: ignore[assignment]  # what this expander is given
    # One depth after the other; an incomplete one does not count.
    plies = 0
    for values, visited in deepening(
        model,
        trunk.states[parents],
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        trunk.states[children],
        growth.budget,
        growth.added,
        growth.reserve_s(trunk, growth.budget),
    ):
        growth.added += visited
        if values is None:
            break
        plies += 1
        nodes.value[children] = np.minimum(values, nodes.ceiling[children])
        growth.tell(1 + plies)
        if _is_won(trunk):
            break
    return plies


def _is_won(trunk: Trunk) -> bool:
    """Whether an action wins at all roots; a deeper search could not tell the quickest of such actions."""
    # The least value of each action of player 0 over all roots; an unexpanded root could be worse.
    nodes, at = trunk.nodes, slice(trunk.root_count, trunk.node_count)
    if np.any(nodes.first_child[: trunk.root_count] < 0):
        return False
    least = np.full(trunk.sequence_count(0), np.inf)
    np.minimum.at(least, nodes.sequence[at, 0], nodes.value[at])
    return bool(np.any(least[np.isfinite(least)] >= 1.0))
