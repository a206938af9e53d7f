"""``klss play`` in a real terminal: a pseudo-terminal driven as a human would."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
from contextlib import closing
from pathlib import Path

import pytest

from darkchess.fog.game.record import read_pgn
from klss_app.cli.terminal import Terminal

ROOT = Path(__file__).resolve().parents[2]
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
PATIENCE_S = 240.0  # a cold machine compiles first


class Screen:
    """The program and what it has shown so far."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self._master, slave = pty.openpty()
        environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", "TERM": "xterm-256color"}
        environment.pop("NO_COLOR", None)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "klss", "play", *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
        os.close(slave)
        self.shown = ""

    def read_until(self, text: str) -> str:
        """What was shown up to and with ``text``."""
        deadline = time.monotonic() + PATIENCE_S
        while text not in self.shown:
            assert time.monotonic() < deadline, f"{text!r} never came; shown: {self.shown[-2000:]!r}"
            if select.select([self._master], [], [], 0.2)[0]:
                try:
                    data = os.read(self._master, 65536)
                except OSError:  # the other end was closed
                    data = b""
                assert data, f"ended before {text!r} came; shown: {self.shown[-2000:]!r}"
                self.shown += data.decode("utf-8", "replace")
        end = self.shown.index(text) + len(text)
        seen, self.shown = self.shown[:end], self.shown[end:]
        return seen

    def type(self, line: str) -> None:
        """Type ``line`` and Enter."""
        os.write(self._master, line.encode() + b"\r")

    def end(self) -> int:
        """Wait for the program; its exit code. What it still shows is kept."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            if select.select([self._master], [], [], 0.2)[0]:
                try:
                    self.shown += os.read(self._master, 65536).decode("utf-8", "replace")
                except OSError:
                    break
            elif self.process.poll() is not None:
                break
        return self.process.wait(timeout=PATIENCE_S)

    def close(self) -> None:
        """End the program if it still runs."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._master)


FOREIGN = f"cmd:{sys.executable} -S -E {ROOT / 'tests' / 'uci_bridge' / 'foreign_engine.py'} good"
"""An engine that plays by rule and starts at once; it lets the queen through."""

STEPS: list[
    tuple[str | None, str, list[str]]
] = [  # what is typed, what is then waited for, and what is shown until then
    (None, "1. your move: ", ["--black level-1", "♜"]),
    ("e4", "2. your move: ", []),
    ("Qh5", "3. your move: ", []),
    ("Qf7", "4. your move: ", []),
    (
        "Qe8",
        "review 7/7> ",
        ["You captured the king on e8.", "1-0 after 7 plies.", "White sees", "the board", "Black sees"],
    ),
    ("", "review 0/7> ", ["start"]),
    ("1", "review 1/7> ", ["1. e4"]),
]


def test_a_whole_game_in_a_terminal(tmp_path: Path) -> None:
    with closing(Screen(tmp_path, "--black", FOREIGN, "--pgn", "g")) as screen:
        for typed, until, seen in STEPS:
            if typed is not None:
                screen.type(typed)
            shown = screen.read_until(until)
            assert all(text in ESCAPE.sub("", shown) for text in seen), shown
            if typed is None:
                assert "\x1b[0;38;5;" in shown, "men are drawn in colour"
        screen.type("quit")
        assert screen.end() == 0
    assert len(read_pgn((tmp_path / "g").read_text())[0].moves) == 7


def test_a_board_erases_nothing_that_stood_on_the_screen_before_the_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINES", "10")
    monkeypatch.setenv("TERM", "xterm")
    master, slave = pty.openpty()
    with os.fdopen(master, "rb", buffering=0) as shown, os.fdopen(slave, "w", encoding="utf-8") as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        terminal = Terminal()
        for board in ("first", "second"):
            terminal.clear()
            terminal.say(board)
        text = ""
        while "second" not in text:  # one read gives what has come so far
            text += shown.read(4096).decode()
        before, first, second = re.split("first|second", text)
    assert before.startswith("\r\n" * 9 + "\x1b["), "nine lines away from the top, all ten are above the screen"
    assert "\n" not in before.strip("\r\n") and first.strip("\r\n") == before.strip("\r\n") and not second.strip()
    assert ESCAPE.findall(before) == ["\x1b[2;1H", "\x1b[J", "\x1b[H", "\x1b[K"], "the screen, and nothing above it"


def test_what_is_typed_while_something_works_is_neither_shown_nor_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    master, slave = pty.openpty()
    with os.fdopen(master, "r+b", buffering=0) as keys, os.fdopen(slave, "r", encoding="utf-8") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        before = termios.tcgetattr(stdin)
        with Terminal().spinner(lambda seconds: "works"):
            keys.write(b"d4\rresi")
            assert not select.select([keys], [], [], 0.1)[0], "it is echoed"
        assert not select.select([stdin], [], [], 0.0)[0], "it waits to be played"
        assert termios.tcgetattr(stdin) == before
        keys.write(b"gn\r")
        assert stdin.readline() == "gn\n"


@pytest.mark.slow
def test_a_human_whose_clock_runs_out_while_she_thinks_loses(tmp_path: Path) -> None:
    given = ("--black", "random", "--clock", "1+0", "--fen", "4k3/8/8/8/8/8/8/4K2R w K - 0 1")
    with closing(Screen(tmp_path, *given)) as screen:
        screen.read_until("1. your move: ")
        assert "Black wins: White ran out of time." in ESCAPE.sub("", screen.read_until("review 0/0> "))
        screen.type("quit")
        assert screen.end() == 0
