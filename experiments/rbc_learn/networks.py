"""The network of :mod:`klss.networks.residual` in training, in JAX: its forward pass, its losses, and the folding of
batch norm into the network for play.

Each convolution of 3 × 3 has a *scale* beside its bias, and *statistics* (mean and variance of each channel), as in
batch norm; a step uses the statistics of its batch, play their slow average. A headset in training has two further
heads on the dense layer of its value: whether it wins or loses *soon*, and the numbers of *pieces* of each kind on the
true board, a softmax over the possible numbers of each.

Losses, summed with the weights of :data:`SHARES`

policy
    −ln of the choice's probability: a softmax over the legal actions, summed over those of the same choice. So a sense
    is learned as a partition of the set, and it does not matter which of the equal windows is taken. With targets, the
    cross entropy over choices.
value
    (value − result)².
soon
    Two logistic losses.
pieces
    −ln of the true number's probability, the mean over the kinds.

Deviations from the paper (G. Clark 2021): there the heads for the near end have dense layers of their own, and pieces
are counted by 216 planes whose meaning it does not describe; here Adam instead of plain gradient descent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from darkchess.rbc.synoptic.synopsis import ACTIONS, PLANES
from experiments.rbc_learn.data import PIECES, Decisions
from klss.networks.residual import DENSE, ResidualNetwork, headset_shapes, trunk_shapes
from klss.support.arrays import Float32s, Ints, Words

CELLS, KINDS = 64, 65
EPSILON = 1e-5
"""Added to each variance, so that no division is by 0."""

SHARES = {"policy": 1.0, "value": 0.1, "soon": 0.25, "pieces": 0.25}
"""Weights of the losses. All decisions of a game have one result, so a large weight of ``value`` overfits to the games:
on held-out games a weight of 1 made value and policy worse (docs/dsmcp.md).
"""

NUMBERS = (9, 4, 4, 4, 4, 0)
"""Numbers of pawns, knights, bishops, rooks, queens that are distinguished (3 is 3 or more); a king always exists."""
_ALL_NUMBERS = 2 * sum(NUMBERS)

Arrays = dict[str, Float32s]


@dataclass(frozen=True, eq=False)
class Batch:
    """A batch of decisions for a step."""

    synopses: npt.NDArray[np.uint8]  # uint8[b, PLANES, 8]: bit x of byte y
    legal: npt.NDArray[np.int32]  # int32[b, l]: legal actions, filled up with −1
    choices: npt.NDArray[np.int32]  # int32[b, l]: the choice of each action
    targets: Float32s  # float32[b, l]: of each choice
    result: Float32s  # float32[b]
    soon: Float32s  # float32[b, 2]: 1 where it wins, or loses, soon
    pieces: npt.NDArray[np.int32]  # int32[b, PIECES]


def batch_of(held: Decisions, rows: Ints) -> Batch:
    """The decisions ``rows`` (int64[b]) of ``held``. Lists of actions are padded to a power of two, at least 64, so
    that few compiled programs are enough for all batches.
    """
    counts = held.legal_starts[rows + 1] - held.legal_starts[rows]
    width = max(64, 1 << (int(counts.max()) - 1).bit_length())
    there = np.arange(width) < counts[:, None]
    at = np.where(there, held.legal_starts[rows][:, None] + np.arange(width), 0)
    legal = np.where(there, held.legal[at].astype(np.int32), -1)
    lines = np.broadcast_to(np.arange(len(rows))[:, None], legal.shape)
    targets = np.zeros(legal.shape, dtype=np.float32)
    if held.targets is None:
        flags = np.zeros((len(rows), ACTIONS), dtype=bool)
        starts, ends = held.chosen_starts[rows], held.chosen_starts[rows + 1]
        which = np.repeat(np.arange(len(rows)), ends - starts)
        inside = np.arange(len(which)) - np.repeat(np.cumsum(ends - starts) - (ends - starts), ends - starts)
        flags[which, held.chosen[starts[which] + inside]] = True
        # All actions that were not chosen form another choice, with target 0.
        choices = np.where(flags[lines, legal] & there, 0, 1).astype(np.int32)
        targets[:, 0] = 1
    else:
        choices = np.broadcast_to(np.arange(width, dtype=np.int32), legal.shape)
        if held.choices is not None:
            choices = held.choices[at].astype(np.int32)
        np.add.at(targets, (lines[there], choices[there]), held.targets[at[there]])
    soon = held.soon[rows]
    return Batch(
        bytes_of(held.synopses[rows]),
        legal,
        choices,
        targets,
        held.result[rows].astype(np.float32),
        np.stack([soon > 0, soon < 0], axis=1).astype(np.float32),
        held.pieces[rows].astype(np.int32),
    )


def bytes_of(synopses: Words) -> npt.NDArray[np.uint8]:
    """Synopses (uint64[b, PLANES]) in the form of :class:`Batch`."""
    return np.ascontiguousarray(synopses).astype("<u8").view(np.uint8).reshape(len(synopses), PLANES, 8)


def first_trunk(channels: int, blocks: int, seed: int) -> Arrays:
    """An untrained trunk: random filters, each with a scale of 1 and a bias of 0."""
    return _first(trunk_shapes(PLANES, channels, blocks), [seed, 0])


def first_heads(channels: int, number: int, seed: int) -> Arrays:
    """The same for the headset with this number."""
    shapes = headset_shapes(channels, CELLS, KINDS)
    shapes |= {"soon": (DENSE, 2), "soon_bias": (2,), "pieces": (DENSE, _ALL_NUMBERS), "pieces_bias": (_ALL_NUMBERS,)}
    held = _first(shapes, [seed, 1, number])
    # The last layers begin small, for a nearly uniform policy and values near 0.
    return {name: array * 0.1 if name in ("policy", "pass", "value") else array for name, array in held.items()}


def _first(shapes: Mapping[str, tuple[int, ...]], seed: list[int]) -> Arrays:
    generator = np.random.default_rng(seed)
    held = {}
    for name, shape in shapes.items():
        if name.endswith("_bias"):
            held[name] = np.zeros(shape, dtype=np.float32)
            continue
        inputs = math.prod(shape[:-1]) if len(shape) > 1 else shape[0]
        held[name] = (generator.normal(size=shape) * math.sqrt(2 / inputs)).astype(np.float32)
        if len(shape) == 4:
            # The second convolution of a block begins with a small scale, so that the block adds little at first.
            held[f"{name}_scale"] = np.full(shape[-1], 0.5 if name.endswith("b") else 1.0, dtype=np.float32)
    return held


def first_statistics(weights: Mapping[str, Float32s]) -> Arrays:
    """Means of 0 and variances of 1, of every convolution of ``weights``."""
    found = {}
    for name, array in weights.items():
        if array.ndim == 4:
            found[f"{name}_mean"] = np.zeros(array.shape[-1], dtype=np.float32)
            found[f"{name}_variance"] = np.ones(array.shape[-1], dtype=np.float32)
    return found


def normed(jax: Any, weights: Any, statistics: Any, name: str, planes: Any) -> tuple[Any, dict[str, Any]]:
    """A convolution and its batch norm: the planes, and the statistics of this batch. It is by those that it norms
    where ``statistics`` is None.
    """
    layout = ("NHWC", "HWIO", "NHWC")
    found = jax.lax.conv_general_dilated(planes, weights[name], (1, 1), "SAME", dimension_numbers=layout)
    mean = found.mean(axis=(0, 1, 2))
    its = {f"{name}_mean": mean, f"{name}_variance": ((found - mean) ** 2).mean(axis=(0, 1, 2))}
    by = its if statistics is None else statistics
    scale = weights[f"{name}_scale"] / jax.numpy.sqrt(by[f"{name}_variance"] + EPSILON)
    return (found - by[f"{name}_mean"]) * scale + weights[f"{name}_bias"], its


def outputs(
    jax: Any, trunk: Any, heads: Any, synopses: Any, statistics: tuple[Any, Any] | None, stop: bool = False
) -> tuple[dict[str, Any], tuple[dict[str, Any], dict[str, Any]]]:
    """The outputs of a network with this headset: ``logits`` [b, ACTIONS], ``value`` [b], ``soon`` [b, 2] and
    ``pieces`` [b, ·], all logits but the value; and this batch's statistics of the trunk's and the headset's
    convolutions.

    With ``stop`` no gradient goes from the heads into the trunk.
    """
    jnp, relu = jax.numpy, jax.nn.relu
    of_trunk, of_heads = (None, None) if statistics is None else statistics
    used: tuple[dict[str, Any], dict[str, Any]] = ({}, {})

    def layer(part: int, name: str, planes: Any) -> Any:
        weights, known = (trunk, of_trunk) if part == 0 else (heads, of_heads)
        found, its = normed(jax, weights, known, name, planes)
        used[part].update(its)
        return found

    def dense(name: str, planes: Any) -> Any:
        read = relu(planes @ heads[f"{name}_planes"] + heads[f"{name}_planes_bias"])
        return relu(read.reshape(read.shape[0], -1) @ heads[f"{name}_dense"] + heads[f"{name}_dense_bias"])

    bits = (synopses[..., None] >> jnp.arange(8, dtype=jnp.uint8)) & 1
    inner = relu(layer(0, "conv0", bits.transpose(0, 2, 3, 1).astype(jnp.float32)))
    i = 0
    while f"block{i}a" in trunk:
        inner = relu(inner + layer(0, f"block{i}b", relu(layer(0, f"block{i}a", inner))))
        i += 1
    if stop:
        inner = jax.lax.stop_gradient(inner)
    units = dense("value", inner)
    inner = relu(inner + layer(1, "policy_b", relu(layer(1, "policy_a", inner))))
    policy = (inner @ heads["policy"] + heads["policy_bias"]).reshape(inner.shape[0], -1)
    passed = dense("pass", inner) @ heads["pass"] + heads["pass_bias"]
    return {
        "logits": jnp.concatenate([policy, passed[:, None]], axis=1),
        "value": jnp.tanh(units @ heads["value"] + heads["value_bias"]),
        "soon": units @ heads["soon"] + heads["soon_bias"],
        "pieces": units @ heads["pieces"] + heads["pieces_bias"],
    }, used


def choice_logs(jax: Any, logits: Any, legal: Any, choices: Any) -> Any:
    """ln of each choice's probability: [b, l] from ``logits`` [b, actions], a softmax over the legal actions whose
    probabilities are summed over each choice's; −∞ where there is no such choice.
    """
    jnp = jax.numpy
    there = legal >= 0
    found = jnp.where(there, jnp.take_along_axis(logits, jnp.maximum(legal, 0), axis=1), -jnp.inf)
    rows = jnp.arange(found.shape[0])[:, None]
    # Subtract each choice's largest logit first, so that the sum of an unlikely choice does not underflow to 0.
    nothing = jnp.full(found.shape, -jnp.inf)
    most = jax.lax.stop_gradient(nothing.at[rows, choices].max(found))
    finite = jnp.where(jnp.isfinite(most), most, 0.0)
    shares = jnp.where(there, jnp.exp(jnp.where(there, found, 0.0) - finite[rows, choices]), 0.0)
    sums = jnp.zeros(found.shape).at[rows, choices].add(shares)
    known = sums > 0
    logs = jnp.where(known, jnp.log(jnp.where(known, sums, 1.0)) + finite, -jnp.inf)
    return logs - jax.nn.logsumexp(logs, axis=1, keepdims=True)


def piece_logs(jax: Any, logits: Any, pieces: Any) -> Any:
    """ln of the true numbers' probabilities, the mean over the kinds: [b]."""
    total, count, at = 0.0, 0, 0
    for piece in range(PIECES):
        size = NUMBERS[piece % len(NUMBERS)]
        if not size:
            continue
        logs = jax.nn.log_softmax(logits[:, at : at + size], axis=1)
        true = jax.numpy.minimum(pieces[:, piece], size - 1)
        total = total + jax.numpy.take_along_axis(logs, true[:, None], axis=1)[:, 0]
        count, at = count + 1, at + size
    return total / count


def losses(jax: Any, said: Mapping[str, Any], batch: Any) -> dict[str, Any]:
    """Each loss of a batch (a dictionary of :class:`Batch`'s arrays), the mean over its decisions."""
    jnp = jax.numpy
    logs = choice_logs(jax, said["logits"], batch["legal"], batch["choices"])
    aimed = batch["targets"] > 0
    policy = -jnp.where(aimed, batch["targets"] * jnp.where(aimed, logs, 0.0), 0.0).sum(axis=1)
    soon = jax.nn.softplus(said["soon"]) - batch["soon"] * said["soon"]
    return {
        "policy": policy.mean(),
        "value": ((said["value"] - batch["result"]) ** 2).mean(),
        "soon": soon.sum(axis=1).mean(),
        "pieces": -piece_logs(jax, said["pieces"], batch["pieces"]).mean(),
    }


def folded(weights: Mapping[str, npt.ArrayLike], statistics: Mapping[str, npt.ArrayLike]) -> Arrays:
    """Weights of a part for play: each batch norm folded into its convolution, without the heads used only to train."""
    held = {name: np.asarray(array, dtype=np.float64) for name, array in weights.items()}
    found = {name: array for name, array in held.items() if not name.endswith("_scale")}
    for name in [name for name, array in held.items() if array.ndim == 4]:
        mean = np.asarray(statistics[f"{name}_mean"], dtype=np.float64)
        variance = np.asarray(statistics[f"{name}_variance"], dtype=np.float64)
        scale = held[f"{name}_scale"] / np.sqrt(variance + EPSILON)
        found[name] = held[name] * scale
        found[f"{name}_bias"] = held[f"{name}_bias"] - mean * scale
    return {name: array.astype(np.float32) for name, array in found.items() if not name.startswith(("soon", "pieces"))}


def network_of(
    trunk: tuple[Mapping[str, npt.ArrayLike], Mapping[str, npt.ArrayLike]],
    heads: Mapping[str, tuple[Mapping[str, npt.ArrayLike], Mapping[str, npt.ArrayLike]]],
    history: Mapping[str, Any],
) -> ResidualNetwork:
    """The network for play, from weights and statistics of the trunk and of each headset."""
    arrays = folded(*trunk)
    for headset, part in heads.items():
        arrays |= {f"{headset}/{name}": array for name, array in folded(*part).items()}
    return ResidualNetwork(arrays, (8, 8), history)
