"""``klss games``: each game of a file, and why others are refused; other commands take the same files."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from klss_app.cli import saved_game

FILE = """[White "a"]
[Black "b\x1b[2J"]
[Variant "Fogofwar"]

1. e4 f6 2. Qh5 a6 3. Qxe8 1-0

[Variant "Atomic"]

1. e4 *

[RuleVariants "EnPassant FogOfWar Play4Mate"]

1. e2-e4 e7-e5 2. R
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "month.pgn.gz").write_bytes(gzip.compress(FILE.encode()))
    return "month.pgn.gz"


def test_each_game_is_a_line_and_what_is_refused_is_said_on_stderr(klss: Any, file: str) -> None:
    ran = klss("games", file)
    assert ran.code == 0 and [line.split() for line in ran.out.splitlines()] == [
        ["1", "a", "b?[2J", "1-0", "5", "plies", "king_captured"],
        ["3", "?", "?", "0-1", "2", "plies", "resign"],
        ["2", "games,", "1", "refused", "(on", "stderr,", "with", "reasons)"],
    ]
    assert ran.err == "game 2: got the variant 'Atomic', expected 'Fog of War', 'Fogofwar' or 'Dark chess'\n"


def test_the_document_has_every_game(klss: Any, file: str) -> None:
    ran = klss("games", file, "--json")
    document = ran.document
    assert ran.code == 0 and ran.err == "" and (document["read"], document["refused"]) == (2, 1)
    first, second, third = document["games"]
    assert first == {
        "number": 1,
        "white": "a",
        "black": "b?[2J",
        "result": "1-0",
        "reason": "king_captured",
        "plies": 5,
        "rules": "Fogofwar",
        "error": None,
    }
    assert "Atomic" in second["error"] and second["result"] is None
    assert third["rules"] == "EnPassant FogOfWar Play4Mate" and third["reason"] == "resign"


def test_a_file_in_which_nothing_reads_fails(klss: Any, tmp_path: Path) -> None:
    (tmp_path / "one.pgn").write_text('[Variant "Standard"]\n\n1. e4 *\n')
    (tmp_path / "two.pgn").write_text('[Variant "Standard"]\n\n1. e4 *\n' * 2)
    one, two = klss("games", "one.pgn"), klss("games", "two.pgn", "--json")
    assert one.code == two.code == 1 and one.out == "" and "Standard" in one.err
    assert two.document["refused"] == 2


def test_other_commands_take_a_game_of_the_same_file(klss: Any, file: str) -> None:
    ran = klss("track", "--pgn", file, "--game", "3", "--json")
    assert ran.code == 0 and ran.document["moves"] == ["e4", "e5"]
    ran = klss("analyse", file, "--game", "3", "--nodes", "5", "--json")
    assert ran.code == 0 and len(ran.document["turns"]) == 2


# ---------------------------------------------------------------- one of many games
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
    assert ran.code == 0 and ran.document["moves"] == ["e4", "e5", "Qh5", "Ke7", "Qxe5"]
    assert ran.err == shown(1)


def test_game_n_is_taken_whatever_the_others_are(klss: Any, many: Path) -> None:
    ran = klss("track", "--pgn", "month.pgn", "--game", "3", "--json")
    assert ran.code == 0 and ran.document["moves"] == ["d4", "d5", "c4"] and ran.err == shown(3)
    ran = klss("analyse", "month.pgn", "--game", "3", "--nodes", "5", "--json")
    assert ran.code == 0 and ran.err == shown(3) and [turn["ply"] for turn in ran.document["turns"]] == [0, 1, 2]


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
