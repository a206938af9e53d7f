"""Report of a search: one frozen record that becomes the engine protocol's diagnostics."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from klss.paper.subgame import Gadget


@dataclass(frozen=True)
class Report:
    """How a move was found; the fields are the keys of the engine protocol."""

    positions: int  # size of the belief
    carried: int  # roots from the previous trunk
    value: float  # the profile's expected utility for player 0
    seconds: float  # since the move's budget began; 0 where no clock is read
    capped_by: str | None = None  # "cap" or "time": why the belief is only a sample; None: it is complete
    sampled: int = 0  # roots from the belief
    gadget: Gadget = "maxmargin"  # the gadget of ``margin``
    margin: float = 0.0  # the profile's
    nodes: int = 0  # nodes added
    depth: int = 0  # largest distance of the leaves from the root
    depth_mean: float = 0.0  # mean distance
    iterations: int = 0  # rounds of the expander
    gap: float = 0.0  # the largest saddle gap met
    fallbacks: int = 0  # how often one of the solver's methods failed
    lp_share: float | None = None  # fraction of the time spent in the solver; None if there was no search

    def diagnostics(self) -> dict[str, Any]:
        """Return the documented keys and their values."""
        fields = dataclasses.asdict(self)
        if self.lp_share is None:
            del fields["lp_share"]
        return fields
