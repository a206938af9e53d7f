"""The bridge to ``reconchess``, both ways: our players in its games, its players in ours.

Reading order: ``player`` (a configuration as a ``reconchess.Player``) and ``klss_bot`` (the same for its programs, by
path); ``bots`` (a text that names a bot of theirs) and ``hosted`` (that bot as a player of ours), ``child`` (the
process in which it runs), ``trout`` (its engine, restarted) and ``messages`` (between the two processes).
docs/bot.md.

The package is an extra (``rbc``). Without it these modules can be imported, and raise an error when they are used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uci_bridge.reconchess.bots import Foreign, foreign
    from uci_bridge.reconchess.player import ReconchessPlayer

__all__ = ["Foreign", "ReconchessPlayer", "foreign"]

_HOME = {"Foreign": "bots", "foreign": "bots", "ReconchessPlayer": "player"}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: a bot's process needs none of them, and starts faster so."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    """The names that ``reconchess.load_player`` looks through."""
    return sorted(__all__)
