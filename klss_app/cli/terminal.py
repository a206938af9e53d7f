"""The terminal: its abilities, lines read from it, the spinner. It knows no chess.

Boards and dialogue go to stdout; the spinner goes to stderr, only if that is a terminal. Without ``termios`` (Windows)
keys typed while the engine thinks are shown and kept; without an alarm, reading a line has no time limit.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator

try:
    import termios
except ImportError:
    termios = None  # type: ignore[assignment]

_FRAMES = {True: "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", False: "|/-\\"}
_TICK_S = 0.1

_BLANK = "\x1b[2;1H\x1b[J\x1b[H\x1b[K"
"""Erases the screen and nothing above it. In two parts: terminals that are asked to erase all at once may push every
board into their scrollback."""


class InputClosed(Exception):
    """Stdin ended when a line was expected."""


class TimeUp(Exception):
    """No line came in the time given."""


class Terminal:
    """The abilities of stdin, stdout and stderr; ``ascii_only``: use only ASCII and no colours, whatever the terminal
    can do.
    """

    def __init__(self, ascii_only: bool = False) -> None:
        out, err = sys.stdout, sys.stderr
        dumb = os.environ.get("TERM", "dumb") == "dumb"
        # stdout takes chess figures
        self.unicode = not ascii_only and "utf" in (getattr(out, "encoding", None) or "").lower()
        # stdout is a terminal with colours and a cursor that can be moved: boards are redrawn in place
        self.screen = out.isatty() and not dumb
        self.color = self.screen and not ascii_only and not os.environ.get("NO_COLOR")
        # both stdin and stdout are terminals
        self.interactive = self.screen and sys.stdin is not None and sys.stdin.isatty()
        self.spins = err is not None and err.isatty() and not dumb  # stderr is a terminal
        self._cleared = False
        self._typed_ahead: deque[str] = deque()
        if self.interactive:
            with contextlib.suppress(ImportError):
                import readline  # noqa: F401  (importing it gives input() line editing and a history)

    def say(self, *lines: str) -> None:
        """Print lines on stdout."""
        for line in lines:
            print(line)
        sys.stdout.flush()

    def clear(self) -> None:
        """Start a fresh screen, or print an empty line if the screen can't be cleared. The first time, the user's own
        text on the screen is scrolled up, not erased."""
        if not self.screen:
            print(flush=True)
            return
        if not self._cleared:
            self._cleared = True
            print("\n" * (shutil.get_terminal_size().lines - 1), end="")
        print(_BLANK, end="", flush=True)

    def type_ahead(self, line: str) -> None:
        """Let the next :meth:`ask` return ``line``."""
        self._typed_ahead.append(line)

    def ask(self, prompt: str, within_s: float | None = None) -> str:
        """A line typed after ``prompt``, stripped. Raises InputClosed: there is no line any more; TimeUp: ``within_s``
        seconds went by first (where the platform has an alarm).
        """
        if self._typed_ahead:
            return self._typed_ahead.popleft()
        if sys.stdin is None or sys.stdin.closed:
            raise InputClosed
        try:
            with _alarm(within_s):
                line = input(prompt).strip()
        except EOFError:
            print()
            raise InputClosed from None
        except TimeUp:
            print()
            raise
        except OSError as error:  # a terminal that went away
            raise InputClosed from error
        if not sys.stdin.isatty():
            print(line)
        return line

    @contextlib.contextmanager
    def spinner(self, text: Callable[[float], str]) -> Iterator[None]:
        """Show ``text(seconds so far)`` on stderr, kept up to date, while the block runs. Keys typed meanwhile are
        neither shown nor kept for the next :meth:`ask`, since they were meant for another board."""
        done, begin = threading.Event(), time.monotonic()

        def spin() -> None:
            frames = itertools.cycle(_FRAMES[self.unicode])
            while not done.wait(_TICK_S):  # work that takes no time shows no spinner
                columns = shutil.get_terminal_size().columns
                line = f"{next(frames)} {text(time.monotonic() - begin)}"[: columns - 1]
                print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)

        with _deaf():
            if not self.spins:
                yield
                return
            thread = threading.Thread(target=spin, daemon=True)
            thread.start()
            try:
                yield
            finally:
                done.set()
                thread.join()
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Neither echo nor keep keys typed at the terminal while the block runs; Ctrl-C works as usual."""
    if termios is None:
        yield
        return
    try:
        number = sys.stdin.fileno()
        before = termios.tcgetattr(number)
    except (AttributeError, ValueError, OSError, termios.error):  # no terminal
        yield
        return
    if not _in_foreground(number):  # the system stops a background process that changes the terminal
        yield
        return
    silent = termios.tcgetattr(number)
    silent[3] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(number, termios.TCSANOW, silent)
    try:
        yield
    finally:
        with contextlib.suppress(termios.error):  # the terminal went away
            termios.tcflush(number, termios.TCIFLUSH)
            termios.tcsetattr(number, termios.TCSANOW, before)


def _in_foreground(number: int) -> bool:
    try:
        return os.tcgetpgrp(number) == os.getpgrp()
    except OSError:  # not the terminal that controls this process
        return True


@contextlib.contextmanager
def _alarm(within_s: float | None) -> Iterator[None]:
    """Raise :class:`TimeUp` in the block after ``within_s`` seconds, where signals allow it."""
    usable = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if within_s is None or not usable:
        yield
        return

    def ring(*_: object) -> None:
        raise TimeUp

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, max(within_s, 1e-3))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
