"""How playouts are made: the constants of the source's table, and the switches of its open ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from klss.synoptic.bandit import Bandit

__all__ = ["Planning"]


@dataclass(frozen=True)
class Planning:
    """The constants of :mod:`klss.synoptic`.

    Attributes
    ----------
    bandit : Bandit
    most : int
        ℓ, most members of a set.
    particles : int
        Sets of the opponent that are kept of each time.
    depth : int
        Actions of a playout.
    deepens : float
        z: a playout goes one further for each of its actions that was taken more often than that.
    cuts : int
        Cuts of the planner's own set over which the policy at the root is averaged.
    batch : int
        Most playouts that are under way together: a quarter of those that are over, but four at the first.
    caution : float
        κ: the share of playouts whose opponent's set is cut to ``informed`` members.
    informed : int
    backup : "every" or "leaf"
        What a playout tells: the values of all sets that it met, or of the last.
    answer : "total", "mean", "visits" or "improved"
        The source's is the first; the last: :meth:`klss.synoptic.bandit.Root.improved`.
    noise : float
        The share of the root's policy that is drawn from a flat Dirichlet distribution: for who wants to learn from
        what is tried.
    static : bool
        Whether what is surely won or lost ends a playout.
    """

    bandit: Bandit = field(default_factory=Bandit)
    most: int = 128
    particles: int = 512
    depth: int = 12
    deepens: float = float("inf")
    cuts: int = 8
    batch: int = 32
    caution: float = 0.0
    informed: int = 4
    backup: Literal["every", "leaf"] = "every"
    answer: Literal["total", "mean", "visits", "improved"] = "mean"
    noise: float = 0.0
    static: bool = True
