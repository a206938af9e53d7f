"""Nested k-KLSS in the paper's three ways: every infoset joined, allocated deviations, and updating the blueprint.

Source: Zhang & Sandholm (NeurIPS 2021), Theorems 4, 5 and 9, §7 (Table 1) and the second and third algorithm of Appendix E.

What each way guarantees, and no more: :func:`update_blueprint` never raises exploitability (Theorem 4, every odd k); :func:`allocated` keeps an
epsilon-equilibrium one (Theorem 5, k = 1); :func:`every_infoset` makes an affine equilibrium of an exact equilibrium (Theorem 9, k = 1 and inf), and is otherwise
a measurement.

Deviations: infosets that the strategy found so far does not enter are not solved and keep the blueprint's behaviour. Where the blueprint has a floor, a
subgame keeps it at every infoset but its own I, as in §7. Theorem 5's random choice of independent sets is made by colours: within each component of player
0's infosets that share infosets of player 1, a greedy colouring with c colours, of which one is drawn uniformly, so p(I | parent) = 1/c <= 1/chi.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from klss._kernels import tree as kernels
from klss.errors import GameError
from klss.game import Game
from klss.selection import Rule, select
from klss.sequence_form import behaviour, realization
from klss.subgame import Subgame, Values, counterfactual_values, make_subgame

__all__ = ["Blueprint", "Nested", "Step", "allocated", "every_infoset", "infoset_colours", "solve_at", "update_blueprint"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# Actions played less often than this are the slack of the second program, not intention: they are dropped. Entering them would divide by them.
_INTENDED = 1e-6
_ENTERED = 1e-9


@dataclass(frozen=True, eq=False)
class Blueprint:
    """What nested solving starts from.

    Attributes
    ----------
    x : float64[S0]
        Player 0's strategy, a realization plan.
    y : float64[S1]
        Player 1's strategy in the same equilibrium: the opponent whom :mod:`klss.selection` has in mind.
    floor : float64[S0] or None
        The least behaviour probabilities that the blueprint was held to.
    """

    x: Floats
    y: Floats
    floor: Floats | None = None


@dataclass(frozen=True, eq=False)
class Step:
    """One solved subgame: the infoset (of the full game), the least margin, player 0's full-game sequences in it, and its behaviour there."""

    infoset: int
    margin: float
    sequences: Ints
    behaviour: Floats


@dataclass(frozen=True, eq=False)
class Nested:
    """The joined strategy float64[S0] and the number of subgames that were solved."""

    plan: Floats
    subgames: int


@dataclass(frozen=True, eq=False)
class _Frame:
    """A game in which subgames are made, with its infosets and sequences traced back to the full game."""

    game: Game
    values: Values
    sequence: Ints  # full-game sequence of each of player 0's
    infoset: tuple[Ints, Ints]  # full-game infoset of each, -1 for a gadget's own
    scale: Floats  # per infoset of player 1: what payoffs below are divided by


def every_infoset(
    game: Game, blueprint: Blueprint, *, order: float = 1, rule: Rule = "response", on_step: Callable[[int], None] | None = None
) -> Nested:
    """Solve a subgame at every infoset of player 0, top down, each from its parent's subgame, and join what is played there (Table 1).

    Parameters
    ----------
    game : Game
    blueprint : Blueprint
    order : int or inf
        k, odd.
    rule : Rule
        The choice among a gadget's optima.
    on_step : callable, optional
        Called with the number of subgames solved so far.

    Returns
    -------
    Nested
    """
    joined = behaviour(game.treeplex(0), blueprint.x)
    count = 0
    for step, own in _steps(game, blueprint, order, rule):
        joined[step.sequences[own]] = step.behaviour[own]
        count += 1
        if on_step is not None:
            on_step(count)
    return Nested(realization(game.treeplex(0), joined), count)


def allocated(game: Game, blueprint: Blueprint, *, rule: Rule = "response", on_step: Callable[[int], None] | None = None) -> Nested:
    """1-KLSS at infosets of random independent sets closed under ancestors, the blueprint elsewhere: the mixture over the sets (Theorem 5)."""
    t = game.treeplex(0)
    colours = infoset_colours(game)
    base = behaviour(t, blueprint.x)
    turn = game.observations[0].treeplex_infoset
    # running[s]: probability of sequence s while every infoset on the way was in the set; resting[s]: after the first that was not.
    running, resting = np.zeros(t.sequence_count), np.zeros(t.sequence_count)
    running[0] = 1.0
    solved = {}
    for step, own in _steps(game, blueprint, 1, rule):
        solved[int(turn[step.infoset])] = step.behaviour[own]
        if on_step is not None:
            on_step(len(solved))
    for i in range(t.infoset_count):
        here = slice(t.first_sequence[i], t.first_sequence[i] + t.action_count[i])
        above = t.parent_sequence[i]
        share = 1.0 / colours[i] if i in solved else 0.0
        resting[here] = base[here] * (resting[above] + (1.0 - share) * running[above])
        if share:
            running[here] = solved[i] * share * running[above]
    return Nested(running + resting, len(solved))


def update_blueprint(
    game: Game, blueprint: Blueprint, *, order: float = 1, rule: Rule = "response", on_step: Callable[[int], None] | None = None
) -> Iterator[Floats]:
    """The sequence of blueprints, one after each subgame, that incorporating every solution at once gives (Theorem 4).

    Visits every infoset of player 0 once, top down; the solution overrides the blueprint in all of the subgame, as the theorem states it (line 14 of the
    paper's algorithm overrides below I only).

    Yields
    ------
    float64[S0]
        A realization plan; its exploitability is never above the one before.
    """
    t, o = game.treeplex(0), game.observations[0]
    current = behaviour(t, blueprint.x)
    plan = blueprint.x
    for i in range(t.infoset_count):
        if plan[t.parent_sequence[i]] <= _ENTERED:
            continue
        values = counterfactual_values(game, plan)
        frame = _full_frame(game, values)
        infoset = int(o.turn_infosets[i])
        try:
            subgame = make_subgame(game, values, infoset, order)
        except GameError:
            continue  # chance never goes there
        _, step, _, _ = _solve(game, frame, subgame, blueprint, rule)
        current[step.sequences] = step.behaviour
        plan = realization(t, current)
        if on_step is not None:
            on_step(i)
        yield plan


def solve_at(
    game: Game, blueprint: Blueprint, infoset: int, *, order: float = 1, rule: Rule = "response"
) -> tuple[Subgame, Step]:
    """One subgame of the full game, at player 0's ``infoset``, and its solution."""
    values = counterfactual_values(game, blueprint.x)
    subgame = make_subgame(game, values, infoset, order)
    _, step, _, _ = _solve(game, _full_frame(game, values), subgame, blueprint, rule)
    return subgame, step


def infoset_colours(game: Game) -> Ints:
    """int64[I]: how many colours the component of each of player 0's infosets took; infosets of one colour share no infoset of player 1."""
    t, o = game.treeplex(0), game.observations[0]
    neighbours: list[set[int]] = [set() for _ in range(t.infoset_count)]
    mine = o.treeplex_infoset
    start, nodes = game.members(1)
    for j in range(start.size - 1):
        here = game.infoset[0][nodes[start[j] : start[j + 1]]]
        group = np.unique(mine[here[here >= 0]])
        members = group[group >= 0].tolist()
        for i in members:
            neighbours[i].update(members)
    colour = np.full(t.infoset_count, -1, np.int64)
    counts = np.ones(t.infoset_count, np.int64)
    for seed in range(t.infoset_count):
        if colour[seed] >= 0:
            continue
        component, queue = [], [seed]
        colour[seed] = 0
        while queue:
            i = queue.pop()
            component.append(i)
            taken = {int(colour[j]) for j in neighbours[i] if j != i and colour[j] >= 0}
            colour[i] = next(c for c in range(len(taken) + 1) if c not in taken)
            for j in neighbours[i]:
                if colour[j] < 0 and j not in queue:
                    queue.append(j)
        counts[component] = 1 + colour[component].max()
    return counts


def _opponent_weights(game: Game, subgame: Subgame, infoset: Ints, roots: Ints, root_scale: Floats, scale: Floats, y: Floats) -> Floats:
    """float64[S1 of the gadget]: player 1's full-game plan ``y`` in the gadget, times what its payoffs were divided by, normalised to 1 over the I0."""
    o, inner = game.observations[1], subgame.game.observations[1]
    t = inner.treeplex
    weights = np.zeros(t.sequence_count)
    entering = root_scale * y[o.sequence_of_point[o.parent_point[roots]]]
    total = entering.sum()
    if total <= 0.0:
        return weights
    weights[subgame.root_sequences] = entering / total
    turn = inner.turn_infosets[1:]
    first = game.treeplex(1).first_sequence[o.treeplex_infoset[infoset[turn]]]
    count = inner.action_count[turn]
    position = 1 + subgame.roots.size + np.arange(int(count.sum()))
    source = np.repeat(first - t.first_sequence[1:], count) + position
    weights[position] = np.repeat(scale[turn], count) * y[source] / total
    return weights


def _full_frame(game: Game, values: Values) -> _Frame:
    mine, theirs = game.observations
    return _Frame(
        game,
        values,
        np.arange(game.treeplex(0).sequence_count),
        (np.arange(mine.infoset_count), np.arange(theirs.infoset_count)),
        np.ones(theirs.infoset_count),
    )


def _steps(game: Game, blueprint: Blueprint, order: float, rule: Rule) -> Iterator[tuple[Step, slice]]:
    """Every subgame from the root down, depth first; with the range of I's own sequences in it."""
    stack: list[tuple[_Frame, int]] = []

    def push(frame: _Frame, parents: Ints) -> None:
        t = frame.game.treeplex(0)
        after = np.flatnonzero(np.isin(t.parent_sequence, parents) & (frame.values.plan[t.parent_sequence] > _ENTERED))
        stack.extend((frame, int(j)) for j in frame.game.observations[0].turn_infosets[after][::-1])

    push(_full_frame(game, counterfactual_values(game, blueprint.x)), np.array([0]))
    while stack:
        frame, infoset = stack.pop()
        subgame = make_subgame(frame.game, frame.values, infoset, order)
        below, step, own, plan = _solve(game, frame, subgame, blueprint, rule)
        yield step, own
        sequences = np.arange(own.start, own.stop)
        if np.isin(subgame.game.treeplex(0).parent_sequence, sequences).any():
            values = counterfactual_values(subgame.game, plan)
            push(_Frame(subgame.game, values, below.sequence, below.infoset, below.scale), sequences)


def _solve(
    game: Game, frame: _Frame, subgame: Subgame, blueprint: Blueprint, rule: Rule
) -> tuple[_Frame, Step, slice, Floats]:
    """Solve one subgame under the floor; trace its parts back to the full game."""
    inner = subgame.game
    mine, theirs = inner.observations
    t = inner.treeplex(0)
    source = subgame.source_sequences(frame.game)
    sequence = frame.sequence[source]
    infoset = tuple(np.where(subgame.origin[i] >= 0, frame.infoset[i][subgame.origin[i]], -1) for i in (0, 1))
    # Which I0 each of player 1's infosets lies below, and what its payoffs were divided by on the way.
    root = np.where(theirs.parent_infoset == 0, theirs.parent_point - 1, -1)
    owner = np.empty(theirs.infoset_count, np.int64)
    kernels.owners(theirs.parent_infoset, root, owner)
    root_scale = subgame.scale * frame.scale[subgame.roots]
    scale = np.where(owner >= 0, root_scale[owner], 1.0)
    local = mine.treeplex_infoset[subgame.infoset]
    own = slice(int(t.first_sequence[local]), int(t.first_sequence[local] + t.action_count[local]))
    floor = None
    if blueprint.floor is not None:
        floor = blueprint.floor[sequence].copy()
        floor[0] = 0.0
        floor[own] = 0.0
    chosen = select(
        subgame,
        rule,
        blueprint=behaviour(frame.game.treeplex(0), frame.values.plan)[source],
        opponent=_opponent_weights(
            game, subgame, infoset[1], frame.infoset[1][subgame.roots], root_scale, scale, blueprint.y
        ),
        floor=floor,
    )
    weights = behaviour(t, chosen.plan)
    weights = behaviour(t, np.where(weights < _INTENDED, 0.0, weights), weights)
    step = Step(int(infoset[0][subgame.infoset]), chosen.margin, sequence, weights)
    return _Frame(inner, frame.values, sequence, (infoset[0], infoset[1]), scale), step, own, realization(t, weights)
