"""2-KLUSS on games that can be enumerated: what the last profile was worth is not lost, whatever is unfrozen."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np
import pytest

from klss import openspiel
from klss.search import EnumeratedModel, Trunk
from klss.search.profile import Profile
from klss.search.subgame.carrying import next_trunk
from klss.search.subgame.order_one import fresh_roots
from klss.search.subgame.order_two import unfrozen_sections
from klss.search.subgame.sections import CarriedSubtree, sections_at
from klss.theory.movers import TERMINAL
from tests.klss.search.solved import NO_KEYS, solve_gadget, whole_trunk

GAMES = ["leduc_poker", "dark_hex(board_size=2,gameversion=adh)", "kuhn_poker"]


@functools.cache
def whole(name: str) -> tuple[Trunk, EnumeratedModel, Profile]:
    """A game's trunk, expanded to its end, and its equilibrium."""
    model = EnumeratedModel(openspiel.load(name))
    trunk = whole_trunk(model)
    return trunk, model, solve_gadget(trunk, "maxmargin")


def places(trunk: Trunk, most: int = 40) -> list[int]:
    """Infosets of player 0 below the root at which it acts."""
    acting = trunk.nodes.infoset[: trunk.node_count, 0][trunk.nodes.mover[: trunk.node_count] == 0]
    return [infoset for infoset in np.unique(acting).tolist() if infoset != 0][:most]


def carried(name: str, most: int) -> Iterator[tuple[int, list[CarriedSubtree], Trunk]]:
    """Some of these infosets, what is unfrozen at each, and the trunk that is carried on to it."""
    trunk, model, profile = whole(name)
    for infoset in places(trunk, most):
        if sections := unfrozen_sections(trunk, profile, infoset):
            nobody = fresh_roots(NO_KEYS.reshape(0, 1), model, np.inf, 0)
            yield infoset, sections, next_trunk(trunk, infoset, sections, nobody)[0]


@pytest.mark.parametrize("name", GAMES)
def test_an_equilibrium_loses_nothing_by_being_solved_again(name: str) -> None:
    """The last plan itself is still there and has no negative margin, so the best margin is none either."""
    checked = 0
    for _, _, below in carried(name, 10):
        assert solve_gadget(below, "maxmargin").margin >= -1e-9
        checked += 1
    assert checked >= 1


@pytest.mark.parametrize("name", GAMES)
def test_whole_infosets_of_the_opponent_are_kept(name: str) -> None:
    """Every node to which nature and player 0 come at an infoset of player 1 that meets player 0's, and no other: found
    by a search over all pairs of nodes.
    """
    trunk, _, profile = whole(name)
    nodes = trunk.nodes
    reach = nodes.chance[: trunk.node_count] * profile.x[nodes.sequence[: trunk.node_count, 0]]
    wider = 0
    for infoset in places(trunk):
        sections = unfrozen_sections(trunk, profile, infoset)
        kept = {int(node) for section in sections for node in section.nodes}
        here = {int(n) for n in trunk.members(infoset) if reach[n] > 0.0 and nodes.mover[n] != TERMINAL}
        meeting = {int(nodes.infoset[n, 1]) for n in here}
        depth = nodes.depth[next(iter(here))] if here else -1  # player 1 may stay at an infoset for some plies
        level = np.flatnonzero(nodes.depth[: trunk.node_count] == depth)
        total = {j: sum(reach[n] for n in level if nodes.infoset[n, 1] == j) for j in meeting}
        expected = {
            int(n)
            for n in level
            if int(nodes.infoset[n, 1]) in meeting
            and nodes.mover[n] != TERMINAL
            and (n in here or reach[n] >= 1e-3 * total[int(nodes.infoset[n, 1])])
        }
        assert kept == expected
        assert all(section.weight.sum() == pytest.approx(1.0) for section in sections)
        frozen = {int(n) for section in sections_at(trunk, profile.x, infoset) for n in section.nodes}
        assert frozen == here
        wider += len(kept) > len(frozen)
    assert wider or name == "dark_hex(board_size=2,gameversion=adh)"


def test_a_carried_trunk_has_the_nodes_below_as_they_were() -> None:
    """Children, values and both players' infosets below the roots of an unfrozen subgame: the same tree."""
    trunk = whole("leduc_poker")[0]
    node_of = np.argsort(trunk.states[: trunk.node_count, 0])  # of each state, which is a node of the game
    for infoset, sections, below in carried("leduc_poker", 12):
        count, roots = below.node_count, np.concatenate([section.nodes for section in sections])
        mark = np.full(trunk.node_count, -1)
        mark[roots] = 0
        trunk.spread_down(mark)
        old = node_of[below.states[:count, 0].astype(np.int64)]
        assert np.array_equal(np.sort(old), np.flatnonzero(mark == 0))
        opened = np.flatnonzero(below.nodes.first_child[:count] >= 0)
        assert np.array_equal(np.sort(old[opened]), np.flatnonzero((mark == 0) & ~trunk.leaf))
        assert np.array_equal(old[below.nodes.first_child[opened]], trunk.nodes.first_child[old[opened]])
        assert np.array_equal(below.nodes.child_count[opened], trunk.nodes.child_count[old[opened]])
        for new, known in ((below.nodes.mover, trunk.nodes.mover), (below.nodes.value, trunk.nodes.value)):
            assert np.array_equal(new[:count], known[old])
        for new, known in zip(below.nodes.infoset[:count].T, trunk.nodes.infoset[old].T, strict=True):
            assert len(np.unique(np.stack([new, known]), axis=1).T) == len(np.unique(new))
        others = {*trunk.nodes.infoset[roots, 0].tolist()} - {infoset}
        assert len(np.unique(below.nodes.infoset[: below.root_count, 0])) == 1 + len(others)
