"""Nested subgames in three ways: every infoset joined, allocated deviations, and updating the blueprint; by any method
and gadget of :mod:`klss.methods`.

Source: Zhang & Sandholm (NeurIPS 2021), Theorems 4, 5 and 9, §7 (Table 1) and the second and third algorithm of
Appendix E.

What each way guarantees without reach, and no more: :func:`update_blueprint` never raises exploitability (Theorem 4,
k-KLSS of every odd k); :func:`allocated` keeps an epsilon-equilibrium one (Theorem 5, 1-KLSS); :func:`every_infoset`

- with ``safe-1-klss`` never raises exploitability;
- with ``inf-klss`` and ``inf-kluss`` neither, in games in which I^inf never holds two infosets of player 0 one of which
  comes after the other (it is then the same subgame for all of its infosets);
- with ``1-klss`` makes an affine equilibrium of an exact equilibrium (Theorem 9);
- otherwise is a measurement.

Why ``safe-1-klss`` is safe: let V(J) be player 1's best-response value at an infoset J against the blueprint, and
u(y|J) what its strategy y gets there. A subgame at I whose margins are not negative gives y no more than
w (u(y|J) - V(J)) beyond the blueprint, where J is the I0 that y comes through and w the share of I. What y leaves at
J, u(y|J) - V(J), is at least the sum of what it leaves at infosets after J that do not come after each other. So by the
shares all subgames together give y no more than u(y|J) - V(J), and V(J) does not fall, at the topmost J as at
any other. The same holds of the subgames inside a subgame, which is a game of its own.

Deviations: infosets that the strategy found so far does not enter are not solved and keep the blueprint's behaviour.
Where the blueprint has a floor, a subgame keeps it at every infoset but its own I, as in §7. Theorem 5's random choice
of independent sets is made by colours: in each component of the graph of :func:`infoset_colours` one of its c colours
is drawn uniformly, so p(I) <= 1/c <= 1/chi; an infoset is in the set when its colour and all its ancestors' are drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from klss import methods
from klss.best_response import best_response
from klss.errors import GameError
from klss.gadgets import Opponents
from klss.game import Game
from klss.methods import GadgetChoice, Method
from klss.selection import select
from klss.sequence_form import sequence_form
from klss.subgame import Subgame, Values, counterfactual_values, make_subgame, shares
from klss.support.arrays import Floats, Ints
from klss.treeplex import behaviour, realization, uniform_behaviour

__all__ = [
    "Blueprint",
    "Nested",
    "Step",
    "allocated",
    "every_infoset",
    "infoset_colours",
    "solve_at",
    "update_blueprint",
]


# Actions played less often than this are the rounding of the solver, not intention: they are dropped. Entering
# them would divide by them.
_INTENDED = 1e-6
_ENTERED = 1e-9


@dataclass(frozen=True, eq=False)
class Blueprint:
    """What nested solving starts from."""

    x: Floats  # float64[S0]: player 0's strategy, a realization plan
    floor: Floats | None = None  # float64[S0] or None: the least behaviour probabilities that the blueprint was held to
    # float64[S1] or None: the plan of player 1 that was found with it; one of the strategies of a limited opponent
    opponent: Floats | None = None


@dataclass(frozen=True, eq=False)
class Step:
    """One solved subgame: the infoset (of the full game), the least margin, player 0's full-game sequences in it, and
    its behaviour there.
    """

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
    """A game in which subgames are made, with player 0's infosets and sequences traced back to the full game."""

    game: Game
    values: Values
    sequence: Ints  # full-game sequence of each of player 0's
    infoset: Ints  # full-game infoset of each of player 0's, -1 for a gadget's own
    opponents: tuple[Floats, ...] = ()  # plans of a limited opponent


@dataclass(frozen=True)
class _Way:
    """How each subgame is made and solved."""

    method: Method
    gadget: GadgetChoice

    @classmethod
    def of(cls, method: str | Method, gadget: str | GadgetChoice) -> _Way:
        return cls(methods.method(method), methods.gadget(gadget))

    def subgame(self, frame: _Frame, infoset: int, share: Floats | None) -> Subgame:
        """The subgame at an infoset of the frame's game."""
        return make_subgame(
            frame.game,
            frame.values,
            infoset,
            self.method.order,
            outside=self.method.outside,
            share=share,
            reach=self.gadget.reach,
        )


def every_infoset(
    game: Game,
    blueprint: Blueprint,
    *,
    method: str | Method = "1-klss",
    gadget: str | GadgetChoice = "maxmargin",
    on_step: Callable[[int], None] | None = None,
) -> Nested:
    """Solve a subgame at every infoset of player 0, top down, each from its parent's subgame, and join what is played
    there (Table 1).

    Parameters
    ----------
    game : Game
    blueprint : Blueprint
    method, gadget : str
        Names of :mod:`klss.methods`.
    on_step : callable, optional
        Called with the number of subgames solved so far.

    Returns
    -------
    Nested
    """
    joined = behaviour(game.treeplex(0), blueprint.x)
    count = 0
    for step, own in _steps(game, blueprint, _Way.of(method, gadget)):
        joined[step.sequences[own]] = step.behaviour[own]
        count += 1
        if on_step is not None:
            on_step(count)
    return Nested(realization(game.treeplex(0), joined), count)


def allocated(
    game: Game,
    blueprint: Blueprint,
    *,
    gadget: str | GadgetChoice = "maxmargin",
    on_step: Callable[[int], None] | None = None,
) -> Nested:
    """1-KLSS at infosets of random independent sets closed under ancestors: the mixture over the sets (Theorem 5).

    Outside the set the strategy at hand is played to the end: the last subgame's solution, or the blueprint (third
    algorithm of Appendix E).
    """
    t = game.treeplex(0)
    component, colour, count = infoset_colours(game)
    base = behaviour(t, blueprint.x)
    turn = game.observations[0].treeplex_infoset
    children: list[list[int]] = [[] for _ in range(t.sequence_count)]
    for i, above in enumerate(t.parent_sequence.tolist()):
        children[above].append(i)
    # running[s]: probability of s while every infoset on the way was in the set; resting[s]: after the first that was
    # not.
    running, resting = np.zeros(t.sequence_count), np.zeros(t.sequence_count)
    running[0] = resting[0] = 1.0
    drawn: dict[int, dict[int, int]] = {}
    share: dict[int, float] = {}

    def branch(sequence: int, before: dict[int, int], current: Floats) -> None:
        """Draw at the infosets after ``sequence``; where one is not in the set, the strategy ``current`` is played to
        the end.
        """
        for i in children[sequence]:
            c = int(component[i])
            # A component's colour is drawn once: the same colour again costs nothing, another one can't be.
            share[i] = 1.0 / count[c] if c not in before else float(before[c] == colour[i])
            drawn[i] = {**before, c: int(colour[i])}
            stack = [(i, (1.0 - share[i]) * running[sequence])]
            while stack:
                k, mass = stack.pop()
                if mass > 0.0:
                    for s in range(int(t.first_sequence[k]), int(t.first_sequence[k] + t.action_count[k])):
                        resting[s] += mass * current[s]
                        stack.extend((below, mass * current[s]) for below in children[s])

    # Top down: what a subgame chose at its infoset is played in the share of cases in which that infoset was drawn.
    branch(0, {}, base)
    solved = 0
    for step, own in _steps(game, blueprint, _Way.of("1-klss", gadget)):
        i = int(turn[step.infoset])
        sequences = step.sequences[own]
        running[sequences] = step.behaviour[own] * share[i] * running[int(t.parent_sequence[i])]
        current = base.copy()
        current[step.sequences] = step.behaviour
        for s in sequences.tolist():
            branch(s, drawn[i], current)
        solved += 1
        if on_step is not None:
            on_step(solved)
    resting[0] = 0.0
    return Nested(running + resting, solved)


def update_blueprint(
    game: Game,
    blueprint: Blueprint,
    *,
    method: str | Method = "1-klss",
    gadget: str | GadgetChoice = "maxmargin",
    on_step: Callable[[int], None] | None = None,
) -> Iterator[Floats]:
    """The sequence of blueprints, one after each subgame, that incorporating every solution at once gives (Theorem 4).

    Visits every infoset of player 0 once, top down; the solution overrides the blueprint in all of the subgame, as the
    theorem states it (line 14 of the paper's algorithm overrides below I only).

    Yields
    ------
    float64[S0]
        A realization plan; its exploitability is never above the one before.

    Raises
    ------
    GameError
        When the theorem does not hold for the method.
    """
    way = _Way.of(method, gadget)
    if not way.method.updates:
        raise GameError(f"method {way.method.name} can't update the blueprint: Theorem 4 needs k-klss or inf-kluss")
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
            subgame = way.subgame(frame, infoset, None)
        except GameError:
            continue  # chance never goes there
        _, step, _ = _solve(frame, subgame, blueprint, way.gadget)
        current[step.sequences] = step.behaviour
        plan = realization(t, current)
        if on_step is not None:
            on_step(i)
        yield plan


def solve_at(game: Game, blueprint: Blueprint, infoset: int) -> tuple[Subgame, Step]:
    """One 1-KLSS subgame of the full game, at player 0's ``infoset``, and its solution."""
    values = counterfactual_values(game, blueprint.x)
    subgame = make_subgame(game, values, infoset)
    _, step, _ = _solve(_full_frame(game, values), subgame, blueprint, methods.GADGETS["maxmargin"])
    return subgame, step


def infoset_colours(game: Game) -> tuple[Ints, Ints, Ints]:
    """A proper colouring of player 0's infosets, for independent sets.

    Two infosets are joined when the best-response value at one of player 1's infosets depends on what is played at
    both: they hold nodes of J and of J' >= J, and neither comes after the other. (The paper's G' joins those that share
    an infoset, waiting infosets of player 0 included; this is the same condition without the detour over the latter.)
    An infoset takes its parent's colour where it can.

    Returns
    -------
    component : int64[I], colour : int64[I], count : int64[components]
        ``count`` is the number of colours that each component took, at least its chromatic number.
    """
    t, mine, theirs = game.treeplex(0), game.observations[0], game.observations[1]
    size = t.infoset_count
    parent = np.where(t.parent_sequence > 0, t.infoset_of_sequence[t.parent_sequence], -1)
    line: list[frozenset[int]] = []
    for i in range(size):
        line.append(frozenset({i}) | (line[parent[i]] if parent[i] >= 0 else frozenset()))
    start, nodes = game.members(1)
    at: list[set[int]] = []
    for j in range(theirs.infoset_count):
        here = game.infoset[0][nodes[start[j] : start[j + 1]]]
        index = mine.treeplex_infoset[here[here >= 0]]
        at.append(set(index[index >= 0].tolist()))
    neighbours: list[set[int]] = [set() for _ in range(size)]
    for j in range(theirs.infoset_count):
        above = j
        while above >= 0:
            for i in at[above]:
                for k in at[j]:
                    if i not in line[k] and k not in line[i]:
                        neighbours[i].add(k)
                        neighbours[k].add(i)
            above = int(theirs.parent_infoset[above])
    colour, component = np.full(size, -1, np.int64), np.full(size, -1, np.int64)
    for i in range(size):
        taken = {int(colour[k]) for k in neighbours[i]}
        wish = int(colour[parent[i]]) if parent[i] >= 0 else 0
        colour[i] = wish if wish not in taken else next(c for c in range(len(taken) + 1) if c not in taken)
    counts: list[int] = []
    for seed in range(size):
        if component[seed] >= 0:
            continue
        component[seed] = len(counts)
        queue, found = [seed], 0
        while queue:
            i = queue.pop()
            found = max(found, int(colour[i]))
            for k in neighbours[i]:
                if component[k] < 0:
                    component[k] = len(counts)
                    queue.append(k)
        counts.append(1 + found)
    return component, colour, np.array(counts, np.int64)


def _full_frame(game: Game, values: Values, opponents: tuple[Floats, ...] = ()) -> _Frame:
    sequences, infosets = game.treeplex(0).sequence_count, game.observations[0].infoset_count
    return _Frame(game, values, np.arange(sequences), np.arange(infosets), opponents)


def _opponents(game: Game, blueprint: Blueprint) -> tuple[Floats, ...]:
    """Plans of a limited opponent: a best response to the blueprint, uniform play, the blueprint's own opponent where
    there is one, and the mean behaviour of each two.
    """
    t = game.treeplex(1)
    against = sequence_form(game).payoff_transposed @ blueprint.x
    pure = [behaviour(t, best_response(t, against, maximize=False).plan), uniform_behaviour(t)]
    if blueprint.opponent is not None:
        pure.append(behaviour(t, blueprint.opponent))
    mixed = [(one + other) / 2.0 for one, other in combinations(pure, 2)]
    return tuple(realization(t, each) for each in pure + mixed)


def _steps(game: Game, blueprint: Blueprint, way: _Way) -> Iterator[tuple[Step, slice]]:
    """Every subgame from the root down, depth first; with the range of I's own sequences in it."""
    stack: list[tuple[_Frame, int, Floats | None]] = []

    def push(frame: _Frame, parents: Ints) -> None:
        t = frame.game.treeplex(0)
        after = np.flatnonzero(np.isin(t.parent_sequence, parents) & (frame.values.plan[t.parent_sequence] > _ENTERED))
        infosets = frame.game.observations[0].turn_infosets[after]
        share = shares(frame.game, infosets) if way.method.shared else None
        stack.extend((frame, int(j), share) for j in infosets[::-1])

    values = counterfactual_values(game, blueprint.x)
    opponents = _opponents(game, blueprint) if way.method.limited else ()
    push(_full_frame(game, values, opponents), np.array([0]))
    while stack:
        frame, infoset, share = stack.pop()
        subgame = way.subgame(frame, infoset, share)
        below, step, own = _solve(frame, subgame, blueprint, way.gadget)
        yield step, own
        sequences = np.arange(own.start, own.stop)
        if np.isin(subgame.game.treeplex(0).parent_sequence, sequences).any():
            push(below, sequences)


def _solve(frame: _Frame, subgame: Subgame, blueprint: Blueprint, gadget: GadgetChoice) -> tuple[_Frame, Step, slice]:
    """Solve one subgame under the floor; trace its parts back to the full game."""
    inner = subgame.game
    mine = inner.observations[0]
    t = inner.treeplex(0)
    source = subgame.source_sequences(frame.game)
    sequence = frame.sequence[source]
    infoset = np.where(subgame.origin[0] >= 0, frame.infoset[subgame.origin[0]], -1)
    local = mine.treeplex_infoset[subgame.infoset]
    own = slice(int(t.first_sequence[local]), int(t.first_sequence[local] + t.action_count[local]))
    start = behaviour(frame.game.treeplex(0), frame.values.plan)[source]
    floor = None
    if blueprint.floor is not None:
        floor = blueprint.floor[sequence].copy()
        # Free are I and, for k > 1, the other infosets at the subgame's top: so that k = inf is one program for all of
        # them.
        tops = mine.parent_infoset[mine.turn_infosets] == 0
        floor[np.concatenate([[True], np.repeat(tops, t.action_count)])] = 0.0
        # Where an earlier subgame has already gone below the floor, the strategy at hand must stay allowed.
        floor = np.minimum(floor, start)
    opponents = _limited(frame, subgame) if frame.opponents else None
    chosen = select(subgame, blueprint=start, floor=floor, gadget=gadget, opponents=opponents)
    weights = behaviour(t, chosen.plan)
    weights = behaviour(t, np.where(weights < _INTENDED, 0.0, weights), weights)
    step = Step(int(infoset[subgame.infoset]), chosen.margin, sequence, weights)
    values = counterfactual_values(inner, realization(t, weights))
    plans = () if opponents is None else tuple(realization(inner.treeplex(1), each) for each in opponents.behaviours)
    return _Frame(inner, values, sequence, infoset, plans), step, own


def _limited(frame: _Frame, subgame: Subgame) -> Opponents:
    """The strategies of the frame's limited opponent in a subgame, as far as they come there."""
    t, own = frame.game.treeplex(1), frame.game.observations[1]
    source, count = subgame.source_sequences(frame.game, 1), subgame.roots.size
    way_there = own.sequence_of_point[own.parent_point[subgame.roots]]
    ranges = np.array([plan[way_there] * subgame.scale for plan in frame.opponents])
    ranges[ranges.sum(axis=1) <= 0.0] = subgame.scale
    ranges /= ranges.sum(axis=1, keepdims=True)
    behaviours = np.array([behaviour(t, plan)[source] for plan in frame.opponents])
    behaviours[:, 1 : 1 + count] = ranges
    return Opponents(ranges, behaviours)
