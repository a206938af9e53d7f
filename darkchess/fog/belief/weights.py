"""The setting that gives a player's positions weights: those of the filter (:mod:`darkchess.fog.belief.filter`), or
none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Belief = Literal["filter", "uniform"]
"""Weights with which positions are shown."""


@dataclass(frozen=True)
class BeliefSettings:
    """Which weights a player's search gets, and what they may cost.

    Attributes
    ----------
    belief
        ``filter``: its weights; ``value``: none, so that positions are weighed by their value alone.
    filtering
        Share of a move's time, 0 or more, that the filter may take.
    """

    belief: Literal["value", "filter"] = "value"
    filtering: float = 0.15

    @property
    def filtered(self) -> bool:
        """Whether the filter is used."""
        return self.belief == "filter"
