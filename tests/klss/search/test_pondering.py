"""On the opponent's time the trunk grows below what was played, in one thread, which can be stopped at any moment."""

from __future__ import annotations

import subprocess
import sys
import time

import chess
import numpy as np
import pytest

from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.rules import PAPER
from darkchess.fog.players.model import DarkChess, PositionBelief
from klss.search import Budget, Expansion, Kluss, Past, Result, Search, Trunk
from klss.search.pondering import Pondering
from klss.support.arrays import States
from tests.darkchess.fog.test_pondering import pondering as pondering_threads
from tests.klss.search.test_threads import assert_sound

STOPPED_S = 0.05


class Failing(DarkChess):
    """The model; raises once it is asked to."""

    def __init__(self) -> None:
        super().__init__(chess.WHITE, PAPER, BuiltinEvaluator())
        self.fails = False

    def expand(self, states: States, past: Past | None = None) -> Expansion:
        if self.fails:
            raise ValueError("no more children")
        return super().expand(states, past)


def searched(nodes: int = 4000) -> tuple[Search, Result, Failing]:
    model = Failing()
    referee = Referee()
    belief = PositionBelief(PositionSet(referee.view(chess.WHITE), referee.position), model, 0)
    search = Search(model, Kluss(), seed=3, ponders=True)
    return search, search.search(belief, Budget(nodes=nodes)), model


def trunk_of(search: Search) -> Trunk:
    assert search.standing is not None
    return search.standing.trunk


def until(reached: int, trunk: Trunk) -> None:
    """Wait until the trunk has so many nodes."""
    for _ in range(2000):
        if trunk.node_count >= reached:
            return
        time.sleep(0.002)
    raise AssertionError(f"got {trunk.node_count} nodes, expected {reached}")


def test_the_trunk_grows_below_what_was_played_alone_with_the_plans_and_the_roots_stay() -> None:
    search, result, _ = searched()
    assert search.standing is not None
    trunk, profile, count = search.standing.trunk, search.standing.profile, search.standing.trunk.node_count
    pondering = Pondering(search.ponder)
    until(count + 3000, trunk)
    pondering.stop()
    assert trunk.node_count - count >= 3000
    first_moves = trunk.nodes.action[: trunk.node_count].astype(np.int64)
    first_moves[trunk.nodes.depth[: trunk.node_count] != 1] = -1
    trunk.spread_down(first_moves)
    assert set(first_moves[count:].tolist()) == {result.action}
    assert_sound(trunk)
    after = search.standing.profile
    at = slice(int(trunk.infosets[0].first[0]), int(trunk.infosets[0].first[0] + trunk.infosets[0].size[0]))
    np.testing.assert_allclose(after.x[at], profile.x[at] / profile.x[at].sum(), rtol=1e-12)
    assert (len(after.x), len(after.y)) == (trunk.sequence_count(0), trunk.sequence_count(1))
    assert len(after.y) > len(profile.y) and not np.array_equal(after.y[: len(profile.y)], profile.y)


def test_it_stops_at_once_and_the_trunk_is_left_alone_from_then_on() -> None:
    took = []
    for _ in range(3):  # the machine may be busy: once is enough
        search, _, _ = searched()
        trunk, count = trunk_of(search), trunk_of(search).node_count
        pondering = Pondering(search.ponder)
        until(count + 500, trunk)
        began = time.perf_counter()
        pondering.stop()
        took.append(time.perf_counter() - began)
        count, values = trunk.node_count, trunk.nodes.value.copy()
        assert not pondering_threads()
        time.sleep(0.02)
        assert trunk.node_count == count and np.array_equal(trunk.nodes.value, values)
    assert min(took) < STOPPED_S


def test_nodes_bound_it() -> None:
    search, _, _ = searched(nodes=100)
    count = trunk_of(search).node_count
    search.ponder(Budget(seconds=60.0))  # comes back by itself
    assert 20_000 <= trunk_of(search).node_count - count < 22_000


def test_an_error_of_it_is_raised_by_who_stops_it_and_the_next_search_starts_afresh() -> None:
    search, _, model = searched()
    model.fails = True
    pondering = Pondering(search.ponder)
    while pondering_threads():
        time.sleep(0.001)
    with pytest.raises(ValueError, match="no more children"):
        pondering.stop()
    assert search.standing is None and not pondering_threads()
    pondering.stop()  # raised once


def test_one_ponders_at_a_time() -> None:
    def wait(budget: Budget) -> None:
        while budget.left() > 0.0:
            time.sleep(0.001)

    first, second = Pondering(wait), Pondering(wait)
    assert pondering_threads() == 1
    first.stop()
    assert pondering_threads() == 1, "the other one's goes on"
    Pondering.halt_all()
    assert not pondering_threads()
    second.stop()


def test_a_process_that_forgets_to_stop_it_ends_all_the_same() -> None:
    forgetful = """
import time
from klss.search.pondering import Pondering
def work(budget):
    while budget.left() > 0.0:
        time.sleep(0.001)
    print("stopped")
Pondering(work)
"""
    done = subprocess.run([sys.executable, "-c", forgetful], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "stopped\n", "")
