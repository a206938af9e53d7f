"""Results that are kept can be traced: to a commit of the history, and from a page."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import experiments
from experiments.commands import RUNS
from uci_bridge.match import documents

ROOT = Path(__file__).resolve().parents[2]
RESULTS = sorted((ROOT / "experiments" / "results").glob("*.json"))
NOT_KEPT = "commit not kept"
"""Of results whose commit was left out when the history was put in order."""


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="the sources are no clone")
def test_every_commit_of_the_results_is_in_the_history_or_said_not_to_be_kept() -> None:
    def git(*arguments: str) -> str:
        return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True).stdout

    if git("rev-parse", "--is-shallow-repository").strip() == "true":
        pytest.skip("the clone has no history")
    history = set(git("rev-list", "HEAD").split())
    for path in RESULTS:
        text = path.read_text(encoding="utf-8")
        found = set(re.findall(r"\b[0-9a-f]{40}\b", text))
        assert (found or NOT_KEPT in text) and not json.loads(text).get("modified"), path.name
        assert found <= history, path.name


def test_every_results_file_is_cited_by_a_page() -> None:
    folders = (ROOT, ROOT / "docs", ROOT / "docs" / "notebook", ROOT / "experiments")
    text = "".join(page.read_text(encoding="utf-8") for folder in folders for page in folder.glob("*.md"))
    assert [path.name for path in RESULTS if f"/{path.name}" not in text] == []


def test_no_results_are_written_without_a_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert documents.head("study")["commit"]
    monkeypatch.setattr(documents, "commit", lambda: None)
    with pytest.raises(documents.NoCommitError, match="git clone"):
        documents.head("study")


@pytest.mark.parametrize("name", [each.name for each in pkgutil.iter_modules(experiments.__path__)])
def test_no_study_writes_a_file_of_the_repository_unless_it_is_told_to(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyspiel")
    written = []
    add = argparse._ActionsContainer.add_argument

    def noted(parser: Any, *flags: str, **rest: Any) -> Any:
        if flags[0] in ("--out", "--results", "--runs"):
            written.append(rest.get("default"))
        return add(parser, *flags, **rest)

    monkeypatch.setattr(argparse._ActionsContainer, "add_argument", noted)
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    module = importlib.import_module(f"experiments.{name}" + (".__main__" if name == "learn" else ""))
    with contextlib.suppress(SystemExit):
        getattr(module, "main", lambda: None)()
    assert all(path is None or RUNS in (path, *path.parents) for path in written)
