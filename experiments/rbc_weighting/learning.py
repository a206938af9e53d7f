"""What is trained to weigh positions as :mod:`darkchess.rbc.belief.siamese` does, and on which decisions.

Arms
    ``map``             the logit map alone, softmax over truth and drawn members: what is packaged
    ``small``           the same on the first :data:`SMALL` decisions, as all others are
    ``tower``           map and tower, softmax
    ``tower-triplet``   map and tower, the paper's triplets with semi-hard negatives
    ``convolution``     the paper's pair of convolutional networks in small, its triplets, sets of up to 5,000 only
    ``without-KIND``    ``small`` without the decisions of one kind of opponent, whom it is then measured on

Needs the extra ``belief`` (JAX).
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from darkchess.board.kernels.halves import decode_halves
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.rbc.belief.siamese import BLOCKS, FEATURES, NUMBERS, PLANES, SHAPES, board_features, grids_of
from experiments.rbc_weighting.data import DRAWN, FORMAT, KINDS, TEST, TRAIN, VALIDATE, part_of
from experiments.rbc_weighting.networks import Arm, Inputs, TrainingError
from experiments.rbc_weighting.training import Decisions
from klss.support.archive import read_arrays
from klss.support.arrays import Ints, Words

__all__ = ["ARMS", "INPUTS", "JUDGED", "PARTS", "SHOWN", "SMALL", "UNUSED", "load", "positions", "thinned", "without"]

UNUSED = -1
"""The part of decisions that are left out."""

PARTS = {"train": TRAIN, "validate": VALIDATE, "test": TEST}

JUDGED = {VALIDATE: 5_000, TEST: 20_000}
"""Decisions of each part that are valued and looked at."""

SHOWN = "map"
"""The arm whose weights are packaged."""

CONVOLUTION_MOST = 5_000
"""Positions in the sets that the convolutional pair is trained on and measured on."""

_PAIR: dict[str, Any] = {"channels": 32, "layers": 3, "members": 31}

ARMS = {
    "map": Arm("map", model="map", epochs=4, patience=2, **_PAIR),
    "small": Arm("small", model="map", epochs=3, patience=2, **_PAIR),
    "tower": Arm("tower", epochs=3, patience=2, **_PAIR),
    "tower-triplet": Arm("tower-triplet", loss="triplet", epochs=3, patience=2, **_PAIR),
    "convolution": Arm(
        "convolution", model="convolution", loss="triplet", most=CONVOLUTION_MOST, members=3, channels=16, epochs=2,
        mirrored=0.0,
    ),
}  # fmt: skip

SMALL = 60_000
"""Decisions that the arms that are only compared are trained on."""


def without(kind: str) -> Arm:
    """``small``, trained on games against other kinds only."""
    return dataclasses.replace(ARMS["small"], name=f"without-{kind}", without=(kind,))


def _mirrored() -> tuple[Ints, Ints]:
    """The board with its files exchanged: features and numbers, by what they are taken from."""
    features = np.arange(FEATURES)
    features[: 6 * 64] ^= 7
    features[6 * 64 : 6 * 64 + 2] ^= 1
    features[6 * 64 + 2 :] = features[: 6 * 64 + 1 : -1]
    start = BLOCKS["scalars"].start
    numbers = np.arange(NUMBERS)
    numbers[:start] ^= 7  # each block begins at a multiple of 64
    numbers[-2:] = numbers[:-3:-1]
    return features, numbers


INPUTS = Inputs(PLANES, SHAPES[1][0], FEATURES, DRAWN, grids_of, *_mirrored())
"""Reconnaissance Blind Chess's."""


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
        found[path] = np.array([part_of(int(game)) for game in data["game"]], dtype=np.int64)
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
