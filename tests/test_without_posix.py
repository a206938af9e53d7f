"""What Windows lacks is taken away (without_posix/sitecustomize.py): what works there works, the rest says so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).with_name("without_posix")
ROOT = FOLDER.parents[1]

pytestmark = pytest.mark.slow

pytest.importorskip("pyspiel")
pytest.importorskip("reconchess")


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What commands.py does there: all of it in one process, which takes as long to start as all of it to run."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(FOLDER), str(ROOT)])}
    done = subprocess.run(
        [sys.executable, FOLDER / "commands.py"],
        cwd=tmp_path_factory.mktemp("there"),
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_every_module_can_be_imported(there: dict[str, Any]) -> None:
    assert there["not imported"] == {}


@pytest.mark.parametrize("command", ["solve", "tables"])
def test_games_are_solved_and_one_line_says_that_memory_is_not_limited(there: dict[str, Any], command: str) -> None:
    ran = there[command]
    assert (ran["code"], ran["err"].count("\n")) == (0, 1) and "memory is not limited" in ran["err"]
    found = json.loads(ran["out"])
    if command == "solve":
        assert found["value"] == pytest.approx(-1 / 18)  # Kuhn 1950
    else:
        assert (found[0]["nodes"], found[0]["infosets"]) == (58, 12)  # the paper's Table 2


def test_positions_are_tracked(there: dict[str, Any]) -> None:
    assert (there["track"]["code"], there["track"]["err"]) == (0, "")
    assert json.loads(there["track"]["out"])["black"] == [1, 20]  # White has 20 first moves


def test_a_game_is_played_by_typing(there: dict[str, Any]) -> None:
    ran = there["play"]
    assert ran["code"] == 0 and "Black wins" in ran["out"] and "the game is kept in" in ran["err"]


def test_the_board_is_served_until_ctrl_c(there: dict[str, Any]) -> None:
    assert (there["board"]["code"], there["board"]["err"]) == (0, "")
    assert "<title>klss board</title>" in there["board"]["page"]


def test_the_engine_is_a_process_that_can_be_asked_and_ended(there: dict[str, Any]) -> None:
    assert there["engine"] == {"code": 0, "out": None, "err": ""}


@pytest.mark.parametrize(
    ("command", "reason"), [("stockfish", "expected Linux or macOS"), ("reconchess bots", "without fork")]
)
def test_what_can_not_work_says_so_in_one_line(there: dict[str, Any], command: str, reason: str) -> None:
    ran = there[command]
    assert (ran["code"], ran["out"], ran["err"].count("\n")) == (2, "", 1) and reason in ran["err"]


def test_a_file_that_one_has_taken_no_other_takes_until_it_is_closed(there: dict[str, Any]) -> None:
    assert there["locked"] == [True, False, True]
