"""How the arms of :mod:`experiments.rbc_weighting.learning` are trained, and what their scores say.

The negatives of the softmax are drawn from n − 1 others: ln((n − 1)/drawn) is added to their logits, so that the
probabilities are those over the whole set, and so are the *nats*: ln of the truth's probability times n, 0 for a
uniform belief.

Training stops when the validating games' loss has not fallen for a while and keeps the best epoch's weights;
the temperature is fitted on the same games. After each epoch a checkpoint is written, from which a stopped run goes on
to the same weights.

Sources: F. Schroff et al. 2015 (semi-hard negatives); D. Kingma, J. Ba 2015 (Adam), I. Loshchilov, F. Hutter 2019 (its
decay).

Needs the extra ``belief`` (JAX, on the CPU: 85 MB to download where torch's Linux package brings CUDA).
"""

from __future__ import annotations

import dataclasses
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from experiments.rbc_weighting.data import TRAIN, VALIDATE
from experiments.rbc_weighting.networks import (
    Arm,
    Inputs,
    TrainingError,
    boards_of,
    convolution_scores,
    first_weights,
    jax_on_cpu,
    step_of,
)
from klss.networks.towers import Float32s, Towers
from klss.support.archive import read_arrays
from klss.support.arrays import Bools, Floats, Ints
from klss.support.whole_file import written_whole

__all__ = ["Decisions", "fitted", "log_shares", "rank_fractions", "scores_on", "train"]


# ------------------------------------------------------------------------------------------------------- the decisions
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
        int64[n]: :data:`~experiments.rbc_weighting.data.TRAIN`, ``VALIDATE`` or ``TEST``; or left out.
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


def fitted(terms: Sequence[npt.ArrayLike], count: Ints, size: Ints) -> list[float]:
    """The factors of ``terms`` (each float[n, 1 + drawn]) whose sum as logits gives the truth the most."""
    stacked = np.stack([np.asarray(term, dtype=np.float64) for term in terms])
    # Each starts at a scale of its own: a triplet's distances are not a softmax's logits.
    scale = np.array([1 / max(float(term.std()), 1e-9) for term in stacked])

    def loss(factors: Floats) -> float:
        return -float(log_shares(np.tensordot(factors * scale, stacked, 1), count, size).mean())

    done = minimize(loss, np.full(len(terms), 0.5), method="Nelder-Mead", options={"xatol": 1e-3, "fatol": 1e-6})
    return [float(factor) for factor in done.x * scale]


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


def scores_on(
    jax: Any, arm: Arm, weights: Mapping[str, Any], held: Decisions, chosen: Ints, inputs: Inputs
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
    arm: Arm, held: Decisions, folder: Path, inputs: Inputs, tell: Callable[[str], None] = lambda text: None
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
