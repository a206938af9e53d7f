"""A bot's files: finished games, in one PGN file per month, and the ids of games under way.

A restarted bot asks the server for the streams of the games under way, since a server reports a game again only
sometimes (not at ply 0, not while it holds the old stream). Both files are written so that a kill at any moment leaves
them whole. A game that is already in its month's file is not written again. One bot at a time owns a folder.
"""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import msgspec

from darkchess.fog.game.record import GameRecord, write_pgn
from klss.support.file_lock import lock
from klss.support.whole_file import write_whole, written_whole
from uci_bridge.bot.dialect import GameId, valid_id
from uci_bridge.errors import UciBridgeError

log = logging.getLogger(__name__)

_UNDER_WAY = "under_way.json"
_LOCK = ".bot.lock"


class RecordsError(UciBridgeError, OSError):
    """The folder of the records can't be used."""


class UnderWay(msgspec.Struct, frozen=True, omit_defaults=True):
    """The values stored with a game under way."""

    since: Annotated[int, msgspec.Meta(ge=0, le=1 << 40)]
    opponent: str | None = None
    greeted: bool = False
    initial_s: float | None = None


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
        self.under_way = self._read()  # the games under way, by their ids

    def close(self) -> None:
        """Release the folder for other bots."""
        self._lock.close()

    def begin(self, game_id: str, **remembered: object) -> None:
        """Store a game as under way, with further fields, which add to those stored before."""
        known = self.under_way.get(game_id)
        self.under_way[game_id] = msgspec.structs.replace(known or UnderWay(int(time.time())), **remembered)
        if self.under_way[game_id] != known:
            self._write()

    def forget(self, game_id: str) -> None:
        """Remove a game that is over from the games under way."""
        if self.under_way.pop(game_id, None) is not None:
            self._write()

    def save(self, game_id: str, record: GameRecord) -> Path:
        """Append a finished game to its month's file, unless it is there already; return the file's path."""
        path = self._folder / f"games-{time.strftime('%Y-%m', time.gmtime())}.pgn"
        known = path.read_bytes() if path.exists() else b""  # whatever somebody has written into it stays
        if f'[GameId "{valid_id(game_id)}"]'.encode() not in known:
            text = write_pgn(replace(record, headers={**record.headers, "GameId": game_id}))
            with written_whole(path) as file:
                file.write(known + b"\n" * bool(known) + text.encode())
        return path

    def _read(self) -> dict[str, UnderWay]:
        path = self._folder / _UNDER_WAY
        try:
            return msgspec.json.decode(path.read_bytes(), type=dict[GameId, UnderWay])
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError):  # somebody may have edited it
            log.warning("the list of games under way can't be read: begun anew", extra={"fields": {"file": str(path)}})
            return {}

    def _write(self) -> None:
        write_whole(self._folder / _UNDER_WAY, msgspec.json.encode(self.under_way).decode())
