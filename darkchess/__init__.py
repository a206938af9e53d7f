"""Fog of War chess (dark chess): rules, views, and an engine for it. Knows no process and no network.

Reading order: ``errors``, ``move``, ``fen``, ``position`` (vocabulary over ``_kernels``), ``rules`` (rulesets,
results), ``view`` (what a player sees), ``referee`` (the true game), ``san`` and ``record`` (notation and PGN); then
``position_set`` (everything that a player holds possible), ``evaluation``, ``model``, ``configuration``, ``player``,
and ``render``.
"""

from darkchess.errors import DarkchessError
from darkchess.position import START_FEN, Position
from darkchess.referee import Referee
from darkchess.rules import PAPER, PYCHESS, Outcome, Ruleset, ruleset
from darkchess.view import View

__all__ = [
    "PAPER",
    "PYCHESS",
    "START_FEN",
    "DarkchessError",
    "Outcome",
    "Position",
    "Referee",
    "Ruleset",
    "View",
    "ruleset",
]
