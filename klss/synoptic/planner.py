"""A planner in one game: it keeps its belief, the opponent's possible worlds, and the playouts' counts from one
question to the next.
"""

from __future__ import annotations

import time
from typing import Any, Generic, TypeVar, cast

from klss.synoptic.bandit import Table
from klss.synoptic.model import Belief, Model, Network, Worlds
from klss.synoptic.particles import ParticleFilter
from klss.synoptic.planning import Planning
from klss.synoptic.playouts import Headsets, Planned, choose_action

_FILLING = 0.3
"""Fraction of a question's time for drawing particles."""

B = TypeVar("B", bound=Belief)


class Planner(Generic[B]):
    """See the module. ``B`` is the game's :class:`~klss.synoptic.model.Belief`.

    Parameters
    ----------
    model, network, planning, headsets
        The game, the network with policies and values, the constants, and the headsets to use.
    belief
        The belief at the beginning.
    seed
        Of all random draws.
    threads
        Threads of playouts, 1 or 2; the answer is the same.
    """

    def __init__(
        self,
        model: Model,
        network: Network,
        planning: Planning,
        headsets: Headsets,
        belief: B,
        *,
        seed: int,
        threads: int = 1,
    ) -> None:
        self._model = model
        self._network = network
        self._planning = planning
        self._headsets = headsets
        self._seed = seed
        self._threads = threads
        self._table = Table()
        self._filter = ParticleFilter(model, network, planning, headsets, belief, seed=seed)

    @property
    def belief(self) -> B:
        """The present belief."""
        return cast(B, self._filter.belief)

    @property
    def particles(self) -> Worlds:
        """Worlds of the present time; call :meth:`fill` first."""
        return self._filter.particles

    def happened(self, action: int | None, belief: B) -> None:
        """Take in an action of the planner or (None) of the opponent, after which the belief is ``belief``."""
        self._filter.happened(action, belief)

    def fill(self, until: float | None = None) -> None:
        """Draw the missing particles; see :meth:`klss.synoptic.particles.ParticleFilter.fill`."""
        if len(self.particles) < self._planning.particles:
            self._filter.fill(self._table, until)

    def plan(self, depth: int, number: int, *, nodes: int | None, seconds: float | None, began: float) -> Planned:
        """Plan by playouts of ``depth`` actions; with 0 nodes, by the network's policy alone.

        Parameters
        ----------
        number
            The question's number, for a seed of its own.
        nodes, seconds
            See :func:`klss.synoptic.playouts.choose_action`; seconds count from ``began``, a time of
            :func:`time.monotonic`.
        """
        self.fill(None if seconds is None else time.monotonic() + _FILLING * seconds)
        return choose_action(
            self._model,
            self._network,
            self._planning,
            self.belief,
            self.particles,
            self._table,
            depth=depth,
            headsets=self._headsets,
            seed=(self._seed * 1_000_003 + number) & 0x7FFF_FFFF_FFFF_FFFF,
            nodes=nodes,
            until=None if seconds is None else began + seconds,
            threads=self._threads,
        )

    def diagnostics(self, planned: Planned) -> dict[str, Any]:
        """Return the numbers of a plan that are reported."""
        return {
            "value": planned.value,
            "nodes": planned.nodes,
            "playouts": planned.playouts,
            "met": planned.met,
            "particles": len(self.particles),
        }
