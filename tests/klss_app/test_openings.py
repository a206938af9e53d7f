"""``klss openings``: the book as a tree, as text and as JSON."""

from __future__ import annotations

import json
import re
from typing import Any

import chess

from darkchess.fog.game.referee import Referee
from darkchess.fog.players.book import Book


def test_the_tree_has_the_moves_of_the_first_page_with_what_people_play(klss: Any) -> None:
    ran = klss("openings", "--plies", "1", "--least", "0")
    assert ran.code == 0 and ran.err == ""
    page = Book.packaged().page(Referee().views(chess.WHITE))
    assert page is not None
    made, where, columns, *rows = ran.out.splitlines()
    assert "kluss" in made and where == "from the start" and columns.split() == ["kluss", "value", "people"]
    assert all(re.fullmatch(r"1\. \S+ +(\d+%|-) +[+-]\d\.\d{3}  \d+ of \d+", row) for row in rows)
    assert len(rows) == sum(move.probability > 0.0 or move.people > 0 for move in page.moves)
    first = page.moves[0]
    assert f"{first.probability:.0%}" in rows[0] and rows[0].endswith(f"{first.people} of {page.people}")


def test_what_looks_the_same_to_black_is_told_once(klss: Any) -> None:
    lines = klss("openings", "--plies", "2").out.splitlines()[3:]
    firsts = [line for line in lines if line.startswith("1. ")]
    same = [line for line in lines if "looks the same to Black" in line]
    assert len(firsts) > 2 and len(same) == len(firsts) - 1
    assert sum(line.startswith("   1... ") for line in lines) == len(lines) - len(firsts) - len(same)


def test_the_document_has_the_tree_below_moves(klss: Any) -> None:
    document = json.loads(klss("openings", "1. d4 d5", "--plies", "2", "--json").out)
    assert document["moves"] == ["d4", "d5"] and document["book"]["nodes"] > 0
    assert "pages" not in document["book"]
    (page,) = {each["of"] for each in document["tree"]}
    assert page == document["people"]
    shares = [each["probability"] for each in document["tree"]]
    assert shares == sorted(shares, reverse=True) and 0.5 < sum(shares) < 1.01
    replied = [each for each in document["tree"] if each["replies"]]
    assert replied and all((each["infoset"] is None) == (not each["replies"]) for each in document["tree"])
    assert all(reply["replies"] == [] for each in replied for reply in each["replies"])


def test_least_leaves_out_what_is_seldom_played(klss: Any) -> None:
    trees = [json.loads(klss("openings", "--least", least, "--json").out)["tree"] for least in ("0", "20", "100")]
    assert len(trees[0]) > len(trees[1]) > len(trees[2])
    assert all(max(each["probability"], each["people"] / each["of"]) >= 0.2 for each in trees[1])
