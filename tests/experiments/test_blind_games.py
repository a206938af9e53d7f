"""Finished games of blind chess as the papers show them."""

from __future__ import annotations

import math
from pathlib import Path

import chess
import numpy as np
import pytest

from darkchess.rbc import Referee
from darkchess.rbc.game.history import history_text
from darkchess.rbc.players.scripted import AttackerPlayer, RandomPlayer
from experiments.blind_games import by_size, elos, main, tracked
from klss.play.arbiter import Arbiter
from klss.play.limits import Limit


def test_elo_of_two_is_that_of_their_score_with_one_drawn_game_more() -> None:
    elo, half = elos(np.array([[0.0, 3.0], [1.0, 0.0]]))
    share = 1.5 / 5
    assert elo.tolist() == pytest.approx([1000, 1000 + 400 * math.log10(share / (1 - share))])
    assert half[1] == pytest.approx(1.96 * 400 / math.log(10) / math.sqrt(5 * share * (1 - share)))


def test_an_exact_set_always_has_the_truth_and_one_position_loses_it(tmp_path: Path) -> None:
    referee = Referee()
    players = {chess.WHITE: AttackerPlayer(seed=7), chess.BLACK: RandomPlayer(seed=7)}
    Arbiter(referee, players, dict.fromkeys(chess.COLORS, Limit(nodes=1))).play()
    (tmp_path / "match").mkdir()
    (tmp_path / "match" / "game-00000.json").write_text(history_text(referee, "attacker", "random"))
    rows = list(tracked(tmp_path, [1, 10**6], 1))
    exact, single = ([row for row in rows if row[0] == cap] for cap in (10**6, 1))
    assert all(asked == held >= shares > 0 for *_, asked, held, shares in exact)
    assert sum(row[3] for row in exact) == len(referee.turns) and {row[1] for row in rows} == {"attacker", "random"}
    assert sum(row[4] for row in single) < sum(row[4] for row in exact)


def test_sizes_are_gathered_by_their_order_of_magnitude() -> None:
    rows = [["a", 9, 0.5, 1.0], ["a", 10, None, 0.0], ["b", 99, 0.1, 1.0]]
    assert by_size(rows) == [
        ["a", 1, 1, 0.5, 1.0], ["a", 10, 1, None, 0.0], ["all", 1, 1, 0.5, 1.0], ["all", 10, 2, 0.1, 0.5],
        ["b", 10, 1, 0.1, 1.0],
    ]  # fmt: skip


def test_a_folder_without_a_finished_game_is_refused(tmp_path: Path) -> None:
    assert main([str(tmp_path), "--results", str(tmp_path)]) == 1
