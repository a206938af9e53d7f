"""The pipes of a program: the same laws, whether one thread waits for all of them or each has its own."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from uci_bridge.child_processes import how_ended, kill_family
from uci_bridge.pipes import Pipes, _Blocking, _Waiting

_MOST_S = 20.0


class Program:
    """A program, its pipes, and what it wrote: ``said`` and ``complained``, and in ``order`` which pipe it was."""

    def __init__(self, kind: type[Pipes], script: str, lines: int | None = None) -> None:
        self.said, self.complained, self.order = b"", b"", ""
        self.ended, self.cut = threading.Event(), lines
        self.process = subprocess.Popen(
            [sys.executable, "-S", "-E", "-c", script],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0, start_new_session=True,
        )  # fmt: skip
        self.pipes = kind(self.process, self._said, self._complained)

    def _said(self, piece: bytes) -> bool:
        self.said += piece
        self.order += "o"
        goes_on = bool(piece) and (self.cut is None or self.said.count(b"\n") < self.cut)
        if not goes_on:
            self.ended.set()
        return goes_on

    def _complained(self, piece: bytes) -> bool:
        self.complained += piece
        self.order += "e"
        return bool(piece)

    def close(self) -> None:
        """End it, and wait for its pipes."""
        self.pipes.close_stdin()
        kill_family(self.process.pid)
        self.process.wait(timeout=_MOST_S)
        self.pipes.stop()


Run = Callable[..., Program]


@pytest.fixture(params=[_Waiting, _Blocking])
def run(request: pytest.FixtureRequest) -> Iterator[Run]:
    started: list[Program] = []

    def make(script: str, lines: int | None = None) -> Program:
        started.append(Program(request.param, script, lines))
        return started[-1]

    yield make
    for each in started:
        each.close()
        assert not [thread for thread in threading.enumerate() if thread.name == f"reads {each.process.pid}"]


def write_all(program: Program, text: bytes) -> None:
    rest = memoryview(text)
    until = time.monotonic() + _MOST_S
    while rest and time.monotonic() < until:
        rest = rest[program.pipes.write(rest, 0.05) :]
    assert not rest


def test_what_is_written_arrives_before_the_end_of_stdin_and_the_answer_comes_whole(run: Run) -> None:
    program = run("import sys; sys.stdout.buffer.write(sys.stdin.buffer.read()[::-1])")
    text = bytes(range(256)) * 2000  # more than any pipe holds
    write_all(program, text)
    program.pipes.close_stdin()
    assert program.ended.wait(_MOST_S) and program.said == text[::-1]


def test_the_last_words_are_there_when_stdout_ends(run: Run) -> None:
    program = run("import sys; print('answer', flush=True); sys.exit('out of memory, sorry')")
    assert program.ended.wait(_MOST_S)
    assert (program.said.split(), program.complained.split(b",")[0]) == ([b"answer"], b"out of memory")


def test_a_program_that_does_not_read_keeps_nobody_waiting(run: Run) -> None:
    program = run("import time; time.sleep(600)")
    for _ in range(40):
        written = program.pipes.write(memoryview(bytes(1 << 16)), 0.01)
    assert written == 0


def test_writing_to_a_program_that_has_ended_says_so(run: Run) -> None:
    program = run("pass")
    assert program.ended.wait(_MOST_S)
    with pytest.raises(OSError, match="Broken pipe"):
        write_all(program, bytes(1 << 22))


def test_once_enough_was_read_the_rest_is_left_to_the_program(run: Run) -> None:
    program = run("while True: print('x' * 1000, flush=True)", lines=3)
    assert program.ended.wait(_MOST_S)
    seen = program.order.count("o")
    time.sleep(0.05)
    assert program.order.count("o") == seen


ENDS = [("raise SystemExit(3)", " (exit code 3)"), ("import os; os.kill(os.getpid(), 9)", " (signal 9)")]


@pytest.mark.parametrize(("script", "how"), ENDS)
def test_how_a_child_ended_is_told(script: str, how: str) -> None:
    process = subprocess.Popen([sys.executable, "-S", "-E", "-c", f"input(); {script}"], stdin=subprocess.PIPE)
    assert how_ended(process) is None
    assert process.stdin is not None
    process.stdin.write(b"\n")
    process.stdin.close()
    until = time.monotonic() + _MOST_S
    while how_ended(process) is None and time.monotonic() < until:
        time.sleep(0.01)
    assert how_ended(process) == how
    process.wait(timeout=_MOST_S)


def test_without_process_groups_the_child_itself_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("os.killpg")
    process = subprocess.Popen([sys.executable, "-S", "-E", "-c", "import time; time.sleep(600)"])
    kill_family(process.pid)
    assert process.wait(timeout=_MOST_S) != 0
