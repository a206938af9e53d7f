"""Weights of possible positions (:mod:`darkchess.weighting.network`), by a softmax over the truth and other members.

A *decision* is: the truth; the likeliest members of the set by the filter, all that there are or :data:`TOP`; members
drawn uniformly from the rest, and the logarithm of how many each of them stands for, so that the softmax is one over
the whole set; what the scores of all these are added to (``log_prior`` in the game's module ``tower``); the size of
the set; the observation's numbers. Its *nats* are ln of the truth's probability times the size, 0 for a uniform belief.

The network is that of :class:`~darkchess.weighting.network.LearnedScores`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from darkchess.weighting.enemy_features import FEATURES, SQUARES, features_of
from darkchess.weighting.network import Blocks
from experiments.learn.layers import Graph, Jax
from experiments.learn.shards import TEST, Arrays, Columns, Row, chunks, padded
from experiments.learn.trainer import Study, jax
from klss.support.arrays import Float32s, Floats, Ints, Words

TOP, DRAWN = 64, 127
"""Most of the likeliest members, and of all members beside the truth."""


def columns(blocks: Blocks) -> Columns:
    """The columns of decisions of the game with these blocks."""
    return {
        "size": (np.int64, ()), "count": (np.int16, ()), "halves": (np.uint64, (1 + DRAWN, 2)),
        "standing": (np.float32, (1 + DRAWN,)), "prior": (np.float32, (1 + DRAWN,)),
        "numbers": (np.float16, (blocks.count,)),
    }  # fmt: skip


def decision(
    halves: Words, prior: Floats, truth: int, numbers: Float32s, generator: np.random.Generator,
    more: Callable[[Ints], Floats] | None = None,
) -> Row:  # fmt: skip
    """A decision: of a set (``halves``, uint64[n, 2]), what scores are added to (float64[n]), the truth's index and the
    observation's numbers; ``more`` is also added to the scores of the members that it gets.
    """
    order = np.argsort(-prior, kind="stable")
    order = order[order != truth]
    top, rest = order[:TOP], order[TOP:]
    drawn = generator.choice(rest, min(len(rest), DRAWN - TOP), replace=False)
    members = np.concatenate([[truth], top, drawn]).astype(np.int64)
    # ln of how many members each stands for: the drawn ones for all the rest.
    standing = np.zeros(len(members))
    if len(drawn):
        standing[1 + len(top) :] = np.log(len(rest) / len(drawn))
    added = prior[members] if more is None else prior[members] + more(members)
    rows = {"halves": halves[members], "standing": standing, "prior": added}
    found = {name: padded(each, 1 + DRAWN) for name, each in rows.items()}
    return found | {"size": len(halves), "count": len(members), "numbers": numbers}


@cache
def mirrored_features() -> npt.NDArray[np.uint16]:
    """For each feature of the mirrored board (files exchanged) the index of its source; the last one pads."""
    features = np.arange(FEATURES + 1)
    features[:SQUARES] ^= 7
    features[SQUARES : SQUARES + 2] ^= 1
    features[SQUARES + 2 : -1] = features[-2 : SQUARES + 1 : -1]
    return features.astype(np.uint16)


@cache
def mirrored_numbers(blocks: Blocks) -> Ints:
    """For each number of the mirrored board the index of its source."""
    numbers = np.arange(blocks.count)
    numbers[: blocks["scalars"].start] ^= 7  # each block begins at a multiple of 64
    numbers[-2:] = numbers[:-3:-1]
    return numbers


@dataclass(frozen=True, eq=False)
class Weighing(Study):
    """What is learned; see the module."""

    held: Arrays  # decisions
    blocks: Blocks  # of the game
    channels: int = 32  # of the observation's convolutions
    layers: int = 3
    dropout: float = 0.3  # share of the last layer's channels that a step leaves out
    mirrored: float = 0.5  # share of the steps in which the boards' files are mirrored
    batch: int = 128

    def first(self, seed: int) -> dict[str, Any]:
        """The weights at the start of training: a nearly uniform belief."""
        net = Jax({}, seed)
        self.network(net, [np.zeros((1, *shape), dtype=np.float32) for shape in self.blocks.shapes])
        return net.weights

    def network(self, net: Any, seen: Any, thinned: Callable[[Any], Any] = lambda planes: planes) -> Any:
        """The map of the features' scores, [b, FEATURES], from the output of :meth:`Blocks.grids`; ``thinned`` is done
        to the last layer's planes.
        """
        planes, scalars, shares = seen
        # The trunk: one convolution with a separate bias for each cell, then residual ones. At most a third of the
        # input planes is not 0.
        inner = net.conv(planes, "conv0", self.channels, inputs=3 * self.blocks.planes, biased=False)
        inner = net.add(inner, net.bias("conv0_bias", 8, 8, self.channels))
        everywhere = net.dense(scalars, "everywhere", self.channels, inputs=80, biased=False)
        inner = net.relu(net.add(inner, net.everywhere(everywhere)))
        for i in range(1, self.layers):
            inner = net.add(inner, net.relu(net.conv(inner, f"conv{i}", self.channels, by=0.5)))
        inner = thinned(inner)
        # The map: a plane for each kind, and the few other features from a dense layer over all cells.
        pooled = net.rows(net.conv(inner, "pooled", 8, size=1, biased=False))
        dense = net.relu(net.dense(pooled, "dense", 64, biased=False))
        others = net.dense(dense, "others", FEATURES - SQUARES, by=0.1, biased=False)
        kinds = net.stacked(net.conv(inner, "kinds", SQUARES // 64, size=1, by=0.1, biased=False))
        # Shares bypass the trunk: they are linear inputs of their own features.
        for name, each in (("of_shares", shares), ("of_logs", net.log(shares))):
            kinds = net.add(kinds, net.mixed(each, name))
        return net.add(net.concat(kinds, others), net.bias("map_bias", FEATURES))

    def scores(self, weights: Any, seen: Any, rows: Any, keep: Any) -> Any:
        """The scores in JAX: [b, m], from the features of boards, int32[b, m, w], padded with FEATURES; ``keep`` [b, c]
        multiplies the last layer's channels (dropout).
        """
        logits = self.network(Jax(weights), seen, lambda planes: planes * keep[:, None, None])
        logits = jax.numpy.pad(logits, ((0, 0), (0, 1)))  # the padding's feature counts 0
        found = jax.numpy.take_along_axis(logits, rows.reshape(len(rows), -1), axis=1)
        return found.reshape(rows.shape).sum(axis=2)

    def learned(self, generator: np.random.Generator) -> Iterator[tuple[Any, ...]]:
        """Only what is learned from is mirrored and thinned out."""
        for chosen in chunks(self.rows, self.batch, generator):
            kept = generator.random((len(chosen), self.channels)) >= self.dropout
            yield self.batch_of(chosen, generator.random() < self.mirrored, kept / (1 - self.dropout))

    def batch_of(self, chosen: Ints, mirrored: bool = False, keep: Floats | None = None) -> tuple[Any, ...]:
        """The grids of the observations, the boards' features, what is added to their scores, and what the last
        layer's channels are multiplied by.
        """
        held = self.held
        rows, pieces = features_of(held["halves"][chosen].reshape(-1, 2))
        rows[np.arange(rows.shape[1]) >= pieces[:, None]] = FEATURES
        rows = rows.reshape(len(chosen), 1 + DRAWN, -1)
        numbers = held["numbers"][chosen].astype(np.float32)
        if mirrored:
            rows, numbers = mirrored_features()[rows], numbers[:, mirrored_numbers(self.blocks)]
        added = held["prior"][chosen] + held["standing"][chosen]
        added[np.arange(1 + DRAWN) >= held["count"][chosen, None]] = -np.inf
        keep = np.ones((len(chosen), self.channels)) if keep is None else keep
        return self.blocks.grids(numbers), rows.astype(np.int32), added, keep.astype(np.float32)

    def loss(self, weights: Any, batch: tuple[Any, ...]) -> Any:
        """Mean −ln of the truth's probability."""
        seen, rows, added, keep = batch
        found = self.scores(weights, seen, rows, keep) + added
        return (jax.nn.logsumexp(found, axis=1) - found[:, 0]).mean()

    def tested(self, weights: Any) -> dict[str, Any]:
        """What the weights are worth on the test games, by label: decisions, the nats of what scores are added to, the
        learned ones, and the standard error of the difference, as if decisions were independent.
        """
        program, rows = jax.jit(self.scores), []
        for label in np.unique(self.held["label"]):
            chosen = np.flatnonzero((self.held["part"] == TEST) & (self.held["label"] == label))
            found: list[list[Floats]] = []
            for some in chunks(chosen, self.batch):
                seen, features, added, keep = self.batch_of(some)
                both = (added, added + np.asarray(program(weights, seen, features, keep)))
                size = np.log(self.held["size"][some])
                found.append([each[:, 0] - logsumexp(each, axis=1) + size for each in both])
            if found:
                before, after = np.concatenate(found, axis=1)
                error = float((after - before).std() / math.sqrt(len(before)))
                figures = (before.mean(), after.mean(), error)
                rows.append([str(label), len(before), *(round(float(figure), 3) for figure in figures)])
        return {"columns": ["label", "decisions", "filter", "learned", "error"], "rows": rows}

    def write(self, weights: Any, path: Path, history: Mapping[str, Any]) -> None:
        graph, names = Graph(weights), ("planes", "scalars", "shares")
        seen = (graph.node("Transpose", "planes", perm=[0, 3, 1, 2]), *names[1:])
        inputs = {name: (1, *shape) for name, shape in zip(names, self.blocks.shapes, strict=True)}
        graph.write(path, inputs, {"map": (self.network(graph, seen), (1, FEATURES))}, history)
