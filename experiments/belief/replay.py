"""Games of finished matches gone through again, two at a time; what was found in a game is kept, so that the command
goes on where it stopped.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import numpy as np

from darkchess.fog.game.record import GameRecord, read_pgn
from experiments.games import match_folders
from experiments.series.processes import processes
from klss.support.arrays import Floats
from klss.support.whole_file import write_whole
from klss_app.progress import ProgressLine

__all__ = ["Look", "differing", "gone_through"]

Look = Callable[[GameRecord, int], list[list[Any]]]
"""The rows of one game, of its record and number; a worker process has to be able to get it."""


def gone_through(
    folders: Sequence[Path], look: Look, about: Mapping[str, Any], *, games: int, kept: Path, workers: int
) -> list[list[Any]]:
    """The rows of up to so many games of each match, each row with its match and game before it.

    Parameters
    ----------
    folders
        Of matches, or such as hold them.
    look
    about
        What the rows depend on besides the game: other settings are kept elsewhere.
    games
        Of each match.
    kept
        Where the rows of each game go.
    workers
        Games at a time.
    """
    shown = json.dumps(about, sort_keys=True, default=str)
    place = kept / f"{zlib.crc32(shown.encode()):08x}"
    place.mkdir(parents=True, exist_ok=True)
    paths = [path for folder in match_folders(folders) for path in sorted(folder.glob("game-*.pgn"))[:games]]
    tasks = [(path, look, place) for path in paths]
    rows: list[list[Any]] = []
    with closing(ProgressLine("looking")) as line, ExitStack() as stack:
        each: Iterable[list[list[Any]]] = map(_looked, tasks)
        if workers > 1:
            each = stack.enter_context(processes(workers)).map(_looked, tasks)
        for i, found in enumerate(each, 1):
            rows += found
            line.tell(f"{i}/{len(tasks)} games, {len(rows)} turns")
    return rows


def _looked(task: tuple[Path, Look, Path]) -> list[list[Any]]:
    """For a worker process."""
    path, look, place = task
    file = place / f"{path.parent.name}-{path.stem}.json"
    if file.exists():
        return list(json.loads(file.read_text(encoding="utf-8")))
    game = int(path.stem.removeprefix("game-"))
    record = read_pgn(path.read_text(encoding="utf-8"))[0]
    rows = [[path.parent.name, game, *row] for row in look(record, game)]
    write_whole(file, json.dumps(rows))
    return rows


def differing(differences: Floats, rows: Sequence[Sequence[Any]]) -> list[float]:
    """Low, mean and high (95 %) of one number a row; rows of one game are not independent."""
    sums: dict[Any, list[float]] = {}
    mean = float(differences.mean())
    for row, difference in zip(rows, differences.tolist(), strict=True):
        sums.setdefault((row[0], row[1]), []).append(difference - mean)
    error = np.sqrt(sum(sum(each) ** 2 for each in sums.values())) / len(differences)
    return [round(mean + side * 1.96 * float(error), 4) for side in (-1, 0, 1)]
