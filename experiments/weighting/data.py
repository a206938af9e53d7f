"""Decisions to learn weights from: ``python -m experiments.weighting data GAME LABEL=PATH … --out DATA`` reads finished
games and follows them with the eyes of each side.

A *decision* is: the truth; the likeliest members of the set by the filter, all that there are or :data:`TOP`; members
drawn uniformly from the rest, and the logarithm of how many each of them stands for; what the scores of all these are
added to (``log_prior`` in the game's module ``siamese``); the size of the set; the observation's numbers.

Labels tell matches apart whose games count more often in the training, those of rare opponents
(:func:`experiments.weighting.decisions.repeated`). A match's decisions are a shard, ``LABEL-NAME-00000.npz``, for each
:data:`BLOCK` games. A shard that is there is not made again, so that a stopped command can be resumed and gives the
same shards.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from darkchess.weighting.network import LearnedScores
from experiments.learning.fit import TrainingError
from klss.support.archive import Archive
from klss.support.arrays import Float32s, Floats, Ints, Words
from klss.support.whole_file import written_whole

TOP, DRAWN = 64, 127
"""Most of the likeliest members, and of all members beside the truth."""
BLOCK = 40
"""Games per shard."""

_COLUMNS: dict[str, tuple[npt.DTypeLike, tuple[int, ...]]] = {
    "size": (np.int64, ()), "count": (np.int16, ()), "game": (np.int64, ()), "halves": (np.uint64, (1 + DRAWN, 2)),
    "standing": (np.float32, (1 + DRAWN,)), "prior": (np.float32, (1 + DRAWN,)),
}  # fmt: skip
ARCHIVE = Archive(
    "decisions of experiments.weighting", "decisions", 3, "make them anew", TrainingError, 1 << 30, 1 << 28
)


@dataclass(frozen=True)
class Game:
    """One of the two games.

    Attributes
    ----------
    siamese
        The weights that are learned.
    expected
        What can be read, in words.
    found
        ``(path)`` returns the games there: for each a number, by which it goes to learning or testing
        (:mod:`experiments.learning.split`), and what ``decisions`` takes.
    decisions
        ``(game, generator)`` yields the decisions of a game.
    """

    siamese: type[LearnedScores]
    expected: str
    found: Callable[[Path], list[tuple[int, Any]]]
    decisions: Callable[[Any, np.random.Generator], Iterator[dict[str, Any]]]


def decision(
    halves: Words,
    prior: Floats,
    truth: int,
    numbers: Float32s,
    generator: np.random.Generator,
    more: Callable[[Ints], Floats] | None = None,
) -> dict[str, Any]:
    """A decision.

    Parameters
    ----------
    halves, prior
        uint64[n, 2], float64[n]: the set, and what scores are added to.
    truth
        Its index.
    numbers
        The observation's.
    more
        What is also added to the scores of members (int64[m]): float64[m].
    """
    members, standing = drawn_beside(truth, prior, generator)
    added = prior[members] if more is None else prior[members] + more(members)
    found: dict[str, Any] = {"size": len(halves), "count": len(members), "numbers": numbers}
    for name, kept in (("halves", halves[members]), ("standing", standing), ("prior", added)):
        found[name] = np.zeros((1 + DRAWN, *kept.shape[1:]), dtype=kept.dtype)
        found[name][: len(kept)] = kept
    return found


def drawn_beside(truth: int, prior: Floats, generator: np.random.Generator) -> tuple[Ints, Floats]:
    """The truth's index, those of the likeliest and those of drawn members; and ln of how many each stands for."""
    order = np.argsort(-prior, kind="stable")
    order = order[order != truth]
    top, rest = order[:TOP], order[TOP:]
    drawn = generator.choice(rest, min(len(rest), DRAWN - TOP), replace=False)
    standing = np.zeros(1 + len(top) + len(drawn))
    if len(drawn):
        standing[1 + len(top) :] = np.log(len(rest) / len(drawn))
    return np.concatenate([[truth], top, drawn]).astype(np.int64), standing


def _shard(game: Game, played: Sequence[tuple[int, Any]], first: int, shard: Path) -> int:
    """Write the decisions of games, the ``first`` of which has that place, unless they are there; return the decisions'
    number.
    """
    if shard.exists():
        arrays, _ = ARCHIVE.load(shard, ARCHIVE.read)
        return len(arrays["size"])
    rows: list[dict[str, Any]] = []
    for place, (number, each) in enumerate(played, first):
        generator = np.random.default_rng([zlib.crc32(shard.name.encode()), place])
        rows += [row | {"game": number} for row in game.decisions(each, generator)]
    columns = _COLUMNS | {"numbers": (np.float16, (game.siamese.blocks.count,))}
    arrays = {
        name: np.array([row[name] for row in rows], dtype=kind).reshape(-1, *shape)
        for name, (kind, shape) in columns.items()
    }
    with written_whole(shard) as file:
        ARCHIVE.write(file, arrays, {"games": len(played)})
    return len(rows)


def write(game: Game, matches: Sequence[tuple[str, Path]], out: Path, tell: Callable[[str], None]) -> int:
    """Write the shards of labelled paths; return the number of their decisions.

    Raises TrainingError: a path has no games.
    """
    out.mkdir(parents=True, exist_ok=True)
    total = 0
    for label, path in matches:
        played = game.found(path)
        if not played:
            raise TrainingError(f"{path}: got no games, expected {game.expected}")
        for first in range(0, len(played), BLOCK):
            name = f"{label}-{path.resolve().stem}-{first:05}.npz"
            total += _shard(game, played[first : first + BLOCK], first, out / name)
            tell(f"{total}, {name}")
    return total
