"""What README says of the library is true."""

from __future__ import annotations

import doctest
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


def test_the_tables_of_the_readme_are_those_of_the_results() -> None:
    import json

    from experiments.paper_tables import BEGIN, END, RESULTS, readme_part

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = text.partition(BEGIN)[2].partition(END)[0].strip()
    assert shown == readme_part(json.loads(RESULTS.read_text()))
