"""Weights of possible positions (:mod:`darkchess.weighting.network`), by a softmax over the truth and other members.

A *decision* is: the truth; the likeliest members of the set by the filter, all that there are or :data:`TOP`; members
drawn uniformly from the rest, and the logarithm of how many each of them stands for, so that the softmax is one over
the whole set; what the scores of all these are added to (``log_prior`` in the game's module ``tower``); the size of
the set; the observation's numbers. Its *nats* are ln of the truth's probability times the size, 0 for a uniform belief.

The network is that of :class:`~darkchess.weighting.network.LearnedScores`, in JAX.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from darkchess.weighting.enemy_features import FEATURES, SQUARES, features_of
from darkchess.weighting.network import LEAST_SHARE, Blocks
from experiments.learn.export import layers, write_scores
from experiments.learn.shards import TEST, Arrays, Columns, Row, chunks, padded
from experiments.learn.trainer import Study, convolved, jax, spread
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
    halves: Words,
    prior: Floats,
    truth: int,
    numbers: Float32s,
    generator: np.random.Generator,
    more: Callable[[Ints], Floats] | None = None,
) -> Row:
    """A decision.

    Parameters
    ----------
    halves, prior
        uint64[n, 2], float64[n]: the set, and what scores are added to.
    truth
        Its index.
    numbers
        The observation's.
    more
        What is also added to the scores of members (int64[m]): float64[m].
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
        drawn, none = partial(spread, np.random.default_rng(seed)), partial(np.zeros, dtype=np.float32)
        width, planes, (_, (scalars,), (shared, _)) = self.channels, self.blocks.planes, self.blocks.shapes
        # At most a third of the input planes is not 0.
        held = {"conv0": drawn(3, 3, planes, width, inputs=3 * planes), "conv0_bias": none((8, 8, width))}
        for i in range(1, self.layers):
            held |= {f"conv{i}": drawn(3, 3, width, width, inputs=9 * width, by=0.5), f"conv{i}_bias": none(width)}
        return held | {
            "scalars": drawn(scalars, width, inputs=80),
            "kinds": drawn(width, 6, inputs=width, by=0.1),
            "pooled": drawn(width, 8, inputs=width),
            "dense": drawn(512, 64, inputs=512),
            "others": drawn(64, FEATURES - SQUARES, inputs=64, by=0.1),
            "map_bias": none(FEATURES),
            "shares": none((2 * shared, SQUARES)),
        }

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
        found = scores(weights, seen, rows, keep) + added
        return (jax.nn.logsumexp(found, axis=1) - found[:, 0]).mean()

    def tested(self, weights: Any) -> dict[str, Any]:
        """What the weights are worth on the test games, by label: decisions, the nats of what scores are added to, the
        learned ones, and the standard error of the difference, as if decisions were independent.
        """
        program, rows = jax.jit(scores), []
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
        write_scores(path, weights, history)


def scores(weights: Mapping[str, Any], seen: Any, rows: Any, keep: Any) -> Any:
    """The scores of :class:`~darkchess.weighting.network.LearnedScores` in JAX: [b, m], from the output of
    :meth:`darkchess.weighting.network.Blocks.grids` and the features of boards, int32[b, m, w], padded with FEATURES;
    ``keep`` [b, c] multiplies the last layer's channels (dropout).
    """
    jnp, relu = jax.numpy, jax.nn.relu
    planes, scalars, shares = seen
    inner = convolved(planes, weights["conv0"]) + weights["conv0_bias"]
    inner = relu(inner + (scalars @ weights["scalars"])[:, None, None])
    for layer in layers(weights, "conv{}", 1):
        inner = inner + relu(convolved(inner, weights[layer]) + weights[f"{layer}_bias"])
    inner = inner * keep[:, None, None]
    count = inner.shape[0]
    dense = relu((inner @ weights["pooled"]).reshape(count, -1) @ weights["dense"])
    kinds = (inner @ weights["kinds"]).transpose(0, 3, 1, 2).reshape(count, -1)
    terms = jnp.stack([shares, jnp.log(shares + LEAST_SHARE)], axis=2).reshape(count, -1, shares.shape[2])
    kinds = kinds + (terms * weights["shares"]).sum(axis=1)
    logits = jnp.concatenate([kinds, dense @ weights["others"]], axis=1) + weights["map_bias"]
    logits = jnp.pad(logits, ((0, 0), (0, 1)))  # the padding's feature counts 0
    return jnp.take_along_axis(logits, rows.reshape(count, -1), axis=1).reshape(rows.shape).sum(axis=2)
