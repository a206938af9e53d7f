"""Decisions of :mod:`experiments.rbc_weighting.data`, read and joined, and how likely logits make their truth: *nats*
are ln of its probability times n, 0 for a uniform belief.
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

from darkchess.board.kernels.halves import decode_halves
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.rbc.belief.siamese import FEATURES, board_features
from experiments.learning.fit import TrainingError
from experiments.learning.split import TEST, TRAIN, VALIDATE, part_of
from experiments.rbc_weighting import data as played
from experiments.rbc_weighting.data import DRAWN, FORMAT, KINDS
from klss.networks.towers import Float32s
from klss.support.archive import read_arrays
from klss.support.arrays import Bools, Floats, Ints, Words

__all__ = [
    "JUDGED", "PARTS", "UNUSED", "Decisions", "fitted", "load", "log_shares", "positions", "rank_fractions", "thinned",
]  # fmt: skip

UNUSED = -1
"""The part of decisions that are left out."""

PARTS = {"train": TRAIN, "validate": VALIDATE, "test": TEST}

JUDGED = {VALIDATE: 5_000, TEST: 20_000}
"""Decisions of each part that are valued and looked at."""


@dataclass(frozen=True)
class Decisions:
    """What :mod:`experiments.rbc_weighting.data` wrote, one after the other.

    Attributes
    ----------
    rows
        uint16[n, 1 + DRAWN, 19]: features of the truth and of the drawn members, filled up with one that no board
        has.
    count
        int64[n]: how many of them there are, the truth included.
    size
        int64[n]: positions possible.
    values
        float32[n, 1 + DRAWN]: what they are worth to the viewer, in [−1, 1].
    numbers
        float16[n, NUMBERS]: the observation's.
    part
        int64[n]: :data:`~experiments.learning.split.TRAIN`, ``VALIDATE`` or ``TEST``; or left out.
    enemy
        [n]: whose moves are guessed, by configuration.
    game
        int64[n]: one number a game.
    """

    rows: npt.NDArray[np.uint16]
    count: Ints
    size: Ints
    values: Float32s
    numbers: npt.NDArray[np.float16]
    part: Ints
    enemy: npt.NDArray[np.str_]
    game: Ints

    def __len__(self) -> int:
        return int(self.size.shape[0])

    def where(self, wanted: Bools) -> Ints:
        """Indices of those for which ``wanted`` (bool[n])."""
        return np.flatnonzero(wanted)


def load(
    folder: Path, judged: Mapping[int, int] | None = None, most: int | None = None
) -> tuple[Decisions, dict[str, Any]]:
    """All shards of ``folder``, or the first ``most``, and what to say of them.

    Of each part in ``judged`` (default :data:`JUDGED`) the first so many decisions are kept and valued; the others
    of it become :data:`UNUSED`. Values of all else are 0.

    Raises
    ------
    TrainingError
        There are none, or of another format.
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
    held = _read(list(found), part, tuple(judged))
    kinds, numbers = np.unique(held.enemy, return_counts=True)
    return held, {
        "decisions": len(held),
        "games": games,
        "seeds": sorted(seeds),
        "kinds": dict(zip(kinds.tolist(), numbers.tolist(), strict=True)),
        "parts": counted,
        "judged": {name: int((part == which).sum()) for name, which in PARTS.items() if which in judged},
    }


def _read(paths: Sequence[Path], part: Ints, valued: Sequence[int]) -> Decisions:
    """The decisions of shards, of which it is known what part each belongs to."""
    evaluator = BuiltinEvaluator()
    columns: dict[str, list[npt.NDArray[Any]]] = {name: [] for name in Decisions.__dataclass_fields__}
    start = 0
    for path in paths:
        data = read_arrays(path)
        halves, count, own = data["halves"], data["count"].astype(np.int64), data["own"]
        mine = part[start : start + count.shape[0]]
        start += count.shape[0]
        rows, pieces = board_features(halves.reshape(-1, 2))
        rows[np.arange(rows.shape[1]) >= pieces[:, None]] = FEATURES
        values = np.zeros(halves.shape[:2], dtype=np.float32)
        for i in np.flatnonzero(np.isin(mine, valued)):
            values[i, : count[i]] = evaluator.values(positions(halves[i, : count[i]], own[i]))
        added = {
            "rows": rows.reshape(-1, 1 + DRAWN, rows.shape[1]), "count": count, "size": data["size"],
            "values": values, "numbers": data["numbers"], "part": mine,
            "enemy": np.array(list(KINDS))[data["enemy"]], "game": data["game"].astype(np.int64),
        }  # fmt: skip
        for name, column in added.items():
            columns[name].append(column)
    return Decisions(**{name: np.concatenate(parts) for name, parts in columns.items()})


def thinned(part: Ints, most: Mapping[int, int]) -> Ints:
    """Parts (int64[n]) with the first so many of some of them; the others are :data:`UNUSED`.

    What is first stays so when more games are played.

    >>> thinned(np.array([0, 0, 1, 1, 1, 2]), {1: 2}).tolist()
    [0, 0, 1, 1, -1, 2]
    """
    kept = part.copy()
    for which, number in most.items():
        kept[np.flatnonzero(part == which)[number:]] = UNUSED
    return kept


def positions(halves: Words, own: Words) -> Words:
    """Full positions (uint64[n, 9]) of halves (uint64[n, 2]), the viewer as White; nothing is taken in passing."""
    codes = halves[:, 1]
    unlike = codes ^ np.uint64(0x7777777777777777)
    unlike |= unlike >> np.uint64(1)
    unlike |= unlike >> np.uint64(2)
    plain = np.stack([halves[:, 0], codes ^ (~unlike & np.uint64(0x1111111111111111)) * np.uint64(7)], axis=1)
    out = np.empty((halves.shape[0], 9), dtype=np.uint64)
    nobody = np.uint64(0)
    decode_halves(plain, np.arange(halves.shape[0]), own, False, nobody, nobody, out)
    return out


def log_shares(scores: npt.ArrayLike, count: Ints, size: Ints) -> Floats:
    """ln of the truth's probability among all ``size`` positions, from logits of it and of the drawn: float64[n].

    ``scores`` is float[n, 1 + drawn], the truth first; of row i the first ``count[i]`` count.
    """
    logits = np.array(scores, dtype=np.float64)
    drawn = np.maximum(count - 1, 1)
    logits[:, 1:] += np.log((size - 1) / drawn)[:, None]
    logits[np.arange(logits.shape[1]) >= count[:, None]] = -np.inf
    most = logits.max(axis=1)
    return np.asarray(logits[:, 0] - most - np.log(np.exp(logits - most[:, None]).sum(axis=1)))


def rank_fractions(scores: npt.ArrayLike, count: Ints) -> Floats:
    """Which share of the drawn members has a higher score than the truth, equal ones counted half: float64[n]."""
    found = np.asarray(scores, dtype=np.float64)
    valid = np.arange(found.shape[1]) < count[:, None]
    valid[:, 0] = False
    above = ((found > found[:, :1]) & valid).sum(axis=1) + ((found == found[:, :1]) & valid).sum(axis=1) / 2
    return np.asarray(above / np.maximum(count - 1, 1))


def fitted(terms: Sequence[npt.ArrayLike], count: Ints, size: Ints) -> list[float]:
    """The factors of ``terms`` (each float[n, 1 + drawn]) whose sum as logits gives the truth the most."""
    stacked = np.stack([np.asarray(term, dtype=np.float64) for term in terms])
    # Each starts at a scale of its own: a triplet's distances are not a softmax's logits.
    scale = np.array([1 / max(float(term.std()), 1e-9) for term in stacked])

    def loss(factors: Floats) -> float:
        return -float(log_shares(np.tensordot(factors * scale, stacked, 1), count, size).mean())

    done = minimize(loss, np.full(len(terms), 0.5), method="Nelder-Mead", options={"xatol": 1e-3, "fatol": 1e-6})
    return [float(factor) for factor in done.x * scale]
