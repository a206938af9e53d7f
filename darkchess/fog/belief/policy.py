"""The policy of moves: how likely each legal move of the opponent is, as learned from games.

There are three levels, from cheap to expensive: *tables* (from, to, what is captured), *features* (attacks, exchanges,
what hangs, the king) and *values* (features, and the value of the position after the move). Each level is a policy of
its own: a softmax over the legal moves, in which a move's score is a sum of table entries. The tables hold the
exponentials of these entries, so that scores are multiplied.

docs/position_set.md, "Beliefs", says whose games it was learned from, and where it can't be trusted.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Literal

import numpy as np

from darkchess.board.kernels.board import META
from darkchess.board.kernels.moves import MAX_MOVES
from darkchess.board.kernels.tables import TABLES
from darkchess.board.move import TURNED
from darkchess.board.position import turned
from darkchess.fog.belief._kernels.policy import GROUPS, PLAIN, SIZE, STARTS, describe
from klss.support.archive import read_arrays
from klss.support.arrays import Floats, Int16s, Int32s, Words

Level = Literal["tables", "features", "values"]
LEVELS: tuple[Level, ...] = ("tables", "features", "values")
"""From the cheapest to the most expensive."""

ENTRIES: dict[Level, int] = {"tables": STARTS[PLAIN], "features": SIZE, "values": SIZE}
"""Number of entries of each level's table."""

_MOST_NUMBERS = 1 << 21


def described(row: Words) -> tuple[Int32s, Int16s]:
    """Return all legal moves of a position, and the table entries of each.

    Parameters
    ----------
    row
        uint64[9]: the position, turned so that the side to move is Black (:func:`below`).

    Returns
    -------
    int32[n], int16[n, GROUPS]
        The moves' codes (:mod:`darkchess.board.move`), and each move's entry for each of the groups
        :data:`darkchess.fog.belief._kernels.policy.NAMES`.
    """
    codes, index = np.empty(MAX_MOVES, dtype=np.int32), np.empty((MAX_MOVES, GROUPS), dtype=np.int16)
    pieces, maps = np.empty(64, dtype=np.int8), np.empty(12, dtype=np.uint64)
    count = int(describe(row, False, TABLES, codes, index, pieces, maps))
    return codes[:count], index[:count]


def below(row: Words) -> Words:
    """Return ``row`` (uint64[9]), turned if White is to move: then Black moves, down the board."""
    return row.copy() if int(row[META]) & 1 else turned(row)


def flip_below(row: Words) -> int:
    """Return the mask by which a move's code in ``row`` (uint64[9]) and its code in :func:`below` differ (XOR)."""
    return 0 if int(row[META]) & 1 else TURNED


@dataclass(frozen=True)
class Stage:
    """The policy of one level."""

    groups: int  # of :data:`darkchess.fog.belief._kernels.policy.NAMES`, the first ones
    multipliers: Floats  # float64[entries], above 0: exponentials of the table's entries
    slope: float = 0.0  # factor of the value after the move, in [−1, 1] for the mover, in the move's score


@dataclass(frozen=True)
class Policy:
    """The policies of all levels."""

    stages: dict[Level, Stage]
    uniform_mix: float  # part of the likelihood that is spread evenly over all moves, so that no weight is ever 0
    history: dict[str, Any]  # the games it was learned from, and how

    @staticmethod
    def from_entries(entries: dict[Level, Floats], slope: float, uniform_mix: float, history: dict[str, Any]) -> Policy:
        """Return the policy with these table entries (float64, :data:`ENTRIES` for each level). ``slope`` is that of
        the level ``values``.
        """
        stages = {
            level: Stage(
                PLAIN if level == "tables" else GROUPS, np.exp(entries[level]), slope if level == "values" else 0.0
            )
            for level in LEVELS
        }
        return Policy(stages, uniform_mix, history)

    @staticmethod
    @cache
    def packaged() -> Policy:
        """Return the policy that comes with the package."""
        with as_file(files("darkchess.fog") / "belief" / "data" / "policy.npz") as path:
            return Policy.load(path)

    @staticmethod
    def load(path: Path) -> Policy:
        """Read a policy that :meth:`save` wrote; ValueError if the file holds something else."""
        with path.open("rb") as file:
            held = read_arrays(file, _MOST_NUMBERS, (*LEVELS, "numbers", "history"))
        entries = {level: held[level].astype(np.float64) for level in LEVELS}
        slope, uniform_mix = held["numbers"].tolist()
        return Policy.from_entries(entries, slope, uniform_mix, json.loads(bytes(held["history"])))

    def save(self, path: Path) -> None:
        """Write the policy to a file for :meth:`load`."""
        np.savez_compressed(
            path,
            numbers=np.array([self.stages["values"].slope, self.uniform_mix]),
            history=np.frombuffer(json.dumps(self.history, allow_nan=False).encode(), dtype=np.uint8),
            **{level: np.log(self.stages[level].multipliers).astype(np.float32) for level in LEVELS},  # type: ignore[arg-type]
        )
