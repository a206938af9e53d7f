"""Report of a search: one frozen record, built once, and rendered as the engine protocol's diagnostics."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from klss.subgame import Gadget

__all__ = ["Report"]


@dataclass(frozen=True)
class Report:
    """How a move came about; the fields are the keys of the engine protocol."""

    positions: int  # size of the belief
    carried: int  # roots from the previous trunk
    value: float  # the profile's expected utility for player 0
    seconds: float  # since the move's budget began; 0 where no clock is read
    capped_by: str | None = None  # "cap" or "time": why the belief is a sample of what is possible; None: it is all
    sampled: int = 0  # roots from the belief
    gadget: Gadget = "maxmargin"  # that margin is of
    margin: float = 0.0  # the profile's
    nodes: int = 0  # added
    depth: int = 0  # largest distance of the leaves from the root
    depth_mean: float = 0.0  # mean one
    iterations: int = 0  # of the expander
    gap: float = 0.0  # the largest saddle gap met
    fallbacks: int = 0  # how often one of the solver's methods failed
    lp_share: float | None = None  # the part of the time that went into the solver; None where there was no search

    def diagnostics(self) -> dict[str, Any]:
        """The documented keys."""
        fields = dataclasses.asdict(self)
        if self.lp_share is None:
            del fields["lp_share"]
        return fields
