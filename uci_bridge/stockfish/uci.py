"""Questions to a UCI engine: pipelined, bounded, timed; the engine is started again when it ends or hangs.

A question is a piece of UCI text that ends in ``go``; its answer is everything that the engine writes up to and
including ``bestmove``. Questions are written ahead of the answers, since an engine reads its commands in order. An
engine that ends, falls silent or never stops writing is killed; its open questions are asked once more, then stay
unanswered.

Source: the UCI protocol (S. Meyer-Kahlen, R. Huber 2006).

Why not python-chess's ``chess.engine``: it waits for each answer before it asks again, which is many times slower for
short searches (docs/notebook/evaluator.md, "Stockfish as an evaluator").
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

from uci_bridge.errors import EngineFailed
from uci_bridge.protocol.engine_process import EngineProcess, Late

log = logging.getLogger(__name__)

_ANSWER_BYTES = 1 << 20
"""Longest answer: 256 moves at 60 depths have a few hundred kilobytes."""

_AHEAD = 32
"""Most open questions: enough that the engine never waits for the next one."""

_AT_ONCE = 3
"""Deaths of the engine, without an answer in between, after which it is not started again at once."""

_LONGEST_S = 1e6


def said_until(word: bytes, process: EngineProcess, until: Callable[[], float]) -> bytes:
    """What an engine writes, up to and including the line that begins with ``word``. Raises EngineFailed as
    :meth:`EngineProcess.receive`, or if there is no such line in the longest answer.
    """
    lines, size = list[bytes](), 0
    while not (lines and lines[-1].startswith(word)):
        lines.append(process.receive(until))
        size += len(lines[-1]) + 1
        if size > _ANSWER_BYTES:
            raise EngineFailed(f"it wrote {size} bytes without {word.decode()}")
    return b"\n".join(lines)


class UciEngine:
    """One engine, for questions of one thread at a time."""

    def __init__(
        self,
        command: Sequence[str],
        greeting: bytes,  # the lines that it is sent at its start; they end with ``isready``
        silence_s: float,  # with open questions it is hung if it says nothing for so long
        start_s: float,  # it is dead if it has not said ``readyok`` for so long after its start
    ) -> None:
        self.process = EngineProcess(command)
        self._greeting, self._silence_s, self._start_s = greeting, silence_s, start_s
        self._lock = threading.Lock()
        self._ready = self._closed = False
        self._settings = b""  # that it was last sent
        self._started = self._retry_at = 0.0
        self._failures = 0

    def start(self) -> None:
        """Start it, and wait until it is ready. Raises EngineFailed: why it can't be used."""
        self._get_ready(time.monotonic() + self._start_s)

    def ask(self, questions: Sequence[bytes], settings: bytes = b"", time_s: float = _LONGEST_S) -> list[bytes | None]:
        """Answers to ``questions``, in their order; None where there was none in ``time_s`` seconds, or at the second
        try.

        ``settings`` are ``setoption`` lines that the questions need. They are sent while the engine is idle, since it
        reads options while it searches.
        """
        answers: list[bytes | None] = [None] * len(questions)
        waiting, tries = deque(range(len(questions))), bytearray(len(questions))
        deadline = time.monotonic() + min(time_s, _LONGEST_S)
        with self._lock:
            while waiting and not self._closed and self._retry_at <= time.monotonic() < deadline:
                asked: deque[int] = deque()
                try:
                    self._get_ready(deadline)
                    if settings != self._settings:
                        self.process.send(settings, deadline)
                        self._settings = settings
                    while waiting or asked:
                        # Only with half of the places free, so that it is refilled in batches.
                        if waiting and len(asked) <= _AHEAD // 2:
                            taken = [waiting.popleft() for _ in range(min(len(waiting), _AHEAD - len(asked)))]
                            asked.extend(taken)
                            self.process.send(b"".join(questions[number] for number in taken), deadline)
                        answers[asked[0]] = self._answer(deadline)
                        asked.popleft()
                        self._failures = 0
                except EngineFailed as fault:
                    if isinstance(fault, Late) and not self._ready and time.monotonic() < self._started + self._start_s:
                        break  # it loads, and may be ready for the next questions
                    self._fail(fault)
                    for number in asked:
                        tries[number] += 1
                    waiting.extendleft(number for number in reversed(asked) if tries[number] < 2)
        return answers

    def close(self) -> None:
        """End it; later questions stay unanswered."""
        self._closed = True
        self.process.kill()

    def _get_ready(self, deadline: float) -> None:
        if not self.process.alive:
            self._ready, self._settings = False, b""
            self.process.start()
            self._started = time.monotonic()
            self.process.send(self._greeting, deadline)
        if not self._ready:
            said_until(b"readyok", self.process, lambda: min(deadline, self._started + self._start_s))
            self._ready = True

    def _answer(self, deadline: float) -> bytes:
        asked, process = time.monotonic(), self.process
        return said_until(b"bestmove", process, lambda: min(deadline, max(asked, process.last_sign) + self._silence_s))

    def _fail(self, fault: EngineFailed) -> None:
        """Kill the engine: later answers of it could be taken for those to other questions."""
        self.process.kill()
        self._failures += 1
        if self._failures > _AT_ONCE:
            self._retry_at = time.monotonic() + min(30.0, 0.5 * 2.0 ** (self._failures - _AT_ONCE - 1))
        log.warning("%s: %s; the built-in evaluator steps in where it gives no answer", self.process.command[0], fault)
