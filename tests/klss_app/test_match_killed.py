"""``klss match`` killed, and its workers and engines with it: nothing lost, nothing twice, nobody left behind."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from klss_app.cli.main import main
from tests.alive import is_alive

ROOT = Path(__file__).resolve().parents[2]
FOREIGN = f"cmd:{sys.executable} -S -E {ROOT / 'tests' / 'uci_bridge' / 'foreign_engine.py'}"
"""An engine that plays by rule and starts at once."""

GAMES = 20
MATCH = (
    "match", f"{FOREIGN} good", f"{FOREIGN} 'blank lines'", "--nodes", "1", "--seed", str(5 * 10**17),
    "--openings", "3", "--games", str(GAMES), "--fen", "4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 70 50",
)  # fmt: skip
"""The seed has 18 digits: a shorter one is stretched in each process anew (klss.support.seeds), which takes 0.3 s."""

PATIENCE_S = 60.0


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts ``klss ARGUMENTS`` in a group of its own, in an empty directory."""
    started: list[subprocess.Popen[str]] = []

    def run(*arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "klss", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            start_new_session=True,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def lines(folder: Path) -> list[dict[str, Any]]:
    """The whole lines of games.jsonl so far."""
    path = folder / "games.jsonl"
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def wait_for(what: Callable[[], Any], process: subprocess.Popen[str] | None = None, every_s: float = 0.005) -> Any:
    """What ``what`` gives, once that is something; looking at processes takes milliseconds, so not at every turn."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        assert process is None or process.poll() is None, process.communicate()
        time.sleep(every_s)
    raise AssertionError("nothing came")


def family(process: subprocess.Popen[str]) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def command(process: psutil.Process) -> list[str]:
    """Its command line; nothing of one that is gone."""
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


def left_of(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that still run."""
    left = []
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                left.append(process)
    return left


def timeless(folder: Path) -> list[dict[str, Any]]:
    rows = sorted(lines(folder), key=lambda line: line["game"])
    return [{key: value for key, value in line.items() if key not in ("seconds", "truth")} for line in rows]


def moves(folder: Path) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in (folder / "moves.jsonl").read_text().splitlines()]
    rows.sort(key=lambda move: (move["game"], move["ply"]))
    return [{key: value for key, value in move.items() if key != "seconds_wall"} for move in rows]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the match when nobody kills it."""
    folder = tmp_path_factory.mktemp("match") / "whole"
    assert main([*MATCH, "--out", str(folder)]) == 0
    return folder


def check_whole(whole: Path, folder: Path, document: dict[str, Any]) -> None:
    """That the match is the one that nobody killed, and its files are whole."""
    assert sorted(line["game"] for line in lines(folder)) == list(range(GAMES))
    assert timeless(folder) == timeless(whole) and moves(folder) == moves(whole)
    for game in range(GAMES):
        name = f"game-{game:05}.pgn"
        assert (folder / name).read_text() == (whole / name).read_text()
    assert document["games"] == GAMES == document["wins"] + document["draws"] + document["losses"]
    assert sum(document["pairs"]) == GAMES // 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "flags", [pytest.param((), id="one"), pytest.param(("--workers", "2"), id="two", marks=pytest.mark.soak)]
)
def test_a_match_killed_twice_then_finished_has_each_game_once_and_leaves_no_process(
    whole: Path, start: Callable[..., subprocess.Popen[str]], tmp_path: Path, flags: tuple[str, ...]
) -> None:
    out = tmp_path / "m"
    for more in (3, 4):
        done = len(lines(out))
        match = start(*MATCH, *flags, "--out", "m")
        wait_for(lambda done=done, more=more: len(lines(out)) >= done + more, match)
        children = family(match)
        assert len(children) >= 3  # two engines and their guard
        match.kill()
        assert match.wait() == -signal.SIGKILL
        wait_for(lambda children=children: not left_of(children))
    assert len(lines(out)) < GAMES
    match = start(*MATCH, *flags, "--out", "m", "--json")
    shown, err = match.communicate(timeout=PATIENCE_S)
    assert match.returncode == 0 and not [line for line in err.splitlines() if not line.startswith("game ")]
    check_whole(whole, out, json.loads(shown))


KILLED_WHILE_ITS_WORKER_LOADS = """
import multiprocessing, os, pathlib, signal, time
from uci_bridge.match.pool import LocalWorkers

class TakesLongToLoad:
    def __reduce__(self):
        return time.sleep, (600,)

if __name__ == "__main__":
    LocalWorkers(TakesLongToLoad(), 1)._start(None)
    pathlib.Path("worker").write_text(str(multiprocessing.active_children()[0].pid))
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_worker_that_still_loads_ends_with_a_match_that_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "killed.py"
    script.write_text(KILLED_WHILE_ITS_WORKER_LOADS)
    match = subprocess.run([sys.executable, script], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert match.returncode == -signal.SIGKILL
    worker = int((tmp_path / "worker").read_text())
    try:
        wait_for(lambda: not is_alive(worker))
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)


@pytest.mark.slow
def test_the_games_of_a_worker_that_is_killed_are_played_again(
    whole: Path, start: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    match = start(*MATCH, "--workers", "2", "--out", "m", "--json")

    def engines() -> list[psutil.Process]:
        """The workers that have an engine."""
        found = []
        for worker in psutil.Process(match.pid).children():
            with contextlib.suppress(psutil.Error):
                if any("good" in child.cmdline() for child in worker.children()):
                    found.append(worker)
        return found

    worker = wait_for(engines, match, 0.05)[0]
    theirs = worker.children(recursive=True)
    worker.kill()
    shown, err = match.communicate(timeout=PATIENCE_S)
    assert match.returncode == 0 and not [line for line in err.splitlines() if not line.startswith("game ")]
    assert not left_of(theirs)
    check_whole(whole, tmp_path / "m", json.loads(shown))


def ctrl_c(match: subprocess.Popen[str]) -> None:
    """As a terminal does it, to the whole group."""
    os.killpg(match.pid, signal.SIGINT)


def hang_up(match: subprocess.Popen[str]) -> None:
    """As a terminal does that is closed, to the whole group."""
    os.killpg(match.pid, signal.SIGHUP)


def terminate(match: subprocess.Popen[str]) -> None:
    """As ``kill`` and a system that shuts down do it, to the one process."""
    match.terminate()


@pytest.mark.parametrize(
    ("end", "flags"),
    [
        pytest.param(ctrl_c, (), id="Ctrl-C"),
        pytest.param(hang_up, (), id="SIGHUP", marks=pytest.mark.slow),
        pytest.param(hang_up, ("--workers", "2"), id="SIGHUP, two workers", marks=pytest.mark.slow),
        pytest.param(terminate, (), id="SIGTERM", marks=pytest.mark.slow),
        pytest.param(ctrl_c, ("--workers", "2"), id="Ctrl-C, two workers", marks=pytest.mark.slow),
        pytest.param(terminate, ("--workers", "2"), id="SIGTERM, two workers", marks=pytest.mark.slow),
    ],
)
def test_a_match_that_is_told_to_end_says_so_in_one_line_and_leaves_no_process(
    start: Callable[..., subprocess.Popen[str]],
    tmp_path: Path,
    end: Callable[[subprocess.Popen[str]], None],
    flags: tuple[str, ...],
) -> None:
    match = start("match", "klss2021", "greedy", "--time", "5", *flags, "--out", "m")
    engines = 4 if flags else 2

    def all_of_them() -> list[psutil.Process]:
        """The match's processes, once its engines are there."""
        found = family(match)
        serving = [child for child in found if "engine" in command(child)]
        return found if len(serving) >= engines else []

    children = wait_for(all_of_them, match, 0.05)
    end(match)
    shown, err = match.communicate(timeout=PATIENCE_S)
    assert match.returncode == 1 and shown == ""
    assert err.count("\n") == 1 and "interrupted after 0 games" in err and "the same command goes on" in err
    wait_for(lambda: not left_of(children))


@pytest.mark.slow
def test_a_match_is_played_on_a_cluster_that_is_there_and_leaves_it_without_engines(
    klss: Any, whole: Path, tmp_path: Path, cluster: str
) -> None:
    ran = klss(*MATCH, "--scheduler", cluster, "--out", "m", "--json")
    assert ran.code == 0 and "tls://" in ran.err.splitlines()[0]  # anybody could have played on it
    mine = psutil.Process().children(recursive=True)
    assert not [child for child in left_of(mine) if {"good", "blank lines"} & set(child.cmdline())]
    check_whole(whole, tmp_path / "m", json.loads(ran.out))
