"""Any number of threads: what is prepared beside the solver is attached as if it had been prepared alone."""

from __future__ import annotations

import threading

import chess
import numpy as np
import pytest

from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.rules import PAPER
from darkchess.fog.players.model import DarkChess
from klss.search import Budget, Expansion, Kluss, Past
from klss.search.growth import Growth
from klss.search.parts import SearchedSubgame
from klss.search.search import Search, Solved
from klss.search.subgame.order_one import fresh_roots
from klss.search.trunk import Trunk
from klss.search.utilities import Utilities
from klss.support.arrays import States
from klss.support.threads import share


class Watched(DarkChess):
    """The model; notes which threads ask it."""

    def __init__(self) -> None:
        super().__init__(chess.WHITE, PAPER, BuiltinEvaluator())
        self.asked: set[int] = set()

    def expand(self, states: States, past: Past | None = None) -> Expansion:
        self.asked.add(threading.get_ident())
        return super().expand(states, past)


def start(model: DarkChess) -> Trunk:
    rows = np.array([Referee().position.row], dtype=np.uint64)
    return Trunk.from_roots(fresh_roots(model.states(rows, 0), model, np.inf, 0))


def searched(threads: int, nodes: int) -> tuple[Solved, Trunk, Watched]:
    model = Watched()
    trunk = start(model)
    search = Search(model, Kluss(), seed=3, threads=threads)
    return search.solve(SearchedSubgame(trunk, 0, 1), None, Budget(nodes=nodes)), trunk, model


def assert_same(first: Trunk, second: Trunk) -> None:
    assert first.node_count == second.node_count
    assert np.array_equal(first.states[: first.node_count], second.states[: second.node_count])
    for one, other in zip(first.nodes, second.nodes, strict=True):
        assert np.array_equal(one[: first.node_count], other[: first.node_count])
    for player in range(2):
        assert first.infoset_count(player) == second.infoset_count(player)
        for one, other in zip(first.infosets[player], second.infosets[player], strict=True):
            assert np.array_equal(one[: first.infoset_count(player)], other[: first.infoset_count(player)])


def assert_sound(trunk: Trunk) -> None:
    """Children follow their parents and one another, each has one place with each player, sequences lead to it."""
    nodes, count = trunk.nodes, trunk.node_count
    expanded = np.flatnonzero(nodes.first_child[:count] >= 0)
    first, size = nodes.first_child[expanded], nodes.child_count[expanded]
    assert (first > expanded).all() and int(size.sum()) == count - trunk.root_count
    children = np.concatenate([np.arange(f, f + s) for f, s in zip(first.tolist(), size.tolist(), strict=True)])
    assert len(np.unique(children)) == len(children)
    assert np.array_equal(nodes.parent[children], np.repeat(expanded, size))
    for player in range(2):
        place = trunk.infosets[player]
        assert np.array_equal(
            place.parent[nodes.infoset[children, player]], nodes.infoset[nodes.parent[children], player]
        )
        assert np.array_equal(place.sequence[nodes.infoset[children, player]], nodes.sequence[children, player])


def test_the_bytes_do_not_depend_on_the_threads() -> None:
    one, trunk, alone = searched(1, 20_000)
    assert len(alone.asked) == 1
    for threads in (2, 3, 4, 7):
        two, other, shared = searched(threads, 20_000)
        assert_same(trunk, other)
        for name in ("x", "y", "margin", "gap"):
            assert np.array_equal(getattr(one.profile, name), getattr(two.profile, name))
        assert len(shared.asked) > 1
    assert_sound(other)


def growing(threads: int, seed: int = 0) -> Growth:
    """A trunk with one unexpanded root."""
    model = Watched()
    trunk = start(model)
    return Growth(trunk, model, Budget(nodes=10**8), np.zeros(0, dtype=np.uint64), 100_000, lambda *_: 0.0,
                  rng=np.random.default_rng(seed), utilities=Utilities(trunk), threads=threads)  # fmt: skip


def test_leaves_are_attached_while_the_solver_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    growth, attached, attach = growing(threads=2), threading.Event(), Trunk.attach
    growth.open_roots()
    monkeypatch.setattr(Trunk, "attach", lambda *call: (attach(*call), attached.set())[0])
    waited: list[bool] = []
    growth.expand(np.flatnonzero(growth.trunk.open_leaf), beside=lambda: waited.append(attached.wait(60.0)))
    assert waited == [True]
    assert_sound(growth.trunk)


def test_a_pass_reads_the_trunk_as_it_was_taken_in() -> None:
    """Even at a root that is expanded meanwhile: a leaf is worth its value."""
    growth = growing(threads=1)
    growth.utilities.take_in()
    value = growth.trunk.nodes.value[0]
    for _ in range(2):
        assert growth.utilities.against(0, np.ones(2))[0][0] == value != 0.0
        growth.open_roots()


def grown_at_random(threads: int, seed: int, expansions: int) -> Trunk:
    """Leaves drawn at random, whatever a solver would want."""
    growth, expanded = growing(threads, seed), 0
    trunk = growth.trunk
    while expanded < expansions:
        leaves = growth.rng.permutation(np.flatnonzero(trunk.open_leaf))[:1000]
        growth.expand(leaves, beside=lambda: share(lambda piece: None, 2, threads))
        expanded += len(leaves)
    return trunk


def stressed(seed: int, expansions: int) -> None:
    """The same trunk on one thread, and on four while others take the interpreter's lock away all the time."""
    stop = threading.Event()

    def disturb() -> None:
        while not stop.wait(1e-4):
            sum(range(2000))

    noise = [threading.Thread(target=disturb, daemon=True) for _ in range(4)]
    for thread in noise:
        thread.start()
    try:
        shared = grown_at_random(4, seed, expansions)
    finally:
        stop.set()
        for thread in noise:
            thread.join()
    assert_same(grown_at_random(1, seed, expansions), shared)
    assert_sound(shared)


def test_expansions_under_stress_leave_the_same_tree() -> None:
    stressed(seed=1, expansions=1000)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(20))
def test_a_million_expansions_under_stress_leave_the_same_trees(seed: int) -> None:
    stressed(seed, expansions=50_000)


def test_work_for_several_threads_inside_of_such_work_is_done_all_the_same() -> None:
    done: list[tuple[int, int]] = []
    share(lambda outer: share(lambda inner: done.append((outer, inner)), 2, 3), 2, 3)
    assert sorted(done) == [(0, 0), (0, 1), (1, 0), (1, 1)]
