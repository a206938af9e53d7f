"""Where a human's games are kept: a PGN file each, in ``klss-games`` unless told."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path

import chess

__all__ = ["game_headers", "keep_game"]

_FOLDER = "klss-games"


def game_headers(
    event: str,
    names: Mapping[chess.Color, str],
    begun: datetime.datetime,
    seed: int,
    clock: tuple[float, float] | None,
) -> dict[str, str]:
    """The PGN tags of a game: ``begun`` in UTC, ``clock`` in seconds at the start and added a move."""
    headers = {
        "Event": event,
        "Date": begun.strftime("%Y.%m.%d"),
        "UTCTime": begun.strftime("%H:%M:%S"),
        "White": names[chess.WHITE],
        "Black": names[chess.BLACK],
        "Seed": str(seed),
    }
    if clock is not None:
        headers["TimeControl"] = f"{clock[0]:g}+{clock[1]:g}"
    return headers


def keep_game(text: str, begun: datetime.datetime, path: Path | None = None) -> Path:
    """Write a game's PGN, to ``path`` or to a new file named by when it was begun; where it is.

    Raises
    ------
    OSError
        It can't be written; ``filename`` says where.
    """
    if path is None:
        path = Path(_FOLDER) / f"{begun.strftime('%Y-%m-%dT%H%M%SZ')}.pgn"
        path.parent.mkdir(exist_ok=True)
        path = _fresh(path)
    path.write_text(text, encoding="utf-8")
    return path


def _fresh(path: Path) -> Path:
    """``path``, or the first of ``path-2``, ``path-3``, … that is not there yet."""
    candidate, number = path, 1
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return candidate
