"""Progress of a long command: one line on stderr."""

from __future__ import annotations

import shutil
import sys
import time

_SHOW_AFTER_S = 1.0


class ProgressLine:
    """One line on stderr, rewritten, shown only on a terminal and only after a second."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._begin = time.perf_counter()
        self._last = 0.0
        self._shown = False

    def tell(self, what: str, *, at_once: bool = False) -> None:
        """Show ``what`` beside the title, at most ten times a second unless ``at_once``."""
        now = time.perf_counter()
        if sys.stderr.isatty() and (at_once or (now - self._begin > _SHOW_AFTER_S and now - self._last > 0.1)):
            self._last, self._shown = now, True
            # Of a line that the terminal breaks in two, only the second half could be removed again.
            line = f"{self._title}: {what} ({now - self._begin:.0f} s)"[: shutil.get_terminal_size().columns - 1]
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Remove the line; a later :meth:`tell` begins it again."""
        if self._shown:
            self._shown = False
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
