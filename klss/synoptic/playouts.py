"""Choose an action by playouts: ChooseAction of the source.

A playout starts with a particle (a true state with the opponent's set there) and a random cut of the planner's belief.
In each step the player that acts chooses by its bandit, from its set alone; the network gives the value of the set.
``batch`` playouts go step by step together, so that the network gets their sets in one batch.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from klss.support.arrays import Bools, Floats, Int8s, Int32s, Ints, Keys, Words
from klss.support.threads import share
from klss.synoptic.bandit import Root, Table, policies
from klss.synoptic.model import CHUNK, Belief, Looks, Model, Network, Worlds
from klss.synoptic.planning import Planning
from klss.theory.movers import TERMINAL

_LEAST = 4
"""Playouts of the first batches; a later batch has one playout for this many finished ones."""


@dataclass(frozen=True)
class Planned:
    """The result of planning."""

    action: int
    looks: Looks  # the choices at the root, of one set: the first cut
    root: Root  # their counts
    value: float  # mean value of the choice, for the planner; the network's if there was no playout
    nodes: int  # sets that the network evaluated, or that were surely decided
    playouts: int


def _rooted(model: Model, belief: Belief, states: Words, most: int, seeds: Ints) -> Worlds:
    """Return worlds of these states, in each of which the planner's set is a random cut of ``belief``, and the opponent
    knows the truth. ``seeds`` (int64[n]) are those of the cuts.
    """
    worlds = model.alone(states, most)
    mine = worlds.sets[0]
    mine.memories[:] = belief.memory()
    own = belief.member(states)
    for i, seed in enumerate(seeds.tolist()):
        # The true state must be a member of its own set.
        drawn = belief.members(most, seed)
        if belief.size > most and not (drawn == own[i]).all(axis=1).any():
            drawn[0] = own[i]
        mine.members[i, : drawn.shape[0]] = drawn
        mine.counts[i] = drawn.shape[0]
    return worlds


def _root_looks(model: Model, belief: Belief, planning: Planning, seed: int) -> Looks:
    """Return the cuts of the belief at which the planner chooses: one if the belief is no larger than a cut, otherwise
    ``planning.cuts``.
    """
    count = 1 if belief.size <= planning.max_members else planning.cuts
    seeds = np.arange(seed, seed + count)
    states = np.concatenate([belief.sample(1, one) for one in seeds.tolist()])
    return model.look(_rooted(model, belief, states, planning.max_members, seeds))


def _root_policy(network: Network, looks: Looks) -> tuple[Looks, Floats, float]:
    """Return the choices at the root, which are the first cut's; their policy, the mean over all cuts; the mean value.

    Actions that are one choice in the first cut need not be one in others: there their probabilities are summed.
    """
    logits, values = network.infer(looks.synopses)
    first = slice(0, int(looks.offsets[1]))
    actions = looks.actions[first]
    listing = looks.listing[: first.stop + 1]
    alike = looks.alike[: int(listing[-1])]
    looked = Looks(looks.synopses[:1], looks.keys[:1], looks.offsets[:2], actions, listing, alike, looks.forced[:1])
    # The policies of all cuts over the first cut's choices.
    each = [policies(logits[i : i + 1], looked) for i in range(logits.shape[0])]
    return looked, np.mean(each, axis=0), float(values.mean())


class _Batch:
    """Playouts that go on together."""

    def __init__(self, worlds: Worlds, choices: Ints, depth: int) -> None:
        count = len(worlds)
        self.worlds, self.depth = worlds, depth
        self.choices = choices  # at the root
        self.alive: Ints = np.arange(count)  # playouts that are not finished
        # For each playout's actions after the root's: the tag, the seat, and whether the virtual loss still counts.
        self.marks: Words = np.zeros((count, depth), dtype=np.uint64)
        self.seats: Int8s = np.zeros((count, depth), dtype=np.int8)
        self.fresh = np.ones((count, depth), dtype=bool)


def choose_action(
    model: Model,
    network: Network,
    planning: Planning,
    belief: Belief,  # all states that the planner, which acts, holds possible
    particles: Worlds,  # their true states are in ``belief``, their sets those that the opponent may hold possible
    table: Table,  # counts by (set, action) under the root; updated in place
    *,
    depth: int,  # number of actions of a playout
    seed: int,  # of all random draws
    nodes: int | None = None,
    until: float | None = None,
    threads: int = 1,  # most, among which a batch is divided; the answer is the same
) -> Planned:
    """Choose the planner's action. Stops after the batch that reaches ``nodes``, or at ``until``, a time of
    :func:`time.monotonic`; one is needed. With 0 nodes, the policy's likeliest action.
    """
    if nodes is None and until is None:
        raise ValueError("bad limit: got none, expected nodes or a time")
    # The root: the choices at the planner's belief, and the network's policy and value there.
    rng = np.random.default_rng(seed)
    looks = _root_looks(model, belief, planning, int(rng.integers(1 << 40)))
    looked, policy, first_value = _root_policy(network, looks)
    if planning.noise:
        policy = (1.0 - planning.noise) * policy + planning.noise * rng.dirichlet(np.ones(policy.shape[0]))
    root = Root(policy, first_value)
    counted = playouts = 0

    def late() -> bool:
        return until is not None and time.monotonic() >= until

    # With a single choice there is nothing to plan.
    while policy.shape[0] > 1 and (nodes is None or counted < nodes) and not late():
        # Playouts of one batch do not use each other's values, so the first batches are small and later ones larger.
        size = min(planning.batch, max(_LEAST, playouts // _LEAST))
        if nodes is not None:
            size = max(1, min(size, (nodes - counted) // depth))
        # A batch begins at the root, each playout with a particle, a cut of the planner's belief, and a choice.
        drawn, seeds = rng.integers(len(particles), size=size), rng.integers(1 << 40, size=size)
        rng.random(size)  # unused: without these draws a seed would give other games than those on record
        worlds = _rooted(model, belief, particles.states[drawn], planning.max_members, seeds)
        worlds = Worlds(worlds.states, (worlds.sets[0], particles.sets[1].take(drawn)))
        batch = _Batch(worlds, root.choose(planning.gain, size), depth)
        # Step all of them together until each has ended.
        actions: Int32s = looked.actions[batch.choices]
        step = 0
        while batch.alive.shape[0]:
            steps = _stepped(model, network, planning.max_members, batch, actions, rng, threads)
            counted += batch.alive.shape[0]
            actions = _backed_up(steps, batch, root, table, planning, rng, step)
            step += 1
            if late():
                break
        # If the time ran out, remove the virtual losses that are left.
        for at in batch.alive.tolist():
            table.back_up(batch.marks[at, :step], batch.seats[at, :step], batch.fresh[at, :step], 0.0, 0, 0)
        playouts += size
    # The answer is the best choice by the improved policy.
    best = int(root.order(planning.gain)[0])
    value = float(root.means[best]) if root.numbers[best] > 0 else first_value
    return Planned(int(looked.actions[best]), looked, root, value, counted, playouts)


@dataclass(frozen=True)
class _Steps:
    """The results of a step of n playouts, and the g sets of those that are not over."""

    values: Floats  # [n]: the result, a sure win or loss, or the network's value
    seats: Int8s  # [n], the seat for which it is
    goes_on: Bools  # [n], whether the playout is neither over nor decided
    looks: Looks | None  # the g sets; None if all are over
    policy: Floats  # [m], of their choices
    undecided: Bools  # [g]


def _stepped(
    model: Model, network: Network, most_members: int, batch: _Batch, actions: Int32s, rng: np.random.Generator,
    threads: int,
) -> list[_Steps]:  # fmt: skip
    """Advance every unfinished playout by its action, and evaluate the sets then. Playouts share nothing here, so
    each thread takes a part of them.
    """
    alive = batch.alive
    keys: Keys = rng.integers(1 << 63, size=(alive.shape[0],), dtype=np.uint64)
    most = np.full((2, alive.shape[0]), most_members)

    def part(begin: int, end: int) -> _Steps:
        # Advance the true states and both sets.
        worlds = batch.worlds.take(alive[begin:end])
        model.advance(worlds, actions[begin:end], keys[begin:end], most[:, begin:end])
        batch.worlds.put(alive[begin:end], worlds)
        # The playouts that go on, and the network's output for the set of the player that acts then.
        acting = model.acting(worlds.states)
        values = model.results(worlds.states)
        goes_on = acting != TERMINAL
        seats = np.where(goes_on, acting, 0)
        if not goes_on.any():
            return _Steps(values, seats, goes_on, None, np.zeros(0), goes_on[:0])
        looks = model.look(worlds if goes_on.all() else worlds.take(np.flatnonzero(goes_on)))
        # The network's output for a decided set is not used, so do not compute it.
        undecided = looks.forced == 0
        logits = np.zeros((undecided.shape[0], model.action_count), dtype=np.float32)
        worth = looks.forced.astype(np.float32)
        if undecided.any():
            logits[undecided], worth[undecided] = network.infer(looks.synopses[undecided])
        values[goes_on] = worth
        goes_on[goes_on] = undecided
        return _Steps(values, seats, goes_on, looks, policies(logits, looks), undecided)

    # Do not divide a chunk of the network: half a chunk takes as long as a whole one.
    size = -(-alive.shape[0] // (threads * CHUNK)) * CHUNK
    starts = range(0, alive.shape[0], size)
    steps: dict[int, _Steps] = {}

    def step(piece: int) -> None:
        steps[piece] = part(starts[piece], min(starts[piece] + size, alive.shape[0]))

    share(step, len(starts), threads)
    return [steps[piece] for piece in range(len(starts))]


def _backed_up(
    parts: list[_Steps], batch: _Batch, root: Root, table: Table, planning: Planning, rng: np.random.Generator,
    step: int,
) -> Int32s:  # fmt: skip
    """Back the values up, and choose the next actions of the playouts that go on: return these (int32[n]). ``step`` is
    the number of actions taken after the root's.
    """
    alive = batch.alive
    values = np.concatenate([part.values for part in parts])
    seats = np.concatenate([part.seats for part in parts])
    goes_on = np.concatenate([part.goes_on for part in parts])
    # A decided playout counts once for every step that is left, so that an immediate win weighs as much as a long line.
    times = np.where(goes_on, 1, batch.depth - step)
    # Add the value to the choice at the root, which has counts of its own, and to all actions since.
    for at, value, seat, often in zip(alive.tolist(), values.tolist(), seats.tolist(), times.tolist(), strict=True):
        root.add(int(batch.choices[at]), value if seat == 0 else -value, often, fresh=step == 0)
        if step:
            table.back_up(batch.marks[at, :step], batch.seats[at, :step], batch.fresh[at, :step], value, seat, often)
    # Those that go on choose.
    batch.alive = alive[goes_on & (step + 1 < batch.depth)]
    if not batch.alive.shape[0]:
        return np.zeros(0, dtype=np.int32)
    found = []
    for part in parts:
        if part.looks is not None:
            draws = rng.random((np.count_nonzero(part.undecided), 2))
            found.append(table.choose(planning, part.looks, part.policy, part.undecided, draws))
    actions, marks = zip(*found, strict=True)
    batch.marks[batch.alive, step] = np.concatenate(marks)
    batch.seats[batch.alive, step] = seats[goes_on]
    return np.concatenate(actions)
