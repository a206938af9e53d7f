"""A PGN file of many games: which of them a command takes, and that it says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from klss_app.cli import saved_game

GAMES = """[White "a"]
[Black "b"]

1. e4 e5 2. Qh5 Ke7 3. Qxe5 *

[White "c"]
[Variant "Atomic"]

1. e4 e9 *

[White "d"]

1. d4 d5 {a comment, with 1-0 in it} 2. c4 1-0

[White "nobody moved"]

*
"""


@pytest.fixture
def many(tmp_path: Path) -> Path:
    path = tmp_path / "month.pgn"
    path.write_text(GAMES)
    return path


def shown(number: int) -> str:
    return f"month.pgn holds 4 games; this is game {number} (--game N chooses another)\n"


def test_a_command_takes_the_first_game_and_says_how_many_there_are(klss: Any, many: Path) -> None:
    ran = klss("track", "--pgn", "month.pgn", "--json")
    assert ran.code == 0 and json.loads(ran.out)["moves"] == ["e4", "e5", "Qh5", "Ke7", "Qxe5"]
    assert ran.err == shown(1)


def test_game_n_is_taken_whatever_the_others_are(klss: Any, many: Path) -> None:
    ran = klss("track", "--pgn", "month.pgn", "--game", "3", "--json")
    assert ran.code == 0 and json.loads(ran.out)["moves"] == ["d4", "d5", "c4"] and ran.err == shown(3)
    ran = klss("analyse", "month.pgn", "--game", "3", "--nodes", "5", "--json")
    assert ran.code == 0 and ran.err == shown(3) and [turn["ply"] for turn in json.loads(ran.out)["turns"]] == [0, 1, 2]


def test_a_file_of_one_game_is_no_reason_to_say_anything(klss: Any, tmp_path: Path) -> None:
    (tmp_path / "one.pgn").write_text("1. e4 *")
    assert klss("track", "--pgn", "one.pgn").err == ""


def test_the_board_opens_the_game_that_is_asked_for(klss: Any, many: Path, opened_boards: list[Any]) -> None:
    ran = klss("board", "month.pgn", "--game", "3", "--port", "0", "--no-open")
    ((_, reviewed),) = opened_boards
    assert ran.code == 0 and ran.err == shown(3) and reviewed.game.record.headers["White"] == "d"


def test_the_game_that_was_left_last_is_found_beside_files_of_many(many: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(many.parent)
    folder = many.parent / "klss-games"
    folder.mkdir()
    (folder / "left.pgn").write_text('[White "human"]\n[Black "random"]\n\n1. e4 *\n')
    (folder / "2026-11.pgn").write_text(GAMES)
    assert saved_game.saved_game("last").path.name == "left.pgn"
