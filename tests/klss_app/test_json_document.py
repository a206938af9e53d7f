"""docs/json.md names every key that is printed, and none that is not."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest

from klss.search import Report
from klss_app.cli.main import main

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "json.md").read_text(encoding="utf-8")


def documented(section: str) -> set[str]:
    """The keys in the first column of a section's table."""
    (text,) = re.findall(rf"^## {re.escape(section)}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    return {key for cell in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE) for key in re.findall(r"`(\w+)`", cell)}


@pytest.mark.parametrize(
    ("section", "arguments", "only_if_asked"),
    [
        ("`klss track`", ["track", "--moves", "e4 e5"], set()),
        ("`klss openings`", ["openings"], set()),
        ("`klss solve`", ["solve", "kuhn_poker"], {"about", "exact", "iterations", "method", "status", "subgame"}),
        ("`klss tables 1`", ["tables", "1", "--game", "kuhn_bet"], set()),
        ("`klss tables 2`", ["tables", "2", "--game", "kuhn"], set()),
    ],
)
def test_the_page_names_the_keys_that_are_printed(
    section: str, arguments: list[str], only_if_asked: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    (row,) = printed if isinstance(printed, list) else [printed]
    assert documented(section) == row.keys() | only_if_asked


def test_the_page_names_the_diagnostics_of_a_move() -> None:
    assert documented("Diagnostics of a move") == {field.name for field in dataclasses.fields(Report)} | {"held"}
