"""What README says of the library is true."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from klss_app.cli.main import COMMANDS
from uci_bridge.match.statistics import elo_of_match, score_of_elo

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "experiments" / "results"


def test_the_commands_of_the_readme_are_those_of_the_program() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `klss (\w+)", text, re.MULTILINE)) == set(COMMANDS)


POINTS = {"a": 1.0, None: 0.5, "b": 0.0}


def played(a: str, b: str, limit: dict[str, float]) -> tuple[float, int, list[int]]:
    """A's points, the games, and the counts of pairs by A's half points, from the rows of all matches of the two."""
    half_points: list[int] = []
    for name in ("head_to_head", "opponents", "rbc_games"):
        for match in json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))["matches"]:
            players = [
                match[side].removesuffix(",threads=1").replace("siamese", "tower") for side in "ab"
            ]  # once so named
            budget = match["budget"] if "budget" in match else match["budgets"]["a"]
            if players == [a, b] and limit.items() <= budget.items():
                points = [
                    POINTS.get(row[1], row[1]) for row in sorted(match["samples"]["rows"], key=lambda row: row[0])
                ]
                assert match["samples"]["columns"][0] == "game" and len(points) % 2 == 0
                half_points += [round(2 * (one + two)) for one, two in zip(points[::2], points[1::2], strict=True)]
    return sum(half_points) / 2, 2 * len(half_points), [half_points.count(points) for points in range(5)]


def test_the_strength_that_the_readme_tells_is_that_of_the_games() -> None:
    rows = re.findall(
        r"^\| `(\S+)` \| `(\S+)`,.* \| ([\d.]+) % \(([\d.]+) to ([\d.]+)\), (\S+) (\w+).* \| (\d+) \|$",
        (ROOT / "README.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert len(rows) == 5
    for a, b, score, low, high, amount, unit, games in rows:
        limit = {"time_s": float(amount)} if unit == "s" else {"nodes": int(amount.replace(",", ""))}
        points, count, pairs = played(a, b, limit)
        elo = elo_of_match(points, count, pairs)
        found = (100 * score_of_elo(elo.low), 100 * points / count, 100 * score_of_elo(elo.high))
        assert [f"{number:.1f}" for number in found] == [low, score, high] and count == int(games), (a, b)


def test_klss_is_imported_in_the_folder_above_a_clone_of_that_name(tmp_path: Path) -> None:
    """An empty folder is a package too, if Python finds nothing better."""
    (tmp_path / "klss").mkdir()
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    subprocess.run([sys.executable, "-c", "import klss; klss.solve"], cwd=tmp_path, env=environment, check=True)
