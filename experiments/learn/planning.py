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

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from darkchess.rbc.synoptic.synopsis import PLANES
from experiments.learn.blind import PIECES
from experiments.learn.layers import EPSILON, Graph, Jax
from experiments.learn.shards import TEST, TRAIN, Arrays, where
from experiments.learn.trainer import Study, jax
from klss.support.arrays import Float32s, Ints
from klss.synoptic.model import CHUNK

SHARES = {"policy": 1.0, "value": 0.1, "soon": 0.25, "pieces": 0.25}
"""Weights of the losses. All decisions of a game have one result, so a large weight of ``value`` overfits to the games:
on held-out games a weight of 1 made value and policy worse (docs/dsmcp.md).
"""

_KINDS = 65
"""Actions of a cell; one more action is the pass."""

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
        """The weights of an untrained network."""
        net = Jax({}, seed)
        self.network(net, np.zeros((1, 8, 8, PLANES), dtype=np.float32))
        return net.weights

    def network(self, net: Any, planes: Any) -> dict[str, dict[str, Any]]:
        """The outputs of each headset: ``logits`` [b, ACTIONS], ``value`` [b, 1], ``soon`` [b, 2] and ``pieces``
        [b, ·], all logits but the value.
        """

        def block(inner: Any, name: str) -> Any:
            # The second convolution begins with a small scale, so that the block adds little at first.
            first = net.relu(net.conv(inner, f"{name}a", self.channels, scale=1.0))
            return net.relu(net.add(inner, net.conv(first, f"{name}b", self.channels, scale=0.5)))

        def dense(inner: Any, name: str, units: int) -> Any:
            read = net.rows(net.relu(net.conv(inner, f"{name}_planes", 4, size=1)))
            return net.relu(net.dense(read, f"{name}_dense", units))

        trunk, said = net.relu(net.conv(planes, "conv0", self.channels, scale=1.0)), {}
        for i in range(self.blocks):
            trunk = block(trunk, f"block{i}")
        for headset in HEADSETS:
            units = dense(trunk, f"{headset}/value", 256)
            inner = block(trunk, f"{headset}/policy_")
            # The last layers begin small, for a nearly uniform policy and values near 0.
            cells = net.rows(net.conv(inner, f"{headset}/policy", _KINDS, size=1, by=0.1))
            passed = net.dense(dense(inner, f"{headset}/pass", 64), f"{headset}/pass", 1, by=0.1)
            said[headset] = {
                "logits": net.concat(cells, passed),
                "value": net.tanh(net.dense(units, f"{headset}/value", 1, by=0.1)),
                "soon": net.dense(units, f"{headset}/soon", 2),
                "pieces": net.dense(units, f"{headset}/pieces", 2 * sum(NUMBERS)),
            }
        return said

    def outputs(self, weights: Any, synopses: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The outputs in JAX, and the mean and variance of each normed convolution's channels."""
        bits = (synopses[..., None] >> jax.numpy.arange(8, dtype=jax.numpy.uint8)) & 1
        net = Jax(weights)
        return self.network(net, bits.transpose(0, 2, 3, 1).astype(jax.numpy.float32)), net.statistics

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
        said, _ = self.outputs(weights, batch["synopses"])
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
            said = self.outputs(weights, batch["synopses"])[0]["all"]
            even = policy_loss(0 * said["logits"], batch)
            return {**losses(said, batch), "uniform": even}

        found = [program(weights, batch) for batch in self.batches(TEST)]
        figures = {name: float(np.concatenate([each[name] for each in found]).mean()) for name in (found or [{}])[0]}
        return {"decisions": len(found) * self.batch} | {name: round(figure, 4) for name, figure in figures.items()}

    def write(self, weights: Any, path: Path, history: Mapping[str, Any]) -> None:
        graph = Graph(self.for_play(weights))
        said = self.network(graph, "planes")
        logits, values = said["top"]["logits"], said["all"]["value"]
        ends = {"logits": (logits, (CHUNK, 64 * _KINDS + 1)), "values": (values, (CHUNK, 1))}
        graph.write(path, {"planes": (CHUNK, PLANES, 8, 8)}, ends, history)

    def for_play(self, weights: Any) -> dict[str, Float32s]:
        """The weights with each batch norm folded into its convolution; without decisions, of untrained weights."""
        held = {name: np.asarray(array, dtype=np.float64) for name, array in weights.items()}
        statistics: dict[str, Any] = {name: (0.0, 1.0) for name in held if f"{name}_scale" in held}
        if self.held:
            rows = np.random.default_rng(0).permutation(where(self.held, TRAIN))[:_STATISTICS]
            _, statistics = jax.jit(self.outputs)(weights, self.batch_of(rows)["synopses"])
        for name, (mean, variance) in statistics.items():
            scale = held[f"{name}_scale"] / np.sqrt(np.asarray(variance, dtype=np.float64) + EPSILON)
            held[name] = held[name] * scale
            held[f"{name}_bias"] = held[f"{name}_bias"] - np.asarray(mean) * scale
        return {name: array.astype(np.float32) for name, array in held.items()}


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
        "value": (said["value"][:, 0] - batch["result"]) ** 2,
        "soon": soon.sum(axis=1),
        "pieces": pieces,
    }
