"""Reconnaissance Blind Chess: its rules, position sets and players (docs/rbc.md).

Reading order, in which each package imports only those before it: ``game`` (rules, referee, observations, records),
``belief`` (position set, weights), ``synoptic`` (sets as a network sees them), ``players``; above them
``warm_up``, which loads compiled code before a clock runs.
"""

from __future__ import annotations

from darkchess.rbc.game.observation import Moved, Notice, Sensed
from darkchess.rbc.game.referee import Referee

__all__ = ["Moved", "Notice", "Referee", "Sensed"]
