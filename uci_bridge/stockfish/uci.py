"""Questions to UCI engines over raw pipes: pipelined, bounded, timed, restarted.

A question is a piece of UCI text that ends in ``go``; its answer is everything that the engine writes up to and
including ``bestmove``. Questions are written ahead of the answers, since an engine reads its commands in order. One
thread waits for both pipes at once, so that a full pipe can't deadlock it. An engine that ends, falls silent or never
stops writing is killed and replaced in the background; its open questions go to another engine once, then stay
unanswered.

Source: the UCI protocol (S. Meyer-Kahlen, R. Huber 2006). POSIX only, since Windows can't wait for pipes.

Why not python-chess's ``chess.engine``: it waits for each answer before it asks again, which is many times slower for
short searches (docs/notebook/evaluator.md, "Stockfish as an evaluator").
"""

from __future__ import annotations

import logging
import os
import select
import selectors
import subprocess
import threading
import time
import weakref
from collections import deque
from collections.abc import Sequence

from uci_bridge.child_processes import APART, engine_environment

log = logging.getLogger(__name__)

_READ_BYTES = 1 << 16
"""Bytes of one read or write: the capacity of a pipe on Linux."""

_LINE_BYTES = 1 << 16
"""Longest line of an engine; a line of UCI has some hundred bytes, so a longer one means a broken engine."""

_ANSWER_BYTES = 1 << 20
"""Longest answer: 256 moves at 60 depths have a few hundred kilobytes."""

_START_S = 10.0
"""Time limit in seconds for a program to show that it is an engine."""

_AHEAD = 32
"""Most open questions of an engine: enough that it never waits for the next one."""

_LISTEN_S = 0.02
"""Seconds between two checks for engines that hang."""

_AT_ONCE = 3
"""Deaths of an engine, without an answer in between, after which its replacement is delayed."""

_RETRY_S = 5.0
"""Seconds until the next try to start a program that can't be started."""

_UNASKED = "it answered what was not asked"


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill and reap a process; safe to call twice, and at interpreter exit."""
    if process.poll() is None:
        process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:
                continue
    try:
        process.wait(timeout=1.0)
    except subprocess.TimeoutExpired:
        log.warning("engine process %d does not end after kill", process.pid)


class UciProcess:
    """One engine: it is started, takes bytes and gives answers. Nothing here waits."""

    def __init__(self, command: Sequence[str], greeting: bytes) -> None:
        self.ready = False  # the engine has answered ``isready`` after its options
        self.dead: str | None = None  # why the engine can't be used any more, None while it can
        self.started = self.heard = time.monotonic()
        self.open: deque[int] = deque()  # numbers of the questions that it has not answered yet, oldest first
        self.settings = b""  # the settings that it was last sent
        self._unsent = bytearray()
        self._heard = bytearray()
        self._checked = 0
        # A session of its own: Ctrl-C in the terminal is for the player, not for the engine.
        # It ends by itself when our end of its stdin closes.
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env=engine_environment(),
            **APART,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._finalizer = weakref.finalize(self, _end, self._process)
        self.stdin, self.stdout = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self.stdin, False)
        os.set_blocking(self.stdout, False)
        self.send(greeting)

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    @property
    def unsent(self) -> bool:
        """Whether bytes wait to be written."""
        return bool(self._unsent)

    def send(self, text: bytes) -> None:
        """Queue ``text`` and write what fits into the pipe."""
        self._unsent += text
        self.write()

    def write(self) -> None:
        """Write what fits into the pipe."""
        try:
            while self._unsent and self.dead is None:
                written = os.write(self.stdin, self._unsent[:_READ_BYTES])
                del self._unsent[:written]
        except BlockingIOError:
            return
        except OSError as error:
            self.dead = f"its stdin is closed ({error.strerror})"

    def read(self) -> list[bytes]:
        """Read the available bytes; return the complete answers, oldest first."""
        try:
            piece = os.read(self.stdout, _READ_BYTES)
        except BlockingIOError:
            return []
        except OSError as error:
            self.dead = f"its stdout is closed ({error.strerror})"
            return []
        if not piece:
            self.dead = f"it ended (exit code {self._process.poll()})"
            return []
        self.heard = time.monotonic()
        self._heard += piece
        if not self.ready:
            self._await_ready()
            if not self.ready:
                return []
        return self._answers()

    def _await_ready(self) -> None:
        end = self._heard.find(b"readyok")
        if end >= 0 and self._heard.find(b"\n", end) >= 0:
            self.ready = True
            del self._heard[: self._heard.find(b"\n", end) + 1]
        elif len(self._heard) > _ANSWER_BYTES:
            self.dead = f"it said {len(self._heard)} bytes and no readyok"

    def _answers(self) -> list[bytes]:
        answers = []
        while True:
            start = 0 if self._heard.startswith(b"bestmove") else self._heard.find(b"\nbestmove", self._checked)
            end = -1 if start < 0 else self._heard.find(b"\n", start + 1)
            if end < 0:
                break
            answers.append(bytes(self._heard[:end]))
            del self._heard[: end + 1]
            self._checked = 0
        self._checked = max(0, len(self._heard) - 16) if start < 0 else start
        if len(self._heard) > _ANSWER_BYTES or (
            len(self._heard) > _LINE_BYTES and b"\n" not in self._heard[-_LINE_BYTES:]
        ):
            self.dead = f"it said {len(self._heard)} bytes without an end"
        return answers

    def last_fault(self) -> str | None:
        """Why it is dead: its exit code if it ends within half a second, else the fault that was found."""
        if self.dead is None:
            return None
        try:
            return f"it ended (exit code {self._process.wait(timeout=0.5)})"
        except subprocess.TimeoutExpired:
            return self.dead

    def close(self) -> None:
        """End the process."""
        self.dead = self.dead or "closed"
        self._finalizer()


def fault_of(command: Sequence[str]) -> str | None:
    """Test a program by starting it and asking for one move; return why it is not a UCI engine, None if it is."""
    try:
        engine = UciProcess(command, b"uci\nisready\nposition startpos\ngo depth 1\n")
    except OSError as error:
        return f"it can't be started ({error.strerror})"
    try:
        while engine.dead is None and time.monotonic() < engine.started + _START_S:
            select.select([engine.stdout], [], [], 0.1)
            if engine.read():
                return None
            if engine.unsent:
                engine.write()
        return engine.last_fault() or f"it made no move within {_START_S:g} s"
    finally:
        engine.close()


class EnginePool:
    """Engines that share the questions."""

    def __init__(
        self,
        command: Sequence[str],
        greeting: bytes,  # the lines that every new engine is sent; they end with ``isready``
        processes: int = 1,
        silence_s: float = 0.4,  # an engine with open questions that says nothing for so long is hung
        start_s: float = 10.0,  # an engine that has not said ``readyok`` for so long after its start is dead
    ) -> None:
        self._command = tuple(command)
        self._greeting = greeting
        self._silence_s = silence_s
        self._start_s = start_s
        self._lock = threading.Lock()
        self._engines: list[UciProcess | None] = [None] * processes
        self._retry_at = [0.0] * processes
        self._failures = [0] * processes
        self.restarts = 0
        self._closed = False

    @property
    def pids(self) -> list[int]:
        """Process ids of the engines that live."""
        return [engine.pid for engine in self._living()]

    def start(self) -> str | None:
        """Start all engines and wait until each is ready; returns what went wrong, None if nothing did."""
        with self._lock:
            for slot in range(len(self._engines)):
                problem = self._start(slot)
                if problem:
                    return problem
            engines = self._living()
            deadline = time.monotonic() + self._start_s
            while time.monotonic() < deadline and not all(engine.ready or engine.dead for engine in engines):
                for engine, unasked in self._listen(_LISTEN_S):
                    if unasked:
                        engine.dead = _UNASKED
                if any(engine.dead for engine in engines):
                    break
            for engine in engines:
                if engine.dead or not engine.ready:
                    return engine.dead or self._not_ready()
            return None

    def ask(
        self, questions: Sequence[bytes], settings: bytes = b"", time_s: float = float("inf")
    ) -> list[bytes | None]:
        """Answers to ``questions``, in their order; None where there was none in ``time_s`` seconds, or from two
        engines in a row.

        ``settings`` are ``setoption`` lines that the questions need. They are sent while an engine is idle: engines
        read options while they search.
        """
        with self._lock:
            if self._closed or not questions:
                return [None] * len(questions)
            return self._answered(_Round(questions, settings), time.monotonic() + time_s)

    def send(self, text: bytes) -> None:
        """Send a command that has no answer to every engine; one that is started later gets the greeting only."""
        with self._lock:
            for engine in self._living():
                engine.send(text)

    def close(self) -> None:
        """End every engine; later questions stay unanswered."""
        with self._lock:
            self._closed = True
            for engine in self._engines:
                if engine is not None:
                    engine.close()

    # ------------------------------------------------------------------------------------------------ engines
    def _living(self) -> list[UciProcess]:
        return [engine for engine in self._engines if engine is not None and engine.dead is None]

    def _not_ready(self) -> str:
        return f"it did not say readyok within {self._start_s:g} s"

    def _start(self, slot: int) -> str | None:
        try:
            self._engines[slot] = UciProcess(self._command, self._greeting)
        except OSError as error:
            self._engines[slot] = None
            self._retry_at[slot] = time.monotonic() + _RETRY_S
            return f"it can't be started ({error.strerror})"
        return None

    def _replace(self, slot: int) -> None:
        """Put a fresh engine in the slot of a dead one: at once for the first deaths, then after ever longer waits,
        until an answer comes.
        """
        engine = self._engines[slot]
        now = time.monotonic()
        if engine is not None and engine.dead is not None:
            engine.close()
            self._engines[slot] = None
            self._failures[slot] += 1
            late = self._failures[slot] - _AT_ONCE
            self._retry_at[slot] = now + (0.0 if late <= 0 else min(30.0, 0.5 * 2.0 ** (late - 1)))
            log.warning(
                "engine process %d: %s; the built-in evaluator steps in until it is replaced", engine.pid, engine.dead
            )
        if self._engines[slot] is None and now >= self._retry_at[slot] and not self._closed:
            self.restarts += 1
            problem = self._start(slot)
            if problem:
                log.warning("engine %s: %s", self._command[0], problem)

    def _judge(self, engine: UciProcess, now: float) -> None:
        """Declare an engine dead that hangs."""
        if engine.dead is not None:
            return
        if not engine.ready and now - engine.started > self._start_s:
            engine.dead = self._not_ready()
        if engine.ready and engine.open and now - engine.heard > self._silence_s:
            engine.dead = f"it said nothing for {self._silence_s:g} s"

    # ------------------------------------------------------------------------------------------------ questions
    def _answered(self, asked: _Round, deadline: float) -> list[bytes | None]:
        """The answers that have come by ``deadline``."""
        while asked.missing > 0 and (now := time.monotonic()) < deadline:
            usable = self._hand_out(asked, now)
            for engine, found in self._listen(min(deadline - now, _LISTEN_S) if usable else 0.0):
                asked.take(engine, found, now)
            self._take_back(asked)
            if not usable and not any(engine.ready for engine in self._living()):
                break
        self._abandon()
        return asked.answers

    def _hand_out(self, asked: _Round, now: float) -> bool:
        """Give each living engine its next questions, and replace the dead ones; return whether any is worth a wait."""
        usable = False
        for slot in range(len(self._engines)):
            self._replace(slot)
            engine = self._engines[slot]
            if engine is None or engine.dead is not None:
                continue
            # A starting engine is worth a short wait, if no time was lost before.
            short = now - asked.answered < self._silence_s and now - engine.started < 3.0 * self._silence_s
            usable |= engine.ready or short
            # Only with half of its places free, so that engines are refilled in batches, not question by question.
            if engine.ready and asked.waiting and len(engine.open) <= _AHEAD // 2:
                asked.give(engine, now)
        return usable

    def _take_back(self, asked: _Round) -> None:
        """Put the questions of dead engines back in front; reset the failures of engines once all is answered."""
        now = time.monotonic()
        for slot, engine in enumerate(self._engines):
            if engine is None:
                continue
            self._judge(engine, now)
            if engine.dead is not None:
                asked.take_back(engine)
            elif asked.missing == 0 and engine.ready:
                self._failures[slot] = 0

    def _listen(self, wait_s: float) -> list[tuple[UciProcess, list[bytes]]]:
        """Wait for the pipes of all engines at once, write what fits, return the answers that came."""
        heard = []
        with selectors.DefaultSelector() as selector:
            for engine in self._living():
                selector.register(engine.stdout, selectors.EVENT_READ, engine)
                if engine.unsent:
                    selector.register(engine.stdin, selectors.EVENT_WRITE, engine)
            if not selector.get_map():
                return []
            for key, events in selector.select(max(0.0, wait_s)):
                engine = key.data
                if events & selectors.EVENT_WRITE:
                    engine.write()
                else:
                    heard.append((engine, engine.read()))
        return heard

    def _abandon(self) -> None:
        """Replace every engine that still has questions open when the time is up: its later answers could be
        taken for those to the next questions.
        """
        for engine in self._living():
            if engine.open:
                engine.dead = "its answers came too late"
                engine.open.clear()


class _Round:
    """Questions that are asked together: the waiting ones, how often each was asked, and the answers."""

    def __init__(self, questions: Sequence[bytes], settings: bytes) -> None:
        self.answers: list[bytes | None] = [None] * len(questions)
        self.waiting = deque(range(len(questions)))
        self.missing = len(questions)
        self.answered = time.monotonic()  # when the last answer came
        self._questions, self._settings = questions, settings
        self._asked = bytearray(len(questions))

    def give(self, engine: UciProcess, now: float) -> None:
        """Send an engine the next questions."""
        if not engine.open:  # idle: it takes options now, and its silence counts from now on
            engine.heard = now
            if engine.settings != self._settings:
                engine.settings = self._settings
                engine.send(self._settings)
        taken = [self.waiting.popleft() for _ in range(min(len(self.waiting), _AHEAD - len(engine.open)))]
        engine.open.extend(taken)
        for number in taken:
            self._asked[number] += 1
        engine.send(b"".join(self._questions[number] for number in taken))

    def take(self, engine: UciProcess, found: list[bytes], now: float) -> None:
        """Take an engine's answers: they come in the order of its questions."""
        for answer in found:
            if not engine.open:
                engine.dead = _UNASKED
                return
            self.answers[engine.open.popleft()] = answer
            self.missing -= 1
            self.answered = now

    def take_back(self, engine: UciProcess) -> None:
        """Let the open questions of a dead engine wait again, but each only once: a question may have killed it."""
        again = [number for number in engine.open if self._asked[number] < 2]
        self.missing -= len(engine.open) - len(again)
        self.waiting.extendleft(reversed(again))
        engine.open.clear()
