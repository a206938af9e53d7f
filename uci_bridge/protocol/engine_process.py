"""One engine process: lines in, lines out, with limits on size and time; it and its children end with this process.

Its stdout goes into a queue, and its stderr is drained (:mod:`uci_bridge.pipes`); writing waits for the pipe until its
deadline at most. :mod:`uci_bridge.child_processes` says what the process gets and how it ends, also if we are killed.
"""

from __future__ import annotations

import errno
import logging
import queue
import subprocess
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from klss.support.text import printable
from uci_bridge.child_processes import APART, engine_environment, guard, how_ended, kill_family
from uci_bridge.errors import EngineFailed
from uci_bridge.lines import LineSplitter
from uci_bridge.pipes import open_pipes
from uci_bridge.protocol.codec import MAX_ANSWER_BYTES
from uci_bridge.protocol.messages import Ids

log = logging.getLogger(__name__)

_READ_BYTES = 1 << 16
_UNREAD_BYTES = 1 << 20
"""Bytes of answers that may wait to be read; an engine that writes more than that is cut off."""

_TOO_LITTLE = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)
"""Errors of a system without free descriptors, memory or processes."""

_LINE_SHOWN = 300
_LAST_WORDS = 12
_LOADING_S = 300.0
"""Longest time for loading, even if the process shows signs of life."""


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
        self.owed: deque[Ids] = deque()  # the pushes that it has not acknowledged yet, of whatever game, oldest first
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
            self.owed.clear()
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
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._unread = 0
        self._count = threading.Lock()
        self._ending = threading.Lock()
        self._ended = False
        self._writing = threading.Lock()
        self._answers, self._words = LineSplitter(MAX_ANSWER_BYTES), LineSplitter(_READ_BYTES)
        self.process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=engine_environment() if environment is None else environment,
            **APART,
        )
        guard.tell("+", self.process.pid)
        try:
            self._pipes = open_pipes(self.process, self._said, self._complained)
        except BaseException:  # out of descriptors or threads: don't leave the process behind
            kill_family(self.process.pid)
            self.process.wait()
            guard.tell("-", self.process.pid)
            raise

    # ------------------------------------------------------------------------------------------------ the caller's side
    def write(self, line: bytes, deadline: float) -> None:
        rest = memoryview(line)
        while rest:
            with self._writing:
                if self._ended:
                    raise EngineFailed(self.fault or "it was closed")
                left = deadline - time.monotonic()
                try:
                    written = self._pipes.write(rest, min(max(left, 0.0), 0.05))
                except OSError as error:
                    raise EngineFailed(self._death(f"its stdin is closed ({error.strerror})")) from None
                if not written and left <= 0.0:
                    raise Late(f"it does not read what it is sent ({len(rest)} bytes are left)")
                rest = rest[written:]

    def read(self, until: Callable[[], float]) -> bytes:
        began = time.monotonic()
        while True:
            left = until() - time.monotonic()
            try:
                line = self._lines.get(timeout=min(max(left, 0.0), 0.25))
            except queue.Empty:
                if left <= 0.0:
                    raise Late(f"it gave no answer in {time.monotonic() - began:.1f} s") from None
                continue
            if line is None:
                self._lines.put(None)  # keep the end mark for the next call
                raise EngineFailed(self.fault or "it was closed")
            with self._count:
                self._unread -= len(line)
            return line

    def end(self, close_s: float) -> None:
        """Close its stdin, wait ``close_s``, kill it with its group, reap it. Safe to call twice, and at exit."""
        with self._ending:
            if self._ended:
                return
            with self._writing:
                self._ended = True
                self.fault = self.fault or "it was closed"
                self._pipes.close_stdin()
            deadline = time.monotonic() + close_s
            while how_ended(self.process) is None and time.monotonic() < deadline:
                time.sleep(0.01)
            kill_family(self.process.pid)
            try:
                self.process.wait(timeout=5.0)
                guard.tell("-", self.process.pid)
            except subprocess.TimeoutExpired:
                log.warning("engine process %d does not end after kill", self.process.pid)
            self._pipes.stop()
            self._lines.put(None)

    def _death(self, what: str) -> str:
        """The reason why it is of no more use: ``what``, or how it ended if it did, and its last line on stderr."""
        for _ in range(20):
            how = how_ended(self.process)
            if how is not None:
                what = f"it ended{how}"
                break
            time.sleep(0.01)
        words = f"; its last words: {self.last_words[-1]}" if self.last_words else ""
        return f"{what}{words}"

    # ------------------------------------------------------------------------------------------------ the reader's side
    def _complained(self, piece: bytes) -> bool:
        """Keep a piece of its stderr; return False at the end of stderr."""
        if piece:
            self.last_sign = time.monotonic()
        for line in self._words.feed(piece) if piece else self._words.finish():
            text = "(a line that is too long)"
            if line is not None:
                text = printable(line.decode("utf-8", "replace"), _LINE_SHOWN)
            if text:
                self.last_words.append(text)
                log.debug("engine process %d: %s", self.process.pid, text)
        return bool(piece)

    def _said(self, piece: bytes) -> bool:
        """Queue the lines of a piece of its stdout; return False if nothing more is to be read."""
        if piece:
            self.last_sign = time.monotonic()
        lines = self._answers.feed(piece) if piece else self._answers.finish()
        for line in lines:
            if line is None:
                break
            with self._count:
                self._unread += len(line)
                flooded = self._unread > _UNREAD_BYTES
            self._lines.put(line)
            if flooded:
                return self._over(f"it wrote more than {_UNREAD_BYTES} bytes that nobody asked for")
        if not piece:
            return self._over(self.fault or self._death("its stdout is closed"))
        if None in lines or self._answers.overlong:
            return self._over(f"it wrote a line of more than {MAX_ANSWER_BYTES} bytes")
        return True

    def _over(self, fault: str) -> bool:
        """Set the fault and the end mark; return False."""
        self.fault = self.fault or fault
        self._lines.put(None)
        return False
