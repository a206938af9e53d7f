"""A bot's files: finished games, in one PGN file per month, and the ids of games under way.

A restarted bot asks the server for the streams of the games under way, since a server reports a game again only
sometimes (not at ply 0, not while it holds the old stream). Both files are written so that a kill at any moment leaves
them whole. A game that is already in its month's file is not written again. One bot at a time owns a folder.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from darkchess.fog.game.record import GameRecord, write_pgn
from klss.support.file_lock import lock
from klss.support.text import printable
from klss.support.whole_file import write_whole
from uci_bridge.bot.dialect import MalformedLine, valid_id
from uci_bridge.errors import UciBridgeError

log = logging.getLogger(__name__)

_UNDER_WAY = "under_way.json"
_JOURNAL = "append.json"
_LOCK = ".bot.lock"
_MAX_UNDER_WAY_BYTES = 1 << 20


class RecordsError(UciBridgeError, OSError):
    """The folder of the records can't be used."""


class Records:
    """The folder of one bot's games, which is made if it doesn't exist. Raises RecordsError: it can't be made, read or
    written, or another bot owns it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = open(folder / _LOCK, "wb")  # noqa: SIM115 - held until close()
        except OSError as error:
            raise RecordsError(
                f"records: {folder} can't be used ({error.strerror}); expected a folder to write to"
            ) from None
        if not lock(self._lock):
            self._lock.close()
            raise RecordsError(f"records: {folder} belongs to a bot that is running; expected a folder of its own")
        self._finish_append()
        self._under_way: dict[str, dict[str, Any]] = self._read()

    def close(self) -> None:
        """Release the folder for other bots."""
        self._lock.close()

    @property
    def under_way(self) -> Mapping[str, Mapping[str, Any]]:
        """The games under way: id -> the values stored with it."""
        return self._under_way

    def begin(self, game_id: str, **remembered: Any) -> None:
        """Store a game as under way, with further values (JSON), which add to those stored before."""
        known = self._under_way.get(game_id)
        self._under_way[game_id] = {**(known or {"since": int(time.time())}), **remembered}
        if self._under_way[game_id] != known:
            self._write()

    def forget(self, game_id: str) -> None:
        """Remove a game that is over from the games under way."""
        if self._under_way.pop(game_id, None) is not None:
            self._write()

    def save(self, game_id: str, record: GameRecord, when: float | None = None) -> Path:
        """Append a finished game to its month's file, unless it is there already; return the file's path."""
        month = time.strftime("%Y-%m", time.gmtime(when))
        path = self._folder / f"games-{month}.pgn"
        tag = f'[GameId "{valid_id(game_id)}"]'
        text = write_pgn(replace(record, headers={**record.headers, "GameId": game_id}))
        with open(path, "a+b") as stream:
            stream.seek(0)
            if any(line.decode("utf-8", "replace").strip() == tag for line in stream):
                return path
            end = stream.seek(0, os.SEEK_END)
        # A journal, written before the append: if that is cut off, the next start repeats it from the journal.
        journal = self._folder / _JOURNAL
        write_whole(journal, json.dumps({"file": path.name, "end": end, "text": ("\n" if end else "") + text}))
        self._append(path, json.loads(journal.read_bytes()))
        journal.unlink()
        return path

    @staticmethod
    def _append(path: Path, entry: Mapping[str, Any]) -> None:
        with open(path, "r+b") as stream:
            stream.seek(int(entry["end"]))
            stream.write(str(entry["text"]).encode())
            stream.truncate()
            stream.flush()
            os.fsync(stream.fileno())

    def _finish_append(self) -> None:
        """Repeat an append that a kill may have cut off."""
        journal = self._folder / _JOURNAL
        try:
            entry = json.loads(journal.read_bytes())
            path = self._folder / Path(entry["file"]).name
            if path.stat().st_size >= entry["end"]:
                self._append(path, entry)
        except FileNotFoundError:
            return
        except (ValueError, TypeError, KeyError):
            log.warning("the last game's record can't be completed", extra={"fields": {"file": str(journal)}})
        journal.unlink(missing_ok=True)

    def _read(self) -> dict[str, dict[str, Any]]:
        path = self._folder / _UNDER_WAY
        try:
            with open(path, "rb") as stream:
                raw = json.loads(stream.read(_MAX_UNDER_WAY_BYTES))
            return {valid_id(game_id): _remembered(known) for game_id, known in raw.items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError, AttributeError, RecursionError, MalformedLine):
            log.warning("the list of games under way can't be read: begun anew", extra={"fields": {"file": str(path)}})
            return {}

    def _write(self) -> None:
        write_whole(self._folder / _UNDER_WAY, json.dumps(self._under_way))


def _remembered(known: Mapping[str, Any]) -> dict[str, Any]:
    """The valid ones of the values stored with a game: somebody may have edited the file."""
    kinds = {"since": int, "opponent": str, "greeted": bool, "initial_s": float | int}
    found = {key: known[key] for key, kind in kinds.items() if isinstance(known.get(key), kind)}
    if not 0 <= found.get("since", 0) <= 1 << 40:
        del found["since"]
    return found


def plain(text: str, longest: int = 80) -> str:
    """A name that a server gave, safe for a PGN tag."""
    return printable(text, longest) or "?"
