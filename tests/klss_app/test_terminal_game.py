"""``klss play`` in a real terminal: a pseudo-terminal driven as a human would."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest

from darkchess.fog.game.record import read_pgn
from klss_app.cli.terminal import Terminal
from tests.klss_app.screen import ESCAPE, Screen


@pytest.fixture
def open_screens() -> Iterator[list[Screen]]:
    screens: list[Screen] = []
    yield screens
    for screen in screens:
        screen.close()


def test_a_whole_game_in_a_terminal(tmp_path: Path, open_screens: list[Screen]) -> None:
    # The same game as in test_play: `random` with seed 2 lets the queen through.
    screen = Screen(tmp_path, "--black", "random", "--seed", "2", "--pgn", "g.pgn")
    open_screens.append(screen)
    first = screen.read_until("1. your move: ")
    assert "\x1b[0;38;5;231;1;48;5;" in first, "men are drawn in colour"
    plain = ESCAPE.sub("", first)
    assert "--black level-1" in plain, "how to get an easier opponent"
    assert "♜" in plain.split(" 1 ")[1] and "♜" not in plain.split(" 1 ")[0], "her men are seen, the enemy's are not"
    for number, move in enumerate(["e4", "Qh5", "Qf7"], 2):
        screen.type(move)
        screen.read_until(f"{number}. your move: ")
    screen.type("Qe8")
    last = ESCAPE.sub("", screen.read_until("review 7/7> "))
    assert "You captured the king on e8." in last
    assert "White wins: Black's king was captured. 1-0 after 7 plies." in last
    assert "White sees" in last and "the board" in last and "Black sees" in last
    screen.type("")
    assert "start" in screen.read_until("review 0/7> ")
    screen.type("1")
    assert "1. e4" in screen.read_until("review 1/7> ")
    screen.type("quit")
    assert screen.end() == 0
    assert len(read_pgn((tmp_path / "g.pgn").read_text())[0].moves) == 7


def test_ctrl_c_while_the_engine_thinks_leaves_cleanly_and_keeps_the_game(
    tmp_path: Path, open_screens: list[Screen]
) -> None:
    screen = Screen(tmp_path, "--time", "60", "--evaluator", "builtin", "--pgn", "g.pgn")
    open_screens.append(screen)
    screen.read_until("1. your move: ")
    screen.type("e4")
    screen.read_until("kluss thinks")
    screen.read_until("nodes")
    os.killpg(screen.process.pid, signal.SIGINT)
    assert screen.end() == 0
    assert (
        "Traceback" not in screen.shown and "left before the end of the game; the game is kept in g.pgn" in screen.shown
    )
    (record,) = read_pgn((tmp_path / "g.pgn").read_text())
    assert [move.uci() for move in record.moves] == ["e2e4"] and record.result == "*"


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
def test_a_human_whose_clock_runs_out_while_she_thinks_loses(tmp_path: Path, open_screens: list[Screen]) -> None:
    screen = Screen(tmp_path, "--black", "random", "--clock", "1+0", "--fen", "4k3/8/8/8/8/8/8/4K2R w K - 0 1")
    open_screens.append(screen)
    screen.read_until("1. your move: ")
    assert "Black wins: White ran out of time." in ESCAPE.sub("", screen.read_until("review 0/0> "))
    screen.type("quit")
    assert screen.end() == 0
