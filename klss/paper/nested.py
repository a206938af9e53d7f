"""Nested subgames in four ways: joining the strategies of all infosets, allocated deviations, and updating the
blueprint, infoset by infoset or in playthroughs; with any method and gadget of :mod:`klss.paper.methods`.

Source: Zhang & Sandholm (NeurIPS 2021), Theorems 4, 5 and 9, §7 (Table 1) and the second and third algorithm of
Appendix E.

Guarantees: :func:`update_blueprint` never raises exploitability (Theorem 4, k-KLSS of every odd k);
:func:`allocated` keeps an epsilon-equilibrium one (Theorem 5, 1-KLSS); :func:`every_infoset`

- with ``inf-klss`` and ``inf-kluss`` never raises it in games in which I^inf never has two infosets of player 0 one of
  which comes after the other (it is then the same subgame for all of its infosets);
- with ``1-klss`` makes an affine equilibrium of an exact equilibrium (Theorem 9);
- has no guarantee with other methods.

The guarantees of updates, ``inf-klss`` and ``inf-kluss`` hold with reach too (docs/search.md, "Reach is safe"); those
of the others are shown without it.

Deviations: infosets that the strategy found so far does not enter are not solved and keep the blueprint's behaviour. If
the blueprint has a floor, a subgame keeps it at every infoset but its own I, as in §7. Theorem 5's random choice of
independent sets is made by colours: in each component of the graph of :func:`infoset_colours` one of its c colours is
drawn uniformly, so p(I) <= 1/c <= 1/chi; an infoset is in the set if its colour and all its ancestors' are drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from klss.errors import GameError, SolverError
from klss.paper.methods import GADGETS, METHODS
from klss.paper.selection import select
from klss.paper.subgame import Subgame, Values, counterfactual_values, make_subgame
from klss.support.arrays import Floats, Ints
from klss.theory.game import Game
from klss.theory.treeplex import Treeplex, behaviour, realization

# Actions with a smaller probability are the solver's rounding and are dropped; otherwise subgames after them would be
# divided by that tiny reach.
_INTENDED = 1e-6
# Infosets whose parent sequence has at most this probability are not solved.
_ENTERED = 1e-9


@dataclass(frozen=True, eq=False)
class Blueprint:
    """The strategy with which nested solving starts."""

    x: Floats  # float64[S0]: player 0's strategy, a realization plan
    floor: Floats | None = None  # float64[S0] or None: the least behaviour probabilities that the blueprint satisfies


@dataclass(frozen=True, eq=False)
class Step:
    """One solved subgame."""

    infoset: int  # of the full game
    margin: float  # the least one
    sequences: Ints  # player 0's full-game sequences in it
    behaviour: Floats  # of player 0 at these


class Nested(NamedTuple):
    """The refined strategy."""

    plan: Floats  # float64[S0]
    subgames: int  # number of subgames solved


@dataclass(frozen=True, eq=False)
class _Frame:
    """A game from which subgames are made, with player 0's infosets and sequences traced back to the full game."""

    game: Game
    values: Values
    sequence: Ints  # full-game number of each of player 0's sequences
    infoset: Ints  # full-game number of each of player 0's infosets, -1 for a gadget's own


def every_infoset(
    game: Game,
    blueprint: Blueprint,
    *,
    method: str = "1-klss",
    gadget: str = "maxmargin",
    on_step: Callable[[int], None] | None = None,
) -> Nested:
    """Solve a subgame at every infoset of player 0, top down, each from its parent's subgame, and join the strategies
    (Table 1). ``method`` and ``gadget`` are names of :mod:`klss.paper.methods`; ``on_step`` is called with the number
    of subgames solved so far.
    """
    joined, steps = behaviour(game.treeplex(0), blueprint.x), [*_steps(game, blueprint, method, gadget, on_step)]
    for step, own in steps:
        joined[step.sequences[own]] = step.behaviour[own]
    return Nested(realization(game.treeplex(0), joined), len(steps))


def allocated(
    game: Game,
    blueprint: Blueprint,
    *,
    gadget: str = "maxmargin",
    on_step: Callable[[int], None] | None = None,
) -> Nested:
    """Solve by 1-KLSS at infosets of random independent sets closed under ancestors, and return the mixture over the
    sets (Theorem 5).

    From the first infoset outside the set on, the present strategy is played to the end: the last subgame's solution,
    or the blueprint (third algorithm of Appendix E).
    """
    t = game.treeplex(0)
    component, colour, count = infoset_colours(game)
    base = behaviour(t, blueprint.x)
    turn = game.observations[0].treeplex_infoset
    children: list[list[int]] = [[] for _ in range(t.sequence_count)]
    for i, above in enumerate(t.parent_sequence.tolist()):
        children[above].append(i)
    # running[s]: probability of s with every infoset on the way in the set; resting[s]: with one that was not.
    running, resting = np.zeros(t.sequence_count), np.zeros(t.sequence_count)
    running[0] = resting[0] = 1.0
    drawn: dict[int, dict[int, int]] = {}
    share: dict[int, float] = {}

    def branch(sequence: int, before: dict[int, int], current: Floats) -> None:
        """Draw at the infosets after ``sequence``; from one that is not in the set, play ``current`` to the end."""
        for i in children[sequence]:
            c = int(component[i])
            # A component's colour is drawn only once: later the same colour has probability 1, another one 0.
            share[i] = 1.0 / count[c] if c not in before else float(before[c] == colour[i])
            drawn[i] = {**before, c: int(colour[i])}
            stack = [(i, (1.0 - share[i]) * running[sequence])]
            while stack:
                k, mass = stack.pop()
                if mass > 0.0:
                    for s in range(int(t.first_sequence[k]), int(t.first_sequence[k] + t.action_count[k])):
                        resting[s] += mass * current[s]
                        stack.extend((below, mass * current[s]) for below in children[s])

    # Top down: a subgame's solution at its infoset has the probability with which that infoset is in the set.
    branch(0, {}, base)
    steps = [*_steps(game, blueprint, "1-klss", gadget, on_step)]
    for step, own in steps:
        i = int(turn[step.infoset])
        sequences = step.sequences[own]
        running[sequences] = step.behaviour[own] * share[i] * running[int(t.parent_sequence[i])]
        current = base.copy()
        current[step.sequences] = step.behaviour
        for s in sequences.tolist():
            branch(s, drawn[i], current)
    resting[0] = 0.0
    return Nested(running + resting, len(steps))


def update_blueprint(
    game: Game,
    blueprint: Blueprint,
    *,
    method: str = "1-klss",
    gadget: str = "maxmargin",
    played: bool = False,
    on_step: Callable[[int], None] | None = None,
) -> Iterator[Floats]:
    """Yield the updated blueprint after each subgame, a realization plan that is no more exploitable than the one
    before (Theorem 4). Raises GameError: the theorem does not hold for the method.

    Every infoset of player 0 is visited once, top down; or, if ``played``, in playthroughs as in the paper's second
    algorithm: one for each way down to a last infoset, along which each infoset that the blueprint from before the
    playthrough enters is visited. That blueprint is what is played (its line 16); the solutions only update it. The
    solution replaces the blueprint in the whole subgame, as the theorem states it (line 14 of the paper's algorithm
    replaces it below I only). A subgame that can't be solved leaves the blueprint as it is, which is always safe.
    """
    if not METHODS[method].updates:
        raise GameError(f"method {method} can't update the blueprint: Theorem 4 needs k-klss or inf-kluss")
    t, o = game.treeplex(0), game.observations[0]
    current = behaviour(t, blueprint.x)
    plan, solved = blueprint.x, 0
    for line in _lines(t) if played else np.arange(t.infoset_count)[:, None]:
        last = plan  # what the playthrough plays
        for i in line:
            if min(last[t.parent_sequence[i]], plan[t.parent_sequence[i]]) <= _ENTERED:
                continue
            values = counterfactual_values(game, plan)
            frame = _full_frame(game, values)
            infoset = int(o.turn_infosets[i])
            try:
                _, step, _ = _solve(frame, _subgame(frame, infoset, method, gadget), blueprint, gadget)
            except (GameError, SolverError):
                continue  # chance never goes there; or by rounding no solver finds the optimum that is chosen
            current[step.sequences] = step.behaviour
            plan = realization(t, current)
            solved += 1
            if on_step is not None:
                on_step(solved)
            yield plan


def _lines(t: Treeplex) -> Iterator[list[int]]:
    """Yield the infosets on the way to each one that none comes after, top down."""
    above = np.where(t.parent_sequence > 0, t.infoset_of_sequence[t.parent_sequence], -1)
    for last in sorted(set(range(t.infoset_count)) - set(above.tolist())):
        line = [last]
        while above[line[-1]] >= 0:
            line.append(int(above[line[-1]]))
        yield line[::-1]


def solve_at(game: Game, blueprint: Blueprint, infoset: int) -> tuple[Subgame, Step]:
    """Return the 1-KLSS subgame of the full game at player 0's ``infoset``, and its solution."""
    values = counterfactual_values(game, blueprint.x)
    subgame = make_subgame(game, values, infoset)
    _, step, _ = _solve(_full_frame(game, values), subgame, blueprint, "maxmargin")
    return subgame, step


def infoset_colours(game: Game) -> tuple[Ints, Ints, Ints]:
    """Return a proper colouring of player 0's infosets, for independent sets.

    Two infosets are joined if the best-response value at one of player 1's infosets depends on the play at both: they
    have nodes of J and of J' >= J, and neither comes after the other. (The paper's G' joins infosets that share one,
    including waiting infosets of player 0; this is the same condition without the waiting infosets.) An infoset takes
    its parent's colour if possible. Return component and colour of each (int64[I]), and the number of colours of each
    component, at least its chromatic number.
    """
    # Player 0's infosets on the way to each one, and those that meet each infoset of player 1.
    t, mine, theirs = game.treeplex(0), game.observations[0], game.observations[1]
    size = t.infoset_count
    parent = np.where(t.parent_sequence > 0, t.infoset_of_sequence[t.parent_sequence], -1)
    line: list[frozenset[int]] = []
    for i in range(size):
        line.append(frozenset({i}) | (line[parent[i]] if parent[i] >= 0 else frozenset()))
    start, nodes = game.members[1]
    at: list[set[int]] = []
    for j in range(theirs.infoset_count):
        here = game.infoset[0][nodes[start[j] : start[j + 1]]]
        index = mine.treeplex_infoset[here[here >= 0]]
        at.append(set(index[index >= 0].tolist()))
    # Join two that meet one infoset of player 1, or one and another above it, unless one comes after the other.
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
    # Colour greedily, parents first; then find the components and the number of colours in each.
    colour = np.full(size, -1, np.int64)
    for i in range(size):
        taken = {int(colour[k]) for k in neighbours[i]}
        wish = int(colour[parent[i]]) if parent[i] >= 0 else 0
        colour[i] = wish if wish not in taken else next(c for c in range(len(taken) + 1) if c not in taken)
    joined = [(i, k) for i, others in enumerate(neighbours) for k in others]
    rows, columns = np.array(joined, np.int64).reshape(-1, 2).T
    number, component = connected_components(sparse.csr_array((np.ones(rows.size), (rows, columns)), (size, size)))
    counts = np.zeros(number, np.int64)
    np.maximum.at(counts, component, colour + 1)
    return component, colour, counts


def _full_frame(game: Game, values: Values) -> _Frame:
    sequences, infosets = game.treeplex(0).sequence_count, game.observations[0].infoset_count
    return _Frame(game, values, np.arange(sequences), np.arange(infosets))


def _subgame(frame: _Frame, infoset: int, method: str, gadget: str) -> Subgame:
    """Return the subgame at an infoset of the frame's game."""
    chosen, reach = METHODS[method], GADGETS[gadget].reach
    return make_subgame(frame.game, frame.values, infoset, chosen.order, outside=chosen.outside, reach=reach)


def _steps(
    game: Game, blueprint: Blueprint, method: str, gadget: str, on_step: Callable[[int], None] | None
) -> Iterator[tuple[Step, slice]]:
    """Solve every subgame from the root down, depth first; yield each step and the range of I's own sequences in it."""
    solved = 0
    stack: list[tuple[_Frame, int]] = []

    def push(frame: _Frame, parents: Ints) -> None:
        # Player 0's next infosets after the sequences ``parents`` that its strategy enters.
        t = frame.game.treeplex(0)
        after = np.flatnonzero(np.isin(t.parent_sequence, parents) & (frame.values.plan[t.parent_sequence] > _ENTERED))
        infosets = frame.game.observations[0].turn_infosets[after]
        stack.extend((frame, int(j)) for j in infosets[::-1])

    values = counterfactual_values(game, blueprint.x)
    push(_full_frame(game, values), np.array([0]))
    while stack:
        frame, infoset = stack.pop()
        subgame = _subgame(frame, infoset, method, gadget)
        below, step, own = _solve(frame, subgame, blueprint, gadget)
        solved += 1
        if on_step is not None:
            on_step(solved)
        yield step, own
        # The next infosets' subgames are made from this one under its solution, not from the full game.
        sequences = np.arange(own.start, own.stop)
        if np.isin(subgame.game.treeplex(0).parent_sequence, sequences).any():
            push(below, sequences)


def _solve(frame: _Frame, subgame: Subgame, blueprint: Blueprint, gadget: str) -> tuple[_Frame, Step, slice]:
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
        # No floor at I and, for k > 1, at the other infosets at the subgame's top, so that with k = inf all of these
        # have the same program.
        tops = mine.parent_infoset[mine.turn_infosets] == 0
        floor[np.concatenate([[True], np.repeat(tops, t.action_count)])] = 0.0
        # The present strategy must stay allowed where an earlier subgame has gone below the floor.
        floor = np.minimum(floor, start)
    chosen = select(subgame, blueprint=start, floor=floor, gadget=gadget)
    # Drop the solver's rounding, so that no subgame is made after an action that is hardly ever played.
    weights = behaviour(t, chosen.plan)
    weights = behaviour(t, np.where(weights < _INTENDED, 0.0, weights), weights)
    step = Step(int(infoset[subgame.infoset]), chosen.margin, sequence, weights)
    values = counterfactual_values(inner, realization(t, weights))
    return _Frame(inner, values, sequence, infoset), step, own
