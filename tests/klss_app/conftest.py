"""Running the command: in this process, or as a program."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pytest

from darkchess.evaluation.registry import EvaluatorChoice
from klss_app.cli.main import main
from uci_bridge.child_processes import own_program
from uci_bridge.kits.named import kit_named
from uci_bridge.protocol.engine import Engine
from uci_bridge.protocol.engine_process import EngineProcess

ROOT = Path(__file__).resolve().parents[2]


class Ran(NamedTuple):
    """What a command did: its exit code and what it printed."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The JSON document on stdout."""
        return json.loads(self.out)


Klss = Callable[..., Ran]


class EngineHere(EngineProcess):
    """Our engine without a process of its own, which would load for a second; its command line is in ``started``."""

    started: ClassVar[list[tuple[str, ...]]] = []

    def __init__(self, argv: Sequence[str], **others: Any) -> None:
        super().__init__(argv, **others)
        self._engine: Engine | None = None
        self._answers: deque[bytes] = deque()

    @property
    def alive(self) -> bool:
        return self._engine is not None

    def start(self) -> None:
        if self._engine is None:
            words = iter(self.command[len(own_program("klss", "engine")) :])
            flags = dict(zip(words, words, strict=True))
            kit, choice = kit_named(flags["--game"]), EvaluatorChoice(flags["--evaluator"], flags.get("--stockfish"))
            self._engine = Engine(kit, kit.spec(flags["--configuration"]), choice)
            self.starts += 1
            self.started.append(self.command)

    def send(self, line: bytes, deadline: float) -> None:
        assert self._engine is not None
        self._answers.append(self._engine.answer(line))

    def receive(self, until: Callable[[], float]) -> bytes:
        self.answered = True
        return self._answers.popleft()

    def kill(self) -> None:
        if self._engine is not None:
            self._engine.close()
        self._engine = None

    close = kill


@pytest.fixture
def engines_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our players play without processes of their own, for tests that are not of processes."""
    monkeypatch.setattr("uci_bridge.players.EngineProcess", EngineHere)


@pytest.fixture
def klss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Klss:
    """Runs ``klss ARGUMENTS`` in this process, in an empty directory; ``typed`` is its stdin. In ``klss play`` our
    engines have no processes of their own.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KLSS_THREADS", "2")  # and what --threads sets is forgotten afterwards

    def run(*arguments: str, typed: str = "") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        capsys.readouterr()
        with monkeypatch.context() as patched:
            if "play" in arguments[:2]:
                patched.setattr("uci_bridge.players.EngineProcess", EngineHere)
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

    async def serve(settings: Any, kind: Any, reviewed: Any, listening: Any, *rest: Any) -> None:
        listening.close()
        opened.append((kind, reviewed))

    monkeypatch.setattr(board, "_serve", serve)
    return opened
