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
    missed = next(move for move in packaged.game.legal_moves() if move != packaged.solution)
    found = list(maker.puzzles_in(Referee.replay((*packaged.moves, missed)), ""))[-1]
    assert (found.moves, found.solution, found.theme) == (packaged.moves, packaged.solution, packaged.theme)
    assert found.proof == packaged.proof and Puzzle.read(packaged.document()) == packaged


def test_a_turn_is_kept_once_and_few_of_those_that_the_first_levels_find() -> None:
    one = packaged_puzzles()[0]
    shares = dict.fromkeys(maker.LEVELS, 0.33)
    easy = replace(one, solved={"level-1": 0.33, "level-2": 0.67})
    assert easy.level == 2 and replace(one, solved=shares).level is None
    assert maker.chosen([easy, easy]) == [easy]
    many = [replace(each, solved=easy.solved) for each in packaged_puzzles()]
    assert len(maker.chosen(many)) == maker._EASY_MOST < len(many)


def test_the_command_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def batch(seed: int, numbers: range) -> list[object]:
        made.append(numbers.start)
        if numbers.start == maker.BATCH and len(made) < 3:
            raise KeyboardInterrupt
        return []

    monkeypatch.setattr(maker, "batch", batch)
    out = tmp_path / "puzzles.jsonl"
    arguments = ["--games", str(2 * maker.BATCH), "--out", str(tmp_path)]
    assert maker.main(arguments) == 130 and not out.exists()
    assert maker.main(arguments) == 0 and made == [0, maker.BATCH, maker.BATCH]
    assert maker.main(["--out", str(out)]) == 1  # a file, not a folder
    packaged = {each.source for each in packaged_puzzles()}
    assert packaged >= {json.loads(line)["source"] for line in out.read_text().splitlines()} != set()


def test_levels_try_a_puzzle_until_one_finds_it_and_again_find_the_same() -> None:
    one = maker.rated(replace(packaged_puzzles()[0], solved={}))
    assert one.level == len(one.solved) and list(one.solved) == list(maker.LEVELS)[: one.level]
    assert maker.rated(replace(one, solved={})) == one
