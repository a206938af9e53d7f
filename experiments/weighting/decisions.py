"""Read and join decisions of :mod:`experiments.weighting.data`, and compute the truth's probability from scores."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import numpy.typing as npt

from darkchess.weighting.enemy_features import FEATURES, features_of
from darkchess.weighting.network import Blocks
from experiments.learning.fit import TrainingError
from experiments.learning.split import TRAIN, part_of
from experiments.weighting.data import ARCHIVE, DRAWN
from klss.support.arrays import Bools, Floats, Ints

_MOST_REPEATS = 4.0
"""How often a decision of a rare label counts in the training, at most."""


@dataclass(frozen=True)
class Decisions:
    """Decisions written by :mod:`experiments.weighting.data`, concatenated."""

    # uint16[n, 1 + DRAWN, 19]: features of the truth and of the other members, padded with a feature that no board has
    rows: npt.NDArray[np.uint16]
    count: Ints  # int64[n]: the number of them, including the truth
    size: Ints  # int64[n]: size of the set
    # float32[n, 1 + DRAWN]: what scores are added to, and logarithms of the number of members that each stands for
    prior: npt.NDArray[np.float32]
    standing: npt.NDArray[np.float32]
    numbers: npt.NDArray[np.float16]  # float16[n, NUMBERS]: the observation's
    part: Ints  # int64[n]: ``experiments.learning.split.TRAIN``, ``VALIDATE`` or ``TEST``
    label: npt.NDArray[np.str_]  # of the match

    def __len__(self) -> int:
        return int(self.size.shape[0])

    def where(self, wanted: Bools) -> Ints:
        """Indices of the decisions that are ``wanted`` (bool[n])."""
        return np.flatnonzero(wanted)


def load(folder: Path, blocks: Blocks) -> Decisions:
    """All shards of ``folder``. Raises TrainingError: there are none, or they have another format or game."""
    paths = sorted(folder.glob("*.npz"))
    if not paths:
        raise TrainingError(f"no shards in {folder}: expected those of python -m experiments.weighting data")
    parts = [_read(path, blocks) for path in paths]
    return Decisions(*(np.concatenate([getattr(each, name.name) for each in parts]) for name in fields(Decisions)))


def _read(path: Path, blocks: Blocks) -> Decisions:
    data, _ = ARCHIVE.load(path, ARCHIVE.read)
    if (count := data["numbers"].shape[1]) != blocks.count:
        raise TrainingError(f"{path}: got decisions of {count} numbers, expected {blocks.count}: those of this game")
    rows, pieces = features_of(data["halves"].reshape(-1, 2))
    rows[np.arange(rows.shape[1]) >= pieces[:, None]] = FEATURES
    return Decisions(
        rows.reshape(-1, 1 + DRAWN, rows.shape[1]),
        data["count"].astype(np.int64),
        data["size"],
        data["prior"],
        data["standing"],
        data["numbers"],
        np.array([part_of(int(game)) for game in data["game"]], dtype=np.int64),
        np.full(len(data["size"]), path.name.partition("-")[0], dtype="U16"),
    )


def repeated(held: Decisions) -> Ints:
    """Indices of the training decisions, those of rare labels several times: by the square root of how rare they are,
    and :data:`_MOST_REPEATS` times at most.
    """
    chosen = held.where(held.part == TRAIN)
    labels, which, counts = np.unique(held.label[chosen], return_inverse=True, return_counts=True)
    if not len(labels):
        return chosen
    times = np.rint(np.minimum(np.sqrt(counts.max() / counts), _MOST_REPEATS)).astype(np.int64)
    return np.repeat(chosen, times[which])


def log_shares(scores: npt.ArrayLike, held: Decisions, chosen: Ints) -> Floats:
    """ln of the truth's probability among all positions of the set, from scores (float[n, 1 + DRAWN], the truth first)
    that are added to the decisions' ``prior``, for the decisions ``chosen`` (int64[n]): float64[n].
    """
    logits = _logits(scores, held, chosen)
    most = logits.max(axis=1)
    return np.asarray(logits[:, 0] - most - np.log(np.exp(logits - most[:, None]).sum(axis=1)))


def likelier(scores: npt.ArrayLike, held: Decisions, chosen: Ints) -> Floats:
    """The probability of all members that are likelier than the truth, arguments as above: float64[n]. Where beliefs
    are true, it is below p at a share p of the decisions, or a little more.
    """
    logits = _logits(scores, held, chosen)
    shares = np.exp(logits - logits.max(axis=1)[:, None])
    each = logits - held.standing[chosen]
    return np.asarray((shares * (each > each[:, :1])).sum(axis=1) / shares.sum(axis=1))


def _logits(scores: npt.ArrayLike, held: Decisions, chosen: Ints) -> Floats:
    """Logarithms, up to a constant, of the probability that each member stands for: float64[n, 1 + DRAWN]."""
    logits = np.asarray(scores, dtype=np.float64) + held.prior[chosen] + held.standing[chosen]
    logits[np.arange(logits.shape[1]) >= held.count[chosen, None]] = -np.inf
    return logits
