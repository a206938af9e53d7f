"""The constants of planning on synopses, each declared once: its meaning, unit, default, source and range.

A game's player adds its own by a subclass, in the same way.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import TypeVar

__all__ = ["MOST", "Planning", "constant", "ranges"]

MOST = 100_000
"""Of anything that is counted."""

T = TypeVar("T")


def constant(default: T, least: float, most: float) -> T:
    """A dataclass's field, with the least and the most that makes sense."""
    return field(default=default, metadata={"range": (least, most)})


def ranges(kind: type[Planning]) -> dict[str, tuple[float, float]]:
    """The least and the most that makes sense, by field.

    >>> ranges(Planning)["noise"]
    (0, 1)
    """
    return {one.name: one.metadata["range"] for one in dataclasses.fields(kind) if "range" in one.metadata}


@dataclass(frozen=True)
class Planning:
    """How much is thought, and how. The source is that of :mod:`klss.synoptic` where no other is named."""

    # m, per visit: at a set met n times the policy is played with probability exp(−m · n), else the bound. Default ∞,
    # the bound alone; the source's mixture has 1; 0 is the policy alone
    mixing: float = constant(math.inf, 0, math.inf)
    # c, in values: the weight of the bound's second term. Default 1; the source has 2
    exploration: float = constant(1.0, 0, MOST)
    # what a value weighs at the root against the logarithm of the policy, by 50 and the most playouts of a choice.
    # Default .1; c_scale of Danihelka et al. (``klss.synoptic.bandit``)
    gain: float = constant(0.1, 0, MOST)
    max_members: int = constant(128, 1, MOST)  # ℓ, states: the most members of a set. Default 128, the source's
    # sets of the opponent that are kept of each time. Default 128, which two cores can follow; the source has 4096
    particles: int = constant(128, 1, MOST)
    # cuts of the planner's own set over which the policy at the root is averaged. Default 8; the source averages over
    # 256 of the particles
    cuts: int = constant(8, 1, MOST)
    # the most playouts that are under way together; there are a quarter as many as are over, at least four. Default 32;
    # the source has 256 from the first on
    batch: int = constant(32, 1, MOST)
    # the share, from 0 to 1, of the root's policy that is drawn from a flat Dirichlet distribution. Default 0; more is
    # for those who learn from what is tried. Not in the source
    noise: float = constant(0.0, 0, 1)
