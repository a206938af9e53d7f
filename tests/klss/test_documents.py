"""The pages' examples are run as they stand; the modules' are by ``tests/test_doctests.py``.

A page is run from top to bottom in an empty folder:

* a block with a title is a file of that name (```` ```perl title="taker.pl" ````);
* a block of ``>>>`` is a doctest; the blocks of a page share their names;
* a block of ``sh`` is a script, on the pages of ``SCRIPTED`` alone: elsewhere ``tests/test_documented_commands.py``
  runs commands in small. A block of ``text`` after it is what it prints (``...`` stands for anything).
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[2]

FENCED = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)

SCRIPTED: dict[str, str | None] = {"docs/position_set.md": None, "docs/extend.md": "perl", "docs/own_game.md": None}
"""Pages whose scripts are run, and the program that each needs beside Python."""

PATIENCE_S = 300.0
"""Seconds for one script; on a new machine it compiles for a minute or two."""


class Block(NamedTuple):
    """A block of code of a page."""

    language: str
    title: str
    text: str
    line: int  # where it begins, from 0


def blocks(page: str) -> Iterator[Block]:
    text = (ROOT / page).read_text(encoding="utf-8")
    for match in FENCED.finditer(text):
        yield Block(match[1], match[2] or "", match[3], text.count("\n", 0, match.start(3)))


def run_examples(page: str, block: Block, names: dict[str, Any]) -> int:
    """Run a doctest, and return the number of its examples; ``names`` is modified in place."""
    test = doctest.DocTestParser().get_doctest(block.text, names, page, str(ROOT / page), block.line)
    result = doctest.DocTestRunner().run(test, clear_globs=False)
    names.update(test.globs)
    assert result.failed == 0
    return result.attempted


def run_script(folder: Path, script: str) -> str:
    """Run a script as a reader's shell does, with the ``klss`` and ``python`` of the tests; what it prints."""
    bin_folder = folder / "bin"
    for name, rest in (("klss", " -m klss"), ("python", "")):
        program = bin_folder / name
        program.parent.mkdir(exist_ok=True)
        path = f'PYTHONPATH={shlex.quote(str(ROOT))}"${{PYTHONPATH:+:$PYTHONPATH}}"'
        program.write_text(f'#!/bin/sh\n{path} exec {shlex.quote(sys.executable)}{rest} "$@"\n')
        program.chmod(0o755)
    environment = os.environ | {"PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        ["sh", "-e", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("page", SCRIPTED)
def test_a_tutorial_does_what_it_says(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs = SCRIPTED[page]
    if needs is not None and shutil.which(needs) is None:
        pytest.skip(f"{needs} is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    names: dict[str, Any] = {}
    tried, printed = 0, None
    for block in blocks(page):
        if block.title:
            (tmp_path / block.title).write_text(block.text, encoding="utf-8")
            monkeypatch.delitem(sys.modules, Path(block.title).stem, raising=False)  # and what a doctest imports
        elif block.text.startswith(">>>"):
            tried += run_examples(page, block, names)
        elif block.language == "sh":
            printed = run_script(tmp_path, block.text)
            tried += 1
        elif block.language == "text" and printed is not None:
            assert doctest.OutputChecker().check_output(block.text, printed, doctest.ELLIPSIS), printed
            printed = None
    assert tried > 0


def test_a_page_that_shows_a_file_is_run() -> None:
    pages = [f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")]
    assert {page for page in pages if any(block.title for block in blocks(page))} <= SCRIPTED.keys()
