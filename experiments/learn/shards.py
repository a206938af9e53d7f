"""What is learned from, in shards: npz files whose arrays have a row for each decision (or position) of some games.

A shard is named ``LABEL-NAME-00000.npz``; labels tell sources apart. A shard that is there is not made again, so that a
stopped command can be resumed, and gives the same shards.

Games with one number go to one part: seven tenths train, one validates, two test.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from klss.errors import KlssError
from klss.support.archive import Archive
from klss.support.arrays import Ints
from klss.support.whole_file import written_whole

TRAIN, VALIDATE, TEST = 0, 1, 2
"""Parts of the games: to learn from, to choose the best epoch by, and for a single test at the end."""

BLOCK = 40
"""Games per shard."""

Arrays = dict[str, npt.NDArray[Any]]
Row = dict[str, Any]
Columns = Mapping[str, tuple[npt.DTypeLike, tuple[int, ...]]]
"""Name -> dtype and shape of a row's entry. Every shard also has the column ``game``: numbers that are split by."""


class TrainingError(KlssError, ValueError):
    """There is no data to train on, or a required package or file is missing or wrong."""


ARCHIVE = Archive("decisions of experiments.learn", 4, TrainingError, 1 << 28)


def part_of(number: int) -> int:
    """The part of a game, or of a pair of games with one opening.

    >>> [part_of(number) for number in range(10)]
    [0, 0, 0, 1, 2, 0, 0, 0, 0, 2]
    """
    return TEST if number % 5 == 4 else VALIDATE if number % 10 == 3 else TRAIN


@dataclass(frozen=True)
class Source:
    """A kind of games, and what is learned from them."""

    columns: Columns  # of the rows that ``decisions`` yields
    games: Callable[[Path], list[tuple[int, Any]]]  # at a path, each with its number, and as ``decisions`` takes it
    decisions: Callable[[Any, np.random.Generator], Iterator[Any]]  # of a game

    def at(self, path: Path) -> list[tuple[int, Any]]:
        """The games at a path. Raises TrainingError: there are none."""
        if not (found := self.games(path)):
            raise TrainingError(f"{path}: got no games, expected a match by --out, or of Fog of War a PGN file")
        return found


def make(source: Source, paths: Sequence[tuple[str, Path]], out: Path, tell: Callable[[str], None]) -> None:
    """Write the shards of labelled paths. Raises TrainingError: a path has no games, or two have one name."""
    names = [f"{label}-{path.resolve().stem}" for label, path in paths]
    if len({*names}) < len(names):
        raise TrainingError(f"--matches: got {', '.join(names)}, expected another label or folder name for each")
    for name, (_, path) in zip(names, paths):
        games = source.at(path)
        for first in range(0, len(games), BLOCK):
            shard = out / f"{name}-{first:05}.npz"
            key = zlib.crc32(shard.name.encode())
            rows = (
                row | {"game": number}
                for place, (number, game) in enumerate(games[first : first + BLOCK])
                for row in source.decisions(game, np.random.default_rng([key, place]))
            )
            write(shard, source.columns, rows)
            tell(shard.name)


def write(path: Path, columns: Columns, rows: Iterable[Row]) -> None:
    """Write a shard unless it is there."""
    if path.exists():
        return
    made = list(rows)
    arrays = {
        name: np.array([row[name] for row in made], dtype=kind).reshape(-1, *shape)
        for name, (kind, shape) in {**columns, "game": (np.int64, ())}.items()
    }
    keep(path, arrays)


def keep(path: Path, arrays: Arrays) -> None:
    """Write a shard of these columns, ``game`` among them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as file:
        ARCHIVE.write(file, arrays, {})


def load(paths: Sequence[Path], columns: Columns) -> Arrays:
    """The rows of shards, one after the other, with their ``part`` (int64) and ``label``. Raises TrainingError: there
    is no shard, or one has other columns.
    """
    if not paths:
        raise TrainingError("got no shards, expected those of python -m experiments.learn")
    parts = []
    for path in paths:
        held, _ = ARCHIVE.load(path)
        found = {name: (array.dtype, array.shape[1:]) for name, array in held.items() if name != "game"}
        if found != {name: (np.dtype(kind), shape) for name, (kind, shape) in columns.items()}:
            raise TrainingError(f"{path}: got rows of something else, expected columns {', '.join(columns)}")
        label = np.full(len(held["game"]), path.name.partition("-")[0], dtype="U16")
        parts.append(held | {"label": label, "part": np.array([part_of(int(game)) for game in held["game"]], int)})
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def padded(array: Any, count: int, rest: int = 0) -> Any:
    """The array with rows of ``rest`` behind its own, ``count`` in all."""
    return np.pad(array, [(0, count - len(array)), *[(0, 0)] * (array.ndim - 1)], constant_values=rest)


def digest(paths: Sequence[Path]) -> str:
    """The SHA-256 of shards, one after the other, by which data can be told from other data."""
    found = hashlib.sha256()
    for path in paths:
        found.update(path.read_bytes())
    return found.hexdigest()


def where(held: Arrays, part: int) -> Ints:
    """Indices of the rows of a part: int64[n]."""
    return np.flatnonzero(held["part"] == part)


def chunks(rows: Ints, size: int, generator: np.random.Generator | None = None) -> Iterator[Ints]:
    """Batches of ``size`` of the ``rows``, shuffled by the ``generator``; fewer that are left over stay out, so that
    one compiled program is enough for all batches.
    """
    order = rows if generator is None else generator.permutation(rows)
    size = min(size, len(order))
    for start in range(0, len(order) - size + 1, size) if size else ():
        yield order[start : start + size]
