"""A program in a pseudo-terminal, driven as a human would."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
PATIENCE_S = 240.0  # a cold machine compiles first


class Screen:
    """The program and what it has shown so far."""

    def __init__(self, folder: Path, *arguments: str, command: tuple[str, ...] = ("play",)) -> None:
        self._master, slave = pty.openpty()
        environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", "TERM": "xterm-256color"}
        environment.pop("NO_COLOR", None)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "klss", *command, *arguments],
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
