"""How the players of this game move, as learned from games: what a belief takes for the opponent's likelihoods.

docs/belief.md tells what is learned, from whom, and what it may not be trusted with. Three policies, one for each
price: *tables* (from, to, what is taken), *features* (attacks, exchanges, what hangs, the king) and *values* (features,
and the value of the position after the move). Each is a softmax over a position's legal moves of a sum of entries,
learned by itself; kept are the exponentials.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Literal

import numpy as np

from darkchess.board.kernels.board import META
from darkchess.board.kernels.moves import MAX_MOVES
from darkchess.board.kernels.tables import TABLES
from darkchess.board.position import turned
from darkchess.errors import DarkchessError
from darkchess.fog.belief._kernels.policy import GROUPS, PLAIN, SIZE, STARTS, describe
from klss.support.archive import read_arrays
from klss.support.arrays import Floats, Int16s, Int32s, Words

__all__ = ["GROUPS", "LEVELS", "Level", "Policy", "PolicyError", "Stage", "below", "described", "flip_below"]

Level = Literal["even", "tables", "features", "values"]
LEVELS: tuple[Level, ...] = ("even", "tables", "features", "values")
"""From the cheapest to the dearest; ``even``: all legal moves alike."""

ENTRIES: dict[Level, int] = {"even": 0, "tables": STARTS[PLAIN], "features": SIZE, "values": SIZE}
"""Entries of each level's table."""

_MOST_BYTES = 2_000_000
_MOST_NUMBERS = 1 << 21


def described(row: Words) -> tuple[Int32s, Int16s]:
    """All legal moves of a position, and what each looks like.

    Parameters
    ----------
    row
        uint64[9], the side to move being Black, the board as its opponent sees it.

    Returns
    -------
    int32[n], int16[n, GROUPS]
        Codes (:mod:`darkchess.board.move`), and entries of the table of each of
        :data:`darkchess.fog.belief._kernels.policy.NAMES`.
    """
    codes, index = np.empty(MAX_MOVES, dtype=np.int32), np.empty((MAX_MOVES, GROUPS), dtype=np.int16)
    pieces, maps = np.empty(64, dtype=np.int8), np.empty(12, dtype=np.uint64)
    count = int(describe(row, False, TABLES, codes, index, pieces, maps))
    return codes[:count], index[:count]


def below(row: Words) -> Words:
    """``row`` (uint64[9]) with the side to move as Black, moving down."""
    return row.copy() if int(row[META]) & 1 else turned(row)


def flip_below(row: Words) -> int:
    """What a move's code in ``row`` (uint64[9]) has to be XORed with to be that of :func:`below`, and back."""
    return 0 if int(row[META]) & 1 else 56 << 9 | 56 << 3


class PolicyError(DarkchessError, ValueError):
    """A file that holds no policy."""


@dataclass(frozen=True)
class Stage:
    """One level's policy.

    Attributes
    ----------
    groups
        How many groups of :data:`darkchess.fog.belief._kernels.policy.NAMES` it looks at.
    multipliers
        float64[entries], above 0.
    slope
        How much the value of the position after the move, in [−1, 1] for who moved, adds to the exponent.
    """

    groups: int
    multipliers: Floats
    slope: float = 0.0


@dataclass(frozen=True)
class Policy:
    """The policies of all levels.

    Attributes
    ----------
    stages
        By level.
    uniform_mix
        The part of the likelihood that all legal moves of a position share evenly, so that no position is ever lost.
    history
        Whose games it was learned from, and how.
    counts
        Whether every move has likelihood 1 instead: weights then count the ways to come to a position.
    """

    stages: dict[Level, Stage]
    uniform_mix: float
    history: dict[str, Any]
    counts: bool = False

    @staticmethod
    def uniform() -> Policy:
        """All legal moves alike, at every level."""
        return Policy({level: Stage(0, np.ones(1)) for level in LEVELS}, 1.0, {})

    @staticmethod
    def counting() -> Policy:
        """Every move of likelihood 1."""
        return replace(Policy.uniform(), counts=True)

    @staticmethod
    def from_entries(entries: dict[Level, Floats], slope: float, uniform_mix: float, history: dict[str, Any]) -> Policy:
        """A policy of the sums' entries (float64 of the level's length each); ``slope`` is of the values."""
        stages: dict[Level, Stage] = {"even": Stage(0, np.ones(1))}
        groups: dict[Level, int] = {"tables": PLAIN, "features": GROUPS, "values": GROUPS}
        for level, count in groups.items():
            stages[level] = Stage(count, np.exp(entries[level]), slope if level == "values" else 0.0)
        return Policy(stages, uniform_mix, history)

    @staticmethod
    @cache
    def packaged() -> Policy:
        """The one that comes with the package."""
        with as_file(files("darkchess.fog") / "belief" / "data" / "policy.npz") as path:
            return Policy.load(path)

    @staticmethod
    def load(path: Path) -> Policy:
        """A policy from a file.

        Raises
        ------
        PolicyError
            It is none.
        """
        try:
            if path.stat().st_size > _MOST_BYTES:
                raise PolicyError(f"{path}: got {path.stat().st_size} bytes, expected a policy of 2 MB at most")
            with path.open("rb") as file:
                held = read_arrays(file, _MOST_NUMBERS, (*LEVELS[1:], "numbers", "history"))
            entries = {level: held[level].astype(np.float64) for level in LEVELS[1:]}
            numbers = held["numbers"].astype(np.float64)
            history = dict(json.loads(bytes(held["history"]).decode("utf-8")))
        except (OSError, ValueError, TypeError, RecursionError) as error:
            if isinstance(error, PolicyError):
                raise
            raise PolicyError(f"{path}: no policy of moves: {error}; expected what experiments.belief writes") from None
        for level, table in entries.items():
            if table.shape != (ENTRIES[level],) or np.abs(table).max() > 30.0:
                raise PolicyError(f"{path}: got a table of {level} of shape {table.shape}, expected {ENTRIES[level]}")
        if numbers.shape != (2,) or not 0.0 < numbers[1] <= 1.0:
            raise PolicyError(f"{path}: got the numbers {numbers}, expected a slope, and a share from 0 to 1")
        return Policy.from_entries(entries, float(numbers[0]), float(numbers[1]), history)

    def likelihoods(self, row: Words, level: Level = "features") -> dict[int, float]:
        """How likely each legal move of a position is; summing to 1.

        Parameters
        ----------
        row
            uint64[9]: the position, whoever's move it is.
        level
            Of the policy; not ``values``, which takes an evaluator (:class:`darkchess.fog.belief.filter.Filter`).

        Returns
        -------
        dict
            By the move's code, as the position's own side has it.
        """
        codes, index = described(below(row))
        stage = self.stages[level]
        weights = stage.multipliers[index[:, : stage.groups]].prod(axis=1)
        shares = (1.0 - self.uniform_mix) * weights / weights.sum() + self.uniform_mix / len(codes)
        return dict(zip((codes ^ flip_below(row)).tolist(), shares.tolist(), strict=True))

    def save(self, path: Path) -> None:
        """Write it where :meth:`load` reads it."""
        np.savez_compressed(
            path,
            numbers=np.array([self.stages["values"].slope, self.uniform_mix]),
            history=np.frombuffer(json.dumps(self.history, allow_nan=False).encode(), dtype=np.uint8),
            **{level: np.log(self.stages[level].multipliers).astype(np.float32) for level in LEVELS[1:]},  # type: ignore[arg-type]
        )
