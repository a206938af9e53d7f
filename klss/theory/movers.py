"""Movers at a node, everywhere in this package: 0 (player 0), 1 (player 1), or one of these."""

from __future__ import annotations

CHANCE = -1
"""Nature acts."""
TERMINAL = -2
"""Nobody acts: the game is over, or decided whatever is played."""
