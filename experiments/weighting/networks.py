"""The network of :class:`klss.networks.towers.Towers` in training, in JAX, with its loss.

To each score the logarithm of the filter's weight is added, as in play, and the logarithm of the number of members that
the drawn one stands for, so that the probabilities of the softmax are those over the whole set.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from darkchess.weighting.enemy_features import FEATURES, SQUARES
from darkchess.weighting.network import Blocks
from experiments.learning.fit import adam_step, averaged, jax_on_cpu
from klss.networks.towers import LEAST_SHARE
from klss.support.arrays import Float32s


@dataclass(frozen=True)
class Settings:
    """The settings of training."""

    # of the observation's convolutions
    channels: int = 32
    layers: int = 3
    dropout: float = 0.3  # share of the last layer's channels that a step leaves out
    mirrored: float = 0.5  # share of the steps in which the boards' files are mirrored
    # of Adam
    rate: float = 1e-3
    decay: float = 1e-2
    batch: int = 128  # decisions per step
    # most epochs; epochs without a gain after which it stops
    epochs: int = 4
    patience: int = 2
    seed: int = 0  # of everything random


def first_weights(settings: Settings, blocks: Blocks) -> dict[str, Float32s]:
    """The weights at the start of training: a nearly uniform belief."""
    generator = np.random.default_rng(settings.seed)

    def spread(*shape: int, inputs: float, by: float = 1.0) -> Float32s:
        return (generator.normal(size=shape) * by * math.sqrt(2 / max(inputs, 1))).astype(np.float32)

    def none(*shape: int) -> Float32s:
        return np.zeros(shape, dtype=np.float32)

    width, (_, (scalars,), (shared, _)) = settings.channels, blocks.shapes
    # At most a third of the input planes is not 0.
    held = {"conv0": spread(3, 3, blocks.planes, width, inputs=3 * blocks.planes), "conv0_bias": none(8, 8, width)}
    for i in range(1, settings.layers):
        held |= {f"conv{i}": spread(3, 3, width, width, inputs=9 * width, by=0.5), f"conv{i}_bias": none(width)}
    return held | {
        "scalars": spread(scalars, width, inputs=80),
        "kinds": spread(width, 6, inputs=width, by=0.1),
        "pooled": spread(width, 8, inputs=width),
        "dense": spread(512, 64, inputs=512),
        "others": spread(64, FEATURES - SQUARES, inputs=64, by=0.1),
        "map_bias": none(FEATURES),
        "shares": none(2 * shared, SQUARES),
    }


def _convolved(jax: Any, planes: Any, filters: Any) -> Any:
    layout = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(planes, filters, (1, 1), "SAME", dimension_numbers=layout)


def scores(jax: Any, weights: Mapping[str, Any], seen: Sequence[Any], rows: Any, keep: Any) -> Any:
    """The scores of :class:`klss.networks.towers.Towers` in JAX: [b, m], from the output of
    :meth:`darkchess.weighting.network.Blocks.grids` and the features of boards, int32[b, m, w], padded with FEATURES;
    ``keep`` [b, c] multiplies the last layer's channels (dropout).
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
    logits = jnp.pad(logits, ((0, 0), (0, 1)))  # the padding's feature counts 0
    return jnp.take_along_axis(logits, rows.reshape(count, -1), axis=1).reshape(rows.shape).sum(axis=2)


@functools.cache
def step_of(decay: float) -> Callable[..., Any]:
    """A compiled step of Adam, and of the weights' slow average."""
    jax = jax_on_cpu()

    def loss(weights: Any, seen: Any, rows: Any, added: Any, keep: Any) -> Any:
        # −ln of the truth's probability; ``added`` has the two logarithms, −∞ for empty places.
        found = scores(jax, weights, seen, rows, keep) + added
        return (jax.nn.logsumexp(found, axis=1) - found[:, 0]).mean()

    def step(trees: Mapping[str, Any], count: Any, rate: Any, *batch: Any) -> tuple[dict[str, Any], Any]:
        value, gradient = jax.value_and_grad(loss)(trees["weights"], *batch)
        weights, mean, square = adam_step(
            trees["weights"], gradient, trees["mean"], trees["square"], count, rate, decay
        )
        slow = averaged(trees["slow"], weights, jax.numpy.minimum(0.995, count / (count + 20)))
        return {"weights": weights, "mean": mean, "square": square, "slow": slow}, value

    return jax.jit(step)  # type: ignore[no-any-return]
