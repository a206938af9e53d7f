"""Kinds of players whose games are learned from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Kind"]


@dataclass(frozen=True)
class Kind:
    """A kind of player."""

    text: str  # see ``uci_bridge.players.player_spec``
    nodes: tuple[int, int]  # the range that the nodes of each call are drawn from, game by game

    def drawn_nodes(self, generator: np.random.Generator) -> int:
        """Nodes of each call in one game."""
        return int(generator.integers(self.nodes[0], self.nodes[1] + 1))
