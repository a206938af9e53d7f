"""The weights of a position set are a posterior, exactly: likelihoods multiplied along each history, the slow way."""

from __future__ import annotations

import copy
import math
import random
from collections import Counter
from pathlib import Path

import chess
import numpy as np
import pytest

from darkchess import Referee
from darkchess.board.move import decode
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.belief import filter as filters
from darkchess.fog.belief.filter import Filter
from darkchess.fog.belief.policy import ENTRIES, LEVELS, Policy, below, described
from darkchess.fog.belief.position_set import PositionSet
from tests.darkchess.fog.position_set_games import STARTS, Likelihood, choose, compare
from tests.oracles import brute_force

LETTERS = "pnbrqk"
MOST = 400
"""Positions that the oracle follows."""


def of_tables(policy: Policy) -> Likelihood:
    """The likelihoods of a policy's level of tables, out of docs/position_set.md: phase, piece, from, to, what is
    taken, as seen by the mover's opponent at the bottom of the board.
    """
    table = policy.stages["tables"].multipliers

    def likelihood(position: brute_force.Position) -> dict[tuple[int, int, str], float]:
        board, turn, _, ep = position
        pieces = sum(letter != "." for letter in board)
        phase = 0 if pieces > 26 else 1 if pieces > 14 else 2
        flip = 56 if turn == "w" else 0
        weights = {}
        for move in brute_force.moves(position):
            piece = LETTERS.index(board[move[0]].lower())
            victim = board[move[1]].lower()
            taken = 1 if piece == 0 and move[1] == ep else 0 if victim == "." else LETTERS.index(victim) + 1
            weights[move] = (
                table[(phase * 6 + piece) * 64 + (move[0] ^ flip)]
                * table[1152 + (phase * 6 + piece) * 64 + (move[1] ^ flip)]
                * table[2304 + taken * 6 + piece]
            )
        total = sum(weights.values())
        return {
            move: (1.0 - policy.uniform_mix) * weight / total + policy.uniform_mix / len(weights)
            for move, weight in weights.items()
        }

    return likelihood


def random_policy(seed: int) -> Policy:
    rng = np.random.default_rng(seed)
    return Policy.from_entries({level: rng.normal(size=ENTRIES[level]) for level in LEVELS}, 3.0, 0.05, {})


def test_the_weights_are_those_of_all_histories() -> None:
    policy, tally = random_policy(1), Counter[str]()
    looked = 0
    for i, start in enumerate([*STARTS.values()] * 2):
        looked += compare(start, i, tally, 5, MOST, lambda: Filter(policy), of_tables(policy))
    assert looked >= 200
    for whose in ("own", "the enemy's"):
        for happening in ("capture", "en passant", "promotion", "castling", "double step"):
            assert tally[f"{whose}: {happening}"]


def played(threads: int, weigher: Filter | None, cap: int = 100_000, plies: int = 24) -> PositionSet:
    rng = random.Random(5)
    game = Referee()
    known = PositionSet(game.view(chess.WHITE), game.position, seed=3, threads=threads, cap=cap, weigher=weigher)
    for _ in range(plies):
        game.push(choose(game, rng, 0.0))
        known.observe(game.view(chess.WHITE))
    return known


def test_the_set_is_what_it_was_and_threads_change_no_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filters, "_HALVED", 64)
    monkeypatch.setattr(filters, "_PIECE", 20)
    plain = played(1, None)
    one = played(1, Filter(random_policy(2)))
    everything = np.arange(plain.size)
    assert plain.size > 1000
    for threads in (2, 3, 4, 7):
        shared = played(threads, Filter(random_policy(2)))
        assert plain.rows(everything).tobytes() == shared.rows(everything).tobytes()
        assert one.weights.tobytes() == shared.weights.tobytes()


def test_a_cut_set_keeps_the_weights_of_what_it_keeps() -> None:
    # Cut at a single move, its positions keep the shares that they have in the whole set.
    whole, cut = (played(1, Filter(random_policy(2)), cap, 2) for cap in (100, 8))
    assert cut.capped_by == "cap" and whole.capped_by is None
    at = whole.indices(cut.rows(np.arange(cut.size)))
    assert (at >= 0).all()
    shares = whole.weights[at]
    assert np.allclose(cut.weights, shares / shares.sum(), rtol=1e-12)


@pytest.mark.parametrize("few", [0, 10**9], ids=["by bisection", "by a directory"])
def test_where_positions_are(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filters, "_FEW", few)
    known = played(1, Filter(random_policy(2)))
    chosen = np.random.default_rng(1).choice(known.size, 50, replace=False)
    rows = known.rows(chosen)
    assert (known.indices(rows) == chosen).all()
    assert (known.indices(known.rows(np.arange(known.size))) == np.arange(known.size)).all()
    rows[:, 7] &= rows[:, 5]  # a bare king is not among them
    assert (known.indices(rows) == -1).all()


def test_without_an_allowance_all_weigh_the_same() -> None:
    weigher = Filter(random_policy(3), BuiltinEvaluator())
    game = Referee()
    known = PositionSet(game.view(chess.WHITE), game.position, weigher=weigher)
    for move in ("e2e4", "e7e6"):
        game.push(chess.Move.from_uci(move))
        known.observe(game.view(chess.WHITE), allowance=0.0)
    assert weigher.level is None
    assert np.allclose(known.weights, 1.0 / known.size)


@pytest.mark.parametrize("allowance", [5e-4, 2e-3, 5e-2, math.inf])
@pytest.mark.parametrize("valued", [True, False])
def test_the_likeliest_positions_get_the_dearest_level_and_no_more_is_spent_than_allowed(
    allowance: float, valued: bool
) -> None:
    weigher = Filter(random_policy(3), BuiltinEvaluator() if valued else None)
    weights = np.random.default_rng(5).choice([0.0, 0.1, 0.5, 1.0, 3.0], size=3000) * (1.0 + 1e-9 * np.arange(3000))
    shared = weigher.shared_out(weights, allowance)
    assert sum(len(sources) * filters.SECONDS[level] for level, sources in shared.items()) <= allowance
    assert list(shared) == sorted(shared, key=LEVELS.index, reverse=True)
    left = np.arange(len(weights))
    for sources in shared.values():
        assert (np.diff(sources) > 0).all() and np.isin(sources, left).all()
        left = np.setdiff1d(left, sources)
        assert not left.size or weights[left].max() <= weights[sources].min()
    assert ("values" in shared) == valued
    assert (not left.size) == (allowance >= 5e-2)


def test_what_the_allowance_does_not_reach_is_spread_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    # The set after the move: what the reached sources alone would make of it, and the others' weight on all alike.
    monkeypatch.setitem(filters.SECONDS, "tables", 1e-6)
    policy, game = random_policy(7), Referee()
    moves = [chess.Move.from_uci(move) for move in ("e2e4", "b8c6", "g1f3", "g8f6", "b1c3", "a7a6")]
    known = PositionSet(game.view(chess.WHITE), game.position, weigher=Filter(policy))
    for move in moves[:-1]:
        game.push(move)
        known.observe(game.view(chess.WHITE))
    alone, chosen = copy.deepcopy(known), known.size // 3
    assert alone.weigher is not None and known.weigher is not None
    kept = np.argsort(-alone.weights, kind="stable")[:chosen]
    reached = float(alone.weights[kept].sum())
    at_most = np.sort(alone.weights)[-chosen]
    assert (alone.weights >= at_most).sum() == chosen and 0.4 < reached < 0.999  # no two alike at the limit
    alone._weights = np.where(alone.weights >= at_most, alone.weights / reached, 0.0)
    game.push(moves[-1])
    known.observe(game.view(chess.WHITE), allowance=chosen * 1e-6 + 1e-9)
    alone.observe(game.view(chess.WHITE), allowance=alone.size * 1e-6 + 1e-9)
    assert known.weigher.level == "tables"
    assert np.allclose(known.weights, reached * alone.weights + (1.0 - reached) / known.size, rtol=1e-9)
    assert known.weights.sum() == pytest.approx(1.0)


def test_with_values_the_likelihood_is_the_policy_s() -> None:
    # After 1.e4 every reply agrees with what White sees or does not; the weights are the replies' likelihoods.
    evaluator, policy, game = BuiltinEvaluator(), random_policy(4), Referee()
    known = PositionSet(game.view(chess.WHITE), game.position, weigher=Filter(policy, evaluator))
    for move in ("e2e4", "b8c6"):
        before = game.position
        game.push(chess.Move.from_uci(move))
        known.observe(game.view(chess.WHITE))
    assert known.weigher is not None and known.weigher.level == "values"
    codes, index = described(below(before.row))
    rows = np.array([before.after(decode(code)).row for code in codes.tolist()])
    stage = policy.stages["values"]
    weights = stage.multipliers[index].prod(axis=1) * np.exp(stage.slope * (-evaluator.values(rows) - 1.0))
    likely = 0.95 * weights / weights.sum() + 0.05 / len(weights)
    at = known.indices(rows)
    assert (at >= 0).sum() == known.size
    assert np.allclose(known.weights[at[at >= 0]], likely[at >= 0] / likely[at >= 0].sum(), rtol=1e-9)


def test_a_policy_is_read_as_it_is_written(tmp_path: Path) -> None:
    policy = random_policy(5)
    policy.save(tmp_path / "policy.npz")
    again = Policy.load(tmp_path / "policy.npz")
    assert (again.uniform_mix, again.stages["values"].slope) == (0.05, 3.0)
    for level in LEVELS:
        assert np.allclose(again.stages[level].multipliers, policy.stages[level].multipliers, rtol=1e-6)


def test_drawn_by_weight_the_likely_ones_come_and_the_excluded_do_not() -> None:
    known = played(1, Filter(random_policy(2)))
    likeliest = known.rows(np.argsort(-known.weights)[:3])
    rows, inclusion = known.draw(40, 1, uniform_mix=0.1)
    assert len(rows) == len(np.unique(rows, axis=0)) == 40
    assert ((inclusion > 0.0) & (inclusion <= 1.0)).all()
    uniform = known.sample(40, 1)
    assert known.weights[known.indices(rows)].sum() > 2 * known.weights[known.indices(uniform)].sum()
    without, _ = known.draw(40, 1, likeliest)
    assert not set(map(bytes, without)) & set(map(bytes, likeliest))
    everything, certain = known.draw(2 * known.size, 1)
    assert len(everything) == known.size and (certain == 1.0).all()
