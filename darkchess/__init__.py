"""Fog of War chess (dark chess): rules, views, and an engine for it. Knows no process and no network.

Rooms, in the way of the data: ``board`` (positions and moves, of any chess), ``evaluation`` (what a position is worth),
``game`` (rules, views, the referee, records), ``belief`` (everything that a player holds possible), ``players`` (who
thinks and moves), ``analysis`` (what a player could have known). Each imports only those before it. ``errors`` is
everybody's; ``warm_up``, on top, is for who runs games.

The names below are imported when they are first used, so that a command line can say what is wrong with it, or draw the
first board, before compiled code is loaded.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from darkchess.board.position import START_FEN, Position
    from darkchess.errors import DarkchessError
    from darkchess.game.referee import Referee
    from darkchess.game.rules import PAPER, PYCHESS, Outcome, Ruleset, ruleset
    from darkchess.game.view import View

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
    "board.position": ("START_FEN", "Position"),
    "game.referee": ("Referee",),
    "game.rules": ("PAPER", "PYCHESS", "Outcome", "Ruleset", "ruleset"),
    "game.view": ("View",),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
