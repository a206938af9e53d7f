"""Kernels of the trunk (:mod:`klss.search.trunk`): adding children, look-up, passes over the tree.

Nodes and infosets are stored in the order of creation, so parents come before children: a forward pass goes down the
tree, a backward pass goes up.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from klss.support.hashing import mix64
from klss.support.kernel import kernel
from klss.theory.movers import CHANCE, TERMINAL


@kernel(inline="always")
def label_of(own_action: int, observation: Any, mover: int) -> Any:
    """Return the hash of what a player learns in one step: its own action (−1: another player acted), its observation,
    and ``mover``: 1 if it acts next, 2 if the game is over, 0 otherwise.
    """
    return mix64(mix64(np.uint64(own_action + 1)) ^ observation) + np.uint64(mover)


@kernel(allocates=False)
def _slot(table_keys: Any, table_values: Any, key: Any) -> Any:
    """Return the slot of ``key`` in an open-addressing table (values are −1 where empty): its own, or the one to enter
    it in.
    """
    # Linear probing: from the key's slot on, the first slot that is empty or has the key. The size is a power of two.
    mask = np.uint64(table_keys.shape[0] - 1)
    slot = mix64(key) & mask
    while table_values[slot] >= 0 and table_keys[slot] != key:
        slot = (slot + np.uint64(1)) & mask
    return slot


@kernel(allocates=False)
def find_or_add(table_keys: Any, table_values: Any, key: Any, value: int) -> Any:
    """Return the value of ``key`` in the table; if the key is new, enter ``value`` first."""
    slot = _slot(table_keys, table_values, key)
    if table_values[slot] < 0:
        table_keys[slot] = key
        table_values[slot] = value
    return table_values[slot]


@kernel(allocates=False)
def fill_table(keys: Any, count: int, table_keys: Any, table_values: Any) -> None:
    """Enter keys[:count] with their indices into an empty table."""
    for i in range(count):
        find_or_add(table_keys, table_values, keys[i], i)


@kernel(allocates=False)
def lookup(table_keys: Any, table_values: Any, key: Any) -> Any:
    """Return the value of ``key``, −1 if it is not in the table."""
    return table_values[_slot(table_keys, table_values, key)]


@kernel(allocates=False)
def child_key(parent_key: Any, own_action: int, observation: Any, mover: int) -> Any:
    """Return the key of the infoset reached from the infoset with ``parent_key``."""
    return mix64(parent_key ^ label_of(own_action, observation, mover))


@kernel(allocates=False)
def repetitions(nodes: Any, node: int, key: Any, history: Any) -> int:
    """Return how often player 0 has made the observation ``key``: on the way to ``node`` and, by ``history`` (sorted
    uint64, with repeats), before the trunk.
    """
    # Before the trunk: the run of equal keys in the sorted history.
    low, high = 0, history.shape[0]
    while low < high:
        middle = (low + high) >> 1
        if history[middle] < key:
            low = middle + 1
        else:
            high = middle
    count = 0
    while low < history.shape[0] and history[low] == key:
        low += 1
        count += 1
    # In the trunk: the node and its ancestors, without the root, whose observation is in the history.
    while node >= 0:
        if nodes.observation[node] == key and nodes.parent[node] >= 0:
            count += 1
        node = nodes.parent[node]
    return count


@kernel(allocates=False)
def times_observed(leaves: Any, nodes: Any, offsets: Any, observations: Any, history: Any, counts: Any) -> None:
    """Write :func:`repetitions` of each child's observation (uint64[m]) before the child into ``counts`` (int64[m])."""
    for i in range(leaves.shape[0]):
        for c in range(offsets[i], offsets[i + 1]):
            counts[c] = repetitions(nodes, leaves[i], observations[c], history)


@kernel(allocates=False)
def attach(
    leaves: Any, nodes: Any, node_count: int, infosets0: Any, infosets1: Any, counts: Any, sequences0: Any,
    sequences1: Any, tables: Any, expansion: Any,
) -> int:  # fmt: skip
    """Add the children of ``leaves``. All arrays have room. Return how many of the children are nature's, or −1 − i if
    leaf i breaks "one infoset, one action set".

    ``counts`` is int64[4], updated in place: infosets of player 0 and 1, sequences of player 0 and 1.
    """
    next_node = node_count
    nature = 0
    for i in range(leaves.shape[0]):
        parent = leaves[i]
        mover = nodes.mover[parent]
        begin = expansion.offsets[i]
        count = expansion.offsets[i + 1] - begin
        # The mover's sequences: new at the first node of its infoset that is expanded, otherwise they must be the same.
        first = 0
        if mover == 0 or mover == 1:
            infosets = infosets0 if mover == 0 else infosets1
            sequences = sequences0 if mover == 0 else sequences1
            infoset = nodes.infoset[parent, mover]
            if infosets.first[infoset] < 0:
                infosets.first[infoset] = counts[2 + mover]
                infosets.size[infoset] = count
                for c in range(count):
                    sequences.infoset[counts[2 + mover] + c] = infoset
                    sequences.action[counts[2 + mover] + c] = expansion.actions[begin + c]
                counts[2 + mover] += count
            first = infosets.first[infoset]
            if infosets.size[infoset] != count:
                return -1 - i
            for c in range(count):
                if sequences.action[first + c] != expansion.actions[begin + c]:
                    return -1 - i
        # The children, one after the other.
        nodes.first_child[parent] = next_node
        nodes.child_count[parent] = count
        for c in range(begin, begin + count):
            node = next_node
            next_node += 1
            nodes.parent[node] = parent
            nodes.first_child[node] = -1
            nodes.child_count[node] = 0
            nodes.action[node] = expansion.actions[c]
            nodes.mover[node] = expansion.movers[c]
            nature += expansion.movers[c] == CHANCE
            nodes.depth[node] = nodes.depth[parent] + 1
            nodes.chance[node] = nodes.chance[parent] * expansion.probabilities[c]
            nodes.interest[node] = expansion.interest[c]
            nodes.observation[node] = expansion.observations[c, 0]
            # A parent's ceiling holds for all below it, and cuts the estimates there.
            ceiling = min(nodes.ceiling[parent], expansion.ceilings[c])
            nodes.ceiling[node] = ceiling
            nodes.value[node] = min(expansion.values[c], ceiling)
            # Each player's infoset follows from the parent's and from what the player learns in this step.
            for player in range(2):
                own = player == mover
                sequence = nodes.sequence[parent, player]
                if own:
                    sequence = first + (c - begin)
                nodes.sequence[node, player] = sequence
                # −1 hides which action another player took: only the observation may reveal it.
                own_action = np.int64(expansion.actions[c]) if own else np.int64(-1)
                # Players see the end of the game: infosets at which it is over differ from all others.
                acts = 1 if expansion.movers[c] == player else (2 if expansion.movers[c] == TERMINAL else 0)
                label = label_of(own_action, expansion.observations[c, player], acts)
                infosets = infosets0 if player == 0 else infosets1
                above = nodes.infoset[parent, player]
                # A player that did not act, does not act now and observes nothing stays in its infoset.
                if not own and acts == 0 and expansion.observations[c, player] == 0:
                    nodes.infoset[node, player] = above
                    continue
                # Otherwise its infoset is the one with this key; make it if no node has been there yet.
                key = mix64(infosets.key[above] ^ label)
                new = counts[player]
                found = find_or_add(tables[player][0], tables[player][1], key, new)
                if found == new:
                    infosets.key[new] = key
                    infosets.label[new] = label
                    infosets.parent[new] = above
                    infosets.sequence[new] = sequence
                    infosets.first[new] = -1
                    infosets.size[new] = 0
                    counts[player] = new + 1
                nodes.infoset[node, player] = found
    return nature


@kernel(allocates=False)
def spread_down(parent: Any, count: int, mark: Any) -> None:
    """Give each element without a mark of its own (int, −1: none) the mark of its parent; parents come first."""
    for i in range(count):
        if mark[i] < 0 and parent[i] >= 0:
            mark[i] = mark[parent[i]]


@kernel(allocates=False)
def mark_above(parent: Any, count: int, mark: Any) -> None:
    """Mark (True) all elements above a marked element; parents come first."""
    for i in range(count - 1, -1, -1):
        if mark[i] and parent[i] >= 0:
            mark[parent[i]] = True
