"""The directory of a match: locked while a process writes it, and consistent even if that process is killed.

``match.json`` describes the match; ``games.jsonl`` has a line for each finished game, in the order of their ends;
``moves.jsonl`` one for each move, with the player's diagnostics; ``game-00000.pgn`` and so on are the games (``.json``
in Reconnaissance Blind Chess). A game counts once its line in ``games.jsonl`` is written; other lines of a game that
does not count are removed when the directory is opened again. On reading, files are checked; errors name file and line.

Only the owner can read the directory and its files: from the match's seed one can derive true games before they end.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypedDict, TypeVar

import msgspec

from klss.support.file_lock import lock
from klss.support.text import Document
from klss.support.whole_file import write_whole
from uci_bridge.errors import UciBridgeError
from uci_bridge.match.game import Count, GameLine, GameResult, Side


class MatchError(UciBridgeError):
    """A match can't be played, or not in that directory: the message says what, got, expected."""


_PRIVATE = 0o600
"""Permissions of all files made here: the owner's only."""

_Line = TypeVar("_Line", bound=Mapping[str, object])


class _MoveLine(TypedDict):
    """The fields of a line of ``moves.jsonl`` that are read; the others are an engine's diagnostics."""

    game: Count
    player: Side


class MatchFiles:
    """The open directory of a match, and its lines of ``games.jsonl`` as of the opening: see :func:`read_match`."""

    def __init__(self, folder: Path, lines: list[GameLine]) -> None:
        self._folder, self.lines = folder, lines

    def keep(self, result: GameResult) -> None:
        """Write a finished game; its line in ``games.jsonl`` comes last, since with that line the game counts."""
        write_whole(self._folder / f"game-{result.line['game']:05}{result.suffix}", result.record, _PRIVATE)
        _append(self._folder / "moves.jsonl", result.moves)
        _append(self._folder / "games.jsonl", [result.line])


@contextlib.contextmanager
def opened(folder: Path, identity: Document) -> Iterator[MatchFiles]:
    """Lock ``folder``, check that it holds this match or none, and read what was played. Raises MatchError: it can't be
    written, is in use, or holds another match.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        held = open(folder / "lock", "wb", opener=_private)  # noqa: SIM115 (closed below; closing is what unlocks)
    except OSError as error:
        raise MatchError(
            f"--out: got {str(folder)!r}, expected a directory that can be written: {error.strerror}"
        ) from None
    with held:
        if not lock(held):
            raise MatchError(f"--out: {str(folder)!r} is in use by another match; wait for it, or name another one")
        _check(folder, identity)
        played = _played(folder)
        _clean(folder / "games.jsonl", played[0])
        _clean(folder / "moves.jsonl", played[1])
        yield MatchFiles(folder, played[0])


def kept_seed(folder: Path) -> int | None:
    """The seed of the match in ``folder``; None if there is none."""
    seed = (_description(folder) or {}).get("seed")
    return seed if isinstance(seed, int) else None


def read_match(folder: Path) -> tuple[Document, list[GameLine], list[Document]] | None:
    """Read a match, also one that is being played: nothing is locked or written.

    Return ``match.json``, the lines of ``games.jsonl``, one per game, and those of ``moves.jsonl`` for these games;
    None if there is no match. Raises MatchError: a file has other content than a match writes.
    """
    identity = _description(folder)
    return None if identity is None else (identity, *_played(folder))


def _description(folder: Path) -> Document | None:
    """The content of ``match.json``; None if there is none. Raises MatchError: it can't be read."""
    about, found = folder / "match.json", None
    if not about.exists():
        return None
    with contextlib.suppress(OSError, ValueError, RecursionError):
        found = json.loads(about.read_text(encoding="utf-8"))
    if not isinstance(found, dict):
        raise MatchError(f"can't read {str(about)!r}, expected a match's description; name another directory")
    return found


def _check(folder: Path, identity: Document) -> None:
    kept = _description(folder)
    if kept is None:
        if (folder / "games.jsonl").exists():
            raise MatchError(f"--out: {str(folder)!r} holds games of a match without match.json; name another one")
        write_whole(folder / "match.json", json.dumps(identity, indent=2, allow_nan=False) + "\n", _PRIVATE)
        return
    if kept != identity:
        differs = sorted(key for key in kept.keys() | identity.keys() if kept.get(key) != identity.get(key))
        raise MatchError(
            f"--out: {str(folder)!r} holds another match, or one of another version of klss (match.json differs in "
            f"{', '.join(differs)}); name another directory"
        )


def _append(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Append to a file, without a buffer, so that a full disk raises here and not when it is closed."""
    rest = _lines_text(rows).encode()
    with open(path, "ab", buffering=0, opener=_private) as file:
        try:
            while rest:
                rest = rest[file.write(rest) :]
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from None


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, _PRIVATE)


def _clean(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Make ``rows`` the only content of the JSONL file."""
    text = _lines_text(rows)
    if not path.exists() or path.read_text(encoding="utf-8", errors="replace") != text:
        write_whole(path, text, _PRIVATE)


def _played(folder: Path) -> tuple[list[GameLine], list[Document]]:
    """The lines of ``games.jsonl``, one per game, and those of ``moves.jsonl`` for these games."""
    games: dict[int, GameLine] = {}
    for line in _whole_lines(folder / "games.jsonl", GameLine):
        games.setdefault(line["game"], line)
    moves = _whole_lines(folder / "moves.jsonl", _MoveLine)
    return list(games.values()), [dict(move) for move in moves if move["game"] in games]


def _lines_text(rows: Sequence[Mapping[str, object]]) -> str:
    return "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)


def _whole_lines(path: Path, shape: type[_Line]) -> list[_Line]:
    """The lines of a JSONL file, without a last one that was cut off as its writer died. Raises MatchError: another
    line is not a JSON object of that shape, or has a number that JSON does not have, or the file can't be read.
    """
    if not path.exists():
        return []
    if not path.is_file():
        raise MatchError(f"--out: got {str(path)!r}, expected a file of JSON lines there; name another directory")
    text = path.read_bytes()
    whole = text[: text.rfind(b"\n") + 1]
    rows = list[_Line]()
    for number, line in enumerate(whole.split(b"\n")[:-1], 1):
        try:
            # with the fields that ``shape`` does not have; numbers that JSON does not have are null
            row: _Line = json.loads(line, parse_constant=lambda _: None)
            msgspec.convert(row, shape)
            json.dumps(row, allow_nan=False)
            rows.append(row)
        except msgspec.ValidationError as error:
            raise MatchError(f"--out: {str(path)!r}, line {number}: {error}") from None
        except (ValueError, RecursionError):
            raise MatchError(
                f"--out: {str(path)!r}, line {number}: got {line[:40]!r}, expected a JSON object"
            ) from None
    return rows
