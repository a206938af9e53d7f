"""The trunk (Definition 10 of the paper): the expanded part of the current subgame, as growing flat arrays.

Every node is a history, and has an infoset in the observation tree of *both* players, whichever moves. Children are
appended, so a parent's index is always below its child's. The gadget on top (:mod:`klss.search.gadget`) chooses among
the roots: each belongs to one *root infoset* of player 1, which has an alternate value.

Letters for shapes: N nodes, R roots, J root infosets of player 1, I infosets and S sequences of one player (sequence
0 is empty; for player 1 sequence 1 + j is "play" at root infoset j), E entries folded in from pruned nodes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from klss.errors import KlssError
from klss.search._kernels import trunk as kernels
from klss.search.model import Expansion, Model
from klss.support.arrays import Bools, Floats, Int8s, Int16s, Int32s, Ints, Keys, States
from klss.theory.movers import CHANCE, TERMINAL


class ModelError(KlssError, ValueError):
    """A model violates a law of games; the message names the law."""


class NodeArrays(NamedTuple):
    """One entry for each node. ``value`` is a utility for player 0, used only while the node has no children."""

    parent: Int32s  # [N], −1 at a root
    first_child: Int32s  # [N], −1 while not expanded
    child_count: Int32s  # [N]
    action: Int32s  # [N], code of the action that led here
    mover: Int8s  # [N], 0, 1, CHANCE, TERMINAL
    depth: Int16s  # [N], plies below the root
    infoset: Int32s  # [N, 2]
    sequence: Int32s  # [N, 2], each player's last sequence on the way here
    value: Floats  # [N]
    chance: Floats  # [N], nature's part of the probability of reaching the node from the root infoset
    interest: Floats  # [N], see klss.search.model.Expansion
    observation: Keys  # [N], key of player 0's observation here
    ceiling: Floats  # [N], upper bound on the value to player 0 of this node and of all below it


class InfosetArrays(NamedTuple):
    """One entry for each infoset in a player's observation tree, whether or not the player acts there."""

    key: Keys  # [I], hash of the whole observation sequence
    label: Keys  # [I], hash of the last step: own action, observation, whether the player acts
    parent: Int32s  # [I], −1 at a root
    sequence: Int32s  # [I], the player's last sequence before the infoset
    first: Int32s  # [I], the player's first sequence here, −1 while it has none
    size: Int32s  # [I], number of the player's sequences here


class SequenceArrays(NamedTuple):
    """One entry for each sequence of a player; entry 0 is the empty sequence."""

    infoset: Int32s  # [S]
    action: Int32s  # [S]


@dataclass(frozen=True)
class Roots:
    """The roots of a trunk, and player 1's root infosets."""

    states: Keys  # [R, w]
    movers: Int8s  # [R]
    values: Floats  # [R], estimated utility for player 0
    group: Int32s  # [R], root infoset of player 1 that the root belongs to, 0 … J − 1
    weight: Floats  # [R], probability of the root given its root infoset (each group's sum is 1)
    keys: Keys  # [J], of the root infosets of player 1, all different
    alternate: Floats  # [J], alternate value of each, gift included (what "exit" is worth to player 0)
    key: int  # of player 0's present infoset
    # [R], player 0's root infoset at the root: 0, the present one, or 1 … K, another one that player 1 can't rule out.
    # None: 0 at all roots.
    own: Int32s | None = None
    own_keys: Keys = field(default_factory=lambda: np.zeros(0, dtype=np.uint64))  # [K], of these others, all different


_KINDS: dict[str, type] = {
    **dict.fromkeys(("value", "chance", "interest", "ceiling"), np.float64),
    **dict.fromkeys(("key", "label", "observation"), np.uint64),
    "mover": np.int8, "depth": np.int16,
}  # fmt: skip
"""Types of the arrays above that are not int32."""

_Arrays = TypeVar("_Arrays", NodeArrays, InfosetArrays, SequenceArrays)


def grown(arrays: Iterable[npt.NDArray[Any]], room: int) -> list[npt.NDArray[Any]]:
    """Return copies of ``arrays`` with ``room`` entries each, zeros at the end (untouched pages take no memory)."""
    more = []
    for array in arrays:
        roomy = np.zeros((room, *array.shape[1:]), dtype=array.dtype)
        roomy[: len(array)] = array
        more.append(roomy)
    return more


def doubled(needed: int, have: int) -> int:
    """Return the room to make for ``needed`` entries if there is room for ``have``."""
    return max(needed, 2 * have)


def _roomy(arrays: _Arrays, needed: int) -> _Arrays:
    """Return ``arrays`` with room for ``needed`` entries."""
    have = len(arrays[0])
    return arrays if needed <= have else type(arrays)(*grown(arrays, doubled(needed, have)))


def _empty(kind: type[_Arrays], room: int) -> _Arrays:
    """Return arrays with ``room`` entries, all 0."""
    pairs = ("infoset", "sequence") if kind is NodeArrays else ()
    return kind(**{n: np.zeros((room, 2) if n in pairs else room, _KINDS.get(n, np.int32)) for n in kind._fields})


@dataclass(frozen=True)
class _Past:
    """See :class:`klss.search.model.Past`. Looks in the sorted keys of the game so far and at the leaves' ancestors."""

    nodes: NodeArrays
    leaves: Ints
    history: Keys

    def times(self, offsets: Ints, observations: Keys) -> Ints:
        counts = np.zeros(len(observations), dtype=np.int64)
        kernels.times_observed(
            self.leaves, self.nodes, offsets, np.ascontiguousarray(observations), self.history, counts
        )
        return counts


@dataclass
class Trunk:
    """A trunk with its roots.

    Build it by :meth:`from_roots` or :func:`klss.search.subgame.carrying.next_trunk`; grow it by :meth:`prepare` and
    :meth:`attach` (:mod:`klss.search.growth`).
    """

    nodes: NodeArrays
    node_count: int
    states: Keys  # [room, w]
    infosets: tuple[InfosetArrays, InfosetArrays]
    sequences: tuple[SequenceArrays, SequenceArrays]
    counts: Ints  # infosets of 0 and 1, sequences of 0 and 1
    alternate: Floats  # [J]
    root_count: int
    folded_infoset: Int32s  # [E] infoset of player 1
    folded_value: Floats  # [E]
    _tables: list[tuple[Keys, Int32s]] = field(default_factory=list)
    _spare: int = 0  # number of nodes that certainly fit into all arrays

    @classmethod
    def from_roots(cls, roots: Roots) -> Trunk:
        """Return a trunk of unexpanded roots."""
        count, groups, others = len(roots.values), len(roots.keys), 1 + len(roots.own_keys)
        trunk = cls(
            nodes=_empty(NodeArrays, max(1024, 2 * count)),
            node_count=count,
            states=np.zeros((max(1024, 2 * count), roots.states.shape[1]), dtype=np.uint64),
            infosets=(_empty(InfosetArrays, max(256, 2 * others)), _empty(InfosetArrays, max(256, 2 * groups))),
            sequences=(_empty(SequenceArrays, 1024), _empty(SequenceArrays, max(1024, 2 * groups))),
            counts=np.array([others, groups, 1, 1 + groups], dtype=np.int64),
            alternate=roots.alternate.astype(np.float64),
            root_count=count,
            folded_infoset=np.zeros(0, dtype=np.int32),
            folded_value=np.zeros(0),
        )
        # Root infosets. Each of player 1 has its own root sequence; nobody acts at any of them yet.
        own, theirs = trunk.infosets
        own.key[0], own.key[1:others] = roots.key, roots.own_keys
        theirs.key[:groups] = theirs.label[:groups] = roots.keys
        theirs.sequence[:groups] = 1 + np.arange(groups)
        for side, size in ((own, others), (theirs, groups)):
            side.parent[:size] = side.first[:size] = -1
        # The roots: open leaves; ``chance`` is their probability given their root infoset.
        nodes = trunk.nodes
        nodes.parent[:count] = nodes.first_child[:count] = nodes.action[:count] = -1
        nodes.mover[:count] = roots.movers
        nodes.infoset[:count, 0] = 0 if roots.own is None else roots.own
        nodes.infoset[:count, 1] = roots.group
        nodes.sequence[:count, 1] = theirs.sequence[roots.group]
        nodes.value[:count] = roots.values
        nodes.chance[:count] = roots.weight
        nodes.ceiling[:count] = np.inf
        trunk.states[:count] = roots.states
        trunk.index_infosets()
        return trunk

    @property
    def group_count(self) -> int:
        """Number of root infosets of player 1 (J)."""
        return len(self.alternate)

    def infoset_count(self, player: int) -> int:
        """Number of infosets in the observation tree of ``player``."""
        return int(self.counts[player])

    def sequence_count(self, player: int) -> int:
        """Number of sequences of ``player``, the empty one included."""
        return int(self.counts[2 + player])

    @property
    def leaf(self) -> Bools:
        """Which nodes have no children, terminal nodes included: bool[N]."""
        return self.nodes.first_child[: self.node_count] < 0

    def acting(self, player: int) -> Ints:
        """Return the infosets at which ``player`` has sequences: int64[n], in the order of sequences, parents first."""
        first = self.infosets[player].first[: self.infoset_count(player)]
        found = np.flatnonzero(first >= 0)
        return found[np.argsort(first[found])]

    @property
    def open_leaf(self) -> Bools:
        """Which nodes can be expanded: bool[N]."""
        opened: Bools = self.leaf & (self.nodes.mover[: self.node_count] != TERMINAL)
        return opened

    def leaf_depths(self) -> tuple[int, float]:
        """Return the largest and the mean distance of the leaves from the root."""
        depth = self.nodes.depth[: self.node_count][self.leaf]
        return int(depth.max(initial=0)), float(depth.mean()) if len(depth) else 0.0

    def prepare(self, leaves: Ints, model: Model, history: Keys) -> Expansion:
        """Return the children of ``leaves``, for :meth:`attach`, without writing the trunk."""
        return model.expand(self.states[leaves], _Past(self.nodes, leaves, history))

    def nature_since(self, start: int) -> Ints:
        """Return nature's nodes from number ``start`` on: int64[n]."""
        return start + np.flatnonzero(self.nodes.mover[start : self.node_count] == CHANCE)

    def attach(self, leaves: Ints, expansion: Expansion) -> int:
        """Add the children that :meth:`prepare` returned; return how many are nature's."""
        added = len(expansion.values)
        if added > self._spare:  # make room for more at once
            more = max(added, self.node_count // 8)
            self.make_room(more, (more, more), (more, more))
        self._spare -= added
        tables = self._tables[0], self._tables[1]
        code: int = kernels.attach(
            leaves, self.nodes, self.node_count, *self.infosets, self.counts, *self.sequences, tables, expansion
        )
        # A negative code is −1 − i, where i is the place of the first leaf whose actions differ from its infoset's.
        if code < 0:
            leaf = leaves[-1 - code]
            player = int(self.nodes.mover[leaf])
            infoset = self.nodes.infoset[leaf, player]
            first, count = self.infosets[player].first[infoset], self.infosets[player].size[infoset]
            got = expansion.actions[expansion.offsets[-1 - code] : expansion.offsets[-code]].tolist()
            known = self.sequences[player].action[first : first + count].tolist()
            raise ModelError(
                f"one infoset, two action sets: node {leaf} of player {player} has actions {got}, its infoset has "
                f"{known}; the model's observations have to tell them apart"
            )
        self.states[self.node_count : self.node_count + added] = expansion.states
        self.node_count += added
        return code

    def make_room(self, nodes: int, infosets: tuple[int, int], sequences: tuple[int, int]) -> None:
        """Make room for that many more nodes, and more infosets and sequences of player 0 and 1."""
        self.nodes = _roomy(self.nodes, self.node_count + nodes)
        if len(self.states) < len(self.nodes.parent):
            (self.states,) = grown((self.states,), len(self.nodes.parent))
        (own, theirs), (mine, yours) = self.infosets, self.sequences
        have = self.counts.tolist()
        self.infosets = _roomy(own, have[0] + infosets[0]), _roomy(theirs, have[1] + infosets[1])
        self.sequences = _roomy(mine, have[2] + sequences[0]), _roomy(yours, have[3] + sequences[1])
        self._make_tables(infosets)
        # A node needs at most one infoset and one sequence of each player.
        rooms = [len(a[0]) for a in (*self.infosets, *self.sequences)]
        tables = [len(table[0]) // 2 for table in self._tables]
        left = (room - count for room, count in zip(rooms + tables, have + have[:2], strict=True))
        self._spare = min(len(self.nodes.parent) - self.node_count, *left)

    def index_infosets(self) -> None:
        """Rebuild the look-up of infosets by key, after infosets were written into the arrays directly."""
        self._spare = 0
        self._tables.clear()
        self._make_tables((0, 0))

    def _make_tables(self, more: tuple[int, int]) -> None:
        """Make hash tables from infoset keys to infosets that stay at most half full when ``more`` are entered."""
        for player in range(2):
            needed = 2 * (self.infoset_count(player) + more[player])
            if player < len(self._tables) and needed <= len(self._tables[player][0]):
                continue
            size = 1 << max(10, int(2 * needed - 1).bit_length())
            table = (np.zeros(size, dtype=np.uint64), np.full(size, -1, dtype=np.int32))
            kernels.fill_table(self.infosets[player].key, self.infoset_count(player), *table)
            self._tables[player : player + 1] = [table]

    def step(self, infoset: int, own_action: int, observation: int, acts: bool) -> int:
        """Return the infoset of player 0 that follows ``infoset`` after its own action (−1: another player acted), its
        observation, and whether it acts next; −1 if no node of the trunk is there.
        """
        # Without an action, an observation and a turn the player stays in its infoset, as in the kernel ``attach``.
        if infoset < 0 or (own_action < 0 and observation == 0 and not acts):
            return infoset
        key = kernels.child_key(self.infosets[0].key[infoset], own_action, np.uint64(observation), 1 if acts else 0)
        return int(kernels.lookup(*self._tables[0], np.uint64(key)))

    def spread_down(self, marks: Ints) -> None:
        """Give each node without a mark of its own (int64[N], −1: none) the mark of its parent, in place."""
        kernels.spread_down(self.nodes.parent, self.node_count, marks)

    def members(self, infoset: int) -> Ints:
        """Return the nodes of an infoset of player 0: int64[n]."""
        return np.flatnonzero(self.nodes.infoset[: self.node_count, 0] == infoset)


def game_root(model: Model, state: States) -> Roots:
    """Return the start of a game (uint64[1, w]) as the only root of a trunk, with alternate value 0."""
    return Roots(
        states=state,
        movers=model.movers(state),
        values=model.values(state),
        group=np.zeros(1, dtype=np.int32),
        weight=np.ones(1),
        keys=np.ones(1, dtype=np.uint64),
        alternate=np.zeros(1),
        key=1,
    )
