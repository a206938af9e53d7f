"""Decisions to learn weights from: ``python -m experiments.rbc_weighting data LABEL=DIR … --out DATA`` reads the games
of finished matches (``klss rbc match … --out DIR``) and follows them with the eyes of each side. It writes a decision
for each question at which that side's set had two or more positions: before its sense, and before its move.

A *decision* is: the truth; the likeliest members by the filter over kinds of opponents, all that there are or
:data:`TOP`; members drawn uniformly from the rest, and the logarithm of how many each of them stands for; the filter's
weights of all these; the size of the set; the observation's numbers (:mod:`darkchess.rbc.belief.siamese`).

Labels tell matches apart whose games count more often in the training, those of rare opponents
(:func:`experiments.rbc_weighting.decisions.repeated`). A match's decisions are a shard, ``LABEL-DIR-00000.npz``, for
each :data:`BLOCK` games. A shard that is there is not made again, so that a stopped command can be resumed and gives
the same shards.
"""

from __future__ import annotations

import argparse
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import chess
import numpy as np
import numpy.typing as npt

from darkchess.errors import RecordError
from darkchess.rbc.belief.kinds import Kinds
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.belief.siamese import NUMBERS, Observer, log_prior
from darkchess.rbc.game.history import replayed
from darkchess.rbc.game.referee import Referee
from darkchess.rbc.players.expectation import Expectation
from experiments.commands import finished
from experiments.learning.fit import TrainingError
from klss.support.archive import Archive
from klss.support.whole_file import written_whole
from klss_app.progress import ProgressLine

__all__ = ["ARCHIVE", "BLOCK", "DRAWN", "TOP", "decisions", "main"]

TOP, DRAWN = 64, 127
"""Most of the likeliest members, and of all members beside the truth."""
BLOCK = 40
"""Games per shard."""
MOST = 300_000
"""Largest set of a recorded decision; a side is not followed further."""

_COLUMNS: dict[str, tuple[npt.DTypeLike, tuple[int, ...]]] = {
    "size": (np.int64, ()), "count": (np.int16, ()), "game": (np.int64, ()), "halves": (np.uint64, (1 + DRAWN, 2)),
    "standing": (np.float32, (1 + DRAWN,)), "prior": (np.float32, (1 + DRAWN,)), "numbers": (np.float16, (NUMBERS,)),
}  # fmt: skip
ARCHIVE = Archive(
    "decisions of experiments.rbc_weighting", "decisions", 2, "make them anew", TrainingError, 1 << 30, 1 << 28
)


class _Side:
    """What one side of a game knows, followed by what it was told."""

    def __init__(self, game: Referee, color: chess.Color) -> None:
        self.known = PositionSet(color, game.positions[0], cap=MOST)
        kinds = Kinds(self.known, Expectation().strangers)
        self.observer = Observer(self.known, kinds)
        self._all = (kinds, self.observer)

    def follow(self, name: str, told: Any) -> None:
        """Update everything by what was told; ``name``: ``noticed``, ``sensed`` or ``moved``."""
        getattr(self.known, name)(told)
        for each in self._all:
            getattr(each, name)(told, self.known)

    def decision(self, truth: int, generator: np.random.Generator) -> dict[str, Any]:
        """The decision, see the module; ``truth``: the index of the true position."""
        size = self.known.size
        prior = log_prior(self.observer.kinds, self.known, np.arange(size))
        members, standing = drawn_beside(truth, prior, generator)
        found: dict[str, Any] = {"size": size, "count": len(members), "numbers": self.observer.numbers}
        for name, kept in (("halves", self.known.halves[members]), ("standing", standing), ("prior", prior[members])):
            found[name] = np.zeros((1 + DRAWN, *kept.shape[1:]), dtype=kept.dtype)
            found[name][: len(kept)] = kept
        return found


def drawn_beside(
    truth: int, prior: npt.NDArray[np.float64], generator: np.random.Generator
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """The truth's index, those of the likeliest and those of drawn members; and ln of how many each stands for."""
    order = np.argsort(-prior, kind="stable")
    order = order[order != truth]
    top, rest = order[:TOP], order[TOP:]
    drawn = generator.choice(rest, min(len(rest), DRAWN - TOP), replace=False)
    standing = np.zeros(1 + len(top) + len(drawn))
    if len(drawn):
        standing[1 + len(top) :] = np.log(len(rest) / len(drawn))
    return np.concatenate([[truth], top, drawn]).astype(np.int64), standing


def decisions(text: str, generator: np.random.Generator) -> Iterator[dict[str, Any]]:
    """The decisions of a game from its JSON, one side's after the other's."""
    game = replayed(text)
    for color in chess.COLORS:
        side = _Side(game, color)
        for ply, turn in enumerate(game.turns):
            if turn.color != color:
                continue
            half = PositionSet(color, game.positions[ply]).halves[0]
            for name, told in (("noticed", turn.notice), ("sensed", turn.sensed)):
                side.follow(name, told)
                if side.known.capped_by is not None:
                    break
                if side.known.size > 1:
                    truth = np.flatnonzero((side.known.halves == half).all(axis=1))
                    yield side.decision(int(truth[0]), generator)
            if side.known.capped_by is not None or ply + 1 == len(game.turns):
                break
            side.follow("moved", turn.moved)


def _shard(paths: Sequence[Path], first: int, shard: Path) -> int:
    """Write the decisions of games, numbered from ``first`` on, unless they are there; return the decisions' number."""
    if shard.exists():
        arrays, _ = ARCHIVE.load(shard, ARCHIVE.read)
        return len(arrays["size"])
    rows: list[dict[str, Any]] = []
    for number, path in enumerate(paths, first):
        generator = np.random.default_rng([zlib.crc32(shard.name.encode()), number])
        try:
            rows += [row | {"game": number} for row in decisions(path.read_text(), generator)]
        except RecordError:  # it ended before its first move
            continue
    arrays = {
        name: np.array([row[name] for row in rows], dtype=kind).reshape(-1, *shape)
        for name, (kind, shape) in _COLUMNS.items()
    }
    with written_whole(shard) as file:
        ARCHIVE.write(file, arrays, {"games": len(paths)})
    return len(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Read matches and write; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.rbc_weighting data", description="make decisions to learn from out of matches"
    )
    parser.add_argument("matches", nargs="+", type=_labelled, metavar="LABEL=DIR", help="of klss rbc match --out DIR")
    parser.add_argument("--out", type=Path, required=True, metavar="DATA", help="where the shards go")
    parsed = parser.parse_args(arguments)

    def write() -> None:
        parsed.out.mkdir(parents=True, exist_ok=True)
        total = 0
        with closing(ProgressLine("decisions")) as line:
            for label, folder in parsed.matches:
                paths = sorted(folder.glob("game-*.json"))
                if not paths:
                    raise TrainingError(f"{folder}: got no game-*.json, expected those of klss rbc match --out")
                for first in range(0, len(paths), BLOCK):
                    name = f"{label}-{folder.resolve().name}-{first:05}.npz"
                    total += _shard(paths[first : first + BLOCK], first, parsed.out / name)
                    line.tell(f"{total}, {name}")
        print(f"{parsed.out}: {total} decisions")

    return finished(write, OSError, TrainingError)


def _labelled(text: str) -> tuple[str, Path]:
    label, _, folder = text.partition("=")
    if not re.fullmatch(r"[a-z0-9]+", label) or not folder:
        raise argparse.ArgumentTypeError(
            f"got {text!r}, expected LABEL=DIR, the label of lower-case letters and digits"
        )
    return label, Path(folder)
