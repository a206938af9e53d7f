"""Train the weights of :mod:`darkchess.weighting.network`, by a softmax over the truth and other members.

Training stops when the validating games' nats have not risen for a while, and keeps the best epoch's weights. *Nats*
are ln of the truth's probability times n, 0 for a uniform belief. After each epoch a checkpoint is written, from which
a stopped run continues to the same weights.

Needs the extra ``belief`` (JAX, on the CPU: 85 MB to download where torch's Linux package brings CUDA).
"""

from __future__ import annotations

import dataclasses
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from darkchess.weighting.enemy_features import FEATURES, SQUARES
from darkchess.weighting.network import Blocks
from experiments.learning import checkpoints
from experiments.learning.fit import WARM_STEPS, TrainingError
from experiments.learning.split import TEST, VALIDATE
from experiments.weighting.data import DRAWN
from experiments.weighting.decisions import Decisions, likelier, log_shares, repeated
from experiments.weighting.networks import Settings, first_weights, step_of
from klss.networks.towers import Towers, Uint16s
from klss.support.arrays import Float32s, Floats, Ints

NAME = "map"
"""Name of the weights, in their files and in results."""
WEIGH = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Shares of all weight at which reliability is told."""


def _mirrored_features() -> Uint16s:
    features = np.arange(FEATURES + 1)  # the last one pads
    features[:SQUARES] ^= 7
    features[SQUARES : SQUARES + 2] ^= 1
    features[SQUARES + 2 : -1] = features[-2 : SQUARES + 1 : -1]
    return features.astype(np.uint16)


MIRRORED_FEATURES = _mirrored_features()
"""For each feature of the mirrored board (files exchanged) the index of its source."""


@cache
def mirrored_numbers(blocks: Blocks) -> Ints:
    """For each number of the mirrored board the index of its source."""
    numbers = np.arange(blocks.count)
    numbers[: blocks["scalars"].start] ^= 7  # each block begins at a multiple of 64
    numbers[-2:] = numbers[:-3:-1]
    return numbers


def _batch(
    held: Decisions, chosen: Ints, blocks: Blocks, settings: Settings, generator: np.random.Generator
) -> tuple[Any, ...]:
    """The grids of the observations, the boards' features, what is added to their scores, and dropout, of one step."""
    added = held.prior[chosen] + held.standing[chosen]
    added[np.arange(added.shape[1]) >= held.count[chosen, None]] = -np.inf
    rows, numbers = held.rows[chosen], held.numbers[chosen].astype(np.float32)
    if generator.random() < settings.mirrored:
        rows, numbers = MIRRORED_FEATURES[rows], numbers[:, mirrored_numbers(blocks)]
    keep = (generator.random((chosen.shape[0], settings.channels)) >= settings.dropout).astype(np.float32) / (
        1 - settings.dropout
    )
    return blocks.grids(numbers), rows.astype(np.int32), added, keep


def scores_on(weights: Mapping[str, Any], blocks: Blocks, held: Decisions, chosen: Ints) -> Float32s:
    """Scores of the truth and of all drawn members, by the same inference as in play: float32[n, 1 + DRAWN]."""
    out = np.zeros((chosen.shape[0], 1 + DRAWN), dtype=np.float32)
    towers = Towers({name: np.asarray(array) for name, array in weights.items()}, 1.0, {})
    for i, index in enumerate(chosen):
        rows = held.rows[index, : held.count[index]]
        seen = blocks.grids(held.numbers[index : index + 1].astype(np.float32))
        shown = towers.observe(*(part[0] for part in seen))
        towers.score(rows, (rows != FEATURES).sum(axis=1), shown, out[i, : rows.shape[0]])
    return out


def train(
    settings: Settings, blocks: Blocks, held: Decisions, folder: Path, tell: Callable[[str], None] = lambda text: None
) -> tuple[dict[str, Float32s], dict[str, Any]]:
    """Train, from the checkpoint in ``folder`` if there is one. Return the best epoch's weights, and their description:
    ``epochs`` (columns epoch, the loss of training, the validating games' nats, seconds) and ``tested``
    (:func:`tested`).

    Raises TrainingError: JAX is not installed, or there is no game to train on or to validate with.
    """
    chosen, judged = repeated(held), held.where(held.part == VALIDATE)
    if not len(chosen) or not len(judged):
        raise TrainingError(f"got {len(chosen)} decisions to train on and {len(judged)} to validate with")
    # The length of a training is not part of its identity, so that it may be prolonged.
    lasting = dataclasses.asdict(dataclasses.replace(settings, epochs=0, patience=0))
    identity = json.loads(json.dumps(lasting | {"decisions": [len(chosen), len(judged)]}))
    # The state: the beginning, or a checkpoint of the same training. ``slow`` is the running mean of the weights, which
    # is judged and kept.
    path = folder / f"{NAME}.checkpoint.npz"
    first = first_weights(settings, blocks)
    none = {name: np.zeros_like(array) for name, array in first.items()}
    trees: Mapping[str, Mapping[str, Any]] = {"weights": first, "mean": none, "square": none, "slow": first}
    best: Mapping[str, Any] = first
    epochs: list[list[float]] = []
    steps = 0
    if path.exists():
        kept, about = checkpoints.kept(path)
        if about["identity"] == identity:
            best, trees, epochs, steps = kept.pop("best"), kept, about["epochs"], about["steps"]
    step = step_of(settings.decay)
    per_epoch = math.ceil(len(chosen) / settings.batch)
    while len(epochs) < settings.epochs and not _stopped(epochs, settings.patience):
        begin = time.perf_counter()
        generator = np.random.default_rng([settings.seed, len(epochs)])
        order, losses = generator.permutation(chosen), []
        # Steps of one size, so that one compiled program is enough; the rest comes in another epoch.
        for number in range(max(1, len(order) // settings.batch)):
            steps += 1
            some = order[number * settings.batch : (number + 1) * settings.batch]
            rate = np.float32(settings.rate * min(1.0, steps / WARM_STEPS) * 0.5 ** len(epochs))
            trees, loss = step(trees, np.float32(steps), rate, *_batch(held, some, blocks, settings, generator))
            losses.append(loss)
            if number % 20 == 0:
                tell(f"{NAME}, epoch {len(epochs) + 1}, step {number} of {per_epoch}, loss {float(loss):.3f}")
        # The validating games decide which epoch's weights are kept.
        nats = _nats(scores_on(trees["slow"], blocks, held, judged), held, judged)
        if not epochs or nats.mean() > max(row[2] for row in epochs):
            best = {name: np.asarray(array) for name, array in trees["slow"].items()}
        took = time.perf_counter() - begin
        epochs.append([len(epochs) + 1, float(np.mean(losses)), float(nats.mean()), round(took, 1)])
        checkpoints.keep(path, {**trees, "best": best}, {"identity": identity, "epochs": epochs, "steps": steps})
        tell(f"{NAME}, epoch {len(epochs)}: {nats.mean():.3f} nats on the validating games")
    return dict(best), {
        "best_epoch": max(epochs, key=lambda row: row[2])[0],
        "epochs": {"columns": ["epoch", "loss", "validation_nats", "seconds"], "rows": epochs},
        "tested": tested(best, blocks, held),
        "decisions": [len(chosen), len(judged)],
    }


def tested(weights: Mapping[str, Any], blocks: Blocks, held: Decisions) -> dict[str, Any]:
    """What the weights are worth on the test games, by label. ``rows``: decisions, the nats of what scores are added
    to, the learned ones, and the standard error of the difference, as if decisions were independent. ``reliability``:
    at how many decisions the truth is among the likeliest members that weigh each of :data:`WEIGH`, without and with
    the scores.
    """
    rows, reliability = [], []
    for label in np.unique(held.label):
        chosen = held.where((held.part == TEST) & (held.label == label))
        if len(chosen):
            none, scores = np.zeros(held.prior[chosen].shape), scores_on(weights, blocks, held, chosen)
            before, after = _nats(none, held, chosen), _nats(scores, held, chosen)
            for name, each in (("filter", none), ("learned", scores)):
                above = likelier(each, held, chosen)
                reliability.append([str(label), name, *(round(float((above < share).mean()), 3) for share in WEIGH)])
            gain = after - before
            error = float(gain.std() / math.sqrt(len(chosen)))
            rows.append([str(label), len(chosen), *(round(float(x), 3) for x in (before.mean(), after.mean(), error))])
    return {
        "columns": ["label", "decisions", "filter", "learned", "error"],
        "rows": rows,
        "reliability": {"columns": ["label", "belief", *map(str, WEIGH)], "rows": reliability},
    }


def _nats(scores: Any, held: Decisions, chosen: Ints) -> Floats:
    return np.asarray(log_shares(scores, held, chosen) + np.log(held.size[chosen]))


def _stopped(epochs: Sequence[Sequence[float]], patience: int) -> bool:
    """Whether the last ``patience`` epochs brought no gain."""
    nats = [row[2] for row in epochs]
    return len(nats) > patience and max(nats[-patience:]) <= max(nats[:-patience])
