"""``klss games``: each game of a file, and why others are refused; other commands take the same files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

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
    document = json.loads(ran.out)
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
    assert ran.code == 0 and json.loads(ran.out)["moves"] == ["e4", "e5"]
    ran = klss("analyse", file, "--game", "3", "--nodes", "5", "--json")
    assert ran.code == 0 and len(json.loads(ran.out)["turns"]) == 2
