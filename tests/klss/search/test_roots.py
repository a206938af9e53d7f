"""Which roots a search gets, and what they weigh."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import chess
import numpy as np
import pytest

from darkchess.board.move import decode, encode
from darkchess.board.position import Position
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.belief.filter import Filter
from darkchess.fog.belief.policy import Policy
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.rules import PAPER
from darkchess.fog.players.model import DarkChess, PositionBelief
from klss.search import Budget, Kluss, Search
from klss.search.equilibrium.pcfr import RegretMinimiser
from klss.search.likelihood import ByWeight, Uniform
from klss.search.model import Drawn
from klss.search.parts import SearchedSubgame
from klss.search.search import Solved
from klss.search.subgame.order_one import OrderOne
from klss.search.subgame.order_two import OrderTwo
from tests.darkchess.fog.position_set_games import followed

STATES = Drawn.certain(np.zeros((3, 1), dtype=np.uint64))


def believed(game: Referee, model: DarkChess) -> PositionBelief:
    """What White can't rule out."""
    return PositionBelief(followed([move.uci() for move in game.moves], chess.WHITE)[1], model, 0)


def trapped() -> tuple[DarkChess, PositionBelief]:
    """Black after 1.c4 d5 and a move of White's that Black did not see: one of those possible is 2.Qa4+."""
    model = DarkChess(chess.BLACK, PAPER, BuiltinEvaluator())
    return model, PositionBelief(followed(("c2c4", "d7d5", "d1a4"), chess.BLACK)[1], model, 0)


def test_a_state_that_is_better_for_the_opponent_weighs_more_and_none_less_than_its_even_part() -> None:
    belief = trapped()[1]
    weights = ByWeight(value_beta=5.0).weights(belief, STATES, np.array([-0.5, 0.0, 0.5]))
    assert weights.sum() == pytest.approx(1.0) and (np.diff(weights) < 0.0).all()
    assert (weights[0] - weights.min()) > 0.5 and weights.min() >= 0.2 / 3
    assert weights[1] - 0.2 / 3 == pytest.approx((weights[0] - 0.2 / 3) * np.exp(-2.5))
    assert ByWeight(value_beta=0.0).weights(belief, STATES, np.array([-1.0, 0.0, 1.0])) == pytest.approx(1 / 3)
    assert np.array_equal(Uniform().weights(belief, STATES, np.zeros(3)), np.ones(3))


@pytest.mark.parametrize(("builder", "order"), [(OrderOne, 1), (OrderTwo, 2)])
def test_where_she_moves_the_roots_weigh_half_by_the_last_plan_and_half_by_the_likelihood(
    builder: type[OrderOne], order: int
) -> None:
    """The prior times the part of each root infoset that is at player 0's infoset: the likelihood's half is taken off,
    and nothing is left where nothing was searched before.
    """
    game = Referee()
    model = DarkChess(chess.WHITE, PAPER, BuiltinEvaluator())
    search = Search(model, Kluss(order=order), seed=2)
    for _ in range(3):
        found = search.search(believed(game, model), Budget(nodes=6000))
        for own in (found.action, -1):
            game.push(decode(own) if own >= 0 else min(game.legal_moves(), key=encode))
            search.observe(own, int(game.view(chess.WHITE).key()), own < 0)
    rule = ByWeight()
    built = builder(particles=60, max_carried=30, likelihood=rule).build(
        search.standing, believed(game, model), model, np.random.default_rng(1), 6000.0
    )
    trunk, prior = built.trunk, built.prior
    assert built.carried > 0 and prior is not None and prior.sum() == pytest.approx(1.0)
    own = trunk.members(0)
    group = trunk.nodes.sequence[own, 1] - 1
    here = np.bincount(group, weights=trunk.nodes.chance[own], minlength=trunk.group_count)
    at_hers = prior * here / (prior * here).sum()
    weights = rule.weights(believed(game, model), trunk.states[own], trunk.nodes.value[own])
    weighed = np.bincount(group, weights=weights, minlength=trunk.group_count)
    expected = at_hers - 0.5 * weighed / weighed.sum()
    assert (expected > -1e-12).all() and expected.sum() == pytest.approx(0.5)
    fresh = trunk.nodes.sequence[trunk.root_count - built.sampled : trunk.root_count, 1] - 1
    assert expected[fresh] == pytest.approx(0.0)


@pytest.mark.parametrize("nodes", [1, 40])
def test_she_has_moves_however_few_nodes_are_left(nodes: int) -> None:
    """Roots of 2-KLUSS that are elsewhere, expanded or not, are no reason to leave all at player 0's infoset
    unexpanded.
    """
    for seed in range(6):
        game = Referee()
        model = DarkChess(chess.WHITE, PAPER, BuiltinEvaluator())
        search = Search(model, Kluss(), seed=seed)
        for budget in (900, nodes, 900, nodes):
            found = search.search(believed(game, model), Budget(nodes=budget))
            assert len(found.actions) > 0 and found.probabilities.sum() == pytest.approx(1.0)
            for own in (found.action, -1):
                moves = sorted(game.legal_moves(), key=encode)
                game.push(decode(own) if own >= 0 else moves[seed % len(moves)])
                search.observe(own, int(game.view(chess.WHITE).key()), own < 0)


def test_caution_counts_only_roots_where_the_king_is_attacked() -> None:
    model, belief = trapped()
    rule = OrderTwo(root_node_fraction=math.inf, likelihood=ByWeight())
    built = rule.build(None, belief, model, np.random.default_rng(0), 4000)
    assert built.trunk.root_count == 16 and built.feared is not None
    checked = [chess.Board(Position(row[:9]).fen()).is_check() for row in built.trunk.states[:16]]
    assert built.feared.tolist() == checked and sum(checked) == 1
    # However much of the root layer is Maxmargin's, the other roots come with what nature leaves them.
    run = RegretMinimiser(maxmargin_share=0.5).begin(built, None, Budget(nodes=1))
    profile = run.finish()
    expected = 0.5 * built.prior
    expected[built.feared] += 0.5
    assert profile.y[1:17] == pytest.approx(expected)
    # Without such a root nothing is Maxmargin's.
    calm = dataclasses.replace(built, feared=np.zeros(16, dtype=np.bool_))
    profile = RegretMinimiser(maxmargin_share=0.5).begin(calm, None, Budget(nodes=1)).finish()
    assert profile.y[1:17] == pytest.approx(built.prior)


def test_unseen_checks_are_among_the_roots_however_unlikely() -> None:
    """1.c4 d6 2.Qa4+: 185 positions are possible, of which a short search has a few for roots."""
    _, known = followed(("c2c4", "d7d6", "d1a4"), chess.BLACK, weigher=Filter(Policy.packaged()))
    assert known.size == 185
    total, checks = 0.0, 0
    for seed in range(200):
        rows, inclusion = known.draw(16, seed, uniform_mix=0.3)
        checks += any(chess.Board(Position(row).fen()).is_check() for row in rows)
        total += float((known.weights[known.indices(rows)] / inclusion).sum()) / 200
    # A tenth of the draws: 1 - 0.9^16 = 0.81, more without replacement; by weight alone it would be a fifth.
    assert checks > 150
    assert total == pytest.approx(1.0, abs=0.05), "what is drawn more often counts less"


def test_a_move_that_was_left_no_time_does_not_tell_how_much_the_next_one_will_grow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, belief = trapped()
    search = Search(model, Kluss(), seed=1)
    clock, expected, grown = [0.0], [], [2000, 2000, 2000, 0, 2000]
    build, solve = OrderTwo.build, Search.solve

    def built(self: OrderTwo, *given: Any) -> SearchedSubgame:
        expected.append(given[-1])
        return build(self, *given)

    def solved(self: Search, subgame: SearchedSubgame, belief: Any, budget: Budget, **more: Any) -> Solved:
        clock[0] += budget.left()
        return solve(self, subgame, belief, Budget(nodes=grown[len(expected) - 1]), **more)

    monkeypatch.setattr("klss.search.budget.time.monotonic", lambda: clock[0])
    monkeypatch.setattr(OrderTwo, "build", built)
    monkeypatch.setattr(Search, "solve", solved)
    for seconds in (0.1, 0.1, 0.1, 0.02, 0.1):
        search.standing = None
        search.search(belief, Budget(seconds=seconds))
    assert expected[2] == pytest.approx(2000, rel=0.3) == expected[4]
    assert expected[3] == pytest.approx(400, rel=0.3)
