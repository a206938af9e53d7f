"""A planner in one game: its belief, the opponent's possible sets, and the playouts' counts from question to question.

Source: Clark (2021), PlayGame and DrawSample, a second-order particle filter. For every remembered time the planner
keeps all states that it held possible (a :class:`~klss.synoptic.model.Belief`) and *particles*: worlds, that is, a true
state with the set of states that the opponent holds possible there. A new observation also rules out states of earlier
times. Particles whose state is ruled out are dropped, and new ones are drawn, at the oldest time that lacks some first.

Deviations: a particle has its true state, and its set follows the observations made there (slips 1, 2 and 7 of
:mod:`klss.synoptic`); the source's condition that a particle meets the set means here that its state is possible.
DrawSample makes up to k attempts; here all choices of all particles are tried, and one is drawn among those that lead
to a possible state, which is the limit of infinitely many attempts. If the bandit takes none of those, the policy
decides; if the policy takes none either, all of them are equally likely. Times further back than :data:`_REMEMBERED`
are forgotten. Looking back ends where the belief is too large for it (:meth:`~klss.synoptic.model.Belief.before`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

import numpy as np

from klss.support.arrays import Float32s, Floats
from klss.synoptic.bandit import Table, policies
from klss.synoptic.model import Belief, Looks, Model, Network, Worlds
from klss.synoptic.planning import Planning
from klss.synoptic.playouts import Planned, choose_action

_TOGETHER = 64
"""Particles that are advanced together, between two checks of the clock."""

_REMEMBERED, _MOST_STATES = 32, 8_000_000
"""Most times that are kept, and most states of all their beliefs together."""

_REFILLED = 8
"""Number of latest times at which particles are drawn anew (two turns of both players); earlier ones are left as is."""


_FILLING = 0.3
"""Fraction of a question's time for drawing particles."""

B = TypeVar("B", bound=Belief)


@dataclass
class _Time:
    """The belief and the particles before an action."""

    belief: Belief
    particles: Worlds  # fewer than the planner wants, until they are drawn
    action: int | None = None  # the action that follows, if it is the planner's; None: the opponent's


class Planner(Generic[B]):
    """See the module. ``B`` is the game's :class:`~klss.synoptic.model.Belief`."""

    def __init__(
        self,
        model: Model,
        network: Network,
        planning: Planning,
        belief: B,  # at the beginning; the opponent is assumed to know the truth then
        *,
        seed: int,  # of all random draws
        threads: int = 1,  # most, of playouts; the answer is the same
    ) -> None:
        self._model = model
        self._network = network
        self._planning = planning
        self._seed = seed
        self._threads = threads
        self._rng = np.random.default_rng(seed)
        self._table = Table()
        # The network's logits of the particles' choices, by set, the latest used last: the same sets are looked at
        # again for every question, and the network would take most of its time.
        self._logits: dict[tuple[int, bytes], Float32s] = {}
        self._times = [_Time(belief, self._alone(belief, planning.particles))]

    @property
    def particles(self) -> Worlds:
        """Worlds of the present time; call :meth:`fill` first."""
        return self._times[-1].particles

    @property
    def belief(self) -> B:
        """The present belief."""
        return cast(B, self._times[-1].belief)

    def happened(self, action: int | None, belief: B) -> None:
        """Take in that an ``action`` of the planner was taken (None: one of the opponent, which is unknown), after
        which the planner's belief is ``belief``.
        """
        # A new time; its particles are drawn when they are needed.
        self._times[-1].action = action
        empty = self._times[-1].particles.take(np.zeros(0, dtype=np.int64))
        self._times.append(_Time(belief, empty))
        # Backwards in time: a state without a successor that is possible now was not possible then.
        later: Belief = belief
        for past in reversed(self._times[:-1]):
            kept = past.belief.before(later)
            if kept is None:
                break
            past.belief = later = kept
            past.particles = past.particles.take(np.flatnonzero(kept.contains(past.particles.states)))
        # Forget the oldest times.
        while len(self._times) > 2 and (
            len(self._times) > _REMEMBERED or sum(past.belief.size for past in self._times) > _MOST_STATES
        ):
            del self._times[0]

    def fill(self, until: float | None = None) -> None:
        """Draw the missing particles, those of the oldest time first. After ``until``, of :func:`time.monotonic`, each
        time gets only one batch: there are fewer particles then.
        """
        if len(self.particles) >= self._planning.particles:
            return
        for at in range(max(0, len(self._times) - _REFILLED), len(self._times)):
            past = self._times[at]
            missing = self._planning.particles - len(past.particles)
            if missing <= 0:
                continue
            if at == 0 or not len(self._times[at - 1].particles):
                found = self._alone(past.belief, missing)
            else:
                found = self._drawn(self._times[at - 1], past, missing, until)
            past.particles = Worlds.joined([past.particles, found])

    def plan(self, depth: int, number: int, *, nodes: int | None, seconds: float | None, began: float) -> Planned:
        """Plan by playouts of ``depth`` actions; with 0 nodes, by the network's policy alone. The question's ``number``
        is for a seed of its own; seconds count from ``began``, a time of :func:`time.monotonic`.
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
            seed=(self._seed * 1_000_003 + number) & 0x7FFF_FFFF_FFFF_FFFF,
            nodes=nodes,
            until=None if seconds is None else began + seconds,
            threads=self._threads,
        )

    def _alone(self, belief: Belief, count: int) -> Worlds:
        """Draw worlds with an opponent that knows the truth, for a time before which nothing is known."""
        states = belief.sample(count, int(self._rng.integers(1 << 40)))
        return self._model.alone(np.resize(states, (count, states.shape[1])), self._planning.max_members)

    def _drawn(self, before: _Time, now: _Time, count: int, until: float | None) -> Worlds:
        """Draw ``count`` particles, each from one of the time before by an action that leads to a possible state."""
        # All choices of all particles (the planner's own action is known), with the opponent's probabilities.
        states = before.particles.states
        if before.action is not None:
            sources = np.arange(len(before.particles))
            actions = np.full(sources.shape[0], before.action, dtype=np.int32)
            shares = [np.ones(sources.shape[0])]
        else:
            looks = self._model.look(before.particles)
            sizes = np.diff(looks.offsets)
            sources, actions = np.repeat(np.arange(sizes.shape[0]), sizes), looks.actions
            shares = self._shares(looks)
        # Keep those that lead to a possible state, weighted by the first of the shares that is positive for any.
        keys = self._rng.integers(1 << 63, size=(sources.shape[0],), dtype=np.uint64)
        possible = now.belief.contains(self._model.after(states[sources], actions, keys))
        weights = next((share for share in shares if (share * possible).sum() > 0.0), None)
        if weights is None:
            return self._alone(now.belief, count)
        # Draw in batches, and advance their worlds, until the time is over.
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

    def _shares(self, looks: Looks) -> list[Floats]:
        """Return the opponent's probability of each choice at each set (float64[m], a sum of 1 for each set): by the
        bandit, by the policy alone, and uniform.
        """
        policy = policies(self._remembered(looks), looks)
        sizes = np.diff(looks.offsets)
        even = np.repeat(1.0 / np.maximum(sizes, 1), sizes)  # a repaired sample may have states without a choice
        return [self._table.shares(self._planning, looks, policy), policy, even]

    def _remembered(self, looks: Looks) -> Float32s:
        """Return the network's logits as :meth:`~klss.synoptic.model.Network.infer` does, 0 for what is no choice. Only
        sets that were not looked at lately are computed.
        """
        names = [*zip(looks.keys.tolist(), (synopsis.tobytes() for synopsis in looks.synopses), strict=True)]
        logits = np.zeros((len(names), self._model.action_count), dtype=np.float32)
        new = {name: at for at, name in enumerate(names) if name not in self._logits}
        if new:
            rows = [*new.values()]
            logits[rows], _ = self._network.infer(looks.synopses[rows])
        ends = looks.listing[looks.offsets]
        for at, name in enumerate(names):
            choices = looks.alike[ends[at] : ends[at + 1]]
            known = logits[new[name], choices] if name in new else self._logits.pop(name)
            logits[at, choices] = self._logits[name] = known
        for name in [*self._logits][: -_REFILLED * self._planning.particles]:
            del self._logits[name]
        return logits
