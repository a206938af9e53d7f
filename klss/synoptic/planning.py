"""The constants of planning on synopses, each declared once: its meaning, unit, default and source, then all ranges.

A game's player adds constants of its own in a subclass, in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

MOST = 100_000
"""Largest value of any constant that is a count."""


@dataclass(frozen=True)
class Planning:
    """Constants of the planner. The source is that of :mod:`klss.synoptic` unless another is named."""

    # m, per visit: at a set visited n times the policy is played with probability exp(−m · n), otherwise the bound.
    # Default ∞, the bound alone; the source's mixture has 1; 0 is the policy alone
    mixing: float = math.inf
    # c, in values: the weight of the bound's second term. Default 1; the source has 2
    exploration: float = 1.0
    # weight of a value at the root against the logarithm of the policy; it is multiplied by 50 plus the most playouts
    # of a choice. Default .1; c_scale of Danihelka et al. (``klss.synoptic.bandit``)
    gain: float = 0.1
    max_members: int = 128  # ℓ, states: most members of a set. Default 128, the source's
    # sets of the opponent that are kept for each time. Default 128, which two cores can follow; the source has 4096
    particles: int = 128
    # cuts of the planner's own set over which the policy at the root is averaged. Default 8; the source averages over
    # 256 of the particles
    cuts: int = 8
    # most playouts in a batch; a batch has a quarter as many as are finished, at least four. Default 32; the source has
    # 256 from the first batch on
    batch: int = 32
    # share, from 0 to 1, of the root's policy that is drawn from a flat Dirichlet distribution. Default 0; a larger one
    # is for learning from the games. Not in the source
    noise: float = 0.0

    RANGES: ClassVar[Mapping[str, tuple[float, float]]] = {
        "mixing": (0, math.inf),
        **dict.fromkeys(("exploration", "gain"), (0, MOST)),
        **dict.fromkeys(("max_members", "particles", "cuts", "batch"), (1, MOST)),
        "noise": (0, 1),
    }
    """The least and the largest allowed value of each."""
