"""From the previous trunk to the next: copies the carried sections with everything expanded below them under new
numbers, and adds fresh roots.
"""

from __future__ import annotations

import numpy as np

from klss.search._kernels import trunk as kernels
from klss.search.subgame.sections import CarriedSubtree
from klss.search.trunk import Roots, Trunk
from klss.support.arrays import Floats, Int32s, Ints


def next_trunk(
    trunk: Trunk, infoset: int, sections: list[CarriedSubtree], fresh: Roots
) -> tuple[Trunk, tuple[Ints, Ints] | None]:
    """Return the next subgame's trunk, from ``sections`` of the previous one (none or more) and ``fresh`` roots; and
    for each player the old sequence from which each new one comes, −1 for none (None without sections).
    """
    nodes = trunk.nodes
    carried = np.concatenate([np.zeros(0, dtype=np.int64), *(section.nodes for section in sections)])
    groups = np.concatenate(
        [np.zeros(0, dtype=np.int32), *(np.full(len(s.nodes), j, dtype=np.int32) for j, s in enumerate(sections))]
    )
    weights = np.concatenate([np.zeros(0), *(section.weight for section in sections)])
    theirs_old = trunk.infosets[1]
    at = nodes.infoset[carried, 0]
    others = np.setdiff1d(at, [infoset])  # player 0's other infosets, which player 1 can't rule out
    own = np.where(at == infoset, 0, 1 + np.searchsorted(others, at))
    key = int(trunk.infosets[0].key[infoset]) if len(sections) else fresh.key
    roots = Roots(
        states=np.concatenate([trunk.states[carried], fresh.states]),
        movers=np.concatenate([nodes.mover[carried], fresh.movers]),
        values=np.concatenate([nodes.value[carried], fresh.values]),
        group=np.concatenate([groups, fresh.group + np.int32(len(sections))]),
        weight=np.concatenate([weights, fresh.weight]),
        keys=np.concatenate([theirs_old.key[[section.infoset for section in sections]].astype(np.uint64), fresh.keys]),
        alternate=np.concatenate(
            [np.array([section.alternate for section in sections], dtype=np.float64), fresh.alternate]
        ),
        key=key,
        own=np.concatenate([own, np.zeros(len(fresh.values), dtype=np.int64)]).astype(np.int32),
        own_keys=trunk.infosets[0].key[others],
    )
    new = Trunk.from_roots(roots)
    return new, _carry(trunk, new, infoset, others, sections, carried, weights) if sections else None


def _carry(
    old: Trunk, new: Trunk, infoset: int, others: Int32s, sections: list[CarriedSubtree], carried: Ints, weights: Floats
) -> tuple[Ints, Ints]:
    """Copy the nodes below the carried roots (nodes 0 … r − 1 of ``new``) and the entries folded in."""
    # Nodes: those below a carried root, and for each the root above it.
    origin = np.full(old.node_count, -1, dtype=np.int64)
    origin[carried] = np.arange(len(carried))
    old.spread_down(origin)
    kept = np.flatnonzero(origin >= 0)
    inner = kept[~np.isin(kept, carried)]
    # Infosets: the roots' infosets have their new numbers already, all others follow.
    entries = np.concatenate([section.folded_infoset for section in sections])
    maps = [np.full(old.infoset_count(p), -1, dtype=np.int32) for p in range(2)]
    maps[0][infoset] = 0
    maps[0][others] = 1 + np.arange(len(others))
    maps[1][[section.infoset for section in sections]] = np.arange(len(sections))
    rest = _places(old, kept, entries, sections, maps)
    added_sequences = []
    for player in range(2):
        maps[player][rest[player]] = new.infoset_count(player) + np.arange(len(rest[player]))
        with_actions = np.flatnonzero((maps[player] >= 0) & (old.infosets[player].first[: len(maps[player])] >= 0))
        added_sequences.append(int(old.infosets[player].size[with_actions].sum()))
    # Every new number is known now. Copy infosets with their sequences first, since nodes refer to both.
    new.make_room(len(inner), (len(rest[0]), len(rest[1])), (added_sequences[0], added_sequences[1]))
    sequence_maps = [_carry_player(old, new, player, maps[player], rest[player]) for player in range(2)]
    _carry_nodes(old, new, carried, inner, origin[inner], weights)
    group = np.array([j for j, section in enumerate(sections) for _ in section.nodes], dtype=np.int64)
    at = slice(new.node_count, new.node_count + len(inner))
    for player in range(2):
        new.nodes.infoset[at, player] = maps[player][old.nodes.infoset[inner, player]]
        mapped = sequence_maps[player][old.nodes.sequence[inner, player]]
        if player == 1:  # if player 1 has not acted since the root, its last sequence is "play" at the root infoset
            mapped = np.where(mapped > 0, mapped, 1 + group[origin[inner]])
        new.nodes.sequence[at, player] = mapped
    new.node_count += len(inner)
    # Folded-in entries keep their values, at the new infosets.
    new.folded_infoset = maps[1][entries]
    new.folded_value = np.concatenate([section.folded_value for section in sections])
    new.index_infosets()
    return _origin(sequence_maps[0], new.sequence_count(0)), _origin(sequence_maps[1], new.sequence_count(1))


def _places(
    old: Trunk, kept: Ints, entries: Ints, sections: list[CarriedSubtree], maps: list[Int32s]
) -> tuple[Ints, Ints]:
    """Return the infosets of both players that the ``kept`` nodes and the folded ``entries`` need, without those that
    ``maps`` numbers already: int64[n] each, parents first.
    """
    below = np.zeros(old.infoset_count(0), dtype=np.bool_)
    below[old.nodes.infoset[kept, 0]] = True
    # Entries may be at infosets without a node; all infosets on the way to them from a section's root are needed.
    inside = np.full(old.infoset_count(1), -1, dtype=np.int64)
    inside[[section.infoset for section in sections]] = 0
    kernels.spread_down(old.infosets[1].parent, len(inside), inside)
    needed = np.zeros(old.infoset_count(1), dtype=np.bool_)
    needed[old.nodes.infoset[kept, 1]] = True
    needed[entries] = True
    kernels.mark_above(old.infosets[1].parent, len(needed), needed)
    needed &= inside >= 0
    return np.flatnonzero(below & (maps[0] < 0)), np.flatnonzero(needed & (maps[1] < 0))


def _carry_nodes(old: Trunk, new: Trunk, carried: Ints, inner: Ints, root: Ints, weights: Floats) -> None:
    """Append copies of the nodes ``inner`` to ``new``, without their infosets and sequences, and link them to the
    carried roots; ``root`` is the carried root above each.
    """
    source, target = old.nodes, new.nodes
    node_map = np.full(old.node_count, -1, dtype=np.int32)
    node_map[carried] = np.arange(len(carried))
    node_map[inner] = new.node_count + np.arange(len(inner))
    # The roots exist already; they lack only their children.
    for at, nodes in ((slice(0, len(carried)), carried), (slice(new.node_count, new.node_count + len(inner)), inner)):
        first = source.first_child[nodes]
        target.first_child[at] = np.where(first >= 0, node_map[first], -1)
        target.child_count[at] = source.child_count[nodes]
        target.ceiling[at] = source.ceiling[nodes]
    target.parent[at] = node_map[source.parent[inner]]
    for name in ("action", "mover", "value", "interest", "observation"):
        getattr(target, name)[at] = getattr(source, name)[inner]
    # Depth and nature's probability start at the new root.
    target.depth[at] = source.depth[inner] - source.depth[carried[root]]
    target.chance[at] = source.chance[inner] / source.chance[carried[root]] * weights[root]
    new.states[at] = old.states[inner]


def _origin(sequence_map: Int32s, count: int) -> Ints:
    """Return the inverse of a player's map of sequences; −1 for a new sequence without an old one."""
    origin = np.full(count, -1, dtype=np.int64)
    kept = np.flatnonzero(sequence_map > 0)
    origin[sequence_map[kept]] = kept
    return origin


def _carry_player(old: Trunk, new: Trunk, player: int, infoset_map: Int32s, rest: Ints) -> Int32s:
    """Copy a player's infosets and sequences; return the map of its sequences (0 where one is not copied)."""
    source, target = old.infosets[player], new.infosets[player]
    sequence_map = np.zeros(old.sequence_count(player), dtype=np.int32)
    # Sequences, infoset by infoset in their old order, so that parents still come first.
    with_actions = np.flatnonzero((infoset_map >= 0) & (source.first[: len(infoset_map)] >= 0))
    with_actions = with_actions[np.argsort(source.first[with_actions])]
    first, size = source.first[with_actions].astype(np.int64), source.size[with_actions].astype(np.int64)
    before = new.sequence_count(player)
    new_first = before + np.cumsum(size) - size
    after = before + int(size.sum())
    kept = np.repeat(first - new_first, size) + np.arange(before, after)  # the old numbers of the new sequences
    sequence_map[kept] = np.arange(before, after)
    new.sequences[player].infoset[before:after] = np.repeat(infoset_map[with_actions], size)
    new.sequences[player].action[before:after] = old.sequences[player].action[kept]
    target.first[infoset_map[with_actions]] = new_first
    target.size[infoset_map[with_actions]] = size
    # Infosets, without the roots', which exist already.
    at = infoset_map[rest]
    target.key[at] = source.key[rest]
    target.label[at] = source.label[rest]
    target.parent[at] = infoset_map[source.parent[rest]]
    has_none = source.first[rest] < 0
    target.first[at[has_none]] = -1
    target.size[at[has_none]] = 0
    sequence = sequence_map[source.sequence[rest]]
    if player == 1:  # if player 1 has not acted since the root: the root infoset's own sequence
        marks = target.sequence[: new.infoset_count(1) + len(rest)].astype(np.int64)
        marks[at] = np.where(sequence > 0, sequence, -1)
        kernels.spread_down(target.parent, len(marks), marks)
        target.sequence[at] = marks[at]
    else:
        target.sequence[at] = sequence
    new.counts[player] += len(rest)
    new.counts[2 + player] = after
    return sequence_map
