"""Hints tell commands that run where the user is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from klss_app.cli.errors import own_name

HINTS = ("see it again", "what moves cost")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with an environment in ``.venv`` that this Python pretends to be, and no ``klss`` on
    PATH."""
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("python", "klss"):
        (programs / name).write_text('#!/bin/sh\necho "called: $*"\n')
        (programs / name).chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(programs / "python"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_off_the_path_a_hint_names_the_program_as_seen_from_here(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert own_name() == ".venv/bin/klss"
    elsewhere = installed / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert own_name() == str(installed / ".venv" / "bin" / "klss")


def test_a_klss_that_the_path_leads_to_is_named_only_if_it_is_this_one(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = installed / "other"
    other.mkdir()
    (other / "klss").write_text("#!/bin/sh\n")
    (other / "klss").chmod(0o755)
    monkeypatch.setenv("PATH", str(other))
    assert own_name() == ".venv/bin/klss"
    (other / "klss").unlink()
    (other / "klss").symlink_to(installed / ".venv" / "bin" / "klss")
    assert own_name() == "klss"


def test_without_a_program_beside_python_a_hint_runs_the_module(installed: Path) -> None:
    (installed / ".venv" / "bin" / "klss").unlink()
    assert own_name() == ".venv/bin/python -m klss"


def test_what_a_game_tells_at_its_end_can_be_typed_as_it_stands(installed: Path, klss: Any) -> None:
    game = ("play", "--black", "random", "--seed", "2", "--pgn", "a game.pgn")
    ended, left = klss(*game, typed="e4\nresign\nquit\n"), klss(*game, typed="e4\nquit\n")
    shown = [line.partition(f"klss play: {what}: ")[2] for what in HINTS for line in ended.err.splitlines()]
    shown += [left.err.strip().removesuffix(" goes on").rpartition("; ")[2]]
    shown += [klss(*bad).err.partition("(")[2].partition(" lists")[0] for bad in (["play", "--time"], ["rbc", "track"])]
    said = [subprocess.run(each, shell=True, capture_output=True, text=True).stdout for each in shown if each]
    assert said == [
        f"called: {arguments}\n"
        for arguments in (
            "board a game.pgn",
            "analyse a game.pgn",
            "play --resume a game.pgn",
            "play --help",
            "rbc track --help",
        )
    ]
