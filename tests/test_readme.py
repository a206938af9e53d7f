"""What README says of the library is true."""

from __future__ import annotations

import doctest
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
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


def test_the_strength_that_the_readme_tells_is_that_of_the_results() -> None:
    rows = re.findall(
        r"^\| `(\S+)` \| `(\S+)`,.* \| ([\d.]+) % \(([\d.]+) to ([\d.]+)\), (\S+) (\w+).* \| (\d+) \|$",
        (ROOT / "README.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert len(rows) == 5
    measured = (ROOT / "experiments" / "README.md").read_text(encoding="utf-8")
    blind = json.loads((ROOT / "experiments" / "results" / "rbc_games.json").read_text(encoding="utf-8"))["matches"]
    for a, b, score, low, high, amount, unit, games in rows:
        if unit == "s":
            match = rf"\| `{a}` v `{b}`, {amount} s a move \| {games} \| .* \| {score} % \| {low} to {high} % \|"
            assert re.search(match, measured), (a, b)
            continue
        found = next(match for match in blind if (match["a"], match["b"]) == (a, b))
        assert [f"{number:.1f}" for number in found["percent"]] == [low, score, high]
        assert (found["games"], found["budget"]["nodes"]) == (int(games), int(amount.replace(",", "")))
