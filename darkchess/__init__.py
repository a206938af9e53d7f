"""Chess in the dark: a family of games with hidden information, and engines for them, without processes or networks.

Reading order, in which each package imports only those before it: ``board`` (positions and moves of any chess),
``evaluation`` (values of positions), ``weighting`` (learned weights of possible positions), ``player_configuration`` (a
player's settings in one text), and one package for each game: ``fog`` (Fog of War chess) and ``rbc`` (Reconnaissance
Blind Chess), which do not import each other. ``errors`` is used by all.

The names below are imported when they are first used, so that a command line can report an error in itself, or draw the
first board, before compiled code is loaded.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from darkchess.board.position import START_FEN, Position
    from darkchess.errors import DarkchessError
    from darkchess.fog.game.referee import Referee
    from darkchess.fog.game.rules import PAPER, PYCHESS, Ruleset
    from darkchess.fog.game.view import View

__all__ = ["PAPER", "PYCHESS", "START_FEN", "DarkchessError", "Position", "Referee", "Ruleset", "View"]

_HOMES = {
    "errors": ("DarkchessError",),
    "board.position": ("START_FEN", "Position"),
    "fog.game.referee": ("Referee",),
    "fog.game.rules": ("PAPER", "PYCHESS", "Ruleset"),
    "fog.game.view": ("View",),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
