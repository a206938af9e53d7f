"""Kinds of players whose games are used for learning."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Kind"]


@dataclass(frozen=True)
class Kind:
    """A kind of player."""

    text: str  # see ``uci_bridge.players.player_spec``
    nodes: tuple[int, int]  # the range from which a game's nodes per call are drawn

    def drawn_nodes(self, generator: np.random.Generator) -> int:
        """Draw the nodes per call of one game."""
        return int(generator.integers(self.nodes[0], self.nodes[1] + 1))
