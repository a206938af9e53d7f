"""What the opponent may hold possible: a particle filter of the second order.

Source: Clark (2021), PlayGame and DrawSample. Of every time that is remembered, the planner keeps all that it holds
possible (a :class:`~klss.synoptic.model.Belief`) and *particles*: worlds, that is a true state with a set of what the
opponent holds possible there. When it observes something, what was possible earlier gets smaller too; particles that
it leaves without their state are dropped, and drawn anew from the oldest time on that lacks some.

Deviations: a particle carries its true state, and goes on with what is observed there (slips 1, 2 and 7 of
:mod:`klss.synoptic`); what the source calls meeting the set is that the state is possible. DrawSample tries up to k
times; here every particle's every choice is tried, and one drawn of those that lead to what is possible, which is what
infinitely many attempts come to. Where none that the bandit would take does, the policy decides, then any choice does.
Times longer ago than ``remembered`` are forgotten; where what was possible is too much to look back at
(:meth:`~klss.synoptic.model.Belief.before`), looking back ends.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from klss.support.arrays import Floats
from klss.synoptic.bandit import Table, policies
from klss.synoptic.model import Belief, Looks, Model, Network, Worlds
from klss.synoptic.planning import Planning
from klss.synoptic.playouts import Headsets, inferred

__all__ = ["ParticleFilter"]

_TOGETHER = 64
"""Particles that go on together, between two looks at the clock."""

_REMEMBERED, _MOST_STATES = 32, 8_000_000
"""Most times that are kept, and most states that were possible at them in all."""

_REFILLED = 8
"""How many times back particles are drawn anew, two turns of both players; those before keep what they have."""


@dataclass
class _Time:
    """What was possible before an action."""

    belief: Belief
    particles: Worlds  # fewer than the planner wants, until they are drawn
    action: int | None = None  # the planner's next, if it acted; None: the opponent did


class ParticleFilter:
    """See the module.

    Parameters
    ----------
    model, network, planning, headsets
        Whose policy acts for the opponent; how many particles, of how many members.
    belief
        What the planner holds possible at the beginning, where both know the truth if it is one state.
    seed
        Of all that is drawn.
    """

    def __init__(
        self, model: Model, network: Network, planning: Planning, headsets: Headsets, belief: Belief, *, seed: int
    ) -> None:
        self._model = model
        self._network = network
        self._planning = planning
        self._headsets = headsets
        self._rng = np.random.default_rng(seed)
        states = belief.sample(planning.particles, int(self._rng.integers(1 << 40)))
        self._times = [
            _Time(belief, model.alone(np.resize(states, (planning.particles, states.shape[1])), planning.max_members))
        ]

    @property
    def particles(self) -> Worlds:
        """Worlds of now; :meth:`fill` first."""
        return self._times[-1].particles

    @property
    def belief(self) -> Belief:
        """What the planner holds possible now."""
        return self._times[-1].belief

    def happened(self, action: int | None, belief: Belief) -> None:
        """An action was taken, and the planner now holds ``belief`` possible.

        Parameters
        ----------
        action
            The planner's; None: the opponent's, which is not known.
        """
        # A new time, whose particles are drawn when they are asked for.
        self._times[-1].action = action
        empty = self._times[-1].particles.take(np.zeros(0, dtype=np.int64))
        self._times.append(_Time(belief, empty))
        # Backwards through time: what leads to nothing that is possible now was not possible then.
        later = belief
        for past in reversed(self._times[:-1]):
            kept = past.belief.before(later)
            if kept is None:
                break
            past.belief = later = kept
            past.particles = past.particles.take(np.flatnonzero(kept.contains(past.particles.states)))
        # The oldest times go.
        while len(self._times) > 2 and (
            len(self._times) > _REMEMBERED or sum(past.belief.size for past in self._times) > _MOST_STATES
        ):
            del self._times[0]

    def fill(self, table: Table, until: float | None = None) -> None:
        """Draw what is missing, of the oldest time that lacks particles first.

        Parameters
        ----------
        table
            The counts of playouts, which act for the opponent together with its policy.
        until
            A time of :func:`time.monotonic` after which a time gets no more than it needs: there are fewer particles.
        """
        for at in range(max(0, len(self._times) - _REFILLED), len(self._times)):
            past = self._times[at]
            missing = self._planning.particles - len(past.particles)
            if missing <= 0:
                continue
            if at == 0 or not len(self._times[at - 1].particles):
                found = self._alone(past.belief, missing)
            else:
                found = self._drawn(self._times[at - 1], past, missing, table, until)
            past.particles = Worlds.joined([past.particles, found])

    def _alone(self, belief: Belief, count: int) -> Worlds:
        """Opponents who know the truth, of whom nothing is remembered."""
        states = belief.sample(count, int(self._rng.integers(1 << 40)))
        return self._model.alone(np.resize(states, (count, states.shape[1])), self._planning.max_members)

    def _drawn(self, before: _Time, now: _Time, count: int, table: Table, until: float | None) -> Worlds:
        """So many particles, each of one of the time before, by an action that leads to what is possible now."""
        # Every particle's every choice (the planner's own action is known), and how likely the opponent takes it.
        states = before.particles.states
        if before.action is not None:
            sources = np.arange(len(before.particles))
            actions = np.full(sources.shape[0], before.action, dtype=np.int32)
            shares = [np.ones(sources.shape[0])]
        else:
            looks = self._model.look(before.particles)
            sizes = np.diff(looks.offsets)
            sources, actions = np.repeat(np.arange(sizes.shape[0]), sizes), looks.actions
            shares = self._shares(looks, table)
        # Of those that lead to what is possible now, by the first shares that give any of them a chance.
        keys = self._rng.integers(1 << 63, size=(sources.shape[0],), dtype=np.uint64)
        possible = now.belief.contains(self._model.after(states[sources], actions, keys))
        weights = next((share for share in shares if (share * possible).sum() > 0.0), None)
        if weights is None:
            return self._alone(now.belief, count)
        # Draw so many, and lead their worlds on, until time runs out.
        weights = weights * possible
        ends = np.cumsum(weights)
        found: list[Worlds] = []
        for begin in range(0, count, _TOGETHER):
            draws = self._rng.random(min(_TOGETHER, count - begin)) * ends[-1]
            pairs = np.minimum(np.searchsorted(ends, draws, side="right"), int(np.flatnonzero(weights)[-1]))
            worlds = before.particles.take(sources[pairs])
            most = np.full((2, pairs.shape[0]), self._planning.max_members)
            self._model.advance(worlds, actions[pairs], keys[pairs], most)
            found.append(worlds)
            if until is not None and time.monotonic() >= until:
                break
        return Worlds.joined(found)

    def _shares(self, looks: Looks, table: Table) -> list[Floats]:
        """How likely the opponent takes each choice at each set (float64[m], those of a set summing to 1): by the
        bandit, by its policy alone, and whether it does anything.
        """
        seats = np.ones(looks.keys.shape[0], dtype=np.int8)
        logits, _ = inferred(self._network, looks.synopses, self._headsets, seats)
        policy = policies(logits, looks)
        sizes = np.diff(looks.offsets)
        even = np.repeat(1.0 / np.maximum(sizes, 1), sizes)  # a mended sample may hold what cannot go on
        return [table.shares(self._planning, looks, policy), policy, even]
