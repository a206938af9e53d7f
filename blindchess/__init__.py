"""Reconnaissance Blind Chess: its rules, what a player holds possible, and players (docs/rbc.md).

Stands on darkchess's board and evaluation; Fog of War's views are none of its business.

Reading order: ``game`` (rules, referee, observations, records), ``belief`` (position set, weights), ``synoptic`` (sets
as a network sees them), ``players``, ``warm_up`` (compiled code loaded before a clock runs).
"""

from __future__ import annotations

from blindchess.game.observation import Moved, Notice, Sensed
from blindchess.game.referee import Referee

__all__ = ["Moved", "Notice", "Referee", "Sensed"]
