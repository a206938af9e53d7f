"""The maker of puzzles: what it finds in a game is what is packaged of it; it goes on after a stop."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import experiments.puzzles as maker
from darkchess.fog.analysis.puzzles import Puzzle, packaged_puzzles
from darkchess.fog.game.referee import Referee


def test_a_packaged_puzzle_is_found_again_in_its_game() -> None:
    packaged = min(packaged_puzzles(), key=lambda one: len(one.moves))
    found = list(maker.puzzles_in(Referee.replay((*packaged.moves, packaged.solution)), ""))[-1]
    assert (found.moves, found.solution, found.theme) == (packaged.moves, packaged.solution, packaged.theme)
    assert found.proof == packaged.proof and Puzzle.read(packaged.document()) == packaged


def test_a_turn_is_kept_once_and_few_of_those_that_the_first_levels_find() -> None:
    one = packaged_puzzles()[0]
    shares = dict.fromkeys(maker.LEVELS, 0.33)
    easy = replace(one, solved=shares | {"level-2": 0.67, "level-3": 1.0})
    assert easy.level == 2 and replace(one, solved=shares).level is None
    assert maker.chosen([easy, easy]) == [easy]
    many = [replace(each, solved=easy.solved) for each in packaged_puzzles()]
    assert len(maker.chosen(many)) == maker._EASY_MOST < len(many)


def test_the_command_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def batch(seed: int, first: int) -> list[object]:
        made.append(first)
        if first == maker.BATCH and len(made) < 3:
            raise KeyboardInterrupt
        return []

    monkeypatch.setattr(maker, "RUNS", tmp_path)
    monkeypatch.setattr(maker, "batch", batch)
    out = tmp_path / "out.jsonl"
    arguments = ["--games", str(2 * maker.BATCH), "--out", str(out)]
    assert maker.main(arguments) == 130 and not out.exists()
    assert maker.main(arguments) == 0 and made == [0, maker.BATCH, maker.BATCH]
    packaged = {each.source for each in packaged_puzzles()}
    assert packaged >= {json.loads(line)["source"] for line in out.read_text().splitlines()} != set()


def test_a_game_and_its_ratings_depend_on_the_seed_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maker, "BATCH", 1)
    monkeypatch.setattr(maker, "_EASY_SHARE", 1.0)
    assert maker.batch(99, 3) == maker.batch(99, 3)
    assert all(set(each["solved"]) == set(maker.LEVELS) for each in maker.batch(99, 3))
