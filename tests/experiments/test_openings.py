"""The walk that makes the opening book."""

from __future__ import annotations

import json
from pathlib import Path

import chess
import pytest

from darkchess.fog.game.referee import Referee
from darkchess.fog.players.book import Book
from experiments.openings import main, people_of

GAMES = """[Variant "Fogofwar"]

1. e4 c5 2. Nf3 *

[Variant "Fogofwar"]

1. d4 c5 2. dxc5 *
"""


@pytest.fixture
def small(tmp_path: Path) -> list[str]:
    (tmp_path / "people.pgn").write_text(GAMES)
    flags = {"nodes": 20, "searches": 2, "plies": 3, "least": 0.05, "follow": 0.2}
    paths = {"people": tmp_path / "people.pgn", "out": tmp_path / "book.json"}
    return [text for name, value in {**flags, **paths}.items() for text in (f"--{name}", str(value))]


def test_people_s_moves_are_counted_by_what_the_mover_sees(tmp_path: Path) -> None:
    (tmp_path / "people.pgn").write_text(GAMES)
    found, games = people_of(tmp_path / "people.pgn", 3)
    assert games == 2
    counts = sorted(sorted((move.uci(), count) for move, count in counter.items()) for counter in found.values())
    # Black can't tell the two games apart; White's second turns differ.
    assert counts == [[("c7c5", 2)], [("d2d4", 1), ("e2e4", 1)], [("d4c5", 1)], [("g1f3", 1)]]


def test_a_book_is_made_of_searches_and_of_people_s_games(small: list[str], tmp_path: Path) -> None:
    assert main(small) == 0
    book = Book.read(tmp_path / "book.json")
    page = book.page(Referee().views(chess.WHITE))
    assert page is not None and page.people == 2 and book.plies == 3 and len(book.pages) > 2
    text = (tmp_path / "book.json").read_text()
    assert str(tmp_path) not in text, "no path of this machine"
    assert json.loads(text)["command"].endswith("--people people.pgn")
