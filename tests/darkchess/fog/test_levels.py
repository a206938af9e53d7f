"""Levels, and players made weaker."""

from __future__ import annotations

import chess
import pytest

from darkchess.fog.game.referee import Referee
from darkchess.fog.players.configuration import LEVELS, about, configuration, main_names, make_player
from klss.table.arbiter import Arbiter
from klss.table.limits import TimeControl
from uci_bridge.kits.fog import FOG


def test_every_level_has_a_name_that_another_process_understands_and_a_few_words() -> None:
    for name, level in LEVELS.items():
        assert configuration(FOG.text(level)).fields() == level.fields()
        assert FOG.text(level) == name and about(name)
    assert list(LEVELS) == [f"level-{number}" for number in range(1, 9)]
    assert all(about(name) for name in main_names())


def test_a_level_plays_the_same_game_again_and_reads_no_clock() -> None:
    def moves() -> tuple[chess.Move, ...]:
        referee = Referee()
        players = {color: make_player(configuration("level-3"), seed=color) for color in chess.COLORS}
        control = {color: TimeControl(time_s=3600.0) for color in chess.COLORS}
        arbiter = Arbiter(referee, players, control)
        arbiter.begin()
        for _ in range(6):
            arbiter.play_turn()
        return referee.moves

    assert moves() == moves()


@pytest.mark.parametrize(("slips", "moves"), [(0.0, 1), (1.0, 12)])
def test_who_always_slips_plays_any_move_and_who_never_does_its_own(slips: float, moves: int) -> None:
    found = set()
    for seed in range(40):
        referee = Referee()
        player = make_player(configuration(f"greedy,slips={slips}"), seed=seed)
        player.begin(chess.WHITE, referee.setup)
        found.add(player.answer(None, TimeControl(nodes=1)).answer)  # type: ignore[arg-type]
    assert len(found) == 1 if moves == 1 else len(found) >= moves


def test_a_king_that_can_be_taken_is_taken_by_who_always_slips() -> None:
    referee = Referee("4k3/4Q3/8/8/8/8/8/4K3 w - - 0 1")
    player = make_player(configuration("greedy,slips=1"), seed=1)
    player.begin(chess.WHITE, referee.setup)
    assert player.answer(None, TimeControl(nodes=1)).answer.uci() == "e7e8"  # type: ignore[arg-type]
