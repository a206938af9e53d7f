"""Reconnaissance Blind Chess: its rules, what a player holds possible, and players (docs/rbc.md).

Rooms, in the way of the data; each imports only those before it: ``game`` (rules, referee, observations, records),
``belief`` (position set, weights), ``synoptic`` (sets as a network sees them), ``players``; on
top ``analysis`` (every turn of a kept game), and ``warm_up``, which loads compiled code before a clock runs.
"""

from __future__ import annotations

from darkchess.rbc.game.observation import Moved, Notice, Sensed
from darkchess.rbc.game.referee import Referee

__all__ = ["Moved", "Notice", "Referee", "Sensed"]
