"""What Windows lacks is taken away (without_posix/sitecustomize.py): what works there works, the rest says so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).with_name("without_posix")
ROOT = FOLDER.parents[1]


@pytest.mark.slow
def test_commands_work_without_posix_or_say_in_one_line_that_they_can_not(tmp_path: Path) -> None:
    """All of them in one process, which takes as long to start as all of it to run."""
    pytest.importorskip("pyspiel")
    pytest.importorskip("reconchess")
    done = subprocess.run(
        [sys.executable, FOLDER / "commands.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(FOLDER), str(ROOT)])},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    there = json.loads(done.stdout)
    assert there["not imported"] == {}
    for command in ("solve", "tables"):
        ran = there[command]
        assert (ran["code"], ran["err"]) == (0, "")
    assert json.loads(there["solve"]["out"])["value"] == pytest.approx(-1 / 18)  # Kuhn 1950
    (row,) = json.loads(there["tables"]["out"])
    assert (row["nodes"], row["infosets"]) == (58, 12)  # the paper's Table 2
    assert (there["track"]["code"], there["track"]["err"]) == (0, "")
    assert json.loads(there["track"]["out"])["black"] == [1, 20]  # White has 20 first moves
    assert there["play"]["code"] == 0 and "Black wins" in there["play"]["out"]
    assert (there["board"]["code"], there["board"]["err"]) == (0, "")
    assert "<title>klss board</title>" in there["board"]["page"]
    assert there["engine"] is None, "a process that can be asked and ended"
    ran = there["reconchess bots"]
    assert (ran["code"], ran["out"], ran["err"].count("\n")) == (2, "", 1)
    assert there["locked"] == [True, False, True], "a file that one has taken no other takes until it is closed"
