"""Files of games, read piece by piece: PGN, plain, as gz or in a zip, and tables with one game in each line.

Each game is a :class:`darkchess.fog.game.record.WrittenGame`; numbers run through the whole file. Text that can't be
read becomes a game with a fault, and reading continues after it. Memory is bounded for any file: one block and one game
are in memory at a time, and reading ends after ``MOST_BYTES`` of text.

A table has eight fields in each line, divided by ``|``: White, Black, their ratings, the clock, the result, the reason
of the end (``king``, ``resigned``, ``time``, ``draw``, ``other``) and the moves in SAN.
"""

from __future__ import annotations

import codecs
import gzip
import io
import itertools
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from darkchess.fog.game.record import VARIANT, WrittenGame, written_games
from klss.support.text import printable

MOST_BYTES = 1 << 30
"""Most bytes of a file's text that are read, unpacked: about three million games of people."""

_BLOCK_BYTES = 1 << 16
"""Bytes that are read at a time; a longer line comes in parts."""
_MOST_ZIP_BYTES = 1 << 27
"""Largest zip: Python keeps its whole directory in memory, which takes a dozen times as much."""
_PACKED_BY = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Compression methods of a zip's members that are read. The others unpack more than is asked for at a time."""
_FIELDS = ("White", "Black", "WhiteElo", "BlackElo", "TimeControl", "Result", "Termination")
_ENDS = {"king": "king_captured", "resigned": "resign", "time": "flag", "draw": "unknown", "other": "unknown"}
"""The reasons of ends in tables, and our names for them."""

# An encrypted zip, or one of a later version, raises RuntimeError; a name that is no UTF-8, an offset past 2⁶³, and a
# file that comes through a pipe raise ValueError.
_BROKEN = (gzip.BadGzipFile, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError)


def games_of(path: Path) -> Iterator[WrittenGame]:
    """Yield the games of a file, in order.

    Raises
    ------
    OSError
        The file can't be opened or read.
    """
    reader = _Reader()
    with path.open("rb") as file:
        for number, game in enumerate(reader.games(file, ""), 1):
            game.number = number
            yield game


class _Reader:
    """Reader of one file; it counts the bytes of text that it may still read, and keeps the fault that ended a text."""

    def __init__(self) -> None:
        self._left = MOST_BYTES
        self._fault = ""

    def games(self, file: Any, member: str) -> Iterator[WrittenGame]:
        """Yield the games of a binary file, or of a ``member`` of a zip; ``file`` has ``peek`` and ``read1``."""
        head = file.peek(4)
        if head.startswith(b"PK\x03\x04") and not member:
            yield from self._zip(file)
        elif head.startswith(b"\x1f\x8b"):
            with gzip.open(file) as unpacked:
                yield from self._text(unpacked, member)
        else:
            yield from self._text(file, member)

    def _zip(self, file: IO[bytes]) -> Iterator[WrittenGame]:
        try:
            if file.seek(0, io.SEEK_END) > _MOST_ZIP_BYTES:
                raise zipfile.BadZipFile(f"got a zip of more than {_MOST_ZIP_BYTES:,} bytes, expected a smaller one")
            archive = zipfile.ZipFile(file)
        except _BROKEN as error:
            yield _fault("", error)
            return
        with archive:
            for info in archive.infolist():
                if info.is_dir() or Path(info.filename).name.startswith(".") or info.filename.startswith("__MACOSX"):
                    continue
                if info.compress_type not in _PACKED_BY:
                    yield _fault(info.filename, f"got it packed by method {info.compress_type}, expected deflate")
                    continue
                try:
                    with archive.open(info) as member:
                        yield from self.games(member, info.filename)
                except _BROKEN as error:
                    yield _fault(info.filename, error)

    def _text(self, file: Any, member: str) -> Iterator[WrittenGame]:
        lines = self._lines(file)
        first = next((line for line in lines if not line.isspace()), "")
        rest = itertools.chain([first], lines)
        yield from _table(rest) if first.count("|") == len(_FIELDS) else written_games(rest)
        if self._fault:
            yield _fault(member, self._fault)
            self._fault = ""

    def _lines(self, file: Any) -> Iterator[str]:
        """Yield the lines of a text, very long ones in parts; bytes that are not UTF-8 become replacement characters.
        It ends where no more can be read, and leaves the reason in the reader's fault."""
        decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder("utf-8")("replace"), translate=True)
        begun = ""
        while data := self._block(file):
            lines = io.StringIO(begun + decoder.decode(data)).readlines()
            # The last line may continue in the next block.
            begun = lines.pop() if lines and not lines[-1].endswith("\n") and len(lines[-1]) < _BLOCK_BYTES else ""
            yield from lines
        if begun:
            yield begun

    def _block(self, file: Any) -> bytes:
        try:
            data: bytes = file.read1(_BLOCK_BYTES)  # also the data before a fault
        except _BROKEN as error:
            self._fault = str(error)
            return b""
        self._left -= len(data)
        if b"\0" in data:
            self._fault = "got bytes that are no text, expected PGN, or a gz or zip of it"
        elif self._left < 0:
            self._fault = f"got more than {MOST_BYTES:,} bytes of text, expected fewer; split the file"
        return b"" if self._fault else data


def _fault(member: str, reason: Exception | str) -> WrittenGame:
    """Return the game that stands for a part of a file that can't be read."""
    place = f"{printable(member, 80)}: " if member else ""
    return WrittenGame(0, fault=place + (printable(str(reason), 200) or "it ends too early"))


def _table(lines: Iterable[str]) -> Iterator[WrittenGame]:
    for line in lines:
        fields = line.strip().split("|")
        if len(fields) != len(_FIELDS) + 1:
            if line.strip():
                fault = f"got {len(fields)} fields in a table of games, expected {len(_FIELDS) + 1}"
                yield WrittenGame(0, fault=fault)
            continue
        tags = {name: printable(value) for name, value in zip(_FIELDS, fields, strict=False)}
        end = tags.pop("Termination")
        tags |= {"Variant": VARIANT, "Termination": _ENDS.get(end, end)}
        yield WrittenGame(0, tags, fields[-1].split(), tags["Result"])
