"""``klss engine`` as a program, and what docs/engine-protocol.md says of it."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from klss_app.cli import engine as program
from tests.uci_bridge.protocol_games import game_of, turn
from uci_bridge.protocol.codec import MAX_LINE_BYTES

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "engine-protocol.md"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
RANDOM = [sys.executable, "-m", "klss", "engine", "--configuration", "random"]


def run(sent: bytes, command: list[str] | None = None) -> subprocess.CompletedProcess[bytes]:
    """The program with ``sent`` as its whole input."""
    return subprocess.run(command or RANDOM, input=sent, capture_output=True, env=ENVIRONMENT, timeout=300)


@pytest.mark.slow
def test_the_client_of_ten_lines_plays_a_game(tmp_path: Path) -> None:
    (client,) = re.findall(r"^```python\n(.*?)^```", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(client.strip().splitlines()) == 10
    ran = subprocess.run(
        [sys.executable, "-c", client], capture_output=True, text=True, env=ENVIRONMENT, cwd=tmp_path, timeout=300
    )
    assert ran.returncode == 0, ran.stderr
    assert re.fullmatch(r"Outcome\(winner=(True|False|None), reason='\w+'\)\n", ran.stdout)


@pytest.mark.slow
def test_the_end_of_input_ends_it_with_0_and_nothing_on_stdout() -> None:
    ran = run(b"", RANDOM[:-2])  # while the paper's player is still loading
    assert (ran.returncode, ran.stdout) == (0, b"") and b"Traceback" not in ran.stderr


def test_an_engine_that_loads_for_long_says_so_again_and_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A host ends a process that is silent at its first question, and compiling takes longer than that."""
    monkeypatch.setattr(program, "_SIGN_OF_LIFE_S", 0.01)
    caplog.set_level(logging.INFO, "klss engine")
    loading = threading.Thread(target=time.sleep, args=(0.3,))
    loading.start()
    program._wait(loading)
    assert len(caplog.messages) > 3


def test_each_line_gets_one_line_and_nothing_else_is_on_stdout_whatever_comes() -> None:
    """Garbage, a line that is too long, a last line without an end."""
    good = json.dumps(turn(game_of("e2e4", "e7e5"))).encode()
    lines = [b"hello", b"", b"\xff\xfe", b"{" * 2000, b"x" * (MAX_LINE_BYTES + 5), good, b'{"sessionId":"s"}', good]
    ran = run(b"\n".join(lines))
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert ran.returncode == 0 and len(answers) == len(lines)
    assert ["error" in answer for answer in answers] == [True] * 5 + [False, True, False]
    assert answers[5] == answers[7] and answers[6]["sessionId"] == "s" and str(MAX_LINE_BYTES) in answers[4]["error"]
