"""The laws of planning on synopses, on games whose beliefs can be enumerated."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from klss.game import Game, GameBuilder
from klss.synoptic.bandit import Bandit, Root, Table, policies
from klss.synoptic.enumerated import EnumeratedPlanning
from klss.synoptic.model import Looks
from klss.synoptic.planning import Planning
from klss.synoptic.playouts import choose_action
from tests.klss.games import kuhn, random_game
from tests.klss.synoptic.exact import HEADSETS, Exact, Followed, Policies, some_policy, values

ALWAYS_POLICY = Bandit(mixing=0.0)


def hide_and_look() -> Game:
    """A small reconnaissance: she hides in one of three cells, the seeker looks into one, she stays or steps to the
    right unseen, the seeker shoots at one.
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


@pytest.mark.parametrize(
    ("backup", "root", "answer"),
    [("every", "bound", "mean"), ("leaf", "bound", "mean"), ("every", "improved", "improved")],
)
@pytest.mark.parametrize(("name", "planner"), [("kuhn", 0), ("kuhn", 1), ("hide", 0)])
def test_the_answer_is_the_best_response(name: str, planner: int, backup: str, root: str, answer: str) -> None:
    """Law: with exact values, the opponent's true policy and enough playouts, the choice is brute force's."""
    game = kuhn() if name == "kuhn" else hide_and_look()
    bandit = replace(ALWAYS_POLICY, exploration=1.0, root=root)
    planning = Planning(bandit=bandit, most=8, particles=400, batch=64, backup=backup, answer=answer)
    asked = 0
    for seed in range(2):
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
            followed.filter.fill(Table())
            assert followed.filter.belief.contains(followed.filter.particles.states).all()
            found = choose_action(
                followed.model, network, planning, followed.filter.belief, followed.filter.particles, Table(),
                headsets=HEADSETS, seed=seed, nodes=1200,
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


def test_particles_are_as_likely_as_the_opponents_play_makes_them() -> None:
    """Their shares are the posterior that her policy gives, to five standard errors."""
    game = hide_and_look()
    theirs = some_policy(game, 1, 4)
    played = {**theirs, **some_policy(game, 0, 5)}
    network = Exact(EnumeratedPlanning(game), played)
    planning = Planning(bandit=ALWAYS_POLICY, most=16, particles=1500)
    followed = Followed(game, 0, network, planning)
    for action in (1, 2, 0):  # hides in the middle, the seeker looks to the right, she stays
        assert followed.step(action)
    followed.filter.fill(Table())
    found = followed.filter.particles.states[:, 0].astype(np.int64)
    nodes = game.nodes_of(0, int(game.infoset[0, followed.node]))
    reach = values(game, {**played, **{at: np.ones_like(p) for at, p in played.items() if at[0] == 0}})[1][nodes]
    expected = reach / reach.sum()
    shares = np.array([(found == node).mean() for node in nodes])
    assert (np.abs(shares - expected) < 5 * np.sqrt(expected * (1 - expected) / 1500) + 1e-9).all()
    # What she holds possible there: that nobody looked, or anybody.
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
    followed = Followed(game, 0, network, Planning(bandit=Bandit(), most=4, particles=30), seed)
    rng = np.random.default_rng(seed)
    while True:
        followed.filter.fill(Table())
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


def test_two_threads_give_the_same_bytes() -> None:
    """Law: whatever the number of threads, the same counts at the root."""
    game = hide_and_look()
    played = {**some_policy(game, 0, 1), **some_policy(game, 1, 2)}
    network = Exact(EnumeratedPlanning(game), played)
    planning = Planning(bandit=Bandit(mixing=0.5), most=3, particles=50, batch=16)
    found = []
    for threads in (1, 2):
        followed = Followed(game, 0, network, planning)
        table = Table(8)
        assert followed.step(0)
        followed.filter.fill(table)
        planned = choose_action(
            followed.model, network, planning, followed.filter.belief, followed.filter.particles, table,
            headsets=HEADSETS, seed=3, nodes=500, threads=threads,
        )  # fmt: skip
        found.append((planned.root.numbers.tobytes(), planned.root.totals.tobytes(), planned.nodes))
    assert found[0] == found[1]


def looks(keys: list[int], counts: list[int]) -> Looks:
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    actions = np.concatenate([np.arange(count) for count in counts]).astype(np.int32)
    return Looks(
        np.zeros((len(keys), 1), np.uint64), np.array(keys, np.uint64), offsets, actions, np.arange(offsets[-1] + 1),
        actions, np.zeros(len(keys), np.int8),
    )  # fmt: skip


@pytest.mark.parametrize("formula", ["ucb1", "puct"])
def test_the_bandit_takes_the_largest_bound(formula: str) -> None:
    """Against the formulas, written out."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        policy = rng.dirichlet(np.ones(5))
        numbers = rng.integers(0, 4, 5).astype(float)
        totals = numbers * rng.uniform(-1, 1, 5)
        lows = np.where(numbers > 0, totals / np.maximum(numbers, 1) - rng.uniform(0, 0.5, 5), np.inf)
        bandit = Bandit(exploration=1.5, formula=formula, first_play=0.2, paranoia=0.3, virtual_loss=0)
        root = Root(policy)
        root.numbers, root.totals, root.lows = numbers.copy(), totals.copy(), lows
        n = numbers.sum()
        rest = (totals.sum() / n if n else 0.0) - 0.2
        bounds = []
        for a in range(5):
            mean = 0.7 * totals[a] / numbers[a] + 0.3 * lows[a] if numbers[a] else rest
            if formula == "ucb1":
                bounds.append(mean + 1.5 * policy[a] * math.sqrt(math.log(max(n, 2)) / max(numbers[a], 1)))
            else:
                bounds.append(mean + 1.5 * policy[a] * math.sqrt(n) / (1 + numbers[a]))
        assert bounds[int(root.choose(bandit, 1)[0])] == pytest.approx(max(bounds))


def test_values_improve_a_policy() -> None:
    """Law: of two choices as likely before, the better is likelier; what was not tried is between them; more so the
    more playouts there were. Means as the source's equations have them, by hand.
    """

    def root_of(each: int) -> Root:
        root = Root(np.array([0.25, 0.25, 0.5]), 0.3)
        for choice, value in ((0, 0.5), (1, -0.5)):
            for _ in range(each):
                root.taken[choice] += 1
                root.add(choice, value, 0.0)
        return root

    shares = root_of(1).improved(Bandit())
    # The set is worth (.3 + 2 · 0) / 3 = .1 to the third; σ(q) = .1 (50 + 1) q.
    expected = np.array([0.25, 0.25, 0.5]) * np.exp(5.1 * np.array([0.5, -0.5, 0.1]))
    np.testing.assert_allclose(shares, expected / expected.sum(), rtol=1e-12)
    assert root_of(100).improved(Bandit())[0] > shares[0] > shares[2] / 2 > shares[1]
    assert root_of(1).order("improved", Bandit()).tolist() == [0, 2, 1]
    # With all paranoia, a choice is worth the least that it brought.
    shaken = root_of(1)
    shaken.add(0, -0.5, 0.0)
    low = shaken.improved(Bandit(paranoia=1.0))
    assert low[0] == pytest.approx(low[1])
    # With no weight on values, or before there are any, it is the policy: so is how playouts are shared out.
    np.testing.assert_allclose(root_of(3).improved(Bandit(gain=0.0)), [0.25, 0.25, 0.5])
    root = Root(np.array([0.25, 0.25, 0.5]))
    assert np.bincount(root.choose(Bandit(root="improved"), 400)).tolist() == [100, 100, 200]


def test_a_set_that_was_never_met_is_played_by_policy() -> None:
    """With m above 0 the first choice at a set is the policy's; with m infinite the bound's."""
    found = looks([7] * 4000, [3] * 4000)
    policy = np.tile([0.2, 0.5, 0.3], 4000)
    draws = np.random.default_rng(1).random((4000, 2))
    chosen = Table().choose(Bandit(mixing=0.0, virtual_loss=0), found, policy, draws).actions
    np.testing.assert_allclose(np.bincount(chosen) / 4000, [0.2, 0.5, 0.3], atol=0.04)
    bound = Table().choose(Bandit(mixing=math.inf, virtual_loss=0), found, policy, draws).actions
    assert (bound == 1).all()


def test_a_table_overwrites() -> None:
    """Whoever counts at a place where another action had counted finds nothing of that; there is no mixing up."""
    table, bandit = Table(0), Bandit(virtual_loss=0)
    one, other = looks([1], [1]), looks([2], [1])
    for found, value in ((one, 0.5), (other, -1.0)):
        chosen = table.choose(bandit, found, np.ones(1), np.zeros((1, 2)))
        table.back_up(chosen.marks, np.zeros(1, np.int8), np.ones(1, bool), value, 0, bandit)
    assert [float(part[0]) for part in table.counted(other)] == [1.0, -1.0]
    assert [float(part[0]) for part in table.counted(one)] == [0.0, 0.0]


def test_values_change_sign_between_the_seats_and_virtual_losses_go() -> None:
    """A value for one seat counts against the other; what a virtual loss took comes back with the first value."""
    table, bandit = Table(), Bandit(virtual_loss=3)
    chosen = table.choose(bandit, looks([5, 6], [1, 1]), np.ones(2), np.zeros((2, 2)))
    before, lost = table.counted(looks([5, 6], [1, 1]))
    assert before.tolist() == [3.0, 3.0]
    assert lost.tolist() == [-3.0, -3.0]
    fresh = np.ones(2, bool)
    for value in (0.5, 0.25):
        table.back_up(chosen.marks, np.array([0, 1], np.int8), fresh, value, 0, bandit)
    numbers, totals = table.counted(looks([5, 6], [1, 1]))
    assert numbers.tolist() == [2.0, 2.0]
    assert totals.tolist() == [0.75, -0.75]


def test_a_policy_sums_over_what_comes_to_the_same() -> None:
    """A choice of several actions has their probabilities together."""
    found = Looks(
        np.zeros((1, 1), np.uint64), np.zeros(1, np.uint64), np.array([0, 2]), np.array([0, 3], np.int32),
        np.array([0, 2, 3]), np.array([0, 1, 3], np.int32), np.zeros(1, np.int8),
    )  # fmt: skip
    shares = policies(np.log(np.array([[1.0, 2.0, 9.0, 5.0]], np.float32)), found)
    np.testing.assert_allclose(shares, [3 / 8, 5 / 8], rtol=1e-6)
