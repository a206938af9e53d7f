"""Subgame solving without common knowledge: game theory, independent of chess.

>>> import klss
>>> solution = klss.solve("kuhn_poker")
>>> round(18 * solution.value, 9), solution.exploitability < 1e-9
(-1.0, True)
>>> solution.strategy(1)["2b"]
{'Pass': 0.0, 'Bet': 1.0}

Reading order: ``doors`` (what this package exports), ``theory`` (games as flat arrays, sequence forms, equilibria, best
responses), ``games`` (some that are too large to list), ``paper`` (knowledge sets, subgames and gadgets, the paper's
tables), ``search`` (the depth-limited, nested loop from a value function only), ``synoptic`` (planning over sets of
states), ``openspiel`` and ``gambit`` (games of other libraries and in files), ``play`` (playing any game with hidden
information: limits, outcomes, an arbiter, kits), ``errors``, ``support`` (general helpers).

What is exported is imported when it is first used, so that the package and the command line start at once; all else is
imported from its modules.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from klss.errors import MAX_NODES

if TYPE_CHECKING:
    from klss.doors import exploit, load, solve, subgame
    from klss.theory.equilibrium import Solution
    from klss.theory.game import Game, GameBuilder

__all__ = ["MAX_NODES", "Game", "GameBuilder", "Solution", "__version__", "exploit", "load", "solve", "subgame"]

__version__ = "1.0.0"

_MODULES = dict.fromkeys(("exploit", "load", "solve", "subgame"), "klss.doors") | {
    "Game": "klss.theory.game",
    "GameBuilder": "klss.theory.game",
    "Solution": "klss.theory.equilibrium",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
