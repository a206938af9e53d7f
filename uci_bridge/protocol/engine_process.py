"""One engine process: lines in, lines out, with limits on size and time; it and its children end with this process.

Each of its pipes has a thread, so that a full or a silent one blocks nobody: stdout's pieces go into a queue, stderr is
drained, and stdin is written. :mod:`uci_bridge.child_processes` says what the process gets and how it ends, also if we
are killed.
"""

from __future__ import annotations

import contextlib
import errno
import io
import logging
import os
import queue
import subprocess
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from klss.support.text import printable
from uci_bridge.child_processes import NEW_GROUP, engine_environment, guard, kill_family
from uci_bridge.errors import EngineFailed
from uci_bridge.protocol.codec import MAX_ANSWER_BYTES

log = logging.getLogger(__name__)

_PIECE_BYTES = 1 << 16
_MOST_PIECES = 64
"""Pieces of output that may wait to be read; an engine that writes more than that has to wait."""

_TOO_LITTLE = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)
"""Errors of a system without free descriptors, memory or processes."""

_LINE_SHOWN = 300
_LAST_WORDS = 12
_WORDS_S = 0.2
"""Seconds to wait for stderr once stdout has ended, since its last line may say why the program ended."""

_LOADING_S = 1200.0
"""Longest time for loading, even if the process shows signs of life."""


CLOSED = "it was closed"
"""The fault of an engine that its owner closed while it was asked: nothing to report."""


class Late(EngineFailed):
    """No answer in time."""


@dataclass(frozen=True)
class Patience:
    """Time limits in seconds."""

    grace_s: float = 10.0  # for a move, beyond its own time limit, if no clock runs
    # the same if nodes are the limit: the update of a large position set then has no deadline
    nodes_s: float = 90.0
    start_s: float = 30.0  # for a process's first answer, while it writes nothing, not even on stderr
    push_s: float = 1.0  # for the answer to an observation push, before pushes are given up
    close_s: float = 1.0  # for the process to end after its stdin is closed, before it is killed


class EngineProcess:
    """An engine that can be started, asked, ended and started again."""

    def __init__(
        self,
        command: Sequence[str],  # program and arguments; no shell reads them
        *,
        # of the process; None: the part of ours that ``uci_bridge.child_processes.engine_environment`` allows
        environment: Mapping[str, str] | None = None,
        name: str = "engine",
        patience: Patience | None = None,
    ) -> None:
        self.command = tuple(command)
        self.name = name
        self.patience = patience or Patience()
        self.lock = threading.RLock()  # callers hold it from a request to its answer
        self.starts = 0  # how often it was started
        self.answered = False  # whether the process that runs now has ever answered
        self.speaks = False  # whether any of its processes has ever given a reply of the protocol
        self._environment = None if environment is None else dict(environment)
        self._life = threading.Lock()
        self._run: _Run | None = None

    @property
    def alive(self) -> bool:
        """Whether it was started and has neither ended nor been closed."""
        run = self._run
        return run is not None and run.fault is None

    @property
    def pid(self) -> int | None:
        """Process id; None while there is no process."""
        run = self._run
        return None if run is None else run.process.pid

    @property
    def stderr_tail(self) -> str:
        """The last lines that it wrote on stderr."""
        run = self._run
        return "" if run is None else "\n".join(run.last_words)

    @property
    def last_sign(self) -> float:
        """When it last wrote anything, or was started; a value of :func:`time.monotonic`."""
        run = self._run
        return 0.0 if run is None else run.last_sign

    def start(self) -> None:
        """Start it unless it runs. Raises EngineFailed: it can't be started; another OSError: the machine has no
        resources for one more process, which is no fault of the engine.
        """
        with self._life:
            if self._run is not None and self._run.fault is None:
                return
            self._end(0.0)
            try:
                self._run = _Run(self.command, self._environment)
            except (OSError, ValueError) as error:
                if isinstance(error, OSError) and error.errno in _TOO_LITTLE:
                    raise
                reason = error.strerror if isinstance(error, OSError) else str(error)
                raise EngineFailed(f"can't start {self.command[0]!r}: {reason}") from error
            self.starts += 1
            self.answered = False
            self._at_exit = weakref.finalize(self, self._run.end, 0.0)

    def send(self, line: bytes, deadline: float) -> None:
        """Write ``line``. Raises EngineFailed: the process ended; Late: it did not read the line until ``deadline``, a
        value of :func:`time.monotonic`.
        """
        self._running().write(line, deadline)

    def receive(self, until: Callable[[], float]) -> bytes:
        """The next line that it writes.

        ``until`` returns the deadline, a value of :func:`time.monotonic`; it is called repeatedly, since the deadline
        may move. Raises EngineFailed: the process ended, or wrote too long a line or too much; Late: nothing in time.
        """
        line = self._running().read(until)
        self.answered = True
        return line

    def loaded_by(self, began: float) -> Callable[[], float]:
        """The deadline for a process's first answer: it moves on while the process writes anything."""
        return lambda: min(max(began, self.last_sign) + self.patience.start_s, began + _LOADING_S)

    def close(self) -> None:
        """End it with all its children; a caller that waits for its answer gets :class:`EngineFailed`."""
        with self._life:
            self._end(self.patience.close_s)

    def kill(self) -> None:
        """End it like :meth:`close`, but without waiting."""
        with self._life:
            self._end(0.0)

    def _end(self, close_s: float) -> None:
        run, self._run = self._run, None
        if run is not None:
            run.end(close_s)
            self._at_exit.detach()

    def _running(self) -> _Run:
        run = self._run
        if run is None:
            raise EngineFailed("it is not running")
        return run


class _Run:
    """One process from start to end."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None) -> None:
        self.fault: str | None = None  # why it is of no more use; None while all is well
        self.last_words: deque[str] = deque(maxlen=_LAST_WORDS)
        self.last_sign = time.monotonic()
        self._said: queue.Queue[bytes] = queue.Queue(_MOST_PIECES)  # pieces of its stdout, b"" at the end
        self._lines: deque[bytes] = deque()
        self._rest = b""  # the line that has begun
        self._unsent: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._written = threading.Semaphore()  # free once the last line is written, or can't be
        self._ending = threading.Lock()
        self._ended = False
        self.process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=engine_environment() if environment is None else environment,
            start_new_session=True,
            creationflags=NEW_GROUP,
        )
        guard.tell("+", self.process.pid)
        stdin, stdout, stderr = self.process.stdin, self.process.stdout, self.process.stderr
        assert stdin is not None and stdout is not None and stderr is not None
        self._stderr = threading.Thread(target=self._read_stderr, args=(stderr,), daemon=True)
        try:
            self._stderr.start()
            threading.Thread(target=self._read_stdout, args=(stdout,), daemon=True).start()
            threading.Thread(target=self._write_stdin, args=(stdin,), daemon=True).start()
        except BaseException:  # out of threads: don't leave the process behind
            self.end(0.0)
            raise

    # ------------------------------------------------------------------------------------------------ the caller's side
    def write(self, line: bytes, deadline: float) -> None:
        if not self._written.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise Late("it does not read what it is sent")
        if self._ended:
            self._written.release()
            raise EngineFailed(self.fault or CLOSED)
        self._unsent.put(line)

    def read(self, until: Callable[[], float]) -> bytes:
        began = time.monotonic()
        while not self._lines:
            left = until() - time.monotonic()
            try:
                piece = self._said.get(timeout=min(max(left, 0.0), 0.25))
            except queue.Empty:
                if left <= 0.0:
                    raise Late(f"it gave no answer in {time.monotonic() - began:.1f} s") from None
                continue
            *ends, self._rest = (self._rest + piece).split(b"\n")
            self._lines.extend(ends)
            if not piece:
                self._said.put(b"")  # keep the end mark for the next call
                if not self._rest:
                    raise EngineFailed(self.fault or CLOSED)
                self._lines.append(self._rest)
                self._rest = b""
            elif len(self._rest) > MAX_ANSWER_BYTES:
                raise EngineFailed(f"it wrote a line of more than {MAX_ANSWER_BYTES} bytes")
        return self._lines.popleft()

    def end(self, close_s: float) -> None:
        """Close its stdin, wait ``close_s``, kill it with its group, reap it. Safe to call twice, and at exit."""
        with self._ending:
            if self._ended:
                return
            self._ended = True
            self.fault = self.fault or CLOSED
            self._unsent.put(None)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(close_s)
            kill_family(self.process.pid)
            try:
                self.process.wait(timeout=5.0)
                guard.tell("-", self.process.pid)
            except subprocess.TimeoutExpired:
                log.warning("engine process %d does not end after kill", self.process.pid)
            with contextlib.suppress(queue.Empty):  # nobody reads it, and its thread may wait for a place
                while True:
                    self._said.get_nowait()
            self._said.put(b"")

    # ------------------------------------------------------------------------------------------------ the threads' side
    def _write_stdin(self, stdin: IO[bytes]) -> None:
        with contextlib.suppress(OSError), stdin:  # a closed pipe is found by the reader
            while (line := self._unsent.get()) is not None:
                with contextlib.suppress(OSError):
                    stdin.write(line)
                    stdin.flush()
                self._written.release()

    def _read_stderr(self, stderr: IO[bytes]) -> None:
        with io.TextIOWrapper(stderr, "utf-8", "replace") as words:
            while text := words.readline(_LINE_SHOWN):
                self.last_sign = time.monotonic()
                if text := printable(text.rstrip("\n"), _LINE_SHOWN):
                    self.last_words.append(text)
                    log.debug("engine process %d: %s", self.process.pid, text)

    def _read_stdout(self, stdout: IO[bytes]) -> None:
        with stdout:
            while piece := os.read(stdout.fileno(), _PIECE_BYTES):
                self.last_sign = time.monotonic()
                self._said.put(piece)
        self._stderr.join(_WORDS_S)
        self.fault = self.fault or self._death()
        self._said.put(b"")

    def _death(self) -> str:
        """Why its stdout ended, and its last line on stderr."""
        what = "its stdout is closed"
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self.process.wait(_WORDS_S)
            what = f"it ended (signal {-code})" if code < 0 else f"it ended (exit code {code})"
        return f"{what}; its last words: {self.last_words[-1]}" if self.last_words else what
