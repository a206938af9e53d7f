"""Chess in the dark: a family of games with hidden information, and engines for them. Knows no process and no network.

Rooms, in the way of the data; each imports only those before it: ``board`` (positions and moves, of any chess),
``evaluation`` (what a position is worth), ``configuration`` (a player's choices in one text), and one room for each
game, which do not import each other: ``fog`` (Fog of War chess) and ``rbc`` (Reconnaissance Blind Chess). ``errors`` is
everybody's.

The names below are imported when they are first used, so that a command line can say what is wrong with it, or draw the
first board, before compiled code is loaded.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from darkchess.board.position import START_FEN, Position
    from darkchess.errors import DarkchessError
    from darkchess.fog.game.referee import Referee
    from darkchess.fog.game.rules import PAPER, PYCHESS, Ruleset, ruleset
    from darkchess.fog.game.view import View

__all__ = [
    "PAPER", "PYCHESS", "START_FEN", "DarkchessError", "Position", "Referee", "Ruleset", "View", "ruleset",
]  # fmt: skip

_HOMES = {
    "errors": ("DarkchessError",),
    "board.position": ("START_FEN", "Position"),
    "fog.game.referee": ("Referee",),
    "fog.game.rules": ("PAPER", "PYCHESS", "Ruleset", "ruleset"),
    "fog.game.view": ("View",),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
