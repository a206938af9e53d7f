"""The nested step: from the previous trunk and what player 0 has since observed to the trunk of the next subgame
(MakeSubgame of App. E, k = 1).

Γ is the previous trunk with its gadget, x player 0's plan in it, I' her infoset now. For each infoset J of player 1
that meets I':

* D = Σ_{h ∈ J∩I'} p(h)x(h); every quantity of J is divided by it (algorithms.md §2.1, mend of line 21);
* the alternate value is player 1's counterfactual best-response value at J against x, *all* of J counted;
* the gift lowers the alternate value's claim (mend of line 22): Σ u*(x|J'a') − u*(x|J') over her own actions on the
  way to J;
* leaves below J but not below I' can no longer be reached, yet player 1 does not know: their value, fixed by x, is
  folded into her observation tree (line 27), and entries folded in earlier are copied (lines 24–25; every sequence
  below J, also those that no node has any more).

Deviations, beside the mends: the gadget's own choice at the root is no action of player 1's, so that it gives no
gift. Folded-in leaves are leaves of the *trunk*: their estimates stay as they are. Two roots that are transpositions
are merged as in §4, item 3: the one whose top-row entries are all at least as large is dominated for player 1 and
dropped, else a random one; the entries are compared by observation sequence, though the trees below may be expanded
differently.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from klss._kernels import trunk as kernels
from klss.search.model import TERMINAL, Model
from klss.search.trunk import Roots, Trunk

__all__ = ["Section", "fresh_roots", "likeliest", "merge_transpositions", "sections_at", "subgame", "value_at"]

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Section:
    """The part of the next subgame below one infoset J of player 1.

    Attributes
    ----------
    infoset : int
        J, in the previous trunk.
    nodes : int64[r]
        The nodes of J ∩ I'.
    weight : float64[r]
        Their shares p(h)x(h)/D.
    alternate : float
        Alternate value with the gift taken off: what is subtracted from player 0's payoff below J.
    folded_infoset, folded_value : int64[e], float64[e]
        Entries folded in below J (infosets of the previous trunk, each once), divided by D.
    """

    infoset: int
    nodes: Int
    weight: Float
    alternate: float
    folded_infoset: Int
    folded_value: Float


def _reach(trunk: Trunk, x: Float) -> Float:
    count = trunk.node_count
    return trunk.nodes.chance[:count] * x[trunk.nodes.sequence[:count, 0]]


def sections_at(trunk: Trunk, x: Float, infoset: int, *, reach: bool) -> list[Section]:
    """Sections of the next subgame at ``infoset`` of player 0, in the order of their infosets.

    Parameters
    ----------
    trunk : Trunk
    x : float64[S0]
        Player 0's plan in ``trunk``.
    infoset : int
        I', an infoset of player 0 in ``trunk``.
    reach : bool
        Whether gifts are counted.

    Returns
    -------
    list of Section
        Empty when no node of I' is reached with positive probability (p(h)x(h) > 0).
    """
    nodes, count = trunk.nodes, trunk.node_count
    theirs, infoset_count = trunk.infosets[1], trunk.infoset_count(1)
    probability = _reach(trunk, x)
    members = trunk.members(infoset)
    members = members[(probability[members] > 0.0) & (nodes.mover[members] != TERMINAL)]
    if not len(members):
        return []
    leaf = trunk.leaf
    contribution = np.where(leaf, probability * nodes.value[:count], 0.0)
    infoset_value = np.bincount(nodes.infoset[:count, 1], weights=contribution, minlength=infoset_count)
    infoset_value += np.bincount(trunk.folded_infoset, weights=trunk.folded_value, minlength=infoset_count)
    sequence_value = np.zeros(trunk.sequence_count(1))
    kernels.best_response_tree(theirs, infoset_count, sequence_value, infoset_value)
    gift = np.zeros(infoset_count)
    if reach:
        kernels.gifts_tree(theirs, infoset_count, sequence_value, gift)

    meeting, group = np.unique(nodes.infoset[members, 1], return_inverse=True)
    denominator = np.bincount(group, weights=probability[members])
    above = np.full(infoset_count, -1, dtype=np.int64)  # which meeting infoset each infoset lies below
    above[meeting] = np.arange(len(meeting))
    kernels.spread_down(theirs.parent, infoset_count, above)
    below = np.full(count, -1, dtype=np.int64)  # whether each node lies below I'
    below[members] = 0
    kernels.spread_down(nodes.parent, count, below)

    outside = np.flatnonzero((below < 0) & (contribution != 0.0) & (above[nodes.infoset[:count, 1]] >= 0))
    at = np.concatenate([nodes.infoset[outside, 1].astype(np.int64), trunk.folded_infoset.astype(np.int64)])
    value = np.concatenate([contribution[outside], trunk.folded_value])
    folded = np.bincount(at, weights=value, minlength=infoset_count)
    entries = np.flatnonzero((folded != 0.0) & (above >= 0))
    order = np.argsort(above[entries], kind="stable")
    entries = entries[order]
    bounds = np.searchsorted(above[entries], np.arange(len(meeting) + 1))
    sections = []
    for j, their in enumerate(meeting):
        own = members[group == j]
        mine = entries[bounds[j] : bounds[j + 1]]
        sections.append(
            Section(
                infoset=int(their),
                nodes=own,
                weight=probability[own] / denominator[j],
                alternate=float((infoset_value[their] - gift[their]) / denominator[j]),
                folded_infoset=mine,
                folded_value=folded[mine] / denominator[j],
            )
        )
    return sections


def value_at(trunk: Trunk, x: Float, y: Float, infoset: int) -> float:
    """û: the profile's expected utility at an infoset of player 0 (the A part only; App. E, line 13).

    Where player 1 never goes there (line 13 then divides zero by zero), the profile's utility at the root stands in.
    """
    nodes, count = trunk.nodes, trunk.node_count
    reach = _reach(trunk, x) * y[nodes.sequence[:count, 1]]
    utility = np.where(trunk.leaf, reach * nodes.value[:count], 0.0)
    members = trunk.members(infoset)
    total = float(reach[members].sum())
    if total <= 0.0:
        whole = float(reach[: trunk.root_count].sum())
        return float(utility.sum()) / whole if whole > 0.0 else np.inf
    below = np.full(count, -1, dtype=np.int64)
    below[members] = 0
    kernels.spread_down(nodes.parent, count, below)
    return float(utility[below == 0].sum()) / total


def fresh_roots(states: Keys, model: Model, estimate: float, seed: int) -> Roots:
    """Newly sampled particles as roots: each an infoset of its own for player 1, alternate value min(û, ũ(h))
    (App. E, line 19).
    """
    count = len(states)
    values = model.values(states) if count else np.zeros(0)
    keys = np.random.default_rng(seed).integers(0, 2**64, size=count, dtype=np.uint64)
    return Roots(
        states=states,
        movers=model.movers(states),
        values=values,
        group=np.arange(count, dtype=np.int32),
        weight=np.ones(count),
        keys=keys,
        alternate=np.minimum(estimate, values),
        key=int(keys[0]) if count else 0,
    )


def merge_transpositions(trunk: Trunk, sections: list[Section], model: Model, seed: int) -> list[Section]:
    """Keep one of the sections whose roots are transpositions; sections with several roots are left alone."""
    single = [i for i, section in enumerate(sections) if len(section.nodes) == 1]
    if len(single) < 2:
        return sections
    identities = model.identities(trunk.states[[sections[i].nodes[0] for i in single]])
    by_state: dict[bytes, list[int]] = {}
    for i, row in zip(single, identities, strict=True):
        by_state.setdefault(row.tobytes(), []).append(i)
    rng = np.random.default_rng(seed)
    dropped: set[int] = set()
    rows: dict[int, dict[int, float]] = {}
    for same in by_state.values():
        kept = same[0]
        for other in same[1:]:
            for i in (kept, other):
                if i not in rows:
                    rows[i] = _top_row(trunk, sections[i])
            winner = _kept_of(rows[kept], rows[other], rng)
            dropped.add(other if winner == 0 else kept)
            kept = kept if winner == 0 else other
    return [section for i, section in enumerate(sections) if i not in dropped]


def likeliest(trunk: Trunk, y: Float, sections: list[Section], most: int, seed: int) -> list[Section]:
    """The sections to which player 1 is expected to come, then any, until they have ``most`` roots; in the order they
    came in.
    """
    sizes = np.array([len(section.nodes) for section in sections])
    if not len(sections) or sizes.sum() <= most:
        return sections
    reached = np.array([y[trunk.nodes.sequence[section.nodes[0], 1]] for section in sections])
    drawn = np.random.default_rng(seed).random(len(sections))
    order = np.lexsort((drawn, -reached))
    kept = order[np.cumsum(sizes[order]) <= most]
    return [sections[i] for i in np.sort(kept if len(kept) else order[:1])]


def _top_row(trunk: Trunk, section: Section) -> dict[int, float]:
    """Top-row entries of a section by player 1's observation sequence from its root on."""
    theirs = trunk.infosets[1]
    row = {0: -section.alternate}
    mask = (1 << 64) - 1
    paths: dict[int, int] = {section.infoset: 0}

    def path(infoset: int) -> int:
        chain = []
        while infoset not in paths:
            chain.append(infoset)
            infoset = int(theirs.parent[infoset])
        for below in reversed(chain):
            paths[below] = hash((paths[infoset], int(theirs.label[below]))) & mask
            infoset = below
        return paths[infoset]

    for infoset, value in zip(section.folded_infoset.tolist(), section.folded_value.tolist(), strict=True):
        key = path(infoset)
        row[key] = row.get(key, 0.0) + value
    return row


def _kept_of(first: dict[int, float], second: dict[int, float], rng: np.random.Generator) -> int:
    """0 to keep the first of two sections, 1 to keep the second: the one with the smaller entries dominates for
    player 1.
    """
    keys = first.keys() | second.keys()
    first_least = all(first.get(key, 0.0) <= second.get(key, 0.0) for key in keys)
    if first_least:
        return 0
    second_least = all(second.get(key, 0.0) <= first.get(key, 0.0) for key in keys)
    return 1 if second_least else int(rng.integers(2))


def subgame(trunk: Trunk, infoset: int, sections: list[Section], fresh: Roots) -> Trunk:
    """The next subgame's trunk: ``sections`` of the previous one with all that is expanded below them, and
    ``fresh`` roots beside them.
    """
    nodes = trunk.nodes
    carried = np.concatenate([np.zeros(0, dtype=np.int64), *(section.nodes for section in sections)])
    groups = np.concatenate(
        [np.zeros(0, dtype=np.int32), *(np.full(len(s.nodes), j, dtype=np.int32) for j, s in enumerate(sections))]
    )
    weights = np.concatenate([np.zeros(0), *(section.weight for section in sections)])
    theirs_old = trunk.infosets[1]
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
    )
    new = Trunk.from_roots(roots)
    if sections:
        _carry(trunk, new, infoset, sections, carried, weights)
    return new


def _carry(old: Trunk, new: Trunk, infoset: int, sections: list[Section], carried: Int, weights: Float) -> None:
    """Copy what is below the carried roots (nodes 0 … r − 1 of ``new``) and the entries folded in."""
    count = old.node_count
    origin = np.full(count, -1, dtype=np.int64)  # which carried root each node lies below
    origin[carried] = np.arange(len(carried))
    kernels.spread_down(old.nodes.parent, count, origin)
    kept = np.flatnonzero(origin >= 0)
    inner = kept[~np.isin(kept, carried)]

    group_of = np.full(old.infoset_count(1), -1, dtype=np.int64)  # section that each infoset of player 1 lies below
    for j, section in enumerate(sections):
        group_of[section.infoset] = j
    roots = group_of >= 0
    kernels.spread_down(old.infosets[1].parent, old.infoset_count(1), group_of)
    entries = np.concatenate([section.folded_infoset for section in sections])
    needed = np.zeros(old.infoset_count(1), dtype=np.bool_)
    needed[old.nodes.infoset[kept, 1]] = True
    needed[entries] = True
    kernels.mark_above(old.infosets[1].parent, old.infoset_count(1), needed)
    needed &= group_of >= 0
    below = np.zeros(old.infoset_count(0), dtype=np.bool_)
    below[old.nodes.infoset[kept, 0]] = True

    maps = [np.full(old.infoset_count(p), -1, dtype=np.int32) for p in range(2)]
    maps[0][infoset] = 0
    for j, section in enumerate(sections):
        maps[1][section.infoset] = j
    rest = (np.flatnonzero(below & (np.arange(len(below)) != infoset)), np.flatnonzero(needed & ~roots))
    added_sequences = []
    for player in range(2):
        maps[player][rest[player]] = new.infoset_count(player) + np.arange(len(rest[player]))
        with_actions = np.flatnonzero((maps[player] >= 0) & (old.infosets[player].first[: len(maps[player])] >= 0))
        added_sequences.append(int(old.infosets[player].size[with_actions].sum()))
    new.make_room(len(inner), (len(rest[0]), len(rest[1])), (added_sequences[0], added_sequences[1]))
    sequence_maps = [_carry_player(old, new, player, maps[player], rest[player]) for player in range(2)]

    base = new.node_count
    node_map = np.full(count, -1, dtype=np.int32)
    node_map[carried] = np.arange(len(carried))
    node_map[inner] = base + np.arange(len(inner))
    new.nodes.first_child[: len(carried)] = np.where(
        old.nodes.first_child[carried] >= 0, node_map[old.nodes.first_child[carried]], -1
    )
    new.nodes.child_count[: len(carried)] = old.nodes.child_count[carried]
    new.nodes.capped[: len(carried)] = old.nodes.capped[carried]
    at = slice(base, base + len(inner))
    source, target = old.nodes, new.nodes
    target.parent[at] = node_map[source.parent[inner]]
    target.first_child[at] = np.where(source.first_child[inner] >= 0, node_map[source.first_child[inner]], -1)
    for name in ("child_count", "action", "mover", "value", "interest", "observation", "capped"):
        getattr(target, name)[at] = getattr(source, name)[inner]
    root = origin[inner]
    target.depth[at] = source.depth[inner] - source.depth[carried[root]]
    target.chance[at] = source.chance[inner] / source.chance[carried[root]] * weights[root]
    group = np.array([j for j, section in enumerate(sections) for _ in section.nodes], dtype=np.int64)
    for player in range(2):
        target.infoset[at, player] = maps[player][source.infoset[inner, player]]
        mapped = sequence_maps[player][source.sequence[inner, player]]
        if player == 1:  # no action of hers since the root: "play" at its root infoset
            mapped = np.where(mapped > 0, mapped, 1 + group[root])
        target.sequence[at, player] = mapped
    new.states[at] = old.states[inner]
    new.node_count += len(inner)
    new.folded_infoset = maps[1][entries]
    new.folded_value = np.concatenate([section.folded_value for section in sections])
    new.index_infosets()


def _carry_player(
    old: Trunk, new: Trunk, player: int, infoset_map: npt.NDArray[np.int32], rest: Int
) -> npt.NDArray[np.int32]:
    """Copy a player's infosets and sequences; returns the map of her sequences (0 where a sequence is not copied)."""
    source, target = old.infosets[player], new.infosets[player]
    sequence_map = np.zeros(old.sequence_count(player), dtype=np.int32)
    with_actions = np.flatnonzero((infoset_map >= 0) & (source.first[: len(infoset_map)] >= 0))
    with_actions = with_actions[np.argsort(source.first[with_actions])]
    next_sequence = new.sequence_count(player)
    for infoset in with_actions:
        first, count = int(source.first[infoset]), int(source.size[infoset])
        sequence_map[first : first + count] = np.arange(next_sequence, next_sequence + count)
        new.sequences[player].infoset[next_sequence : next_sequence + count] = infoset_map[infoset]
        new.sequences[player].action[next_sequence : next_sequence + count] = old.sequences[player].action[
            first : first + count
        ]
        target.first[infoset_map[infoset]] = next_sequence
        target.size[infoset_map[infoset]] = count
        next_sequence += count
    at = infoset_map[rest]
    target.key[at] = source.key[rest]
    target.label[at] = source.label[rest]
    target.parent[at] = infoset_map[source.parent[rest]]
    has_none = source.first[rest] < 0
    target.first[at[has_none]] = -1
    target.size[at[has_none]] = 0
    sequence = sequence_map[source.sequence[rest]]
    if player == 1:  # parents come first, so theirs are in place
        for new_infoset, mapped in zip(at.tolist(), sequence.tolist(), strict=True):
            target.sequence[new_infoset] = mapped if mapped > 0 else target.sequence[target.parent[new_infoset]]
    else:
        target.sequence[at] = sequence
    new.counts[player] += len(rest)
    new.counts[2 + player] = next_sequence
    return sequence_map
