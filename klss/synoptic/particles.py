"""What the opponent may hold possible: a particle filter of the second order.

Source: Clark (2021), PlayGame and DrawSample. Of every time that is remembered, the planner keeps all that she holds
possible (a :class:`~klss.synoptic.model.Belief`) and *particles*: worlds, that is a true state with a set of what the
opponent holds possible there. When she observes something, what was possible earlier gets smaller too; particles that
it leaves without their state are dropped, and drawn anew from the oldest time on that lacks some.

Deviations: a particle carries its true state, and goes on with what is observed there (slips 1, 2 and 7 of
:mod:`klss.synoptic`); what the source calls meeting the set is that the state is possible. Where the bandit's choices,
which are always the same at a set that was met often, lead to nothing that is possible, the last half of the attempts
is drawn by the policy alone, and the last quarter uniformly. Times longer ago than ``remembered`` are forgotten; where
what was possible is too much to look back at (:meth:`~klss.synoptic.model.Belief.before`), looking back ends.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from klss.arrays import Int32s, States
from klss.synoptic.bandit import Table, policies
from klss.synoptic.model import Belief, Model, Network, Sets, Worlds
from klss.synoptic.planning import Planning
from klss.synoptic.playouts import Headsets, inferred

__all__ = ["ParticleFilter"]

_TRIED = 256
"""Particles that go on together."""

_POLICY, _ANYTHING = 0.5, 0.75
"""From which part of the attempts on the opponent plays her policy alone, and anything."""


@dataclass
class _Time:
    """What was possible before an action.

    Attributes
    ----------
    particles : Worlds
        With fewer than the planner wants, until they are drawn.
    action : int or None
        The planner's next, if she acted; None: the opponent did.
    """

    belief: Belief
    particles: Worlds
    action: int | None = None


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
    remembered, most_states
        Most times that are kept, and most states that were possible at them in all.

    Attributes
    ----------
    lost : int
        Particles that were dropped since the beginning because what was observed later ruled them out.
    alone : int
        Particles for which nothing was found: opponents who know the truth.
    """

    def __init__(
        self,
        model: Model,
        network: Network,
        planning: Planning,
        headsets: Headsets,
        belief: Belief,
        *,
        seed: int,
        remembered: int = 32,
        most_states: int = 8_000_000,
    ) -> None:
        self.lost = self.alone = 0
        self._model = model
        self._network = network
        self._planning = planning
        self._headsets = headsets
        self._rng = np.random.default_rng(seed)
        self._remembered = remembered
        self._most_states = most_states
        states = belief.sample(planning.particles, int(self._rng.integers(1 << 40)))
        self._times = [
            _Time(belief, model.alone(np.resize(states, (planning.particles, states.shape[1])), planning.most))
        ]
        self._table: Table | None = None

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
            Hers; None: the opponent's, which she does not know.
        """
        self._times[-1].action = action
        empty = self._times[-1].particles.take(np.zeros(0, dtype=np.int64))
        self._times.append(_Time(belief, empty))
        later = belief
        for past in reversed(self._times[:-1]):
            kept = past.belief.before(later)
            if kept is None:
                break
            past.belief = later = kept
            possible = kept.contains(past.particles.states)
            self.lost += int((~possible).sum())
            past.particles = past.particles.take(np.flatnonzero(possible))
        while len(self._times) > 2 and (
            len(self._times) > self._remembered or sum(past.belief.size for past in self._times) > self._most_states
        ):
            del self._times[0]

    def fill(self, table: Table, until: float | None = None) -> None:
        """Draw what is missing, of the oldest time that lacks particles first.

        Parameters
        ----------
        table
            The counts of playouts, which act for the opponent together with her policy.
        until
            A time of :func:`time.monotonic` after which a time gets no more than it needs: there are fewer particles.
        """
        self._table = table
        for at, past in enumerate(self._times):
            missing = self._planning.particles - len(past.particles)
            if missing <= 0:
                continue
            if at == 0:
                found = self._alone(past.belief, missing)
            else:
                found = self._drawn(self._times[at - 1], past, missing, until)
            past.particles = _together(past.particles, found)

    def _alone(self, belief: Belief, count: int) -> Worlds:
        """Opponents who know the truth, of whom nothing is remembered."""
        self.alone += count
        states = belief.sample(count, int(self._rng.integers(1 << 40)))
        return self._model.alone(np.resize(states, (count, states.shape[1])), self._planning.most)

    def _drawn(self, before: _Time, now: _Time, count: int, until: float | None) -> Worlds:
        """So many particles, each of one of the time before."""
        found: list[Worlds] = []
        missing, failures = count, 0
        while missing and failures < self._planning.attempts:
            if until is not None and time.monotonic() >= until and len(now.particles) + count > missing:
                missing = 0
                break
            tried = min(max(missing, 16), _TRIED)
            worlds = before.particles.take(self._rng.integers(len(before.particles), size=tried))
            actions = self._actions(worlds, before.action, failures / self._planning.attempts)
            keys = self._rng.integers(1 << 63, size=tried).astype(np.uint64)
            self._model.advance(worlds, actions, keys, np.full((2, tried), self._planning.most))
            good = np.flatnonzero(now.belief.contains(worlds.states))[:missing]
            missing -= good.shape[0]
            failures = 0 if good.shape[0] else failures + tried
            if good.shape[0]:
                found.append(worlds.take(good))
        if missing:
            found.append(self._alone(now.belief, missing))
        together = found[0] if found else now.particles.take(np.zeros(0, dtype=np.int64))
        for more in found[1:]:
            together = _together(together, more)
        return together

    def _actions(self, worlds: Worlds, action: int | None, failed: float) -> Int32s:
        """What the opponent does in each world; ``failed``: the part of the attempts that are used up."""
        if action is not None:
            return np.full(len(worlds), action, dtype=np.int32)
        assert self._table is not None
        looks = self._model.look(worlds)
        if failed >= _ANYTHING:
            policy = np.repeat(1.0 / np.diff(looks.offsets), np.diff(looks.offsets))
        else:
            logits, _ = inferred(self._network, looks.synopses, self._headsets, np.ones(len(worlds), dtype=np.int8))
            policy = policies(logits, looks)
        bandit = replace(self._planning.bandit, virtual_loss=0)
        if failed >= _POLICY:
            bandit = replace(bandit, mixing=0.0)
        return self._table.choose(bandit, looks, policy, self._rng.random((len(worlds), 2))).actions


def _together(first: Worlds, second: Worlds) -> Worlds:
    def both(one: States, other: States) -> States:
        return np.concatenate([one, other])

    seats = [
        Sets(both(one.members, two.members), np.concatenate([one.counts, two.counts]), both(one.memories, two.memories))
        for one, two in zip(first.sets, second.sets, strict=True)
    ]
    return Worlds(both(first.states, second.states), (seats[0], seats[1]))
