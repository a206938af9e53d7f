"""Lines out of a pipe, of bounded length."""

from __future__ import annotations


class LineSplitter:
    """Cuts a pipe's bytes into lines, and never holds more than ``limit`` bytes of one."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = bytearray()
        self._dropping = False

    @property
    def overlong(self) -> bool:
        """Whether the line that has begun is too long already."""
        return self._dropping

    def feed(self, piece: bytes) -> list[bytes | None]:
        """The lines that end in ``piece``, without their ends; None stands for a line that was too long."""
        lines: list[bytes | None] = []
        *ends, rest = piece.split(b"\n")
        for end in ends:
            self._hold(end)
            lines.append(self._take())
        self._hold(rest)
        return lines

    def finish(self) -> list[bytes | None]:
        """The rest after the last line's end, if there is any."""
        return [self._take()] if self._held or self._dropping else []

    def _hold(self, piece: bytes) -> None:
        if self._dropping or len(self._held) + len(piece) > self._limit:
            self._dropping = True
            self._held.clear()
        else:
            self._held += piece

    def _take(self) -> bytes | None:
        line = None if self._dropping else bytes(self._held)
        self._dropping = False
        self._held.clear()
        return line
