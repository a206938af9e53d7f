"""Report of a search: one frozen record, built once, and rendered as the engine protocol's diagnostics."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from klss.subgame import Gadget

__all__ = ["Report"]


@dataclass(frozen=True)
class Report:
    """How a move came about; the fields are the keys of the engine protocol.

    Attributes
    ----------
    positions : int
        Size of the belief.
    capped_by : "cap", "time" or None
        Why the belief is a sample of what is possible; None: it is all.
    carried, sampled : int
        Roots from the previous trunk, and from the belief.
    gadget : "maxmargin" or "resolve"
    margin, value : float
        The profile's margin, and its expected utility for player 0.
    nodes : int
        Nodes added.
    depth, depth_mean : int, float
        Largest and mean distance of the leaves from the root.
    iterations : int
    gap : float
        The largest saddle gap met.
    fallbacks : int
        How often one of the solver's methods failed.
    lp_share : float
        The part of the time that went into the solver.
    seconds : float
        Since the move's budget began; 0 where no clock is read.
    """

    positions: int
    carried: int
    value: float
    seconds: float
    capped_by: str | None = None
    sampled: int = 0
    gadget: Gadget = "maxmargin"
    margin: float = 0.0
    nodes: int = 0
    depth: int = 0
    depth_mean: float = 0.0
    iterations: int = 0
    gap: float = 0.0
    fallbacks: int = 0
    lp_share: float | None = None

    def diagnostics(self) -> dict[str, Any]:
        """The documented keys; ``lp_share`` only where there was a search."""
        fields = dataclasses.asdict(self)
        if self.lp_share is None:
            del fields["lp_share"]
        return fields
