"""The network of ``dsmcp`` (:mod:`darkchess.rbc.synoptic.networks`) in training, in JAX.

A batch goes through the trunk once and through both headsets: ``all`` learns from every decision, ``top`` from those of
strong players; play takes the value of the first and the policy of the second. Each convolution of 3 × 3
has a *scale* beside its bias, as in batch norm; a step uses the statistics of its batch, play those of one large batch
under the trained weights. A headset in training has two further heads on the dense layer of its value: whether it
wins or loses *soon*, and the numbers of *pieces* of each kind on the true board, a softmax over the possible numbers of
each.

Losses, summed with the weights of :data:`SHARES`

policy
    −ln of the choice's probability: a softmax over the legal actions, summed over those of the same choice. So a sense
    is learned as a partition of the set, and it does not matter which of the equal windows is taken. With several
    targets, the cross entropy over choices.
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
from pathlib import Path
from typing import Any

import numpy as np

from darkchess.rbc.synoptic.synopsis import PLANES
from experiments.learn.blind import PIECES
from experiments.learn.export import DENSE, headset_shapes, layers, trunk_shapes, write_network
from experiments.learn.shards import TEST, TRAIN, Arrays, where
from experiments.learn.trainer import Study, convolved, jax, spread
from klss.support.arrays import Float32s, Ints

EPSILON = 1e-5
"""Added to each variance, so that no division is by 0."""

SHARES = {"policy": 1.0, "value": 0.1, "soon": 0.25, "pieces": 0.25}
"""Weights of the losses. All decisions of a game have one result, so a large weight of ``value`` overfits to the games:
on held-out games a weight of 1 made value and policy worse (docs/dsmcp.md).
"""

HEADSETS = ("all", "top")

NUMBERS = (9, 4, 4, 4, 4, 0)
"""Numbers of pawns, knights, bishops, rooks, queens that are distinguished (3 is 3 or more); a king always exists."""

_STATISTICS = 1024
"""Decisions by which the statistics for play are taken."""


@dataclass(frozen=True, eq=False)
class Planning(Study):
    """What is learned; see the module."""

    held: Arrays  # decisions (:data:`experiments.learn.blind.PLANNED`)
    # of the trunk
    channels: int = 32
    blocks: int = 3
    batch: int = 64

    def first(self, seed: int) -> dict[str, Any]:
        """An untrained network, by part: the trunk, and each headset."""
        all_numbers = 2 * sum(NUMBERS)
        heads = headset_shapes(self.channels)
        heads |= {"soon": (DENSE, 2), "soon_bias": (2,), "pieces": (DENSE, all_numbers), "pieces_bias": (all_numbers,)}
        parts = {"trunk": _first(trunk_shapes(PLANES, self.channels, self.blocks), [seed, 0])}
        for number, headset in enumerate(HEADSETS):
            part = _first(heads, [seed, 1, number])
            # The last layers begin small, for a nearly uniform policy and values near 0.
            parts[headset] = {
                name: array * np.float32(0.1) if name in ("policy", "pass", "value") else array
                for name, array in part.items()
            }
        return parts

    def batch_of(self, some: Ints) -> dict[str, Any]:
        """Decisions as the losses take them. Lists of actions get the length of a power of two, so that few compiled
        programs are enough for all batches; synopses are uint8[b, PLANES, 8]: bit x of byte y.
        """
        found = {name: self.held[name][some] for name in ("synopses", "legal", "choices", "targets", "strong")}
        width = max(64, 1 << (int((found["legal"] >= 0).sum(axis=1).max()) - 1).bit_length())
        for name, kind in (("legal", np.int32), ("choices", np.int32), ("targets", np.float32)):
            found[name] = found[name][:, :width].astype(kind)
        found["synopses"] = found["synopses"].astype("<u8").view(np.uint8).reshape(len(some), PLANES, 8)
        soon = self.held["soon"][some]
        return found | {
            "result": self.held["result"][some].astype(np.float32),
            "soon": np.stack([soon > 0, soon < 0], axis=1).astype(np.float32),
            "pieces": self.held["pieces"][some].astype(np.int32),
        }

    def loss(self, weights: Any, batch: Any) -> Any:
        """The losses of both headsets, each on the decisions of its players."""
        total = 0.0
        said, _ = outputs(weights, batch["synopses"])
        for headset, chosen in (("all", 1.0), ("top", batch["strong"])):
            found = losses(said[headset], batch)
            total = total + (chosen * sum(share * found[name] for name, share in SHARES.items())).mean()
        return total

    def tested(self, weights: Any) -> dict[str, Any]:
        """Figures of the headset ``all`` on the test games: decisions, the mean losses, and that of the uniform
        policy.
        """

        @jax.jit
        def program(weights: Any, batch: Any) -> Any:
            said = outputs(weights, batch["synopses"])[0]["all"]
            even = policy_loss(0 * said["logits"], batch)
            return {**losses(said, batch), "uniform": even}

        found = [program(weights, batch) for batch in self.batches(TEST)]
        figures = {name: float(np.concatenate([each[name] for each in found]).mean()) for name in (found or [{}])[0]}
        return {"decisions": len(found) * self.batch} | {name: round(figure, 4) for name, figure in figures.items()}

    def write(self, weights: Any, path: Path, history: Mapping[str, Any]) -> None:
        write_network(path, self.for_play(weights), history)

    def for_play(self, weights: Any) -> dict[str, Float32s]:
        """The arrays that :mod:`experiments.learn.export` takes; without decisions, of untrained weights."""
        statistics: dict[str, Any] = {
            part: {name: (0.0, 1.0) for name, array in held.items() if array.ndim == 4}
            for part, held in weights.items()
        }
        if self.held:
            rows = np.random.default_rng(0).permutation(where(self.held, TRAIN))[:_STATISTICS]
            _, statistics = jax.jit(outputs)(weights, self.batch_of(rows)["synopses"])
        arrays: dict[str, Float32s] = {}
        for part, held in weights.items():
            prefix = "" if part == "trunk" else f"{part}/"
            arrays |= {f"{prefix}{name}": array for name, array in folded(held, statistics[part]).items()}
        return arrays


def _first(shapes: Mapping[str, tuple[int, ...]], seed: list[int]) -> dict[str, Float32s]:
    """Random filters, each with a scale of 1 and a bias of 0."""
    generator = np.random.default_rng(seed)
    held = {}
    for name, shape in shapes.items():
        if name.endswith("_bias"):
            held[name] = np.zeros(shape, dtype=np.float32)
            continue
        inputs = math.prod(shape[:-1]) if len(shape) > 1 else shape[0]
        held[name] = spread(generator, *shape, inputs=inputs)
        if len(shape) == 4:
            # The second convolution of a block begins with a small scale, so that the block adds little at first.
            held[f"{name}_scale"] = np.full(shape[-1], 0.5 if name.endswith("b") else 1.0, dtype=np.float32)
    return held


def outputs(weights: Any, synopses: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The outputs of each headset: ``logits`` [b, ACTIONS], ``value`` [b], ``soon`` [b, 2] and ``pieces`` [b, ·], all
    logits but the value; and the mean and variance of each convolution's channels, by part and name.
    """
    jnp, relu = jax.numpy, jax.nn.relu
    statistics: dict[str, Any] = {part: {} for part in weights}

    def layer(part: str, name: str, planes: Any) -> Any:
        held = weights[part]
        found = convolved(planes, held[name])
        mean, variance = statistics[part][name] = found.mean(axis=(0, 1, 2)), found.var(axis=(0, 1, 2))
        return (found - mean) * held[f"{name}_scale"] / jnp.sqrt(variance + EPSILON) + held[f"{name}_bias"]

    bits = (synopses[..., None] >> jnp.arange(8, dtype=jnp.uint8)) & 1
    trunk = relu(layer("trunk", "conv0", bits.transpose(0, 2, 3, 1).astype(jnp.float32)))
    for name in layers(weights["trunk"], "block{}a"):
        trunk = relu(trunk + layer("trunk", f"{name[:-1]}b", relu(layer("trunk", name, trunk))))
    said = {}
    for headset in HEADSETS:
        heads = weights[headset]

        def dense(name: str, planes: Any, heads: Any = heads) -> Any:
            read = relu(planes @ heads[f"{name}_planes"] + heads[f"{name}_planes_bias"])
            return relu(read.reshape(read.shape[0], -1) @ heads[f"{name}_dense"] + heads[f"{name}_dense_bias"])

        units = dense("value", trunk)
        inner = relu(trunk + layer(headset, "policy_b", relu(layer(headset, "policy_a", trunk))))
        policy = (inner @ heads["policy"] + heads["policy_bias"]).reshape(inner.shape[0], -1)
        passed = dense("pass", inner) @ heads["pass"] + heads["pass_bias"]
        said[headset] = {
            "logits": jnp.concatenate([policy, passed[:, None]], axis=1),
            "value": jnp.tanh(units @ heads["value"] + heads["value_bias"]),
            "soon": units @ heads["soon"] + heads["soon_bias"],
            "pieces": units @ heads["pieces"] + heads["pieces_bias"],
        }
    return said, statistics


def policy_loss(logits: Any, batch: Any) -> Any:
    """−Σ target · ln of each choice's probability, of each decision: [b] from ``logits`` [b, ACTIONS]."""
    jnp = jax.numpy
    there = batch["legal"] >= 0
    found = jnp.take_along_axis(logits, jnp.maximum(batch["legal"], 0), axis=1)
    alike = (batch["choices"][:, :, None] == batch["choices"][:, None, :]) & there[:, None, :]
    of_choice = jax.nn.logsumexp(jnp.where(alike, found[:, None, :], -1e9), axis=2)
    of_all = jax.nn.logsumexp(jnp.where(there, found, -1e9), axis=1)
    return (batch["targets"] * (of_all[:, None] - of_choice)).sum(axis=1)


def losses(said: Mapping[str, Any], batch: Any) -> dict[str, Any]:
    """Each loss of each decision: [b]."""
    soon = jax.nn.softplus(said["soon"]) - batch["soon"] * said["soon"]
    pieces: Any = 0.0
    at, kinds = 0, [piece for piece in range(PIECES) if NUMBERS[piece % len(NUMBERS)]]
    for piece in kinds:
        size = NUMBERS[piece % len(NUMBERS)]
        logs = jax.nn.log_softmax(said["pieces"][:, at : at + size], axis=1)
        true = jax.numpy.minimum(batch["pieces"][:, piece], size - 1)
        pieces = pieces - jax.numpy.take_along_axis(logs, true[:, None], axis=1)[:, 0] / len(kinds)
        at += size
    return {
        "policy": policy_loss(said["logits"], batch),
        "value": (said["value"] - batch["result"]) ** 2,
        "soon": soon.sum(axis=1),
        "pieces": pieces,
    }


def folded(weights: Mapping[str, Any], statistics: Mapping[str, tuple[Any, Any]]) -> dict[str, Float32s]:
    """Weights of a part for play: each batch norm folded into its convolution, without the heads used only to train."""
    held = {name: np.asarray(array, dtype=np.float64) for name, array in weights.items()}
    found = {name: array for name, array in held.items() if not name.endswith("_scale")}
    for name, (mean, variance) in statistics.items():
        scale = held[f"{name}_scale"] / np.sqrt(np.asarray(variance, dtype=np.float64) + EPSILON)
        found[name] = held[name] * scale
        found[f"{name}_bias"] = held[f"{name}_bias"] - np.asarray(mean) * scale
    return {name: array.astype(np.float32) for name, array in found.items() if not name.startswith(("soon", "pieces"))}
