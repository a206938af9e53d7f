"""Running the command: in this process, or as a program."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from klss_app.cli.main import main

ROOT = Path(__file__).resolve().parents[2]


class Ran:
    """What a command did: its exit code and what it printed."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code = code
        self.out = out
        self.err = err

    @property
    def document(self) -> Any:
        """The JSON document on stdout."""
        return json.loads(self.out)


Klss = Callable[..., Ran]


@pytest.fixture
def klss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Klss:
    """Runs ``klss ARGUMENTS`` in this process, in an empty directory; ``typed`` is its stdin."""
    monkeypatch.chdir(tmp_path)
    # A game that is left while code is compiled ends the process; here, the command.
    monkeypatch.setattr("klss_app.cli.play.end_descendants", lambda: None)
    monkeypatch.setattr("klss_app.cli.play.os._exit", sys.exit)

    def run(*arguments: str, typed: str = "") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        capsys.readouterr()
        code = main(list(arguments))
        out, err = capsys.readouterr()
        return Ran(code, out, err)

    return run


@pytest.fixture
def cluster() -> Iterator[str]:
    """The address of a scheduler with a worker, in this process and without TLS."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=1,
        threads_per_worker=2,
        processes=False,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address=None,
        scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
    ) as running:
        yield running.scheduler_address


@pytest.fixture
def program(tmp_path: Path) -> Klss:
    """Runs ``python -m klss ARGUMENTS`` as a program of its own, in an empty directory."""

    def run(*arguments: str, typed: str | None = "") -> Ran:
        environment = {"PYTHONIOENCODING": "utf-8"} | os.environ | {"PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-m", "klss", *arguments],
            input=typed,
            capture_output=True,
            encoding="utf-8",
            cwd=tmp_path,
            env=environment,
            timeout=300,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def opened_boards(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, Any]]:
    """What ``klss board`` would serve: the game's kind, and what is reviewed (None: nothing). No server is started."""
    from klss_app.cli import board

    opened: list[tuple[Any, Any]] = []

    async def serve(settings: Any, kind: Any, reviewed: Any, listening: Any, *rest: Any) -> threading.Thread:
        listening.close()
        opened.append((kind, reviewed))
        return threading.Thread()

    monkeypatch.setattr(board, "_serve", serve)
    return opened
