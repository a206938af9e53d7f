"""The constants of planning on synopses, each declared once: its meaning, unit, default, source and range.

A game's player adds constants of its own in a subclass, in the same way.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import TypeVar

MOST = 100_000
"""Largest value of any constant that is a count."""

T = TypeVar("T")


def constant(default: T, least: float, most: float) -> T:
    """Return a dataclass field with its least and largest allowed value."""
    return field(default=default, metadata={"range": (least, most)})


def ranges(kind: type[Planning]) -> dict[str, tuple[float, float]]:
    """Return the least and the largest allowed value, by field.

    >>> ranges(Planning)["noise"]
    (0, 1)
    """
    return {one.name: one.metadata["range"] for one in dataclasses.fields(kind) if "range" in one.metadata}


@dataclass(frozen=True)
class Planning:
    """Constants of the planner. The source is that of :mod:`klss.synoptic` unless another is named."""

    # m, per visit: at a set visited n times the policy is played with probability exp(−m · n), otherwise the bound.
    # Default ∞, the bound alone; the source's mixture has 1; 0 is the policy alone
    mixing: float = constant(math.inf, 0, math.inf)
    # c, in values: the weight of the bound's second term. Default 1; the source has 2
    exploration: float = constant(1.0, 0, MOST)
    # weight of a value at the root against the logarithm of the policy; it is multiplied by 50 plus the most playouts
    # of a choice. Default .1; c_scale of Danihelka et al. (``klss.synoptic.bandit``)
    gain: float = constant(0.1, 0, MOST)
    max_members: int = constant(128, 1, MOST)  # ℓ, states: most members of a set. Default 128, the source's
    # sets of the opponent that are kept for each time. Default 128, which two cores can follow; the source has 4096
    particles: int = constant(128, 1, MOST)
    # cuts of the planner's own set over which the policy at the root is averaged. Default 8; the source averages over
    # 256 of the particles
    cuts: int = constant(8, 1, MOST)
    # most playouts in a batch; a batch has a quarter as many as are finished, at least four. Default 32; the source has
    # 256 from the first batch on
    batch: int = constant(32, 1, MOST)
    # share, from 0 to 1, of the root's policy that is drawn from a flat Dirichlet distribution. Default 0; a larger one
    # is for learning from the games. Not in the source
    noise: float = constant(0.0, 0, 1)
