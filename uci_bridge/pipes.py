"""The three pipes of a running program: its output is passed on as it comes, and writing to it does not block.

There are two implementations. If the system can wait for several pipes at once, one thread does, and processes that the
program leaves behind can't block it (:class:`_Waiting`). Windows can wait only for sockets, so each pipe has a thread
there, which blocks (:class:`_Blocking`).
"""

from __future__ import annotations

import contextlib
import os
import queue
import select
import selectors
import subprocess
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable

Heard = Callable[[bytes], bool]
"""Gets bytes that a program wrote, ``b""`` at the end; returns whether more is to be read."""

_PIECE_BYTES = 1 << 16
_JOIN_S = 5.0
_WORDS_S = 0.2
"""Seconds to wait for stderr once stdout has ended, since its last line may say why the program ended."""


class Pipes(ABC):
    """The pipes of one program."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],  # with a pipe for each of stdin, stdout and stderr, unbuffered
        # receivers of stdout and stderr, called by threads of this object; if both have data, stderr's first
        said: Heard,
        complained: Heard,
    ) -> None:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        self._name = f"reads {process.pid}"
        self._stdin, self._stdout, self._stderr = process.stdin, process.stdout, process.stderr
        self._said, self._complained = said, complained

    @abstractmethod
    def write(self, text: memoryview, wait_s: float) -> int:
        """Write the beginning of ``text``; return the number of bytes, 0 if none could be written within ``wait_s``
        seconds. Raises OSError: the pipe is closed.
        """

    @abstractmethod
    def close_stdin(self) -> None:
        """Close the program's stdin, after all that was written."""

    @abstractmethod
    def stop(self) -> None:
        """Stop reading, once the program has ended."""


class _Waiting(Pipes):
    def __init__(self, process: subprocess.Popen[bytes], said: Heard, complained: Heard) -> None:
        super().__init__(process, said, complained)
        os.set_blocking(self._stdin.fileno(), False)
        self._wake_read, self._wake = os.pipe()
        self._reader = threading.Thread(target=self._read_all, name=self._name, daemon=True)
        self._reader.start()

    def write(self, text: memoryview, wait_s: float) -> int:
        with contextlib.suppress(BlockingIOError):
            return os.write(self._stdin.fileno(), text[:_PIECE_BYTES])
        select.select([], [self._stdin], [], wait_s)
        return 0

    def close_stdin(self) -> None:
        with contextlib.suppress(OSError):
            self._stdin.close()

    def stop(self) -> None:
        os.write(self._wake, b"x")
        if threading.current_thread() is not self._reader:
            self._reader.join(timeout=_JOIN_S)
        for end in (self._wake, self._wake_read):
            with contextlib.suppress(OSError):
                os.close(end)

    def _read_all(self) -> None:
        with selectors.DefaultSelector() as selector:
            for pipe in (self._wake_read, self._stdout, self._stderr):
                selector.register(pipe, selectors.EVENT_READ)
            while True:
                ready = {key.fileobj for key, _ in selector.select()}
                if self._wake_read in ready:
                    break
                for pipe, heard in ((self._stderr, self._complained), (self._stdout, self._said)):
                    if pipe in ready and not heard(_piece(pipe.fileno())):
                        selector.unregister(pipe)
        self._stdout.close()
        self._stderr.close()


class _Blocking(Pipes):
    def __init__(self, process: subprocess.Popen[bytes], said: Heard, complained: Heard) -> None:
        super().__init__(process, said, complained)
        self._unsent: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._free = threading.Semaphore()
        self._broken: OSError | None = None
        self._writer, self._listener, self._reader = (
            threading.Thread(target=work, name=self._name, daemon=True)
            for work in (self._write_all, self._read_stderr, self._read_stdout)
        )
        for each in (self._writer, self._listener, self._reader):
            each.start()

    def write(self, text: memoryview, wait_s: float) -> int:
        if not self._free.acquire(timeout=wait_s):
            return 0
        if self._broken is not None:
            self._free.release()
            raise self._broken
        piece = bytes(text[:_PIECE_BYTES])
        self._unsent.put(piece)
        return len(piece)

    def close_stdin(self) -> None:
        self._unsent.put(None)

    def stop(self) -> None:
        # A child that outlives the program may hold a pipe open: then the pipe's thread ends only with the child.
        for each in {self._writer, self._listener, self._reader} - {threading.current_thread()}:
            each.join(timeout=_WORDS_S)

    def _write_all(self) -> None:
        while (piece := self._unsent.get()) is not None:
            rest = memoryview(piece)
            try:
                while rest:
                    rest = rest[os.write(self._stdin.fileno(), rest) :]
            except OSError as error:
                self._broken = error
            self._free.release()
        with contextlib.suppress(OSError):
            self._stdin.close()

    def _read_stdout(self) -> None:
        while piece := _piece(self._stdout.fileno()):
            if not self._said(piece):
                break
        else:
            self._listener.join(timeout=_WORDS_S)
            self._said(b"")
        self._stdout.close()

    def _read_stderr(self) -> None:
        while self._complained(_piece(self._stderr.fileno())):
            pass
        self._stderr.close()


def open_pipes(process: subprocess.Popen[bytes], said: Heard, complained: Heard) -> Pipes:
    """The pipes of ``process``, in the implementation for this system: see :class:`Pipes`."""
    kind = _Waiting if hasattr(os, "fork") else _Blocking
    return kind(process, said, complained)


def _piece(pipe: int) -> bytes:
    try:
        return os.read(pipe, _PIECE_BYTES)
    except OSError:
        return b""
