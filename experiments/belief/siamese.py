"""Train the Siamese of :mod:`darkchess.fog.belief.siamese`: ``python -m experiments.belief siamese DATA --out RUN``
takes the shards of :mod:`experiments.belief.data` and writes weights for each arm, and ``results/belief_siamese.json``
with what each is worth on games that no arm has seen.

Arms
    ``map``             the logit map alone, softmax over truth and drawn members
    ``tower``           map and tower, softmax: what is packaged
    ``tower-triplet``   map and tower, the paper's triplets with semi-hard negatives
    ``convolution``     the paper's pair of convolutional networks in small, its triplets, sets of up to 5,000 only

and beside them, without any training, ``value``: exp(−β·u), u the position's value, β fitted on the validating games;
and each arm times it, both exponents fitted there.

The negatives of the softmax are drawn from n − 1 others: ln((n − 1)/drawn) is added to their logits, so that the
probabilities are those over the whole set, and so are the *nats*: ln of the truth's probability times n, 0 for a
uniform belief.

Training stops when the validating games' loss has not fallen for a while and keeps the best epoch's weights;
the temperature is fitted on the same games. The test games are looked at once, at the end. After each epoch a
checkpoint is written, from which a stopped run goes on to the same weights.

Sources: the Siamese networks of Reconnaissance Blind Chess (map, softmax and sizes are ours); F. Schroff et al. 2015
(semi-hard negatives); D. Kingma, J. Ba 2015 (Adam), I. Loshchilov, F. Hutter 2019 (its decay).

Needs the extra ``belief`` (JAX, on the CPU: 85 MB to download where torch's Linux package brings CUDA).
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from darkchess.fog.belief.siamese import BLOCKS, FEATURES, NUMBERS, PLANES, board_features, grids_of
from experiments.belief.data import DRAWN, FORMAT, TEST, TRAIN, VALIDATE, kind_of, part_of
from experiments.belief.networks import (
    Arm,
    Inputs,
    TrainingError,
    boards_of,
    convolution_scores,
    first_weights,
    jax_on_cpu,
    step_of,
)
from experiments.series.runner import RESULTS, positive
from klss.networks.towers import Float32s, Towers
from klss.support.archive import ArchiveError, read_arrays
from klss.support.arrays import Bools, Floats, Ints
from klss.support.whole_file import written_whole
from klss_app.progress import ProgressLine
from uci_bridge.match.documents import commit, head, write_document

__all__ = [
    "ARMS",
    "FOG",
    "Decisions",
    "fitted",
    "load",
    "log_shares",
    "main",
    "measures",
    "rank_fractions",
    "scores_on",
    "train",
]

PADDING = FEATURES
"""Feature of which no board has one: it fills up rows."""

CONVOLUTION_MOST = 5_000
"""Positions in the sets that the convolutional pair is trained on and measured on."""


# ------------------------------------------------------------------------------------------------------- the decisions
@dataclass(frozen=True)
class Decisions:
    """What :mod:`experiments.belief.data` wrote, one after the other.

    Attributes
    ----------
    rows
        uint16[n, 1 + DRAWN, 18]: features of the truth and of the drawn members, filled up with :data:`PADDING`.
    count
        int64[n]: how many of them there are, the truth included.
    size
        int64[n]: positions possible.
    values
        float32[n, 1 + DRAWN]: what they are worth to the viewer, in [−1, 1].
    numbers
        float16[n, NUMBERS]: the observation's.
    part
        int64[n]: :data:`TRAIN`, :data:`VALIDATE` or :data:`TEST`.
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


def load(folder: Path) -> tuple[Decisions, list[dict[str, Any]]]:
    """All shards of ``folder``, and what each match says of itself.

    Raises
    ------
    TrainingError
        There are none, or of another format.
    """
    held: dict[str, list[npt.NDArray[Any]]] = {name: [] for name in Decisions.__dataclass_fields__}
    matches: dict[str, dict[str, Any]] = {}
    games = 0
    for path in sorted(folder.glob("*.npz")):
        data = read_arrays(path)
        about = json.loads(bytes(data["about"]).decode())
        if about["format"] != FORMAT:
            raise TrainingError(f"{path}: got format {about['format']}, expected {FORMAT}; make it anew")
        match = matches.setdefault(about["match"], {**about, "games": 0})
        match["games"] += len(about["games"])
        count = data["count"].astype(np.int64)
        rows, pieces = board_features(data["halves"].reshape(-1, 2))
        rows[np.arange(rows.shape[1]) >= pieces[:, None]] = PADDING
        held["rows"].append(rows.reshape(-1, 1 + DRAWN, rows.shape[1]))
        held["count"].append(count)
        held["size"].append(data["size"])
        held["values"].append(data["values"].astype(np.float32))
        held["numbers"].append(data["numbers"])
        held["part"].append(np.array([part_of(int(pair)) for pair in data["pair"]], dtype=np.int64))
        kinds = np.array([kind_of(name) for name in about["players"]])
        held["enemy"].append(kinds[data["enemy"]])
        held["game"].append(games + data["game"].astype(np.int64))
        games += 1_000_000
    if not matches:
        raise TrainingError(f"no shards in {folder}: expected those of python -m experiments.belief data")
    whole = Decisions(**{name: np.concatenate(parts) for name, parts in held.items()})
    for match in matches.values():
        match.pop("format")
    return whole, list(matches.values())


# ------------------------------------------------------------------------------------------------- measures of a belief
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


def measures(scores: npt.ArrayLike, count: Ints, size: Ints, game: Ints) -> dict[str, dict[str, float]]:
    """Of logits on decisions, for sets of at least 2, 20 and 100: mean nats over uniform with its standard error over
    games, median rank fraction of the truth, how often it is in the top tenth.
    """
    nats = log_shares(scores, count, size) + np.log(size)
    ranks = rank_fractions(scores, count)
    found = {}
    for least in (2, 20, 100):
        chosen = size >= least
        if not chosen.any():
            continue
        _, which = np.unique(game[chosen], return_inverse=True)
        mean = float(nats[chosen].mean())
        off = np.bincount(which, weights=nats[chosen] - mean)
        found[f"n>={least}"] = {
            "decisions": int(chosen.sum()),
            "games": int(which.max()) + 1,
            "nats": round(mean, 4),
            "standard_error": round(float(np.sqrt((off**2).sum()) / chosen.sum()), 4),
            "median_rank_fraction": round(float(np.median(ranks[chosen])), 4),
            "top_tenth": round(float(np.mean(ranks[chosen] < 0.1)), 4),
        }
    return found


def fitted(terms: Sequence[npt.ArrayLike], count: Ints, size: Ints) -> list[float]:
    """The factors of ``terms`` (each float[n, 1 + drawn]) whose sum as logits gives the truth the most."""
    stacked = np.stack([np.asarray(term, dtype=np.float64) for term in terms])
    # Each starts at a scale of its own: a triplet's distances are not a softmax's logits.
    scale = np.array([1 / max(float(term.std()), 1e-9) for term in stacked])

    def loss(factors: Floats) -> float:
        return -float(log_shares(np.tensordot(factors * scale, stacked, 1), count, size).mean())

    done = minimize(loss, np.full(len(terms), 0.5), method="Nelder-Mead", options={"xatol": 1e-3, "fatol": 1e-6})
    return [float(factor) for factor in done.x * scale]


# ------------------------------------------------------------------------------------------------------------ the arms
ARMS = {
    "map": Arm("map", model="map"),
    "tower": Arm("tower"),
    "tower-triplet": Arm("tower-triplet", loss="triplet"),
    "convolution": Arm(
        "convolution", model="convolution", loss="triplet", most=CONVOLUTION_MOST, members=3, channels=16, epochs=2,
        mirrored=0.0,
    ),
}  # fmt: skip


def _batch(held: Decisions, chosen: Ints, arm: Arm, inputs: Inputs, generator: np.random.Generator) -> tuple[Any, ...]:
    """Numbers, boards, corrections and dropout of one step."""
    drawn = held.count[chosen] - 1
    keys = generator.random((chosen.shape[0], inputs.drawn))
    keys[np.arange(inputs.drawn) >= drawn[:, None]] = 2
    members = np.argsort(keys, axis=1)[:, : arm.members] + 1
    members = np.concatenate([np.zeros((chosen.shape[0], 1), dtype=np.int64), members], axis=1)
    some = np.minimum(drawn, arm.members)
    added = np.zeros(members.shape, dtype=np.float32)
    added[:, 1:] = np.log((held.size[chosen] - 1) / some)[:, None]
    added[np.arange(members.shape[1]) > some[:, None]] = -np.inf
    boards = boards_of(held.rows[chosen[:, None], members], inputs.features)
    numbers = held.numbers[chosen].astype(np.float32)
    if generator.random() < arm.mirrored:
        boards, numbers = boards[:, :, inputs.mirrored_features], numbers[:, inputs.mirrored_numbers]
    keep = (generator.random((chosen.shape[0], arm.channels)) >= arm.dropout).astype(np.float32) / (1 - arm.dropout)
    return inputs.grids_of(numbers), boards, added, keep


def _mirrored() -> tuple[Ints, Ints]:
    """The board with its files exchanged: features and numbers, by what they are taken from."""
    features = np.arange(FEATURES)
    features[: 6 * 64] ^= 7
    features[6 * 64 :] ^= 1
    numbers = np.arange(NUMBERS) ^ 7  # each block begins at a multiple of 64
    start = BLOCKS["scalars"].start
    numbers[start:] = [*range(start, start + 6), start + 7, start + 6]
    return features, numbers


MIRRORED_FEATURES, MIRRORED_NUMBERS = _mirrored()

FOG = Inputs(PLANES, 8, FEATURES, DRAWN, grids_of, MIRRORED_FEATURES, MIRRORED_NUMBERS)
"""Fog of War's."""


def scores_on(
    jax: Any, arm: Arm, weights: Mapping[str, Any], held: Decisions, chosen: Ints, inputs: Inputs = FOG
) -> Float32s:
    """Scores of the truth and of all drawn members, by the inference that play uses: float32[n, 1 + DRAWN]. Of the
    convolutional pair, which nobody plays with, by JAX.
    """
    out = np.zeros((chosen.shape[0], 1 + inputs.drawn), dtype=np.float32)
    if arm.model == "convolution":
        program = jax.jit(lambda *arguments: convolution_scores(jax, weights, *arguments))
        keep = np.ones((arm.batch, arm.channels), dtype=np.float32)
        for start in range(0, len(chosen), arm.batch):
            some = np.resize(chosen[start : start + arm.batch], arm.batch)
            found = program(
                inputs.grids_of(held.numbers[some].astype(np.float32)),
                boards_of(held.rows[some], inputs.features),
                keep,
            )
            out[start : start + arm.batch] = np.asarray(found)[: len(chosen) - start]
        return out
    towers = Towers({name: np.asarray(array) for name, array in weights.items()}, 1.0, {})
    for i, index in enumerate(chosen):
        rows = held.rows[index, : held.count[index]]
        seen = inputs.grids_of(held.numbers[index : index + 1].astype(np.float32))
        shown = towers.observe(*(part[0] for part in seen))
        towers.score(rows, (rows != inputs.features).sum(axis=1), shown, out[i, : rows.shape[0]])
    return out


def train(
    arm: Arm, held: Decisions, folder: Path, tell: Callable[[str], None] = lambda text: None, inputs: Inputs = FOG
) -> tuple[dict[str, Float32s], dict[str, Any]]:
    """Train an arm, from its checkpoint in ``folder`` if there is one.

    Returns
    -------
    tuple
        The best epoch's weights, and what to say of them: ``temperature``, ``epochs`` (columns epoch, the loss of
        training, the validating games' nats at their best temperature, seconds), ``stopped_after``.

    Raises
    ------
    TrainingError
        JAX is not installed, or no game is left to train on or to validate with.
    """
    jax = jax_on_cpu()
    wanted = ~np.isin(held.enemy, arm.without) & (held.size <= arm.most)
    chosen = held.where((held.part == TRAIN) & wanted)
    judged = held.where((held.part == VALIDATE) & wanted)
    if not len(chosen) or not len(judged):
        raise TrainingError(f"{arm.name}: got {len(chosen)} decisions to train on and {len(judged)} to validate with")
    # How long it trains is not part of what it is: a training may be prolonged.
    identity = json.dumps(
        dataclasses.asdict(dataclasses.replace(arm, epochs=0, patience=0)) | {"decisions": [len(chosen), len(judged)]}
    )
    path = folder / f"{arm.name}.checkpoint.npz"
    weights = first_weights(arm, inputs)
    mean = {name: np.zeros_like(array) for name, array in weights.items()}
    square = {name: np.zeros_like(array) for name, array in weights.items()}
    slow, best = dict(weights), dict(weights)
    epochs: list[list[float]] = []
    steps = 0
    if (kept := _checkpoint(path, identity)) is not None:
        (weights, mean, square, slow, best), epochs, steps = kept
    step = step_of(arm.model, arm.loss, arm.decay)
    per_epoch = math.ceil(len(chosen) / arm.batch)
    while len(epochs) < arm.epochs and not _stopped(epochs, arm.patience):
        begin = time.perf_counter()
        generator = np.random.default_rng([arm.seed, len(epochs)])
        order, losses = generator.permutation(chosen), []
        # Steps of one size, so that one program serves; what is left over comes in another epoch.
        for number in range(max(1, len(order) // arm.batch)):
            steps += 1
            some = order[number * arm.batch : (number + 1) * arm.batch]
            rate = np.float32(arm.rate * min(1.0, steps / 100) * 0.5 ** (max(0, len(epochs) - 2) / 2))
            batch = _batch(held, some, arm, inputs, generator)
            weights, mean, square, slow, loss = step(weights, mean, square, slow, np.float32(steps), rate, *batch)
            losses.append(loss)
            if number % 20 == 0:
                tell(f"{arm.name}, epoch {len(epochs) + 1}, step {number} of {per_epoch}, loss {float(loss):.3f}")
        scores = scores_on(jax, arm, slow, held, judged, inputs)
        factor = fitted([scores], held.count[judged], held.size[judged])[0]
        nats = log_shares(factor * scores, held.count[judged], held.size[judged]) + np.log(held.size[judged])
        if not epochs or nats.mean() > max(row[2] for row in epochs):
            best = {name: np.asarray(array) for name, array in slow.items()}
        took = time.perf_counter() - begin
        epochs.append([len(epochs) + 1, float(np.mean(losses)), float(nats.mean()), round(took, 1)])
        _keep_checkpoint(path, identity, (weights, mean, square, slow, best), epochs, steps)
        tell(f"{arm.name}, epoch {len(epochs)}: {nats.mean():.3f} nats on the validating games")
    factor = fitted([scores_on(jax, arm, best, held, judged, inputs)], held.count[judged], held.size[judged])[0]
    return best, {
        "temperature": 1 / max(factor, 1e-6),
        "best_epoch": max(epochs, key=lambda row: row[2])[0],
        "epochs": {"columns": ["epoch", "loss", "validation_nats", "seconds"], "rows": epochs},
        "decisions": [len(chosen), len(judged)],
        "games": len(np.unique(held.game[chosen])),
    }


def _stopped(epochs: Sequence[Sequence[float]], patience: int) -> bool:
    """Whether the last ``patience`` epochs brought nothing."""
    nats = [row[2] for row in epochs]
    return len(nats) > patience and max(nats[-patience:]) <= max(nats[:-patience])


def _keep_checkpoint(path: Path, identity: str, trees: Sequence[Mapping[str, Any]], epochs: Any, steps: int) -> None:
    about = json.dumps({"identity": identity, "epochs": epochs, "steps": steps})
    arrays = {f"{i}/{name}": np.asarray(array) for i, tree in enumerate(trees) for name, array in tree.items()}
    with written_whole(path) as file:
        np.savez(file, about=np.frombuffer(about.encode(), dtype=np.uint8), **arrays)  # type: ignore[arg-type]


def _checkpoint(path: Path, identity: str) -> tuple[Any, Any, int] | None:
    """What a checkpoint holds; None where there is none of this training."""
    if not path.exists():
        return None
    data = read_arrays(path)
    about = json.loads(bytes(data.pop("about")).decode())
    if about["identity"] != identity:
        return None
    trees: list[dict[str, Any]] = [{} for _ in range(5)]
    for key, array in data.items():
        number, _, name = key.partition("/")
        trees[int(number)][name] = array
    return trees, about["epochs"], about["steps"]


# ----------------------------------------------------------------------------------------------------- the whole of it
SHOWN = "tower"
"""The arm whose weights are packaged."""


def without(kind: str) -> Arm:
    """:data:`SHOWN`, trained on games of other enemies only."""
    return dataclasses.replace(ARMS[SHOWN], name=f"{SHOWN}-without-{kind}", without=(kind,))


class _Judge:
    """Measures logits on the test games, with factors fitted on the validating ones."""

    def __init__(self, held: Decisions, most: int) -> None:
        self._held = held
        self.validating = held.where((held.part == VALIDATE) & (held.size <= most))
        self.testing = held.where((held.part == TEST) & (held.size <= most))

    def calibrated(self, validating: Sequence[Floats], testing: Sequence[Floats]) -> dict[str, Any]:
        """Of the sum of terms (each on the validating and on the test decisions), each times its fitted factor."""
        held, judged = self._held, self.validating
        factors = fitted(validating, held.count[judged], held.size[judged])
        logits = sum(factor * term for factor, term in zip(factors, testing, strict=True))
        return {"factors": [round(factor, 4) for factor in factors], "test": self.measured(np.asarray(logits))}

    def measured(self, logits: Floats, chosen: Bools | None = None) -> dict[str, Any]:
        """:func:`measures` on the test decisions, or on some of them."""
        held, judged = self._held, self.testing
        if chosen is not None:
            logits, judged = logits[chosen], judged[chosen]
        return measures(logits, held.count[judged], held.size[judged], held.game[judged])


def _judged(
    jax: Any, arm: Arm, weights: Mapping[str, Any], about: Mapping[str, Any], held: Decisions
) -> dict[str, Any]:
    """What an arm is worth on the test games: as it is, calibrated, and times exp(−β·value)."""
    judge = _Judge(held, arm.most)
    validating = scores_on(jax, arm, weights, held, judge.validating).astype(np.float64)
    testing = scores_on(jax, arm, weights, held, judge.testing).astype(np.float64)
    values = [-held.values[judge.validating].astype(np.float64), -held.values[judge.testing].astype(np.float64)]
    calibrated = testing / about["temperature"]
    enemies = held.enemy[judge.testing]
    return {
        "uncalibrated": judge.measured(testing),
        "calibrated": judge.measured(calibrated),
        "with_value": judge.calibrated([validating, values[0]], [testing, values[1]]),
        "value_alone": judge.calibrated([values[0]], [values[1]]),
        "by_enemy": {str(kind): judge.measured(calibrated, enemies == kind) for kind in sorted(set(enemies))},
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, judge and write; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.belief siamese", description="train the Siamese, and say what each arm is worth"
    )
    parser.add_argument("data", type=Path, metavar="DATA", help="shards of python -m experiments.belief data")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where checkpoints and weights go")
    parser.add_argument("--arms", nargs="+", choices=[*ARMS, "without"], default=[*ARMS, "without"], metavar="ARM")
    parser.add_argument("--epochs", type=positive, metavar="N", help="at most (default: the arm's)")
    parser.add_argument("--package", type=Path, metavar="FILE", help=f"write {SHOWN}'s weights there")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="DIR", help="where belief_siamese.json goes")
    parsed = parser.parse_args(arguments)
    try:
        held, matches = load(parsed.data)
        parsed.out.mkdir(parents=True, exist_ok=True)
        arms = [ARMS[name] for name in parsed.arms if name != "without"]
        if "without" in parsed.arms:
            arms += [without(kind) for kind in sorted(set(held.enemy)) if len(set(held.enemy)) > 1]
        if parsed.epochs is not None:
            arms = [dataclasses.replace(arm, epochs=parsed.epochs) for arm in arms]
        found = {arm.name: _trained(arm, held, matches, parsed.out) for arm in arms}
        if parsed.package is not None:
            parsed.package.parent.mkdir(parents=True, exist_ok=True)
            parsed.package.write_bytes((parsed.out / f"{SHOWN}.npz").read_bytes())
    except (OSError, TrainingError, ArchiveError) as error:
        print(error, file=sys.stderr)
        return 1
    document = {
        **head("belief_siamese", "numpy", "numba", "jax"),
        "matches": matches,
        "decisions": {"train": int((held.part == TRAIN).sum()), "validate": int((held.part == VALIDATE).sum()),
                      "test": int((held.part == TEST).sum())},
        "games": {name: len(np.unique(held.game[held.part == part]))
                  for name, part in (("train", TRAIN), ("validate", VALIDATE), ("test", TEST))},
        "arms": found,
    }  # fmt: skip
    write_document(parsed.results / "belief_siamese.json", document)
    for name, arm in found.items():
        print(f"{name}: {arm['test']['calibrated']}")
    return 0


def _trained(arm: Arm, held: Decisions, matches: Sequence[Mapping[str, Any]], folder: Path) -> dict[str, Any]:
    """Train an arm, write its weights with their history, and judge it; from ``folder`` where that is done."""
    report = folder / f"{arm.name}.json"
    identity = json.loads(json.dumps(dataclasses.asdict(arm) | {"all_decisions": len(held)}))
    if report.exists() and (kept := json.loads(report.read_text(encoding="utf-8")))["configuration"] == identity:
        return dict(kept)
    with closing(ProgressLine("belief_siamese")) as line:
        weights, about = train(arm, held, folder, line.tell)
        if arm.model != "convolution":
            history = {"arm": dataclasses.asdict(arm), "commit": commit(), "matches": list(matches), **about}
            with open(folder / f"{arm.name}.npz", "wb") as file:
                Towers(weights, about["temperature"], history).write(file)
        line.tell(f"{arm.name}, judged on the test games")
        found = {"configuration": identity, **about, "test": _judged(jax_on_cpu(), arm, weights, about, held)}
    write_document(report, found)
    return found
