"""Matches of Reconnaissance Blind Chess; all but the game is :class:`uci_bridge.match.any_match.AnyMatch`'s."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from uci_bridge.blind_players import Blind
from uci_bridge.match.any_match import AnyMatch
from uci_bridge.match.blind.engines import BlindSetup

__all__ = ["BlindMatch"]


@dataclass(frozen=True)
class BlindMatch(AnyMatch):
    """A match between players of :func:`uci_bridge.blind_players.blind_spec`; ``budget`` is for each question."""

    a: Blind
    b: Blind

    def setup(self) -> BlindSetup:
        """See :class:`uci_bridge.match.any_match.AnyMatch`."""
        return BlindSetup(self.a, self.b, self.budget, self.evaluator, self.check_truth)

    def _identity(self) -> dict[str, Any]:
        return {"game": "rbc"}
