"""Programs that are killed, interrupted, or whose terminal is closed: games are kept, each game of a match is played
once, and no process of an engine or a worker stays. In the suite one death of a game and one of a match; ``make slow``
has the others."""

from __future__ import annotations

import asyncio
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

from darkchess.fog.game.record import read_pgn
from klss.support.signals import at_signals
from klss_app.cli.main import main
from tests.klss_app.match_files import rows, timeless
from tests.uci_bridge.bot_bench import ENGINE, under_way, write_config
from tests.uci_bridge.fake_server import FakeServer

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
Start = Callable[..., subprocess.Popen[str]]


def slow(value: Any) -> Any:
    return pytest.param(value, marks=pytest.mark.slow)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts ``klss ARGUMENTS`` in a group of its own, in an empty directory; ``before``: words before the command."""
    started: list[subprocess.Popen[str]] = []

    def run(*arguments: str, before: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*before, sys.executable, "-m", "klss", *arguments], cwd=tmp_path, encoding="utf-8", start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
            preexec_fn=heard,
        )  # fmt: skip
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def heard() -> None:
    """React to the signals again that tests in the background, or under nohup, ignore."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def silent(folder: Path) -> str:
    """An engine that has a child in a session of its own, never answers, and does not end with its input: ``started``
    holds the child's id once it runs, ``asked`` what the engine was asked.
    """
    return f"{FOREIGN} silent 0 --leave {folder / 'started'} --keep {folder / 'asked'}"


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


def held(file: Path) -> str:
    """What a file holds, if it is there."""
    return file.read_text() if file.exists() else ""


def family(process: subprocess.Popen[str]) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def command(process: psutil.Process) -> list[str]:
    """Its command line; nothing of one that is gone."""
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


def none_left(processes: list[psutil.Process]) -> bool:
    """Whether all end within two seconds."""
    alive = psutil.wait_procs(processes, timeout=2.0)[1]
    return all(each.status() == psutil.STATUS_ZOMBIE for each in alive if each.is_running())


# ---------------------------------------------------------------- games and bots
def asked(start: Start, folder: Path, **named: Any) -> subprocess.Popen[str]:
    """``klss play`` against the silent engine, which has been asked for its first move."""
    program = start("play", "--black", silent(folder), "--nodes", "5", **named)
    assert program.stdin is not None
    program.stdin.write("e2e4\n")
    program.stdin.flush()
    wait_for(lambda: held(folder / "asked"), program)
    return program


@pytest.mark.parametrize("number", [signal.SIGHUP, slow(signal.SIGTERM), slow(signal.SIGINT)])
def test_a_game_in_the_terminal_is_kept_when_the_terminal_goes(
    start: Start, tmp_path: Path, number: signal.Signals
) -> None:
    program = asked(start, tmp_path)
    children = family(program)
    assert len(children) >= 3  # the engine, its child, and the guard
    os.killpg(program.pid, number)  # as a terminal does
    _, err = program.communicate(timeout=60)
    assert program.returncode == 0 and "Traceback" not in err and none_left(children)
    (kept,) = (tmp_path / "klss-games").glob("*.pgn")
    assert [move.uci() for move in read_pgn(kept.read_text())[0].moves] == ["e2e4"]


@pytest.mark.slow
def test_who_ignores_hang_ups_goes_on(start: Start, tmp_path: Path) -> None:
    """As under nohup."""
    program = asked(start, tmp_path, before=("sh", "-c", 'trap "" HUP; exec "$@"', "sh"))
    program.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    assert program.poll() is None
    program.terminate()
    assert program.wait(60) == 0


@pytest.mark.parametrize(
    "command", [slow(["play", "--white", "random", "--nodes", "5", "--black"]), ["match", "random", "--nodes", "5"]]
)
def test_no_process_outlives_a_program_that_is_killed(start: Start, tmp_path: Path, command: list[str]) -> None:
    program = start(*command, silent(tmp_path))
    wait_for(lambda: held(tmp_path / "started"), program)
    children = family(program)
    assert len(children) >= 3
    program.kill()
    program.communicate(timeout=60)
    assert none_left(children)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGKILL])
def test_a_bot_whose_terminal_goes_keeps_its_game_and_leaves_no_engine(
    start: Start, tmp_path: Path, number: signal.Signals
) -> None:
    with FakeServer() as server:
        server.holding.set()
        bot = start("bot", "--config", str(write_config(tmp_path, server.url)), "--grace", "0.1")
        game = server.challenge("anna", color="black")
        wait_for(lambda: game in under_way(tmp_path / "records"), bot)
        wait_for(lambda: any(ENGINE[1] in command(each) for each in family(bot)), bot)
        children = family(bot)
        bot.send_signal(number)
        bot.communicate(timeout=60)
        assert bot.returncode == (-number if number == signal.SIGKILL else 0)
    assert none_left(children) and set(under_way(tmp_path / "records")) == {game}


# ---------------------------------------------------------------- matches
@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the match when nobody kills it."""
    folder = tmp_path_factory.mktemp("match") / "whole"
    assert main([*MATCH, "--out", str(folder)]) == 0
    return folder


def check_whole(whole: Path, folder: Path, document: dict[str, Any]) -> None:
    """That the match is the one that nobody killed, and its files are whole."""
    assert sorted(line["game"] for line in rows(folder)) == list(range(GAMES))
    for name in ("games", "moves"):
        assert timeless(folder, name) == timeless(whole, name)
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
    whole: Path, start: Start, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    out = tmp_path / "m"
    for more in (3, 4):
        done = len(rows(out))
        match = start(*MATCH, *flags, "--out", "m")
        wait_for(lambda done=done, more=more: len(rows(out)) >= done + more, match)
        children = family(match)
        assert len(children) >= 3  # two engines and their guard
        match.kill()
        assert match.wait() == -signal.SIGKILL
        assert none_left(children)
    assert len(rows(out)) < GAMES
    match = start(*MATCH, *flags, "--out", "m", "--json")
    shown, err = match.communicate(timeout=PATIENCE_S)
    assert match.returncode == 0 and not [line for line in err.splitlines() if not line.startswith("game ")]
    check_whole(whole, out, json.loads(shown))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "group", "flags"),
    [
        pytest.param(signal.SIGINT, True, (), id="Ctrl-C"),  # a terminal sends it to the whole group
        *(
            pytest.param(number, group, ("--workers", "2"), id=f"{number.name}, two workers")
            for number, group in ((signal.SIGINT, True), (signal.SIGHUP, True), (signal.SIGTERM, False))
        ),
    ],
)
def test_a_match_that_is_told_to_end_says_so_in_one_line_and_leaves_no_process(
    start: Start, tmp_path: Path, number: signal.Signals, group: bool, flags: tuple[str, ...]
) -> None:
    match = start("match", "klss2021", "greedy", "--time", "5", *flags, "--out", "m")
    engines = 4 if flags else 2

    def all_of_them() -> list[psutil.Process]:
        """The match's processes, once its engines are there."""
        found = family(match)
        serving = [child for child in found if "engine" in command(child)]
        return found if len(serving) >= engines else []

    children = wait_for(all_of_them, match, 0.05)
    (os.killpg if group else os.kill)(match.pid, number)
    shown, err = match.communicate(timeout=PATIENCE_S)
    assert match.returncode == 1 and shown == ""
    assert err.count("\n") == 1 and "interrupted after 0 games" in err and "the same command goes on" in err
    assert none_left(children)


@pytest.mark.slow
def test_a_match_is_played_on_a_cluster_that_is_there_and_leaves_it_without_engines(
    klss: Any, whole: Path, tmp_path: Path, cluster: str
) -> None:
    ran = klss(*MATCH, "--scheduler", cluster, "--out", "m", "--json")
    assert ran.code == 0 and "tls://" in ran.err.splitlines()[0]  # anybody could have played on it
    assert not [child for child in psutil.Process().children(recursive=True) if {"good"} & set(command(child))]
    check_whole(whole, tmp_path / "m", json.loads(ran.out))


# ---------------------------------------------------------------- where an event loop takes no signals, as on Windows
def test_a_signal_reaches_the_loop_and_one_after_its_end_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise NotImplementedError

    monkeypatch.setattr(asyncio.SelectorEventLoop, "add_signal_handler", refuse)

    async def serve() -> None:
        stop = asyncio.Event()
        at_signals(stop.set)
        signal.raise_signal(signal.SIGINT)
        await asyncio.wait_for(stop.wait(), 10.0)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        asyncio.run(serve())
        signal.raise_signal(signal.SIGINT)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
