"""What README says of the library is true."""

from __future__ import annotations

import doctest
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from uci_bridge.match.statistics import elo_of_match, score_of_elo

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "experiments" / "results"
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=[f"block {i}" for i in range(len(BLOCKS))])
def test_examples_of_the_readme_do_what_it_says(block: str) -> None:
    test = doctest.DocTestParser().get_doctest(block, {}, "README.md", None, 0)
    assert test.examples
    result = doctest.DocTestRunner().run(test)
    assert result.failed == 0


def test_the_commands_of_the_readme_are_those_of_the_program() -> None:
    from klss_app.cli.main import COMMANDS

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `klss (\w+)", text, re.MULTILINE)) == set(COMMANDS)


def played(a: str, b: str, time_s: float) -> tuple[float, int, list[int]]:
    """A's points, the games, and the counts of pairs by A's half points, from the rows of all matches of the two."""
    half_points: list[int] = []
    for name in ("head_to_head", "opponents"):
        for match in json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))["matches"]:
            players = [match[side].removesuffix(",threads=1") for side in "ab"]
            if players == [a, b] and match["budgets"]["a"]["time_s"] == time_s:
                rows = sorted(match["samples"]["rows"])
                assert match["samples"]["columns"][:2] == ["game", "points"] and len(rows) % 2 == 0
                half_points += [round(2 * (one[1] + two[1])) for one, two in zip(rows[::2], rows[1::2], strict=True)]
    return sum(half_points) / 2, 2 * len(half_points), [half_points.count(points) for points in range(5)]


def test_the_strength_that_the_readme_tells_is_that_of_the_games() -> None:
    rows = re.findall(
        r"^\| `(\S+)` \| `(\S+)`,.* \| ([\d.]+) % \(([\d.]+) to ([\d.]+)\), (\S+) (\w+).* \| (\d+) \|$",
        (ROOT / "README.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert len(rows) == 5
    blind = json.loads((RESULTS / "rbc_games.json").read_text(encoding="utf-8"))["matches"]
    for a, b, score, low, high, amount, unit, games in rows:
        if unit == "s":
            points, count, pairs = played(a, b, float(amount))
            elo = elo_of_match(points, count, pairs)
            ends = [100 * score_of_elo(end) for end in (elo.low, elo.high) if end is not None]
            found, shown = [ends[0], 100 * points / count, ends[1]], count
        else:
            match = next(match for match in blind if (match["a"], match["b"]) == (a, b))
            found, shown = match["percent"], match["games"]
            assert match["budget"]["nodes"] == int(amount.replace(",", ""))
        assert [f"{number:.1f}" for number in found] == [low, score, high] and shown == int(games), (a, b)


def test_klss_is_imported_in_the_folder_above_a_clone_of_that_name(tmp_path: Path) -> None:
    """An empty folder is a package too, if Python finds nothing better."""
    (tmp_path / "klss").mkdir()
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    subprocess.run([sys.executable, "-c", "import klss; klss.solve"], cwd=tmp_path, env=environment, check=True)
