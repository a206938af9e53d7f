"""What `make` says to someone whose Python can't make an environment: one line, with the remedy."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def make_play(folder: Path, python: Path) -> subprocess.CompletedProcess[str]:
    """`make play` with that Python and no environment yet, as if this were not a make's child itself."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        ["make", "play", f"PYTHON={python}", f"VENV={folder / 'venv'}"],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


def make_with(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    """`make play` with a Python that is this shell script."""
    python = folder / "python"
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    return make_play(folder, python)


def only_line(done: subprocess.CompletedProcess[str], folder: Path) -> str:
    assert done.returncode != 0
    assert done.stdout == "" and done.stderr.count("\n") == 1, done.stdout + done.stderr
    assert not (folder / "venv").exists()
    return done.stderr


def test_a_python_without_ensurepip_gets_one_line_that_names_the_package(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "ensurepip.py").write_text("raise ImportError\n")
    done = make_with(tmp_path, f'PYTHONPATH={tmp_path}/lib exec {sys.executable} "$@"')
    line = only_line(done, tmp_path)
    assert "has no ensurepip" in line and f"python3.{sys.version_info[1]}-venv" in line


def test_too_old_a_python_gets_one_line_that_says_how_old_and_how_new(tmp_path: Path) -> None:
    pretend = "import sys; sys.version_info = (3, 9, 2); exec(open(sys.argv.pop(1)).read())"
    done = make_with(tmp_path, f"exec {sys.executable} -c '{pretend}' \"$@\"")
    line = only_line(done, tmp_path)
    assert "is Python 3.9, klss needs 3.11 or newer" in line


def test_a_python_that_is_not_there_gets_one_line(tmp_path: Path) -> None:
    done = make_play(tmp_path, tmp_path / "none")
    assert "is not there: install Python 3.11 or newer" in only_line(done, tmp_path)


@pytest.mark.parametrize("extra", ["dev", "docs"])
def test_what_is_installed_to_work_here_is_locked_by_hash_in_the_versions_of_the_constraints(extra: str) -> None:
    constraints = set(re.findall(r"^[\w.-]+==\S+", (ROOT / "constraints.txt").read_text(), re.MULTILINE))
    entries = re.split(r"^(?=[\w.-]+==)", (ROOT / f"requirements-{extra}.txt").read_text(), flags=re.MULTILINE)[1:]
    locked = {entry.split()[0] for entry in entries}
    assert locked <= constraints and len(locked) == len(entries)
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}\b", entry) for entry in entries)
    wanted = [line for line in requires("klss") or [] if f'extra == "{extra}"' in line]
    wanted += [line for line in requires("klss") or [] if extra == "dev" and "extra" not in line]
    needed = {re.split(r"[\[<>=; ]", line)[0].lower() for line in wanted}
    assert {name.replace("_", "-") for name in needed} <= {each.split("==")[0] for each in locked}
    assert needed
