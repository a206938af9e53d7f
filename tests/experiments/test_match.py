"""The match's arithmetic."""

from __future__ import annotations

import math

import pytest

from uci_bridge.match.match import Standing
from uci_bridge.match.statistics import elo_interval


def test_elo_is_antisymmetric_and_nought_at_even() -> None:
    low, middle, high = elo_interval(30.0, 40)
    other = elo_interval(10.0, 40)
    assert [low, middle, high] == [-other[2], -other[1], -other[0]]  # type: ignore[operator]
    assert elo_interval(20.0, 40)[1] == 0.0


def test_three_quarters_of_the_points_are_191_elo() -> None:
    # 400 log10(3), by the definition of the Elo scale.
    assert elo_interval(75.0, 100)[1] == pytest.approx(400 * math.log10(3), abs=0.05)


def test_ends_that_are_infinite_are_none() -> None:
    assert elo_interval(5.0, 5)[1:] == [None, None] and elo_interval(0.0, 5)[:2] == [None, None]


def test_the_interval_narrows_with_games_and_holds_the_middle() -> None:
    wide, narrow = elo_interval(6.0, 10), elo_interval(600.0, 1000)
    assert wide[0] < narrow[0] < narrow[1] == wide[1] < narrow[2] < wide[2]  # type: ignore[operator]


def test_a_standing_counts_wins_draws_and_losses_of_a() -> None:
    standing = Standing()
    for game, winner in enumerate(("a", "a", None, "b")):
        standing.count({"game": game, "pair": game // 2, "winner": winner, "plies": 30, "reason": "king_captured"})
    assert (standing.wins, standing.draws, standing.losses, standing.games, standing.score) == (2, 1, 1, 4, 2.5)
