"""``klss games``: each game of a file, and why others are refused; other commands take one game of the same file."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from klss_app.cli import saved_game

GAMES = """[White "a"]
[Black "b\x1b[2J"]
[Variant "Fogofwar"]

1. e4 f6 2. Qh5 a6 3. Qxe8 1-0

[Variant "Atomic"]

1. e4 *

[White "d"]
[RuleVariants "EnPassant FogOfWar Play4Mate"]

1. e2-e4 e7-e5 {a comment, with 1-0 in it} 2. R

[White "nobody moved"]

*
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "month.pgn.gz").write_bytes(gzip.compress(GAMES.encode()))
    return "month.pgn.gz"


def shown(number: int) -> str:
    return f"month.pgn.gz holds 4 games; this is game {number} (--game N chooses another)\n"


def test_each_game_is_a_line_and_what_is_refused_is_said_on_stderr(klss: Any, file: str) -> None:
    ran = klss("games", file)
    assert ran.code == 0 and [line.split() for line in ran.out.splitlines()] == [
        ["1", "a", "b?[2J", "1-0", "5", "plies", "king_captured"],
        ["3", "d", "?", "0-1", "2", "plies", "resign"],
        ["4", "nobody", "moved", "?", "*", "0", "plies"],
        ["3", "games,", "1", "refused", "(on", "stderr,", "with", "reasons)"],
    ]
    assert ran.err.startswith("game 2: ") and ran.err.count("\n") == 1


def test_the_document_has_every_game(klss: Any, file: str) -> None:
    ran = klss("games", file, "--json")
    assert ran.code == 0 and ran.err == "" and (ran.document["read"], ran.document["refused"]) == (3, 1)
    first, second, third, _ = ran.document["games"]
    assert first == {
        "number": 1, "white": "a", "black": "b?[2J", "result": "1-0", "reason": "king_captured", "plies": 5,
        "rules": "Fogofwar", "error": None,
    }  # fmt: skip
    assert "Atomic" in second["error"] and second["result"] is None
    assert third["rules"] == "EnPassant FogOfWar Play4Mate" and third["reason"] == "resign"


def test_a_file_in_which_nothing_reads_fails(klss: Any, tmp_path: Path) -> None:
    (tmp_path / "one.pgn").write_text('[Variant "Standard"]\n\n1. e4 *\n')
    (tmp_path / "two.pgn").write_text('[Variant "Standard"]\n\n1. e4 *\n' * 2)
    one, two = klss("games", "one.pgn"), klss("games", "two.pgn", "--json")
    assert one.code == two.code == 1 and one.out == "" and "Standard" in one.err
    assert two.document["refused"] == 2


def test_a_command_takes_the_first_game_or_game_n_whatever_the_others_are_and_says_so(klss: Any, file: str) -> None:
    for flags, number, moves in (([], 1, ["e4", "f6", "Qh5", "a6"]), (["--game", "3"], 3, ["e4", "e5"])):
        ran = klss("track", "--pgn", file, *flags, "--json")
        assert ran.code == 0 and ran.document["moves"] == moves and ran.err == shown(number)
    ran = klss("analyse", file, "--game", "3", "--nodes", "5", "--json")
    assert ran.code == 0 and ran.err == shown(3) and [turn["ply"] for turn in ran.document["turns"]] == [0, 1]


def test_the_board_opens_the_game_that_is_asked_for(klss: Any, file: str, opened_boards: list[Any]) -> None:
    ran = klss("board", file, "--game", "3", "--port", "0", "--no-open")
    ((_, reviewed),) = opened_boards
    assert ran.code == 0 and ran.err == shown(3) and reviewed.names[0] == "d"


def test_the_game_that_was_left_last_is_found_beside_files_of_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "klss-games"
    folder.mkdir()
    (folder / "left.pgn").write_text('[White "human"]\n[Black "random"]\n\n1. e4 *\n')
    (folder / "2026-11.pgn").write_text(GAMES)
    assert saved_game.saved_game("last").path.name == "left.pgn"
