"""Standard streams that are closed, full, or nobody's: an exit code and at most one line, never a traceback; and what
libraries print ends up on stderr, so that documents and protocols stay whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from klss_app.cli.main import main
from klss_app.progress import ProgressLine

ROOT = Path(__file__).resolve().parents[2]
PLAY = "play --white random --black random --nodes 1 --seed 1 --pgn game.pgn"

NOISY = """
import ctypes, os, subprocess, sys
from klss_app.stdout import own_stdout, print_document, reserve
own_stdout()
print("said")
os.write(1, b"noise of a library\\n")
ctypes.CDLL(None).puts(b"noise of compiled code")
ctypes.CDLL(None).fflush(None)
subprocess.run([sys.executable, "-c", "print('noise of a program')"], check=True)
reserve()
print("noise of Python")
print_document({"document": 1})
"""


def test_stdout_is_nobody_else_s_also_for_compiled_code_and_programs() -> None:
    done = subprocess.run([sys.executable, "-c", NOISY], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["said", '{"document": 1}']
    assert done.stderr.count("noise") == 4


def test_a_command_asked_for_json_prints_one_document_whatever_its_libraries_print(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from darkchess.fog.belief.position_set import PositionSet

    observe = PositionSet.observe

    def noisy(self: PositionSet, *arguments: object, **options: object) -> object:
        print("noise")
        return observe(self, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(PositionSet, "observe", noisy)
    assert main(["track", "--moves", "e4 e5", "--json"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["moves"] == ["e4", "e5"]
    assert "noise" in shown.err
    assert main(["--version"]) == 0, "the next command has its stdout again"
    assert capsys.readouterr().out.startswith("klss ")


@pytest.mark.parametrize(
    ("command", "arguments", "code", "lines"),
    [
        ("klss >/dev/full", "--version", 1, 1),
        ("klss >/dev/full", "track --moves e4 --json", 1, 1),
        pytest.param("klss | head -n 1 >/dev/null", PLAY, 1, 1, marks=pytest.mark.slow),
        ("klss >&-", "--version", 0, 0),
        ("klss 2>&-", "openings --plies 0", 2, 0),
        pytest.param("klss 0<&- >/dev/full", "board --no-open --port 0", 1, 1, marks=pytest.mark.slow),
    ],
)
def test_streams_that_are_closed_or_full(tmp_path: Path, command: str, arguments: str, code: int, lines: int) -> None:
    klss = f"{sys.executable} -m klss {arguments}"
    ran = subprocess.run(
        ["/bin/bash", "-o", "pipefail", "-c", command.replace("klss", klss)], stderr=subprocess.PIPE, text=True,
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}, timeout=300,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr.count("\n")) == (code, lines) and "Traceback" not in ran.stderr, ran.stderr
    kept = [json.loads(path.read_text())["moves"] for path in tmp_path.glob("klss-*/stdout.json")]
    assert kept == ([["e4"]] if "--json" in arguments else []), "what the disk does not take is among temporary files"


def test_a_line_of_progress_fits_into_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    ProgressLine("a long title " * 5).tell("1 of 2", at_once=True)
    assert len(capsys.readouterr().err.removeprefix("\r\x1b[K")) == 39
