"""The networks that learn weights of positions, and their losses, in JAX; how one set of weights is trained, and what
the towers read. Sources: :mod:`experiments.rbc_weighting.training`.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from darkchess.rbc.belief.siamese import FEATURES, SHARES
from klss.errors import KlssError
from klss.networks.towers import LEAST_SHARE, POINT, UNITS, Float32s
from klss.support.arrays import Ints

__all__ = [
    "Arm", "Inputs", "TrainingError", "boards_of", "convolution_scores", "first_weights", "jax_on_cpu", "softmax_loss",
    "step_of", "tower_scores", "triplet_loss",
]  # fmt: skip


class TrainingError(KlssError, ValueError):
    """There is nothing to train on, or not with this."""


@dataclass(frozen=True)
class Arm:
    """How one set of weights is trained.

    Attributes
    ----------
    name
        Its own.
    model
        ``"map"``, ``"tower"`` (map and tower) or ``"convolution"`` (the paper's pair in small).
    loss
        ``"softmax"`` or ``"triplet"``.
    most
        Possible positions of the decisions that it is trained on.
    members
        Drawn members that a step sees of each decision.
    channels, layers
        Of the observation's convolutions.
    dropout
        Share of the last layer's channels that a step leaves out.
    mirrored
        Share of the steps that see their boards from a to h exchanged.
    rate, decay
        Of Adam.
    batch
        Decisions a step.
    epochs, patience
        At most so many; it stops after so many without gain.
    seed
        Of everything random.
    without
        Kinds of enemies that are left out.
    """

    name: str
    model: str = "tower"
    loss: str = "softmax"
    most: int = 1 << 62
    members: int = 32
    channels: int = 48
    layers: int = 3
    dropout: float = 0.3
    mirrored: float = 0.5
    rate: float = 1e-3
    decay: float = 1e-2
    batch: int = 64
    epochs: int = 12
    patience: int = 3
    seed: int = 0
    without: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Inputs:
    """What a game's towers read.

    Attributes
    ----------
    planes, scalars
        Of an observation.
    features
        Of a board, piece × square and a few others; a row of features is filled up with this number.
    drawn
        Members of each decision beside the truth.
    grids_of
        Observations (float32[n, numbers]) as the tower reads them.
    mirrored_features, mirrored_numbers
        The board with its files exchanged, by what each is taken from.
    """

    planes: int
    scalars: int
    features: int
    drawn: int
    grids_of: Callable[[Float32s], tuple[Float32s, Float32s, Float32s]]
    mirrored_features: Ints
    mirrored_numbers: Ints


EMBEDDED = 32
"""Numbers of the convolutional pair's common space (512 in the paper)."""


def first_weights(arm: Arm, inputs: Inputs) -> dict[str, Float32s]:
    """What training begins with: a belief that is nearly uniform."""
    generator = np.random.default_rng(arm.seed)

    def spread(*shape: int, inputs: float, by: float = 1.0) -> Float32s:
        return (generator.normal(size=shape) * by * math.sqrt(2 / max(inputs, 1))).astype(np.float32)

    def none(*shape: int) -> Float32s:
        return np.zeros(shape, dtype=np.float32)

    width = arm.channels
    if arm.model == "convolution":
        pair = {
            "board": spread(3, 3, 6, width, inputs=9),
            "anchor": spread(3, 3, inputs.planes, width, inputs=3 * inputs.planes),
        }
        pair |= {f"common{i}": spread(3, 3, width, width, inputs=9 * width, by=0.5) for i in range(arm.layers)}
        pair |= {f"common{i}_bias": none(width) for i in range(arm.layers)}
        pair |= {
            "board_bias": none(width),
            "anchor_bias": none(width),
            "scalars": spread(inputs.scalars, width, inputs=80),
        }
        pair |= {"last": spread(width, 4, inputs=width), "dense": spread(256, EMBEDDED, inputs=256)}
        return pair | {"dense_bias": none(EMBEDDED)}
    # A third of the planes, or less, is not 0.
    held = {"conv0": spread(3, 3, inputs.planes, width, inputs=3 * inputs.planes), "conv0_bias": none(8, 8, width)}
    for i in range(1, arm.layers):
        held |= {f"conv{i}": spread(3, 3, width, width, inputs=9 * width, by=0.5), f"conv{i}_bias": none(width)}
    units, size = (UNITS, POINT) if arm.model == "tower" else (0, 0)
    return held | {
        "scalars": spread(inputs.scalars, width, inputs=80),
        "kinds": spread(width, 6, inputs=width, by=0.1),
        "pooled": spread(width, 8, inputs=width),
        "dense": spread(512, 64, inputs=512),
        "others": spread(64, inputs.features - 6 * 64, inputs=64, by=0.1),
        "map_bias": none(inputs.features),
        "shares": none(2 * len(SHARES), 6 * 64),
        "point": spread(64, size, inputs=64, by=0.5),
        "point_bias": none(size),
        "embedding": spread(inputs.features, units, inputs=50),
        "first_bias": none(units),
        "second": spread(units, size, inputs=units, by=0.5),
        "second_bias": none(size),
    }


def _convolved(jax: Any, planes: Any, filters: Any) -> Any:
    layout = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(planes, filters, (1, 1), "SAME", dimension_numbers=layout)


def tower_scores(jax: Any, weights: Mapping[str, Any], seen: Sequence[Any], boards: Any, keep: Any) -> Any:
    """Scores as :class:`klss.networks.towers.Towers` computes them, for JAX: [b, m] from what
    :func:`darkchess.rbc.belief.siamese.grids_of` gives and boards [b, m, FEATURES] of zeros and ones; ``keep`` [b, c]
    multiplies the last layer's channels (dropout).
    """
    jnp, relu = jax.numpy, jax.nn.relu
    planes, scalars, shares = seen
    inner = _convolved(jax, planes, weights["conv0"]) + weights["conv0_bias"]
    inner = relu(inner + (scalars @ weights["scalars"])[:, None, None])
    i = 1
    while f"conv{i}" in weights:
        inner = inner + relu(_convolved(jax, inner, weights[f"conv{i}"]) + weights[f"conv{i}_bias"])
        i += 1
    inner = inner * keep[:, None, None]
    count = inner.shape[0]
    dense = relu((inner @ weights["pooled"]).reshape(count, -1) @ weights["dense"])
    kinds = (inner @ weights["kinds"]).transpose(0, 3, 1, 2).reshape(count, -1)
    terms = jnp.stack([shares, jnp.log(shares + LEAST_SHARE)], axis=2).reshape(count, -1, shares.shape[2])
    kinds = kinds + (terms * weights["shares"]).sum(axis=1)
    logits = jnp.concatenate([kinds, dense @ weights["others"]], axis=1) + weights["map_bias"]
    found = jnp.einsum("bmf,bf->bm", boards, logits)
    if weights["second"].shape[1]:
        point = dense @ weights["point"] + weights["point_bias"]
        units = relu(boards @ weights["embedding"] + weights["first_bias"])
        vectors = units @ weights["second"] + weights["second_bias"]
        found = found - ((vectors - point[:, None]) ** 2).sum(axis=-1)
    return found


def convolution_scores(jax: Any, weights: Mapping[str, Any], seen: Sequence[Any], boards: Any, keep: Any) -> Any:
    """−distance by the paper's pair in small: an encoder each for observations and boards, one network for both."""
    elu = jax.nn.elu
    planes, scalars, _ = seen
    count, members = boards.shape[:2]
    pieces = boards[:, :, : 6 * 64].reshape(count * members, 6, 8, 8).transpose(0, 2, 3, 1)
    encoded = [
        elu(_convolved(jax, planes, weights["anchor"]) + (scalars @ weights["scalars"])[:, None, None]),
        elu(_convolved(jax, pieces, weights["board"]) + weights["board_bias"]),
    ]
    encoded[0] = encoded[0] * keep[:, None, None]
    found = []
    for inner in encoded:
        i = 0
        while f"common{i}" in weights:
            inner = inner + elu(_convolved(jax, inner, weights[f"common{i}"]) + weights[f"common{i}_bias"])
            i += 1
        flat = (inner @ weights["last"]).reshape(inner.shape[0], -1)
        found.append(jax.numpy.tanh(flat @ weights["dense"] + weights["dense_bias"]))
    apart = found[1].reshape(count, members, -1) - found[0][:, None]
    # The root's slope at 0 is infinite.
    return -jax.numpy.sqrt((apart**2).sum(axis=-1) + 1e-6)


SCORES: dict[str, Callable[..., Any]] = {
    "map": tower_scores, "tower": tower_scores, "convolution": convolution_scores,
}  # fmt: skip


def softmax_loss(jax: Any, scores: Any, added: Any) -> Any:
    """−ln of the truth's probability, the mean; ``added`` [b, m] is ln n's correction, −∞ where there is no member."""
    return (jax.nn.logsumexp(scores + added, axis=1) - scores[:, 0]).mean()


def triplet_loss(jax: Any, scores: Any, added: Any) -> Any:
    """max(0, d_p − d_n + 1) with distances −score and the semi-hard negative: the nearest of those farther than the
    truth; where none is, the farthest.
    """
    np_ = jax.numpy
    there = np_.isfinite(added[:, 1:])
    truth, others = -scores[:, :1], -scores[:, 1:]
    beyond = there & (others > truth)
    nearest = np_.where(beyond, others, np_.inf).min(axis=1)
    farthest = np_.where(there, others, -np_.inf).max(axis=1)
    negative = np_.where(beyond.any(axis=1), nearest, farthest)
    return jax.nn.relu(truth[:, 0] - negative + 1).mean()


LOSSES: dict[str, Callable[..., Any]] = {"softmax": softmax_loss, "triplet": triplet_loss}


def boards_of(rows: npt.NDArray[np.uint16], features: int = FEATURES) -> Float32s:
    """Zeros and ones of boards: float32[b, m, features] from features uint16[b, m, w]."""
    flat = rows.reshape(-1, rows.shape[-1])
    out = np.zeros((flat.shape[0], features + 1), dtype=np.float32)
    out[np.arange(flat.shape[0])[:, None], flat] = 1
    return out[:, :features].reshape(*rows.shape[:-1], features)


@functools.cache
def step_of(model: str, loss_name: str, decay: float) -> Callable[..., Any]:
    """One step of Adam with decoupled decay, and of the weights' slow average, compiled."""

    jax = jax_on_cpu()

    def loss(weights: Any, seen: Any, boards: Any, added: Any, keep: Any) -> Any:
        return LOSSES[loss_name](jax, SCORES[model](jax, weights, seen, boards, keep), added)

    def step(weights: Any, mean: Any, square: Any, slow: Any, count: Any, rate: Any, *batch: Any) -> Any:
        value, gradient = jax.value_and_grad(loss)(weights, *batch)
        mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradient)
        square = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g * g, square, gradient)

        def moved(w: Any, m: Any, s: Any) -> Any:
            towards = m / (1 - 0.9**count) / (jax.numpy.sqrt(s / (1 - 0.999**count)) + 1e-8)
            return w - rate * (towards + decay * w)

        weights = jax.tree.map(moved, weights, mean, square)
        share = jax.numpy.minimum(0.995, count / (count + 20))
        slow = jax.tree.map(lambda s, w: share * s + (1 - share) * w, slow, weights)
        return weights, mean, square, slow, value

    return jax.jit(step)  # type: ignore[no-any-return]


def jax_on_cpu() -> Any:
    """JAX, on one thread: a second one is slower here, and the machine's other work goes on."""
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
    try:
        import jax
    except ImportError:
        raise TrainingError(
            "training takes JAX; expected it: .venv/bin/pip install -c constraints.txt -e '.[belief]' in a clone"
        ) from None
    return jax
