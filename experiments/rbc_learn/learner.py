"""A network during training: its weights, their slow average, Adam's moments; written to a file by rename.

A step is for one headset: it changes the trunk and that headset. A step of ``random`` changes only its own heads, since
the trunk should not learn from a random player. Play uses the slow average.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from darkchess.rbc.synoptic.networks import HEADSETS
from experiments.learning import checkpoints
from experiments.learning.fit import WARM_STEPS, TrainingError, adam_step, averaged, jax_on_cpu
from experiments.rbc_learn.networks import (
    SHARES,
    Arrays,
    Batch,
    first_heads,
    first_statistics,
    first_trunk,
    losses,
    network_of,
    outputs,
)
from klss.networks.residual import ResidualNetwork
from klss.support.arrays import Float32s

RATE, DECAY = 1e-3, 1e-2
"""Adam's learning rate and weight decay after the warm-up."""
SLOWER_STEPS = 5_000
"""The rate falls with 1/√(1 + steps/this), so that the end of training need not be known in advance."""
SLOW = 0.998
"""Largest share of the slow average that a step keeps."""


@dataclass(frozen=True)
class Sizes:
    """The sizes of a network."""

    # of the trunk
    channels: int = 32
    blocks: int = 3
    headsets: tuple[str, ...] = HEADSETS  # names, of ``experiments.rbc_learn.data.HEADSETS``


_STATE = ("weights", "slow", "mean", "square", "statistics")


class _Part:
    """The trunk or a headset: weights, their slow average, Adam's moments, the statistics' slow average, and the number
    of its steps.

    Each is one vector, with all arrays by name one after the other, which halves the time to compile a step.
    """

    def __init__(self, weights: Arrays) -> None:
        statistics = first_statistics(weights)
        self.shapes, self.statistics_shapes = _shapes(weights), _shapes(statistics)
        self.weights: Any = _vector(weights)
        self.slow: Any = self.weights
        self.mean: Any = np.zeros_like(self.weights)
        self.square: Any = np.zeros_like(self.weights)
        self.statistics: Any = _vector(statistics)
        self.steps = 0


_Shapes = tuple[tuple[str, tuple[int, ...]], ...]


def _shapes(arrays: Arrays) -> _Shapes:
    return tuple((name, arrays[name].shape) for name in sorted(arrays))


def _vector(arrays: Arrays) -> Float32s:
    return np.concatenate([arrays[name].reshape(-1) for name in sorted(arrays)])


def _arrays(vector: Any, shapes: _Shapes) -> dict[str, Any]:
    """The arrays of a vector, of numpy or of JAX."""
    found, at = {}, 0
    for name, shape in shapes:
        size = math.prod(shape)
        found[name] = vector[at : at + size].reshape(shape)
        at += size
    return found


@dataclass(eq=False)
class Learner:
    """A network in training."""

    sizes: Sizes  # of its network
    seed: int  # of its first weights
    _parts: dict[str, _Part] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self._parts:
            return
        firsts = {"trunk": first_trunk(self.sizes.channels, self.sizes.blocks, self.seed)}
        for headset in self.sizes.headsets:
            firsts[headset] = first_heads(self.sizes.channels, HEADSETS.index(headset), self.seed)
        self._parts = {name: _Part(weights) for name, weights in firsts.items()}

    @property
    def steps(self) -> dict[str, int]:
        """The number of steps of each headset."""
        return {headset: self._parts[headset].steps for headset in self.sizes.headsets}

    def step(self, headset: str, batch: Batch) -> dict[str, Any]:
        """Make one step on decisions of ``headset``; return the losses before it. Raises TrainingError: JAX is not
        installed.
        """
        trunk, heads = self._parts["trunk"], self._parts[headset]
        shapes = tuple((part.shapes, part.statistics_shapes) for part in (trunk, heads))
        made = sum(self.steps.values())
        found, said = _program(shapes, headset == "random")(
            [[getattr(part, name) for name in _STATE] for part in (trunk, heads)],
            np.array([trunk.steps + 1, heads.steps + 1], dtype=np.float32),
            np.float32(RATE * min(1.0, (made + 1) / WARM_STEPS) / (1 + made / SLOWER_STEPS) ** 0.5),
            dict(vars(batch)),
        )
        for part, state in zip((trunk, heads), found):
            if state is not None:
                for name, vector in zip(_STATE, state):
                    setattr(part, name, vector)
                part.steps += 1
        return dict(said)

    def part(self, name: str) -> tuple[Arrays, Arrays]:
        """Slow weights and statistics of ``"trunk"`` or of a headset."""
        part = self._parts[name]
        return _arrays(np.asarray(part.slow), part.shapes), _arrays(np.asarray(part.statistics), part.statistics_shapes)

    def network(self, history: Mapping[str, Any]) -> ResidualNetwork:
        """The network for play, from the slow weights."""
        return network_of(self.part("trunk"), {name: self.part(name) for name in self.sizes.headsets}, history)

    def save(self, path: Path, about: Mapping[str, Any]) -> None:
        """Write everything, whole or not at all, with the caller's own state ``about``."""
        trees = {name: {each: getattr(part, each) for each in _STATE} for name, part in self._parts.items()}
        said = {
            "channels": self.sizes.channels,
            "blocks": self.sizes.blocks,
            "headsets": list(self.sizes.headsets),
            "seed": self.seed,
            "steps": {name: part.steps for name, part in self._parts.items()},
            "about": dict(about),
        }
        checkpoints.keep(path, trees, said)

    @staticmethod
    def load(path: Path) -> tuple[Learner, dict[str, Any]]:
        """The content written by :meth:`save`. Raises TrainingError: there is no such file, or it is something else;
        the message begins with the path.
        """
        trees, said = checkpoints.kept(path)
        try:
            sizes = Sizes(said["channels"], said["blocks"], tuple(said["headsets"]))
            learner = Learner(sizes, said["seed"])
            for name, part in learner._parts.items():
                for each in _STATE:
                    vector = trees[name][each]
                    if vector.dtype != np.float32 or vector.shape != getattr(part, each).shape:
                        raise ValueError(f"{name}/{each} of {vector.dtype} and shape {vector.shape}")
                    setattr(part, each, vector)
                part.steps = int(said["steps"][name])
            return learner, dict(said["about"])
        except (KeyError, TypeError, ValueError) as error:
            raise TrainingError(f"{path}: bad training: got other arrays, expected its own: {error}") from None


@functools.cache
def _program(shapes: tuple[tuple[_Shapes, _Shapes], ...], stop: bool) -> Callable[..., Any]:
    """A compiled step for a trunk and a headset of these shapes; with ``stop`` it does not change the trunk."""
    jax = jax_on_cpu()
    jnp = jax.numpy

    def loss(weights: Any, batch: Any) -> Any:
        trunk, heads = (_arrays(vector, its) for vector, (its, _) in zip(weights, shapes))
        said, used = outputs(jax, trunk, heads, batch["synopses"], None, stop)
        found = losses(jax, said, batch)
        statistics = [jnp.concatenate([some[name] for name in sorted(some)]) for some in used]
        return sum(SHARES[name] * found[name] for name in SHARES), (found, statistics)

    def moved(state: Any, gradient: Any, used: Any, count: Any, rate: Any) -> list[Any]:
        weights, slow, mean, square, statistics = state
        weights, mean, square = adam_step(weights, gradient, mean, square, count, rate, DECAY)
        share = jnp.minimum(SLOW, count / (count + 10))
        return [weights, averaged(slow, weights, share), mean, square, averaged(statistics, used, share)]

    def step(parts: Sequence[Sequence[Any]], counts: Any, rate: Any, batch: Any) -> tuple[list[Any], Any]:
        weights = [state[0] for state in parts]
        (_, (found, used)), gradient = jax.value_and_grad(loss, has_aux=True)(weights, batch)
        after = [moved(parts[i], gradient[i], used[i], counts[i], rate) for i in range(2)]
        return [None if stop else after[0], after[1]], found

    return jax.jit(step)  # type: ignore[no-any-return]
