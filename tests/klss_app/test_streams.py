"""Standard streams that are closed, full, or nobody's: an exit code and at most one line, never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TRACK = "track --moves e4"
PLAY = "play --white random --black random --nodes 1 --seed 1 --pgn game.pgn"


def shell(command: str, arguments: str, folder: Path) -> tuple[int, str]:
    """Run ``command``, in which ``klss`` stands for the program; its exit code and what it said on stderr."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    klss = f"{sys.executable} -m klss {arguments}"
    ran = subprocess.run(
        ["/bin/bash", "-o", "pipefail", "-c", command.replace("klss", klss)],
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=environment,
        timeout=300,
    )
    return ran.returncode, ran.stderr


@pytest.mark.parametrize(
    ("command", "arguments", "code", "says"),
    [
        ("klss >/dev/full", TRACK, 1, "klss track: No space left on device\n"),
        pytest.param("klss >/dev/full", "--help", 1, "klss: No space left on device\n", marks=pytest.mark.slow),
        pytest.param(
            "PYTHONUNBUFFERED=1 klss >/dev/full",
            "track --help",
            1,
            "klss track: No space left on device\n",
            marks=pytest.mark.slow,
        ),
        (
            "klss | head -n 1 >/dev/null",
            PLAY,
            1,
            "klss play: left, since nobody reads any more; the game is kept in game.pgn\n",
        ),
        ("klss >&-", TRACK, 0, ""),
        ("klss 2>&-", "track --moves xx", 2, ""),
        pytest.param("klss 2>/dev/full", "track --moves xx", 2, "", marks=pytest.mark.slow),
        pytest.param("klss 0<&- 1>&- 2>&-", TRACK, 0, "", marks=pytest.mark.slow),
        pytest.param("echo x | klss | true", "engine --configuration random", 1, "", marks=pytest.mark.slow),
        pytest.param("klss 0<&- 1>&-", "rbc engine --configuration rbc-random", 0, "", marks=pytest.mark.slow),
        ("klss 0<&- >/dev/full", "board --no-open --port 0", 1, "klss board: No space left on device\n"),
    ],
)
def test_streams_that_are_closed_or_full(tmp_path: Path, command: str, arguments: str, code: int, says: str) -> None:
    assert shell(command, arguments, tmp_path) == (code, says)
