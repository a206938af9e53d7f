"""Running the command: in this process, or as a program."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from klss_app.cli.main import main
from uci_bridge.child_processes import engine_environment, own_program
from uci_bridge.players import PlayerMaker
from uci_bridge.protocol.engine_process import EngineProcess

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


ENGINES: dict[Any, EngineProcess] = {}
"""Our engines that play on from one test to the next, by what they were started with; they end with this process."""


@pytest.fixture
def klss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Klss:
    """Runs ``klss ARGUMENTS`` in this process, in an empty directory; ``typed`` is its stdin. In ``klss play`` it
    shares our engines (:data:`ENGINES`), since each would load for seconds.
    """
    monkeypatch.chdir(tmp_path)
    closed, ours = PlayerMaker.close, own_program("klss", "engine")

    def process(argv: Sequence[str], **others: Any) -> EngineProcess:
        if [*argv[: len(ours)]] != ours or any(Path(word).suffix == ".toml" for word in argv):
            return EngineProcess(argv, **others)
        key = tuple(argv), tuple(sorted(engine_environment().items()))
        return ENGINES.setdefault(key, EngineProcess(argv, **others))

    def close(maker: PlayerMaker, *, at_once: bool = False) -> None:
        if maker.process not in ENGINES.values():
            closed(maker, at_once=at_once)

    def run(*arguments: str, typed: str = "") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        capsys.readouterr()
        with monkeypatch.context() as patched:
            if "play" in arguments[:2]:
                patched.setattr("uci_bridge.players.EngineProcess", process)
                patched.setattr(PlayerMaker, "close", close)
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
