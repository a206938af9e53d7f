"""A terminal that is closed, and a program that is killed: the game is kept, and no process of an engine stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from darkchess.fog.game.record import read_pgn
from tests.uci_bridge.bot_bench import ENGINE, under_way, write_config
from tests.uci_bridge.fake_server import FakeServer

ROOT = Path(__file__).resolve().parents[2]
SILENT = """
import json, subprocess, sys, time
left = subprocess.Popen(["sleep", "600"], start_new_session=True)
open(sys.argv[1], "a").write(f"{left.pid}\\n")
for line in sys.stdin:
    request = json.loads(line)
    ids = {key: request[key] for key in ("protocolVersion", "gameId", "sessionId")}
    if "legalMoves" not in request:
        print(json.dumps({**ids, "received": True}), flush=True)
    else:
        open(sys.argv[1], "a").write("asked\\n")
        time.sleep(600)
time.sleep(600)
"""
"""An engine that has a child in a session of its own, never answers, and does not end with its input."""


def started(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "klss", *arguments], cwd=folder, env=environment, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def silent(folder: Path) -> str:
    """The engine's command; what it says of itself is in ``said``."""
    (folder / "said").touch()
    (folder / "silent.py").write_text(SILENT)
    return f"{sys.executable} -S -E {folder / 'silent.py'} {folder / 'said'}"


def wait_for(what: Callable[[], bool], seconds: float = 60.0) -> bool:
    until = time.monotonic() + seconds
    while not what() and time.monotonic() < until:
        time.sleep(0.02)
    return what()


def family(program: subprocess.Popen[str]) -> list[psutil.Process]:
    return psutil.Process(program.pid).children(recursive=True)


def none_left(processes: list[psutil.Process]) -> bool:
    """Whether all end within two seconds."""
    alive = psutil.wait_procs(processes, timeout=2.0)[1]
    return all(each.status() == psutil.STATUS_ZOMBIE for each in alive if each.is_running())


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
def test_a_game_in_the_terminal_is_kept_when_the_terminal_goes(tmp_path: Path, number: signal.Signals) -> None:
    program = started(tmp_path, "play", "--black", f"cmd:{silent(tmp_path)}", "--nodes", "5")
    assert program.stdin is not None
    program.stdin.write("e2e4\n")
    program.stdin.flush()
    assert wait_for(lambda: "asked" in (tmp_path / "said").read_text())
    children = family(program)
    assert len(children) >= 3  # the engine, its child, and the guard
    program.send_signal(number)
    _, err = program.communicate(timeout=60)
    assert program.returncode == 0 and "Traceback" not in err and none_left(children)
    (kept,) = (tmp_path / "klss-games").glob("*.pgn")
    assert [move.uci() for move in read_pgn(kept.read_text())[0].moves] == ["e2e4"]


def test_who_ignores_hang_ups_goes_on(tmp_path: Path) -> None:
    """As under nohup."""
    command = f"trap '' HUP; exec {sys.executable} -m klss play --black 'cmd:{silent(tmp_path)}' --nodes 5"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(["sh", "-c", command], cwd=tmp_path, env=environment, stdin=subprocess.PIPE, text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:  # fmt: skip
        assert program.stdin is not None
        program.stdin.write("e2e4\n")
        program.stdin.flush()
        assert wait_for(lambda: "asked" in (tmp_path / "said").read_text())
        program.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        assert program.poll() is None
        program.terminate()
        assert program.wait(60) == 0


@pytest.mark.parametrize(
    "command", [["play", "--white", "random", "--nodes", "5", "--black"], ["match", "random", "--nodes", "5"]]
)
def test_no_process_outlives_a_program_that_is_killed(tmp_path: Path, command: list[str]) -> None:
    program = started(tmp_path, *command, f"cmd:{silent(tmp_path)}")
    assert wait_for(lambda: bool((tmp_path / "said").read_text()))
    children = family(program)
    assert len(children) >= 3
    program.kill()
    program.communicate(timeout=60)
    assert none_left(children)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGKILL])
def test_a_bot_whose_terminal_goes_keeps_its_game_and_leaves_no_engine(tmp_path: Path, number: signal.Signals) -> None:
    with FakeServer() as server:
        server.holding.set()
        bot = started(tmp_path, "bot", "--config", str(write_config(tmp_path, server.url)), "--grace", "0.1")
        game = server.challenge("anna", color="black")
        assert wait_for(lambda: game in under_way(tmp_path / "records"))
        assert wait_for(lambda: any(ENGINE[1] in each.cmdline() for each in family(bot)))
        children = family(bot)
        bot.send_signal(number)
        bot.communicate(timeout=60)
        assert bot.returncode == (-number if number == signal.SIGKILL else 0)
    assert none_left(children) and set(under_way(tmp_path / "records")) == {game}
