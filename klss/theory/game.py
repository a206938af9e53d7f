"""Two-player zero-sum games with explicit observations, as frozen flat arrays, and a builder that checks every law.

Source: Zhang & Sandholm (NeurIPS 2021), §2 (game with explicit observations) and Appendix C (the additional payoff B).

Letters: ``N`` nodes, ``J`` infosets of one player's observation tree, ``P`` points of it.

*Infosets are observation infosets*: both players have one at every decision node, whichever moves. A **point** is an
observation sequence of the paper: the empty one, or an infoset at which the player moves with the action taken there,
or an infoset at which the player waits. Points are finer than sequences, which have own actions only. B's entries are
at points, so that a nested subgame knows which of them are below an infoset at which player 1 waits (docs/search.md,
"Slips and mends").

Deviations from the source: chance nodes have no observation. A player that waits and observes nothing new stays in the
same infoset (so that observations need not reveal how many moves the other made). A player that moves never meets an
infoset twice (no absent-mindedness).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from klss.errors import GameError
from klss.support.arrays import Bools, Floats, Int8s, Int32s, Ints
from klss.theory._kernels import tree as kernels
from klss.theory.movers import CHANCE, TERMINAL
from klss.theory.treeplex import Treeplex

Named = Mapping[str, Mapping[str, float | Fraction]]
"""One player's strategy: infoset's name -> action's name -> probability."""

_SUM = 1e-9
"""Largest error of the sum of chance's probabilities at a node."""


@dataclass(frozen=True, eq=False)
class Observations:
    """One player's observation tree; parents come before their children."""

    parent_point: Ints  # int64[J]: the point from which each infoset is reached
    action_count: Ints  # int64[J]: number of actions; 1 where the player waits
    turn: Bools  # bool[J]: whether the player moves
    synthetic: Bools  # bool[J]: infosets that a gadget added: an action there never counts as the player's mistake
    keys: Sequence[Hashable]  # [J], names of the infosets
    action_names: Sequence[tuple[str, ...]]  # [J], names of the actions; empty where the player waits
    alike: Callable[[str], Iterable[str]] | None = None  # all names, one of them given, that an infoset stands for

    @property
    def infoset_count(self) -> int:
        """Number of infosets, waiting ones included."""
        return int(self.turn.size)

    @cached_property
    def first_point(self) -> Ints:
        """int64[J]: the point of each infoset's first action, or its only point."""
        return 1 + np.concatenate([[0], np.cumsum(self.action_count)[:-1]]).astype(np.int64)[: self.infoset_count]

    @cached_property
    def point_count(self) -> int:
        """Number of points, the empty one included."""
        return 1 + int(self.action_count.sum())

    @cached_property
    def infoset_of_point(self) -> Ints:
        """int64[P]: -1 for the empty point."""
        return np.concatenate([[-1], np.repeat(np.arange(self.infoset_count), self.action_count)]).astype(np.int64)

    @cached_property
    def parent_infoset(self) -> Ints:
        """int64[J]: the infoset before each one; -1 for none."""
        return self.infoset_of_point[self.parent_point]

    @cached_property
    def tree(self) -> Treeplex:
        """The observation tree as a treeplex whose sequences are the points; a waiting infoset has a single action."""
        return Treeplex(self.parent_point, self.first_point, self.action_count)

    @cached_property
    def turn_infosets(self) -> Ints:
        """int64[I]: the infosets at which the player moves, in the order of the treeplex."""
        return np.flatnonzero(self.turn)

    @cached_property
    def sequence_of_point(self) -> Ints:
        """int64[P]: the sequence (own actions only) of each point."""
        # The points that are sequences: the empty one, and those after an action.
        kept = np.concatenate([[True], self.turn[self.infoset_of_point[1:]]])
        # A waiting point has the sequence of the point before it. Follow these links, twice as far each time, up to a
        # point after an action.
        target = np.arange(self.point_count)
        waits = np.flatnonzero(~self.turn)
        target[self.first_point[waits]] = self.parent_point[waits]
        while True:
            further = target[target]
            if np.array_equal(further, target):
                break
            target = further
        return (np.cumsum(kept) - 1)[target]

    @cached_property
    def treeplex(self) -> Treeplex:
        """The treeplex of the infosets at which the player moves."""
        # Leave out waiting infosets, and number the others without gaps.
        count = self.action_count[self.turn_infosets]
        first = 1 + np.cumsum(count) - count
        return Treeplex(self.sequence_of_point[self.parent_point[self.turn_infosets]], first, count)

    @cached_property
    def treeplex_infoset(self) -> Ints:
        """int64[J]: each infoset's index in :attr:`treeplex`; -1 where the player waits."""
        index = np.cumsum(self.turn) - 1
        return np.where(self.turn, index, -1).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Game:
    """A game tree in preorder (every subtree is one range of nodes).

    Parameters
    ----------
    parent : int32[N]
        -1 for the root, which is node 0.
    player : int8[N]
        0, 1, `CHANCE` or `TERMINAL`.
    action : int32[N]
        Index, at the parent, of the edge into each node; -1 for the root.
    probability : float64[N]
        Chance's probability of that edge; 1 where the parent is no chance node.
    utility : float64[N]
        Player 0's utility at terminals, 0 at all other nodes.
    infoset : int32[2, N]
        Each player's infoset at decision nodes; -1 at chance nodes and terminals, and where the player waits and
        observes nothing at all (so in games of :mod:`klss.gambit`).
    observations : (Observations, Observations)
    b : (float64[P0], float64[P1])
        The additional payoff B: entries of its first column at player 0's points and of its top row at player 1's. Zero
        unless the game is a gadget.

    Notes
    -----
    The constructor does not check its arguments; games are made by :class:`GameBuilder`, :mod:`klss.openspiel`,
    :mod:`klss.gambit` and :mod:`klss.paper.subgame`.
    """

    parent: Int32s
    player: Int8s
    action: Int32s
    probability: Floats
    utility: Floats
    infoset: Int32s
    observations: tuple[Observations, Observations]
    b: tuple[Floats, Floats]

    @property
    def whole(self) -> bool:
        """Whether no infoset stands for others (:attr:`Observations.alike`)."""
        return all(each.alike is None for each in self.observations)

    @property
    def node_count(self) -> int:
        """Number of nodes, chance nodes and terminals included."""
        return int(self.parent.size)

    @cached_property
    def _passes(self) -> tuple[Floats, Int32s]:
        reach = np.empty(self.node_count)
        end = np.empty(self.node_count, np.int32)
        kernels.node_passes(self.parent, self.probability, reach, end)
        return reach, end

    @property
    def reach(self) -> Floats:
        """float64[N]: the product of chance's probabilities on the way to each node."""
        return self._passes[0]

    @property
    def end(self) -> Int32s:
        """int32[N]: the subtree of h is the range of nodes h to end[h] - 1."""
        return self._passes[1]

    @cached_property
    def terminals(self) -> Ints:
        """The terminal nodes."""
        return np.flatnonzero(self.player == TERMINAL)

    @cached_property
    def points(self) -> tuple[Int32s, Int32s]:
        """int32[N] of each player: its point on arriving at each node, before observing anything there."""
        out = []
        for i in (0, 1):
            points = np.empty(self.node_count, np.int32)
            first = self.observations[i].first_point
            kernels.arrival_points(self.parent, self.player, self.action, self.infoset[i], first, i, points)
            out.append(points)
        return out[0], out[1]

    @cached_property
    def sequences(self) -> tuple[Ints, Ints]:
        """int64[N] of each player: its sequence at each node."""
        mine, yours = self.observations
        return mine.sequence_of_point[self.points[0]], yours.sequence_of_point[self.points[1]]

    def treeplex(self, player: int) -> Treeplex:
        """Return the player's treeplex."""
        return self.observations[player].treeplex

    @cached_property
    def members(self) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
        """``start`` int64[J + 1] and ``nodes`` of each player: the nodes of its infoset j are
        ``nodes[start[j]:start[j + 1]]``, ascending.
        """
        out = []
        for i in (0, 1):
            # Nodes sorted by infoset, ascending within one, and the place at which each infoset's nodes begin.
            nodes = np.flatnonzero(self.infoset[i] >= 0)
            order = np.argsort(self.infoset[i][nodes], kind="stable")
            sizes = np.bincount(self.infoset[i][nodes], minlength=self.observations[i].infoset_count)
            out.append((np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), nodes[order]))
        return out[0], out[1]

    def nodes_of(self, player: int, infoset: int) -> Ints:
        """Return the nodes of one infoset, ascending."""
        start, nodes = self.members[player]
        return nodes[start[infoset] : start[infoset + 1]]


class GameBuilder:
    """Builds a :class:`Game` node by node, parents first.

    Examples
    --------
    Matching pennies: player 1 does not see what player 0 chose.

    >>> builder = GameBuilder()
    >>> root = builder.add_decision(None, None, player=0, observations=("choose", "wait"))
    >>> for mine in ("heads", "tails"):
    ...     node = builder.add_decision(root, mine, player=1, observations=(f"chose {mine}", "choose"))
    ...     for yours in ("heads", "tails"):
    ...         _ = builder.add_terminal(node, yours, utility=1.0 if mine == yours else -1.0)
    >>> game = builder.build()
    >>> game.node_count, game.treeplex(0).sequence_count
    (7, 3)
    """

    def __init__(self) -> None:
        """An empty builder."""
        self._parent: list[int] = []
        self._player: list[int] = []
        self._edge: list[str] = []
        self._probability: list[float] = []
        self._utility: list[float] = []
        self._labels: list[tuple[Hashable, Hashable] | None] = []

    def _add(self, parent: int | None, action: str | None, player: int, probability: float, utility: float) -> int:
        # The first node is the root; the parent of every other one was added before it, so parents come first.
        node = len(self._parent)
        if (parent is None) != (node == 0):
            raise GameError(f"node {node}: got parent {parent}; expected None for the root, which is first, alone")
        if parent is not None and not (0 <= parent < node and self._player[parent] != TERMINAL):
            raise GameError(f"node {node}: got parent {parent}; expected a node added before that is no terminal")
        self._parent.append(-1 if parent is None else parent)
        self._player.append(player)
        self._edge.append("" if action is None else str(action))
        self._probability.append(float(probability))
        self._utility.append(float(utility))
        self._labels.append(None)
        return node

    def add_chance(self, parent: int | None, action: str | None, *, probability: float = 1.0) -> int:
        """Add a chance node; its children's ``probability`` must sum to 1. Return the node."""
        return self._add(parent, action, CHANCE, probability, 0.0)

    def add_decision(
        self,
        parent: int | None,
        action: str | None,
        *,
        player: int,
        observations: tuple[Hashable, Hashable],
        probability: float = 1.0,
    ) -> int:
        """Add a decision node of ``player`` 0 or 1.

        ``observations`` name both players' infosets there: a name must contain everything that the player knows, since
        equal names mean one infoset; None where the player waits and observes nothing at all. Return the node.
        """
        if player not in (0, 1):
            raise GameError(f"decision node: got player {player!r}; expected 0 or 1")
        node = self._add(parent, action, player, probability, 0.0)
        self._labels[node] = observations
        return node

    def add_terminal(self, parent: int | None, action: str | None, *, utility: float, probability: float = 1.0) -> int:
        """Add a terminal with player 0's ``utility``. Return the node."""
        if not (isinstance(utility, Real) and math.isfinite(utility)):
            raise GameError(f"terminal: got utility {utility}; expected a finite number, player 0's")
        return self._add(parent, action, TERMINAL, probability, utility)

    def build(self, *, waits: bool = True) -> Game:
        """Check every law and return the game; without ``waits`` a player has no infosets where it waits.

        Raises
        ------
        GameError
            A law is broken, which the message names: chance sums to one, one infoset - one action set, the observation
            determines whether the player moves, perfect recall.
        """
        if not self._parent:
            raise GameError("empty game: expected at least a root; add a node first")
        # Actions are numbered in the order in which the children were added.
        actions = [-1] * len(self._parent)
        children: list[list[int]] = [[] for _ in self._parent]
        for node, above in enumerate(self._parent):
            if above >= 0:
                actions[node] = len(children[above])
                children[above].append(node)
        order = _preorder(children)
        # Infosets, numbered in the order of their first nodes; each has one mover and one set of actions.
        labels: list[list[int]] = [[], []]
        keys: list[list[Hashable]] = [[], []]
        names: list[list[tuple[str, ...]]] = [[], []]
        seen: list[dict[Hashable, int]] = [{}, {}]
        turns: list[list[bool]] = [[], []]
        for node in order:
            # Its edges.
            observed = self._labels[node]
            below = children[node]
            if self._player[node] != TERMINAL and not below:
                raise GameError(f"node {node}: it is no terminal but has no children; add some or make it a terminal")
            edges = tuple(self._edge[child] for child in below)
            if len(set(edges)) != len(edges):
                raise GameError(
                    f"node {node}: two of its edges have one name: {edges}; give every action a name of its own"
                )
            # Both players' infosets there: a new one, or a known one with the same mover and actions.
            for i in (0, 1):
                if observed is None or (self._player[node] != i and (observed[i] is None or not waits)):
                    labels[i].append(-1)
                    continue
                key, turn = observed[i], self._player[node] == i
                j = seen[i].setdefault(key, len(keys[i]))
                if j == len(keys[i]):
                    keys[i].append(key)
                    names[i].append(edges if turn else ())
                    turns[i].append(turn)
                elif turns[i][j] != turn:
                    raise GameError(
                        f"observation determines whether the player moves: player {i} moves at one node of "
                        f"infoset {key!r} and waits at another; "
                        "give them different observations"
                    )
                elif turn and names[i][j] != edges:
                    raise GameError(
                        f"one infoset, one action set: player {i}'s infoset {key!r} has actions "
                        f"{names[i][j]} at one node and {edges} at another"
                    )
                labels[i].append(j)
        # The arrays in preorder; parents get their places in it too.
        rank = np.array(order, np.int64)
        position = np.empty(rank.size, np.int64)
        position[rank] = np.arange(rank.size)
        old = np.array(self._parent, np.int64)[rank]
        return assemble(
            parent=np.where(old >= 0, position[old], -1),
            player=np.array(self._player, np.int64)[rank],
            action=np.array(actions, np.int64)[rank],
            probability=np.array(self._probability)[rank],
            utility=np.array(self._utility)[rank],
            infoset=np.array(labels, np.int64).reshape(2, -1),
            turns=(turns[0], turns[1]),
            action_count=([max(1, len(each)) for each in names[0]], [max(1, len(each)) for each in names[1]]),
            keys=(tuple(keys[0]), tuple(keys[1])),
            action_names=(tuple(names[0]), tuple(names[1])),
        )


def assemble(
    *,
    parent: Ints | Int32s,
    player: Ints | Int8s,
    action: Ints | Int32s,
    probability: Floats,
    utility: Floats,
    infoset: Ints | Int32s,
    turns: tuple[Sequence[bool], Sequence[bool]],
    action_count: tuple[Any, Any],
    keys: tuple[Sequence[Hashable], Sequence[Hashable]],
    action_names: tuple[Sequence[tuple[str, ...]], Sequence[tuple[str, ...]]],
) -> Game:
    """Return a game from nodes in preorder and infosets numbered in the order of their first nodes; vectorised.

    Parameters are those of :class:`Game` and :class:`Observations`. The caller has checked that each infoset has one
    action set and one mover.

    Raises
    ------
    GameError
        Chance does not sum to one, or perfect recall is broken.
    """
    parent, action, infoset = (np.asarray(each, np.int32) for each in (parent, action, infoset))
    player = np.asarray(player, np.int8)
    _check_chance(parent, player, probability)
    mine, yours = (
        _observation_tree(i, parent, player, action, infoset[i], np.array(turns[i], dtype=bool).reshape(-1),
                          np.array(action_count[i], np.int64).reshape(-1), keys[i], action_names[i])
        for i in (0, 1)
    )  # fmt: skip
    return Game(
        parent=parent,
        player=player,
        action=action,
        probability=probability,
        utility=utility,
        infoset=infoset,
        observations=(mine, yours),
        b=(np.zeros(mine.point_count), np.zeros(yours.point_count)),
    )


def _check_chance(parent: Int32s, player: Int8s, probability: Floats) -> None:
    """Check that probabilities are not negative and sum to 1 at each chance node; set them to 1 on all other edges."""
    n = parent.size
    below_chance = np.zeros(n, bool)
    below_chance[1:] = player[parent[1:]] == CHANCE
    if (probability[below_chance] < 0.0).any():
        raise GameError("chance sums to one: a probability is negative")
    nodes = np.flatnonzero(player == CHANCE)
    total = np.bincount(parent[below_chance], weights=probability[below_chance], minlength=n)[nodes]
    wrong = np.flatnonzero(np.abs(total - 1.0) > _SUM)
    if wrong.size:
        raise GameError(
            f"chance sums to one: the probabilities at chance node {nodes[wrong[0]]} (in preorder) sum to "
            f"{total[wrong[0]]:.12g}"
        )
    probability[~below_chance] = 1.0


def _observation_tree(
    who: int, parent: Int32s, player: Int8s, action: Int32s, infoset: Int32s, turn: Bools, count: Ints,
    keys: Sequence[Hashable], action_names: Sequence[tuple[str, ...]],
) -> Observations:  # fmt: skip
    """Return the observation tree of player ``who``; ``infoset`` int32[N] is that player's at each node."""
    # Points of the observation tree: one for each action at an infoset, one where the player waits.
    first = np.concatenate([[1], 1 + np.cumsum(count)])[: turn.size].astype(np.int64)
    points = np.empty(parent.size, np.int32)
    kernels.arrival_points(parent, player, action, infoset, first, who, points)
    infoset_of_point = np.concatenate([[-1], np.repeat(np.arange(turn.size), count)]).astype(np.int32)
    nodes = np.flatnonzero(infoset >= 0).astype(np.int32)
    # A player that waits and sees nothing new stays in the same infoset, so look only at nodes that enter an infoset.
    entering = nodes[(infoset_of_point[points[nodes]] != infoset[nodes]) | turn[infoset[nodes]]]
    # Perfect recall: all nodes of an infoset are entered from one point, the one of its first node.
    here = infoset[entering]
    parent_point = np.full(turn.size, -1, np.int64)
    parent_point[here[::-1]] = points[entering][::-1]
    broken = np.flatnonzero(points[entering] != parent_point[here])
    if broken.size:
        raise GameError(
            f"perfect recall: two nodes of player {who}'s infoset {keys[here[broken[0]]]!r} are reached by different "
            "observations or actions of that player; an infoset's name has to hold everything that the player knew and "
            "did before"
        )
    return Observations(parent_point, count, turn, np.zeros(turn.size, bool), keys, action_names)


def _preorder(children: Sequence[Sequence[int]]) -> list[int]:
    order: list[int] = []
    stack = [0]
    while stack:  # a game may be deeper than Python's recursion
        node = stack.pop()
        order.append(node)
        stack.extend(reversed(children[node]))
    return order
