"""Networks of random weights, for whoever tests what asks them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from klss.networks.residual import ResidualNetwork, headset_shapes, trunk_shapes

__all__ = ["random_network"]


def random_network(
    seed: int,
    planes: int = 104,
    channels: int = 32,
    blocks: int = 3,
    headsets: Sequence[str] = ("all", "top"),
    *,
    grid: tuple[int, int] = (8, 8),
    kinds: int = 65,
) -> ResidualNetwork:
    """Values near 0, all actions about as good."""
    generator = np.random.default_rng(seed)
    shapes = trunk_shapes(planes, channels, blocks)
    heads = headset_shapes(channels, grid[0] * grid[1], kinds)
    shapes |= {f"{headset}/{name}": shape for headset in headsets for name, shape in heads.items()}
    # The last layers begin small, and so does what a block adds.
    small = {"policy": 0.1, "pass": 0.1, "value": 0.1, "policy_b": 0.5}
    arrays = {}
    for name, shape in shapes.items():
        last = name.rpartition("/")[2]
        # He's spread, √(2 / inputs), which keeps the size of what passes through a ReLU.
        by = small.get(last, 0.5 if last.startswith("block") and last.endswith("b") else 1.0)
        spread = 0.0 if last.endswith("_bias") else by * math.sqrt(2 / max(1, math.prod(shape[:-1] or shape)))
        if len(shape) == 1 and spread:
            spread = by * math.sqrt(2 / shape[0])
        arrays[name] = (generator.normal(size=shape) * spread).astype(np.float32)
    return ResidualNetwork(arrays, grid, {"seed": seed})
