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
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess
import pytest

from darkchess.fog.game.referee import Referee
from darkchess.fog.game.rules import Ruleset
from klss.play.arbiter import Arbiter
from klss.play.limits import Limit
from klss_app.cli import engine as program
from tests.uci_bridge.protocol_games import game_of, turn
from uci_bridge.protocol.codec import MAX_LINE_BYTES
from uci_bridge.protocol.engine_process import EngineProcess, Patience
from uci_bridge.protocol.fog import FOG as WIRE
from uci_bridge.protocol.host import HostedPlayer

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "engine-protocol.md"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
RANDOM = [sys.executable, "-m", "klss", "engine", "--configuration", "random"]
CALM = Patience(grace_s=60.0, start_s=120.0, push_s=60.0, close_s=5.0)


def run(sent: bytes, command: list[str] | None = None) -> subprocess.CompletedProcess[bytes]:
    """The program with ``sent`` as its whole input."""
    return subprocess.run(command or RANDOM, input=sent, capture_output=True, env=ENVIRONMENT, timeout=300)


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_client_of_ten_lines_plays_a_game(tmp_path: Path) -> None:
    (client,) = blocks("python")
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


@pytest.fixture
def pair() -> Iterator[dict[bool, EngineProcess]]:
    """Two processes of our engine, the paper's on one side."""
    commands = {chess.WHITE: RANDOM, chess.BLACK: [*RANDOM[:-1], "klss2021,cap=50000"]}
    engines = {
        color: EngineProcess(command, environment=ENVIRONMENT, patience=CALM) for color, command in commands.items()
    }
    yield engines
    for engine in engines.values():
        engine.close()


@pytest.mark.slow
def test_it_plays_against_itself_through_two_processes_and_after_a_kill_in_mid_game(
    pair: dict[bool, EngineProcess],
) -> None:
    """Killed while its opponent thinks, Black is started again and goes on from the whole transcript."""
    game = Referee(ruleset=Ruleset("short", "loss", 30))
    players = {color: HostedPlayer(engine, WIRE, seed=8, restarts=1) for color, engine in pair.items()}

    def kill(played: Any) -> None:
        if played.ply == 8:
            pair[chess.BLACK].kill()

    Arbiter(game, players, dict.fromkeys(chess.COLORS, Limit(nodes=20)), kill).play()
    assert game.outcome is not None and game.outcome.reason in ("king_captured", "ply_limit", "no_move")
    assert game.ply > 9 and pair[chess.WHITE].starts == 1 and pair[chess.BLACK].starts == 2
    assert [player.last_fault for player in players.values()] == [None, None]
