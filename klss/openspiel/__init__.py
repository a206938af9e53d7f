"""OpenSpiel's games: the one package that imports pyspiel.

Reading order: ``games`` (by name, and what is refused), ``enumeration`` (the whole tree as :class:`klss.game.Game`).
"""

from klss.openspiel.enumeration import MAX_NODES, load

__all__ = ["MAX_NODES", "load"]
