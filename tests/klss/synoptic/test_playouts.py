"""The laws of planning on synopses, on games whose beliefs can be enumerated."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from klss.synoptic.bandit import Root, Table
from klss.synoptic.model import Looks
from klss.synoptic.planning import Planning
from klss.synoptic.playouts import Planned, choose_action
from klss.theory.game import Game, GameBuilder
from tests.klss.games import kuhn, random_game
from tests.klss.synoptic.enumerated import EnumeratedPlanning
from tests.klss.synoptic.exact import Exact, Followed, Policies, some_policy, values

DEPTH = 12


def hide_and_look() -> Game:
    """A small reconnaissance: the hider hides in one of three cells, the seeker looks into one, the hider stays or
    steps to the right unseen, the seeker shoots at one.
    """
    builder = GameBuilder()
    root = builder.add_chance(None, None)
    start = builder.add_decision(root, "", player=1, observations=("...", "hide!"), probability=1.0)
    for cell in range(3):
        look = builder.add_decision(start, f"in {cell}", player=0, observations=("look!", f"hid {cell}"))
        for seen in range(3):
            found = f"saw {seen} {seen == cell}"
            step = builder.add_decision(look, f"look {seen}", player=1, observations=(found, f"step {cell}!"))
            for by in (0, 1):
                shoot = builder.add_decision(
                    step, f"step {by}", player=0, observations=(f"{found} shoot!", f"stepped {cell} {by}")
                )
                for target in range(3):
                    builder.add_terminal(shoot, f"at {target}", utility=2.0 * ((cell + by) % 3 == target) - 1.0)
    return builder.build()


def best_replies(game: Game, planner: int, theirs: Policies) -> dict[tuple[int, int], np.ndarray]:
    """The best of all pure strategies of the planner, by trying them all; with a little of everything, so that it is
    the best everywhere.
    """
    turns = game.observations[planner]
    own = np.flatnonzero(turns.turn).tolist()
    sign = 1 - 2 * planner
    best, most = {}, -math.inf
    for actions in itertools.product(*(range(int(turns.action_count[j])) for j in own)):
        pure = {
            (planner, j): np.eye(int(turns.action_count[j]))[action] for j, action in zip(own, actions, strict=True)
        }
        shaken = {at: 0.99 * policy + 0.01 / policy.shape[0] for at, policy in pure.items()}
        worth = sign * values(game, {**theirs, **shaken})[0][0]
        if worth > most + 1e-12:
            best, most = pure, worth
    return best


@pytest.mark.parametrize(("name", "planner"), [("kuhn", 0), ("kuhn", 1), ("hide", 0)])
def test_the_answer_is_the_best_response(name: str, planner: int) -> None:
    """Law: with exact values, the opponent's true policy and enough playouts, the choice is brute force's."""
    game = kuhn() if name == "kuhn" else hide_and_look()
    planning = Planning(mixing=0.0, max_members=8, particles=400, batch=64)
    asked = 0
    for seed in range(2 if name == "kuhn" else 1):
        theirs = some_policy(game, 1 - planner, 10 + seed)
        mine = best_replies(game, planner, theirs)
        played = {**theirs, **mine}
        worth = values(game, played)[0]
        network = Exact(EnumeratedPlanning(game, planner), played)
        followed = Followed(game, planner, network, planning, seed)
        going = True
        while going:
            mover = int(game.player[followed.node])
            at = (mover, int(game.infoset[mover, followed.node]))
            if mover != planner:
                going = followed.step(int(theirs[at].argmax()))
                continue
            followed.filter.fill()
            assert followed.filter.belief.contains(followed.filter.particles.states).all()
            found = choose_action(
                followed.model, network, planning, followed.filter.belief, followed.filter.particles, Table(),
                depth=DEPTH, seed=seed, nodes=1200,
            )  # fmt: skip
            # Of each action: what it is worth over all that is possible, by how likely it is, and best replies then.
            nodes = game.nodes_of(planner, at[1])
            reach = values(game, {**theirs, **{key: np.ones_like(p) for key, p in mine.items()}})[1][nodes]
            actions = [
                sum(r * worth[np.flatnonzero(game.parent == node)[a]] for r, node in zip(reach, nodes, strict=True))
                for a in range(int(game.observations[planner].action_count[at[1]]))
            ]
            wins = np.array(actions) * (1 - 2 * planner) / reach.sum()
            assert wins[found.action] >= wins.max() - 0.15, (at, found.action, wins)
            asked += 1
            going = followed.step(int(wins.argmax()))
    assert asked >= 2


@pytest.mark.parametrize("often", [False, True])
def test_particles_are_as_likely_as_the_opponents_play_makes_them(often: bool) -> None:
    """Their shares are the posterior that its policy gives, to five standard errors, drawn once or at each action."""
    game = hide_and_look()
    theirs = some_policy(game, 1, 4)
    played = {**theirs, **some_policy(game, 0, 5)}
    network = Exact(EnumeratedPlanning(game), played)
    planning = Planning(mixing=0.0, max_members=16, particles=1500)
    followed = Followed(game, 0, network, planning)
    for action in (1, 2, 0):  # hides in the middle, the seeker looks to the right, the hider stays
        assert followed.step(action)
        if often:
            followed.filter.fill()
    followed.filter.fill()
    found = followed.filter.particles.states[:, 0].astype(np.int64)
    nodes = game.nodes_of(0, int(game.infoset[0, followed.node]))
    reach = values(game, {**played, **{at: np.ones_like(p) for at, p in played.items() if at[0] == 0}})[1][nodes]
    expected = reach / reach.sum()
    shares = np.array([(found == node).mean() for node in nodes])
    assert (np.abs(shares - expected) < 5 * np.sqrt(expected * (1 - expected) / 1500) + 1e-9).all()
    # What the hider holds possible there: that nobody looked, or anybody.
    for i, state in enumerate(found.tolist()[:50]):
        sets = followed.filter.particles.sets[1]
        members = set(sets.members[i, : sets.counts[i], 0].tolist())
        assert members <= set(game.nodes_of(1, int(game.infoset[1, state])).tolist())
        assert state in members


@pytest.mark.parametrize("seed", range(6))
def test_what_is_seen_later_tells_what_was_possible_earlier(seed: int) -> None:
    """Law: at every time what stays possible is what some line through all that came later goes through, and so are
    particles.
    """
    game = random_game(seed, depth=4)
    played = {**some_policy(game, 0, seed), **some_policy(game, 1, seed + 1)}
    network = Exact(EnumeratedPlanning(game), played)
    followed = Followed(game, 0, network, Planning(mixing=1.0, max_members=4, particles=30), seed)
    rng = np.random.default_rng(seed)
    while True:
        followed.filter.fill()
        times = followed.filter._times
        for past, later in itertools.pairwise(times):
            kept = {node for node in past.belief.nodes.tolist() if past.belief._leads(node, set(later.belief.nodes))}  # type: ignore[attr-defined]
            assert kept == set(past.belief.nodes.tolist())  # type: ignore[attr-defined]
        for past in times:
            assert past.belief.contains(past.particles.states).all()
            assert len(past.particles) == 30
        mover = int(game.player[followed.node])
        count = int(game.observations[mover].action_count[game.infoset[mover, followed.node]])
        if not followed.step(int(rng.integers(count)), seed):
            break


def planned_after_hiding(
    planning: Planning, table: Table, nodes: int, threads: int = 1, until: float | None = None
) -> Planned:
    """What the seeker plans once the hider has hidden."""
    game = hide_and_look()
    network = Exact(EnumeratedPlanning(game), {**some_policy(game, 0, 1), **some_policy(game, 1, 2)})
    followed = Followed(game, 0, network, planning)
    assert followed.step(0)
    followed.filter.fill()
    return choose_action(
        followed.model, network, planning, followed.filter.belief, followed.filter.particles, table,
        depth=DEPTH, seed=3, nodes=nodes, until=until, threads=threads,
    )  # fmt: skip


def test_any_number_of_threads_gives_the_same_bytes() -> None:
    """Law: whatever the number of threads, the same counts at the root."""
    planning = Planning(mixing=0.5, max_members=3, particles=50, batch=16)
    one = planned_after_hiding(planning, Table(8), nodes=500)
    for threads in (2, 3, 7):
        other = planned_after_hiding(planning, Table(8), nodes=500, threads=threads)
        assert one.root.numbers.tobytes() == other.root.numbers.tobytes() and one.nodes == other.nodes
        assert one.root.totals.tobytes() == other.root.totals.tobytes()


def test_every_playout_brings_as_many_values_as_it_may_have_actions() -> None:
    """Law: where a playout is over before its depth, its result counts for the actions that are left."""
    planned = planned_after_hiding(Planning(max_members=8, particles=50), Table(), nodes=100)
    assert planned.nodes < planned.playouts * DEPTH == planned.root.numbers.sum()


def test_no_virtual_loss_stays_where_the_time_runs_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Law: a table holds as many values as were added to it, also if playouts were cut off between two steps."""
    table, added, back_up, clock = Table(), list[int](), Table.back_up, itertools.count()

    def counted(self: Table, *arguments: Any) -> None:
        added.append(len(arguments[0]) * (arguments[5] if len(arguments) > 5 else 1))
        back_up(self, *arguments)

    monkeypatch.setattr(Table, "back_up", counted)
    monkeypatch.setattr("klss.synoptic.playouts.time.monotonic", lambda: float(next(clock)))
    planned_after_hiding(Planning(max_members=8, particles=50), table, nodes=10_000, until=6.0)
    assert sum(added) == table._counts[:, 0].sum() > 0


def looks(keys: list[int], counts: list[int]) -> Looks:
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    actions = np.concatenate([np.arange(count) for count in counts]).astype(np.int32)
    return Looks(
        np.zeros((len(keys), 1), np.uint64), np.array(keys, np.uint64), offsets, actions, np.arange(offsets[-1] + 1),
        actions, np.zeros(len(keys), np.int8),
    )  # fmt: skip


def test_the_bandit_takes_the_largest_bound() -> None:
    """Against the formula, written out: what was not tried has the mean of what was, and a virtual loss is a loss."""
    rng = np.random.default_rng(0)
    found = looks([7], [5])
    for _ in range(20):
        policy = rng.dirichlet(np.ones(5))
        table, planning = Table(), Planning(exploration=1.5)
        numbers, totals = np.zeros(5), np.zeros(5)
        for _ in range(12):
            n = numbers.sum()
            rest = totals.sum() / n if n else 0.0
            bounds = [
                (totals[a] / numbers[a] if numbers[a] else rest)
                + 1.5 * policy[a] * math.sqrt(math.log(max(n, 2)) / max(numbers[a], 1))
                for a in range(5)
            ]
            actions, marks = table.choose(planning, found, policy, np.ones(1, bool), rng.random((1, 2)))
            action, value = int(actions[0]), -1.0
            assert bounds[action] == pytest.approx(max(bounds))
            if rng.random() < 0.7:
                value = rng.uniform(-1, 1)
                table.back_up(marks, np.zeros(1, np.int8), np.ones(1, bool), value, 0)
            numbers[action] += 1
            totals[action] += value


def test_values_improve_a_policy() -> None:
    """Law: of two choices as likely before, the better is likelier; what was not tried is between them; more so the
    more playouts there were. Means as the source's equations have them, by hand.
    """

    def root_of(each: int) -> Root:
        root = Root(np.array([0.25, 0.25, 0.5]), 0.3)
        for choice, value in ((0, 0.5), (1, -0.5)):
            for _ in range(each):
                root.taken[choice] += 1
                root.add(choice, value, 1, fresh=False)
        return root

    shares = root_of(1).improved(0.1)
    # The set is worth (.3 + 2 · 0) / 3 = .1 to the third; σ(q) = .1 (50 + 1) q.
    expected = np.array([0.25, 0.25, 0.5]) * np.exp(5.1 * np.array([0.5, -0.5, 0.1]))
    np.testing.assert_allclose(shares, expected / expected.sum(), rtol=1e-12)
    assert root_of(100).improved(0.1)[0] > shares[0] > shares[2] / 2 > shares[1]
    assert root_of(1).order(0.1).tolist() == [0, 2, 1]
    # With no weight on values, or before there are any, it is the policy: so is how playouts are shared out.
    np.testing.assert_allclose(root_of(3).improved(0.0), [0.25, 0.25, 0.5])
    root = Root(np.array([0.25, 0.25, 0.5]))
    assert np.bincount(root.choose(0.1, 400)).tolist() == [100, 100, 200]


def test_a_set_that_was_never_met_is_played_by_policy() -> None:
    """With a finite m the first choice at a set is the policy's; with m infinite the bound's, that is the likeliest."""
    found = looks(list(range(4000)), [3] * 4000)
    policy = np.tile([0.2, 0.5, 0.3], 4000)
    draws = np.random.default_rng(1).random((4000, 2))
    for mixing in (0.0, 1.0):
        chosen = Table().choose(Planning(mixing=mixing), found, policy, np.ones(4000, bool), draws)[0]
        np.testing.assert_allclose(np.bincount(chosen) / 4000, [0.2, 0.5, 0.3], atol=0.04)
        np.testing.assert_allclose(Table().shares(Planning(mixing=mixing), found, policy), policy)
    bound = Table().choose(Planning(), found, policy, np.ones(4000, bool), draws)[0]
    assert (bound == 1).all()
    assert Table().shares(Planning(), found, policy)[:3].tolist() == [0.0, 1.0, 0.0]


def test_values_change_sign_between_the_seats_and_virtual_losses_go() -> None:
    """A value for one seat counts against the other; what a virtual loss took comes back with the first value."""
    table = Table()
    _, marks = table.choose(Planning(), looks([5, 6], [1, 1]), np.ones(2), np.ones(2, bool), np.zeros((2, 2)))
    slots = (marks % len(table._counts)).astype(int)
    assert table._counts[slots].tolist() == [[1.0, -1.0]] * 2
    fresh = np.ones(2, bool)
    for value in (0.5, 0.25):
        table.back_up(marks, np.array([0, 1], np.int8), fresh, value, 0)
    assert table._counts[slots].tolist() == [[2.0, 0.75], [2.0, -0.75]]
