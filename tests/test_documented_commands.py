"""Every command that a page tells is parsed here as it stands, and the experiments' are run in small.

A *documented command* is a line of a code block, or a code span with arguments, that calls ``klss`` or an experiment.
Scripts of tutorials are run as they stand (``tests/klss/test_documents.py``); each command has tests of its own.
"""

from __future__ import annotations

import argparse
import json
import re
import runpy
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from klss_app.bench import suite, tracker
from klss_app.cli.main import main
from klss_app.cli.options import Parser
from tests.klss.test_documents import SCRIPTED

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "experiments" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]

FEW_MEN = "4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 1"
"""A start from which position sets stay small."""

IN_SMALL = (
    f"klss play --white random,cap=500 --black random,cap=500 --nodes 9 --seed 9 --pgn game.pgn --fen '{FEW_MEN}'",
    "klss rbc match rbc-attacker rbc-attacker --games 1 --nodes 5 --seed 2 --out own",
    "klss rbc match rbc-attacker rbc-random --games 1 --nodes 5 --seed 3 --out random",
    "klss match greedy random --nodes 1 --games 1 --seed 4 --out fog",
    "klss bench tracker --repetitions 1",
    "klss bench search --time 0.05 --repetitions 1",
    "klss bench equilibrium --nodes 500 --repetitions 1",
    "klss bench suite --nodes 50 --repetitions 1",
    "experiments.series rbc_games --nodes 20 --only expect --games 2 --workers 1 --runs runs --results results",
    "klss tables --search kuhn_poker --nodes 10 --out results.json",
    "experiments.learn fog --share 0 --matches klss2021=fog people=fog/game-00000.pgn --epochs 1 --out fogged",
    "experiments.blind_games . --caps 50 --tracked 1 --results results",
    "experiments.puzzles --games 1 --out puzzles",
)
"""Run one after the other, in this order, in one empty folder: later ones read what earlier ones wrote."""

NO_COMMAND = re.compile(
    r"klss (\w+|COMMAND --help|bot … .*)|python -m (experiments\.(…|NAME)|klss)|.*[ :](GAME|NAME|N|W)"
)
"""What names a command, or has a word in place of a choice."""

NOT_WHOLE = re.compile("expected one argument|required")
"""What is said of a command that is told with one of its flags alone."""


class ParsedError(BaseException):
    """A command line was parsed."""


def documented() -> dict[str, str]:
    """Each documented command, without comments and continuation, and a page that tells it."""
    found: dict[str, str] = {}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        fenced = re.findall(r"^```(\w*)[^\n]*\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        run_here = ("",) if f"docs/{page.name}" in SCRIPTED else ("", "sh")
        prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
        lines = [line for language, block in fenced if language in run_here for line in block.splitlines()]
        lines += re.findall(r"^    (.*)$", prose, re.MULTILINE)
        lines += [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose) if " " in span]
        for line in lines:
            for command in re.split(r" && ", re.sub(r"\s+(# |2?>).*", "", line)):
                word = command.strip().removeprefix("$ ").removeprefix(".venv/bin/")
                if re.match(r"(klss|python3? -m (klss|experiments\.\w+)) ", word) and not NO_COMMAND.fullmatch(word):
                    found.setdefault(word, page.name)
    return found


def called(program: str, arguments: list[str]) -> int:
    """Run a program in this process; the exit code."""
    if program == "klss":
        return main(arguments)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [program, *arguments])
        patch.delitem(sys.modules, program, raising=False)
        patch.delitem(sys.modules, f"{program}.__main__", raising=False)
        try:
            runpy.run_module(program, run_name="__main__")
        except SystemExit as left:
            return int(left.code or 0)
    return 0


def test_every_documented_command_is_one(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Its flags are known, and their values are what they may be."""

    def parsing(parse: Callable[..., Any]) -> Callable[..., Any]:
        def parsed(*rest: Any, **named: Any) -> None:
            parse(*rest, **named)
            raise ParsedError

        return parsed

    monkeypatch.setattr(Parser, "parse", parsing(Parser.parse))
    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parsing(argparse.ArgumentParser.parse_args))
    commands = documented()
    assert len(commands) > 80
    wrong = []
    for command, page in commands.items():
        words = [word for word in shlex.split(command) if word not in ("python", "python3", "-m")]
        try:
            code = called(words[0], words[1:])
        except ParsedError:
            code = 0
        said = capsys.readouterr().err
        if code != 0 and not NOT_WHOLE.search(said):
            wrong.append((page, command, said))
    assert wrong == []


def test_every_experiment_that_can_be_called_is_run_in_small() -> None:
    programs = {
        f"experiments.{path.stem}"
        for path in (ROOT / "experiments").glob("*.py")
        if '__name__ == "__main__"' in path.read_text(encoding="utf-8")
    }
    programs |= {f"experiments.{path.parent.name}" for path in (ROOT / "experiments").glob("*/__main__.py")}
    assert {form.split()[0] for form in IN_SMALL} - {"klss"} == programs


def test_the_experiments_and_the_benches_run_in_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All of them, and they leave results behind."""
    monkeypatch.chdir(tmp_path)
    # Players who don't think and lines whose position sets stay small, so that a game takes a fraction of a second.
    line = tracker.bench_lines()[0]
    short = tracker.BenchLine(line.name, line.moves[: 10 + (not line.color)], line.color)
    monkeypatch.setattr(tracker, "bench_lines", lambda: [short])
    entries = [entry for entry in suite.suite_entries() if entry.name in ("Qxe8", "king v unseen rook")]
    monkeypatch.setattr(suite, "suite_entries", lambda: entries)
    for form in IN_SMALL:
        program, *arguments = shlex.split(form)
        code = called(program, arguments)
        assert code == 0, f"{form}: {capsys.readouterr().err}"
    matches = json.loads(Path("results/rbc_games.json").read_text())["matches"]
    assert [(match["name"], match["games"]) for match in matches] == [("expect-20nodes", 2)]
