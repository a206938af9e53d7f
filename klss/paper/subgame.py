"""Knowledge-limited subgames: the Maxmargin gadget of every method of :mod:`klss.paper.methods`.

Source: Zhang & Sandholm (NeurIPS 2021), §3 and §4, Appendix C (example) and the first algorithm of Appendix E; Brown &
Sandholm (NeurIPS 2017) for gifts.

Legend: I player 0's infoset; I^k its order-k knowledge set; I0 an infoset of player 1 that meets I^k; x the blueprint;
u* a best-response value of player 1; D = sum of p(h) x(h) over the nodes h of I0 in I^k; s a point of player 1's
observation tree. A subgame is again a :class:`klss.theory.game.Game` with its B, so the next subgame is made from it in
the same way.

Deviations from Appendix E:

- line 21: every quantity of I0 is divided by the same D: alternate value, copied entries of B, folded-in outside
  terminals. Gifts are the exception (next line but one).
- line 22: the gift *lowers* the alternate value, B <- B + gift (the text subtracts).
- line 23: the gift sums (V(I'a') - V(I')) / D(I') over player 1's own actions I'a' on the way to I0; V is player 1's
  best-response value, a minimum, and D(I') the sum of p(h) x(h) over the nodes of I', since a gift is a loss *given
  that I' is reached*: the subgames after one mistake, each reached with a part of D(I'), then give back together what
  was given once (docs/search.md). The choice of I0 at the root of an earlier gadget is not counted, since it is not a
  mistake.
- lines 24-25: B is copied at every point s >= I0, also at points with no infoset after them, and at infosets where
  player 1 waits.
- I0 runs over the topmost infosets of player 1 that meet I^k, and I^k is reduced to its topmost nodes; both matter only
  for k > 1 in games where I^k has a node and a descendant of that node.
- an I0 with D = 0 (the blueprint never goes there) is left out, since player 0's play in the subgame can't change it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from klss.errors import GameError
from klss.paper.knowledge import knowledge_set
from klss.support.arrays import Bools, Floats, Int8s, Int32s, Ints
from klss.theory._kernels import tree as kernels
from klss.theory.best_response import best_response
from klss.theory.game import Game, Observations
from klss.theory.movers import CHANCE

Gadget = Literal["maxmargin", "resolve"]
"""Gadget on top of a subgame: player 1 chooses an infoset, or nature does and player 1 plays on or exits."""

Outside = Literal["blueprint", "removed"]
"""Treatment of an I0's nodes that are not in I^k: player 0 plays the blueprint there, or they are left out."""


@dataclass(frozen=True, eq=False)
class Values:
    """Player 1's best-response values against a fixed strategy of player 0, at every point and infoset of its
    observation tree; not normalised.
    """

    plan: Floats  # float64[S0]: player 0's strategy
    node_reach: Floats  # float64[N]: p(h) x(h)
    # float64[P1], float64[J1]: best-response values (minima) after each point and from each infoset on, B included
    point: Floats
    infoset: Floats


@dataclass(frozen=True, eq=False)
class Subgame:
    """A Maxmargin gadget and the origin of its parts in the source game, from which it was made."""

    game: Game  # player 1 moves first: to which infoset I0
    infoset: int  # player 0's infoset I, numbered as in ``game``
    # (int64[J0], int64[J1]): the source game's infoset from which each infoset was copied; -1 for the gadget's own
    origin: tuple[Ints, Ints]
    # int64[N]: player 1's infosets I0 (numbered as in the source game), in the order of the gadget's choices
    roots: Ints
    scale: Floats  # float64[N]: D of each I0

    def source_sequences(self, source: Game) -> Ints:
        """Return player 0's sequence in ``source``, the source game, for each of its sequences in the subgame:
        int64[S]; 0 for the empty sequence and the gadget's own.
        """
        here, there = self.game.observations[0], source.observations[0]
        t, origin = here.treeplex, self.origin[0][here.turn_infosets]
        first = there.treeplex.first_sequence[there.treeplex_infoset[origin]]
        sequence = np.repeat(first - t.first_sequence, t.action_count) + np.arange(1, t.sequence_count)
        sequence[np.repeat(origin < 0, t.action_count)] = 0
        return np.concatenate([[0], sequence]).astype(np.int64)


def counterfactual_values(game: Game, x: Floats) -> Values:
    """Return player 1's best-response values against ``x`` float64[S0], a realization plan of player 0 in ``game``."""
    # Player 1's payoffs by its points (not sequences), so that waiting infosets get values too; B's entries are added.
    own = game.observations[1]
    node_reach = game.reach * x[game.sequences[0]]
    z = game.terminals
    utility = (
        np.bincount(game.points[1][z], weights=node_reach[z] * game.utility[z], minlength=own.point_count) + game.b[1]
    )
    utility[0] += float(game.b[0] @ x[game.observations[0].sequence_of_point])
    response = best_response(own.tree, utility, maximize=False)
    return Values(x, node_reach, response.sequence_value, response.infoset_value)


def make_subgame(
    game: Game,
    x: Floats | Values,
    infoset: int,
    order: float = 1,
    *,
    outside: Outside = "blueprint",
    reach: bool = False,
) -> Subgame:
    """Return the Maxmargin subgame at player 0's ``infoset``.

    Parameters
    ----------
    game : Game
        The full game, or the gadget of the previous subgame.
    x : float64[S0] or Values
        Player 0's blueprint in ``game`` as a realization plan; or its values, if several subgames are made from one
        game and blueprint.
    infoset : int
        Of player 0's observation tree in ``game``.
    order : int or inf
        k; odd if player 0 plays the blueprint outside.
    outside : "blueprint" | "removed"
        Treatment of an I0's nodes that are not in I^k: player 0 plays the blueprint there, or they are left out.
    reach : bool
        Reach subgame solving: lower each alternate value by the gift estimate.

    Returns
    -------
    Subgame

    Raises
    ------
    GameError
        The order does not fit, or the blueprint never reaches the infoset.
    """
    theirs = game.observations[1]
    if outside == "blueprint" and order != math.inf and (order < 1 or int(order) != order or int(order) % 2 == 0):
        raise GameError(
            f"order {order}: expected an odd number or inf; the sets of even order cut through player 0's infosets"
        )
    # The nodes with which the subgame begins: the topmost of the knowledge set.
    values = x if isinstance(x, Values) else counterfactual_values(game, x)
    known = game.nodes_of(0, infoset)
    if order > 1:
        known = knowledge_set(game, known, order)
    top = _topmost(game, known)
    if (game.infoset[1][top] < 0).any():
        raise GameError(
            "subgame: got a game in which waiting player 1 observes nothing there, expected an infoset of it"
        )
    # Player 1's topmost infosets at those nodes (the I0), and for each infoset of player 1 the I0 above it.
    candidates = np.unique(game.infoset[1][top])
    mark = np.full(theirs.infoset_count, -1, np.int64)
    mark[candidates] = candidates
    owner = np.empty(theirs.infoset_count, np.int64)
    kernels.owners(theirs.parent_infoset, mark, owner)
    weight = np.bincount(owner[game.infoset[1][top]], weights=values.node_reach[top], minlength=theirs.infoset_count)
    roots = np.flatnonzero(weight > 0.0)
    if not roots.size:
        raise GameError(
            f"infoset {game.observations[0].keys[infoset]!r}: the blueprint never reaches it; nothing can "
            f"be normalised there"
        )
    # Keep the root infosets that the blueprint reaches (D > 0); nodes of the others stay outside.
    rank = np.full(theirs.infoset_count + 1, -1, np.int64)
    rank[roots] = np.arange(roots.size)
    owner = rank[owner]
    scale: Floats = weight[roots].astype(np.float64)
    top = top[owner[game.infoset[1][top]] >= 0]
    inside = _covered(game, top)
    # B at every point of player 1 below an I0: the entries that were there, and the terminals outside, divided by D.
    owner_of_point = np.concatenate([owner, [-1]])[theirs.infoset_of_point]
    below = owner_of_point >= 0
    entries = np.zeros(theirs.point_count)
    entries[below] = game.b[1][below] / scale[owner_of_point[below]]
    z = game.terminals
    z = z[owner_of_point[game.points[1][z]] >= 0]
    points = game.points[1][z]
    paid = values.node_reach[z] * game.utility[z] / scale[owner_of_point[points]]
    alternate = values.infoset[roots] / scale
    if outside == "blueprint":
        np.add.at(entries, points[~inside[z]], paid[~inside[z]])
    else:  # player 1's values if only the entries and the nodes inside pay
        within = entries.copy()
        np.add.at(within, points[inside[z]], paid[inside[z]])
        alternate = best_response(theirs.tree, within, maximize=False).infoset_value[roots]
    # Subtract what player 1 has given away on the way there.
    if reach:
        alternate = alternate - _gifts(game, values, roots)
    return _assemble(game, infoset, top, owner, roots, scale, alternate, values.node_reach, entries)


def _topmost(game: Game, nodes: Ints) -> Ints:
    """Return ``nodes`` (ascending) without those that are below another of them."""
    # In preorder a node is below an earlier one iff it comes before the end of that one's subtree.
    end = np.maximum.accumulate(game.end[nodes])
    kept = np.ones(nodes.size, bool)
    kept[1:] = nodes[1:] >= end[:-1]
    return nodes[kept]


def _covered(game: Game, top: Ints) -> Bools:
    """Return which nodes are at or below the nodes ``top``: bool[N]."""
    steps = np.zeros(game.node_count + 1, np.int64)
    steps[top] += 1
    np.add.at(steps, game.end[top], -1)
    return np.cumsum(steps[:-1]) > 0


def _gifts(game: Game, values: Values, roots: Ints) -> Floats:
    """Return the gift of each root infoset: what player 1's own actions on the way there lose against the blueprint,
    each loss given that the infoset I' where the action was taken is reached.
    """
    own = game.observations[1]
    nodes = np.flatnonzero(game.player == 1)
    mass = np.bincount(game.infoset[1][nodes], weights=values.node_reach[nodes], minlength=own.infoset_count)
    # Go up from each root; waiting infosets and those of an earlier gadget are passed over.
    given = np.zeros(roots.size)
    for j, root in enumerate(roots.tolist()):
        point = int(own.parent_point[root])
        while point > 0:
            at = int(own.infoset_of_point[point])
            # An infoset whose nodes are all outside of an earlier subgame has no mass here, only entries of B.
            if own.turn[at] and not own.synthetic[at] and mass[at] > 0.0:
                given[j] += (values.point[point] - values.infoset[at]) / mass[at]
            point = int(own.parent_point[at])
    return given


def _assemble(
    game: Game, infoset: int, top: Ints, owner: Ints, roots: Ints, scale: Floats, alternate: Floats,
    node_reach: Floats, entries: Floats,
) -> Subgame:  # fmt: skip
    """Build the Maxmargin gadget: a root of player 1, a chance node for each I0, the copied subtrees below. Player 1's
    observation tree keeps the infosets with nodes or entries of B.
    """
    count = roots.size
    tree, nodes, place = _tree(game, top, owner, node_reach, scale)
    # Infosets to keep: those of the copied nodes; for player 1 also those with entries of B, and those on the way.
    used = [np.zeros(game.observations[i].infoset_count, bool) for i in (0, 1)]
    for i in (0, 1):
        here = game.infoset[i][nodes]
        used[i][here[here >= 0]] = True
    theirs = game.observations[1]
    used[1][theirs.infoset_of_point[np.flatnonzero(entries)]] = True
    used[1] = _with_ancestors(theirs, used[1], owner >= 0)
    kept = (np.flatnonzero(used[0]), np.flatnonzero(used[1]))
    # Observation trees: infoset 0 is the gadget's root, where player 1 chooses a root infoset.
    names = ((), tuple(str(theirs.keys[j]) for j in roots.tolist()))
    observations = (
        _observed(game.observations[0], kept[0], np.zeros(kept[0].size, np.int64), 1, names[0], turn=False),
        _observed(theirs, kept[1], owner[kept[1]], count, names[1], turn=True),
    )
    # B: the alternate values at the root infosets, and the folded-in entries at player 1's points below.
    b = (np.zeros(observations[0].point_count), np.zeros(observations[1].point_count))
    sizes = theirs.action_count[kept[1]]
    source = np.repeat(theirs.first_point[kept[1]] - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
    b[1][1 : 1 + count] = -alternate
    b[1][1 + count :] = entries[source]
    # The nodes' infosets, by their new numbers.
    infosets = np.full((2, tree[0].size), -1, np.int32)
    new = [_renumbered(game.observations[i].infoset_count, kept[i]) for i in (0, 1)]
    for i in (0, 1):
        infosets[i, 0] = 0
        infosets[i, place] = new[i][game.infoset[i][nodes]]
    made = Game(*tree, infosets, observations, b)
    origin = (np.concatenate([[-1], kept[0]]), np.concatenate([[-1], kept[1]]))
    return Subgame(made, int(new[0][infoset]), origin, roots, scale)


def _tree(
    game: Game, top: Ints, owner: Ints, node_reach: Floats, scale: Floats
) -> tuple[tuple[Int32s, Int8s, Int32s, Floats, Floats], Ints, Ints]:
    """Number the subgame's nodes in preorder: the gadget's root, then for each root infoset its chance node and its
    subtrees. Return parents, players, actions, probabilities and utilities; the nodes at or below ``top``, and their
    numbers in the subgame.
    """
    # The topmost nodes, sorted by their root infoset of player 1, and all nodes below them.
    count = scale.size
    group = owner[game.infoset[1][top]]
    order = np.argsort(group, kind="stable")
    top, group = top[order], group[order]
    sizes = game.end[top] - top
    start = 2 + group + np.cumsum(sizes) - sizes
    shift = np.repeat(start - top, sizes)
    nodes = np.arange(shift.size) + np.repeat(top - np.cumsum(sizes) + sizes, sizes)
    place = nodes + shift
    # The gadget: player 1 chooses a root infoset, then nature one of its nodes.
    parent, player, action = (np.empty(1 + count + nodes.size, dtype) for dtype in (np.int32, np.int8, np.int32))
    probability, utility = np.ones(parent.size), np.zeros(parent.size)
    members = np.bincount(group, weights=sizes, minlength=count).astype(np.int64)
    at = 1 + np.arange(count) + np.cumsum(members) - members
    parent[0], player[0], action[0] = -1, 1, -1
    parent[at], player[at], action[at] = 0, CHANCE, np.arange(count)
    # The copies.
    parent[place] = game.parent[nodes] + shift
    player[place] = game.player[nodes]
    action[place] = game.action[nodes]
    probability[place] = game.probability[nodes]
    utility[place] = game.utility[nodes]
    # The topmost nodes are children of the gadget's chance nodes; their probabilities are p(h) x(h) / D.
    per_group = np.bincount(group, minlength=count)
    parent[start] = at[group]
    action[start] = np.arange(top.size) - np.repeat(np.cumsum(per_group) - per_group, per_group)
    probability[start] = node_reach[top] / scale[group]
    return (parent, player, action, probability, utility), nodes, place


def _renumbered(count: int, kept: Ints) -> Ints:
    """Return the new number of each of ``count`` infosets: 1 + its rank among the ``kept``, or −1. One more −1 at the
    end, so that the index −1 (no infoset) maps to −1.
    """
    new = np.full(count + 1, -1, np.int64)
    new[kept] = 1 + np.arange(kept.size)
    return new


def _observed(
    old: Observations, kept: Ints, choice: Ints, root_actions: int, root_names: tuple[str, ...], *, turn: bool
) -> Observations:
    """Return a player's observation tree in the subgame: the gadget's root, then the ``kept`` infosets. Those without a
    kept infoset before them follow the root's action ``choice``. ``turn``: whether the player moves at the root.
    """
    new = _renumbered(old.infoset_count, kept)
    counts = np.concatenate([[root_actions], old.action_count[kept]])
    first = 1 + np.cumsum(counts) - counts
    before = new[old.parent_infoset[kept]]
    offset = old.parent_point[kept] - np.append(old.first_point, 0)[old.parent_infoset[kept]]
    return Observations(
        parent_point=np.concatenate([[0], np.where(before > 0, first[before] + offset, first[0] + choice)]),
        action_count=counts,
        turn=np.concatenate([[turn], old.turn[kept]]),
        synthetic=np.concatenate([[True], old.synthetic[kept]]),
        keys=("gadget", *(old.keys[j] for j in kept.tolist())),
        action_names=(root_names, *(old.action_names[j] for j in kept.tolist())),
    )


def _with_ancestors(tree: Observations, used: Bools, owned: Bools) -> Bools:
    """Add to ``used`` all owned infosets before used ones; drop those that are not owned."""
    used = used & owned
    frontier = np.flatnonzero(used)
    while frontier.size:
        above = np.unique(tree.parent_infoset[frontier])
        above = above[above >= 0]
        frontier = above[owned[above] & ~used[above]]
        used[frontier] = True
    return used
