"""Fog of War chess (dark chess): rules, views, and an engine for it. Knows no process and no network.

Reading order: ``errors``, ``move``, ``fen``, ``position`` (vocabulary over ``_kernels``), ``rules`` (rulesets,
results), ``view`` (what a player sees), ``referee`` (the true game), ``san`` and ``record`` (notation and PGN); then
``position_set`` (everything that a player holds possible), ``evaluation``, ``model``, ``player``, ``one_position``
(simpler players), ``configuration``; ``arbiter`` (two players, one game) and ``render`` (boards as text);
``marginals``, ``principal_lines``, ``analysis`` (what a player thinks), ``belief_board`` (drawn), ``once_over`` (held
against the truth).

The names below are imported when they are first used, so that a command line can say what is wrong with it, or draw the
first board, before compiled code is loaded.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_HOMES = {
    "errors": ("DarkchessError",),
    "position": ("START_FEN", "Position"),
    "referee": ("Referee",),
    "rules": ("PAPER", "PYCHESS", "Outcome", "Ruleset", "ruleset"),
    "view": ("View",),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
