"""Counts, pairs, Elo and the sequential test, against closed forms, other programs and a general optimiser."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable

import numpy as np
import pytest
from scipy.optimize import minimize

from uci_bridge.match.game import GameLine, Side
from uci_bridge.match.statistics import LEAST_PAIRS, Sprt, Standing, elo_of_match, log_likelihood_ratio, score_of_elo


def line(game: int, winner: Side | None) -> GameLine:
    return {"game": game, "pair": game // 2, "winner": winner, "plies": 30, "reason": "king_captured"}


def interval(score: float, games: int) -> list[float]:
    elo = elo_of_match(score, games, [0] * 5)
    return [elo.low, elo.middle, elo.high]


def test_the_interval_without_pairs_is_antisymmetric_holds_the_middle_and_narrows_with_games() -> None:
    assert interval(20.0, 40)[1] == 0.0
    # 400 log10(3), by the definition of the Elo scale.
    assert interval(75.0, 100)[1] == pytest.approx(400 * math.log10(3), abs=0.05)
    assert interval(30.0, 40) == [-end for end in interval(10.0, 40)[::-1]]
    assert interval(5.0, 5)[1:] == [math.inf] * 2 and interval(0.0, 5)[:2] == [-math.inf] * 2
    wide, narrow = interval(6.0, 10), interval(600.0, 1000)
    assert wide[0] < narrow[0] < narrow[1] == wide[1] < narrow[2] < wide[2]


def test_a_standing_counts_a_s_games_whatever_its_colour() -> None:
    standing = Standing()
    winners: tuple[Side | None, ...] = ("a", "a", None, "b")
    for game, winner in enumerate(winners):
        standing.count(line(game, winner))
    assert (standing.wins, standing.draws, standing.losses, standing.games, standing.score) == (2, 1, 1, 4, 2.5)
    assert vars(standing.by_color["white"]) == {"wins": 1, "draws": 1, "losses": 0}
    assert vars(standing.by_color["black"]) == {"wins": 1, "draws": 0, "losses": 1}


def test_the_interval_of_pairs_is_the_normal_one_of_their_scores() -> None:
    # By hand: 20 pairs of 1½ and 20 of ½ points: mean ½ a game, standard deviation of a pair's mean score ¼, so the
    # interval is ½ ± 1.959964 · ¼ / √40 = ½ ± 0.0774747; in Elo 400 log10((½ + x) / (½ - x)) = 54.3.
    elo = elo_of_match(40.0, 80, [0, 20, 0, 20, 0])
    assert (elo.low, elo.middle, elo.high) == (-54.3, 0.0, 54.3) and elo.method == "pentanomial"


@pytest.mark.parametrize("pairs", [[0, 0, LEAST_PAIRS - 2, 1, 0], [0, 0, 0, 0, 50], [0] * 5])
def test_few_pairs_or_equal_ones_get_wilson_s_interval(pairs: list[int]) -> None:
    score, games = sum(points * number / 2 for points, number in enumerate(pairs)), 2 * sum(pairs)
    elo = elo_of_match(score, games, pairs)
    assert elo.method == "wilson" and [elo.low, elo.middle, elo.high] == interval(score, games)


# Counts of losses, draws and wins, elo0, elo1 and the ratio to two digits: the logistic cases of fastchess's unit tests
# of its SPRT, which takes its arithmetic from fishtest.
FISHTEST = [([21184, 40708, 21404], 0.5, 2.5, -1.57), ([57030, 106593, 57433], 0.0, 2.0, -2.59)]


@pytest.mark.parametrize(("counts", "elo0", "elo1", "ratio"), FISHTEST)
def test_the_likelihood_ratio_is_fishtest_s(counts: list[float], elo0: float, elo1: float, ratio: float) -> None:
    assert log_likelihood_ratio(counts, elo0, elo1) == pytest.approx(ratio, abs=0.006)


def likelihood(counts: list[int], mean: float) -> float:
    """The most that the log-likelihood can be at that mean, by a general optimiser."""
    numbers, scores = np.array(counts, dtype=float), np.arange(len(counts)) / (len(counts) - 1)
    found = minimize(
        lambda p: -np.sum(numbers * np.log(p)),
        np.full(len(counts), 1 / len(counts)),
        method="SLSQP",
        bounds=[(1e-9, 1)] * len(counts),
        constraints=[{"type": "eq", "fun": lambda p: p.sum() - 1}, {"type": "eq", "fun": lambda p: p @ scores - mean}],
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    assert found.success
    return -float(found.fun)


@pytest.mark.parametrize(("counts", "elo0", "elo1"), [([5, 12, 40, 20, 9], 0, 20), ([30, 4, 9, 3, 11], -50, 0)])
def test_the_likelihood_ratio_is_that_of_the_best_fits_at_both_means(
    counts: list[int], elo0: float, elo1: float
) -> None:
    expected = likelihood(counts, score_of_elo(elo1)) - likelihood(counts, score_of_elo(elo0))
    assert log_likelihood_ratio(counts, elo0, elo1) == pytest.approx(expected, abs=1e-6)


def test_the_bounds_are_wald_s() -> None:
    state = Sprt(0.0, 5.0)
    # ln(19), errors of 5 % both.
    assert (-state.lower, state.upper) == pytest.approx((2.944439, 2.944439), abs=1e-6)


@pytest.mark.parametrize(("elo", "taken"), [(0.0, "elo0"), (80.0, "elo1")])
def test_a_test_takes_the_hypothesis_that_is_true_with_few_errors(elo: float, taken: str) -> None:
    win = score_of_elo(elo)
    rng = random.Random(7)
    decisions = []
    for _ in range(60):
        standing = Standing(Sprt(0.0, 80.0))
        games = itertools.count()
        while not standing.decided:
            standing.count(line(next(games), "a" if rng.random() < win else "b"))
        assert standing.sprt is not None
        decisions.append(standing.sprt.decision)
    # 5 % of errors are promised; more than 9 of 60 would be one chance in a thousand (binomial).
    assert sum(decision != taken for decision in decisions) <= 9


def counted(sprt: Sprt, games: Iterable[GameLine]) -> Standing:
    """After these games."""
    standing = Standing(sprt)
    for game in games:
        standing.count(game)
    return standing


def test_a_decision_does_not_depend_on_the_order_in_which_games_end_and_stays() -> None:
    rng = random.Random(3)
    winners: tuple[Side | None, ...] = ("b", None, "a", "a", "a")
    games = [line(game, rng.choice(winners)) for game in range(200)]
    in_order = counted(Sprt(0.0, 100.0), games)
    mixed = games[:]
    rng.shuffle(mixed)
    assert in_order.sprt is not None and in_order.sprt.decision == "elo1"
    assert counted(Sprt(0.0, 100.0), mixed).sprt == in_order.sprt
    after = counted(Sprt(0.0, 100.0), [*games, *(line(game, "b") for game in range(200, 400))])
    assert after.sprt == in_order.sprt and after.pairs[0] > in_order.pairs[0]
