"""Read and join decisions of :mod:`experiments.rbc_weighting.data`, and compute the truth's probability from logits:
*nats* are ln of its probability times n, 0 for a uniform belief.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from darkchess.rbc.belief.siamese import FEATURES, board_features
from experiments.learning.fit import TrainingError
from experiments.learning.split import TEST, TRAIN, VALIDATE, part_of
from experiments.rbc_weighting import data as played
from experiments.rbc_weighting.data import DRAWN, FORMAT, KINDS
from klss.support.archive import read_arrays
from klss.support.arrays import Bools, Floats, Ints

__all__ = [
    "JUDGED", "PARTS", "UNUSED", "Decisions", "fitted", "load", "log_shares", "thinned",
]  # fmt: skip

UNUSED = -1
"""The part of decisions that are left out."""

PARTS = {"train": TRAIN, "validate": VALIDATE, "test": TEST}

JUDGED = {VALIDATE: 5_000, TEST: 0}
"""Decisions of each part that are used."""


@dataclass(frozen=True)
class Decisions:
    """Decisions written by :mod:`experiments.rbc_weighting.data`, concatenated."""

    # uint16[n, 1 + DRAWN, 19]: features of the truth and of the drawn members, padded with a feature that no board has
    rows: npt.NDArray[np.uint16]
    count: Ints  # int64[n]: the number of them, including the truth
    size: Ints  # int64[n]: size of the set
    numbers: npt.NDArray[np.float16]  # float16[n, NUMBERS]: the observation's
    part: Ints  # int64[n]: ``experiments.learning.split.TRAIN``, ``VALIDATE`` or ``TEST``; or left out
    game: Ints  # int64[n]: one number per game

    def __len__(self) -> int:
        return int(self.size.shape[0])

    def where(self, wanted: Bools) -> Ints:
        """Indices of the decisions that are ``wanted`` (bool[n])."""
        return np.flatnonzero(wanted)


def load(
    folder: Path, judged: Mapping[int, int] | None = None, most: int | None = None
) -> tuple[Decisions, dict[str, Any]]:
    """All shards of ``folder``, or the first ``most``, and a description of them.

    Of each part in ``judged`` (default :data:`JUDGED`) only the first decisions, up to that number, are kept; its
    others become :data:`UNUSED`. Raises TrainingError: there are none, or they have another format.
    """
    judged = JUDGED if judged is None else judged
    found: dict[Path, Ints] = {}
    seeds, games = set(), 0
    for path in sorted(folder.glob("games-*.npz"))[:most]:
        data = read_arrays(path, names=["about", "game"])
        about = json.loads(bytes(data["about"]).decode())
        if (about["format"], about["kinds"]) != (FORMAT, list(KINDS)):
            raise TrainingError(f"{path}: got format {about['format']} of {about['kinds']}, expected {FORMAT}")
        found[path] = np.array([part_of(int(game) // len(played.SCHEDULE)) for game in data["game"]], dtype=np.int64)
        seeds.add(int(about["seed"]))
        games += about["games"][1] - about["games"][0]
    if not found:
        raise TrainingError(f"no shards in {folder}: expected those of python -m experiments.rbc_weighting data")
    every = np.concatenate(list(found.values()))
    counted = {name: int((every == part).sum()) for name, part in PARTS.items()}
    part = thinned(every, judged)
    held, enemies = _read(list(found), part)
    kinds, numbers = np.unique(enemies, return_counts=True)
    return held, {
        "decisions": len(held),
        "games": games,
        "seeds": sorted(seeds),
        "kinds": {list(KINDS)[kind]: int(number) for kind, number in zip(kinds, numbers, strict=True)},
        "parts": counted,
        "judged": {name: int((part == which).sum()) for name, which in PARTS.items() if which in judged},
    }


def _read(paths: Sequence[Path], part: Ints) -> tuple[Decisions, Ints]:
    """The decisions of shards, whose parts are given by ``part``; and the number of the opponent's kind in each."""
    enemies: list[Ints] = []
    columns: dict[str, list[npt.NDArray[Any]]] = {name: [] for name in Decisions.__dataclass_fields__}
    start = 0
    for path in paths:
        data = read_arrays(path)
        halves, count = data["halves"], data["count"].astype(np.int64)
        mine = part[start : start + count.shape[0]]
        start += count.shape[0]
        rows, pieces = board_features(halves.reshape(-1, 2))
        rows[np.arange(rows.shape[1]) >= pieces[:, None]] = FEATURES
        added: dict[str, npt.NDArray[Any]] = {
            "rows": rows.reshape(-1, 1 + DRAWN, rows.shape[1]), "count": count, "size": data["size"],
            "numbers": data["numbers"], "part": mine, "game": data["game"].astype(np.int64),
        }  # fmt: skip
        for name, column in added.items():
            columns[name].append(column)
        enemies.append(data["enemy"].astype(np.int64))
    return Decisions(**{name: np.concatenate(parts) for name, parts in columns.items()}), np.concatenate(enemies)


def thinned(part: Ints, most: Mapping[int, int]) -> Ints:
    """Parts (int64[n]) in which some parts keep only their first decisions; the others are :data:`UNUSED`.

    The first ones stay the same when more games are played.

    >>> thinned(np.array([0, 0, 1, 1, 1, 2]), {1: 2}).tolist()
    [0, 0, 1, 1, -1, 2]
    """
    kept = part.copy()
    for which, number in most.items():
        kept[np.flatnonzero(part == which)[number:]] = UNUSED
    return kept


def log_shares(scores: npt.ArrayLike, count: Ints, size: Ints) -> Floats:
    """ln of the truth's probability among all ``size`` positions, from logits of it and of the drawn ones: float64[n].

    ``scores`` is float[n, 1 + drawn], the truth first; in row i only the first ``count[i]`` are valid.
    """
    logits = np.array(scores, dtype=np.float64)
    drawn = np.maximum(count - 1, 1)
    logits[:, 1:] += np.log((size - 1) / drawn)[:, None]
    logits[np.arange(logits.shape[1]) >= count[:, None]] = -np.inf
    most = logits.max(axis=1)
    return np.asarray(logits[:, 0] - most - np.log(np.exp(logits - most[:, None]).sum(axis=1)))


def fitted(scores: npt.ArrayLike, count: Ints, size: Ints) -> float:
    """The factor of ``scores`` (float[n, 1 + drawn]) for which, as logits, the truth has the largest likelihood."""
    terms = np.asarray(scores, dtype=np.float64)
    scale = 1 / max(float(terms.std()), 1e-9)

    def loss(factor: Floats) -> float:
        return -float(log_shares(factor[0] * scale * terms, count, size).mean())

    done = minimize(loss, np.full(1, 0.5), method="Nelder-Mead", options={"xatol": 1e-3, "fatol": 1e-6})
    return float(done.x[0] * scale)
