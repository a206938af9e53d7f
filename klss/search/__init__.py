"""Depth-limited nested 1-KLSS from a value function only. Knows no game: a :class:`Model` hands it batches of
children, a :class:`Belief` positions to draw from.

Reading order: ``model`` (what a game provides), ``trunk`` (growing flat arrays), ``nesting`` (from one move's trunk
to the next one's), ``gadget`` (A plus B), ``reduction`` and ``program`` (its equilibrium), ``expansion`` (which
leaves), ``budget``, ``search`` (the loop), ``one_ply`` (the baseline's), ``enumerated`` (any :class:`klss.game.Game` as
a model).
"""

from klss.search.budget import Budget
from klss.search.model import CHANCE, TERMINAL, Belief, Expansion, Model
from klss.search.search import Result, Search, SearchConfiguration
from klss.search.trunk import ModelError, Roots, Trunk

__all__ = [
    "CHANCE",
    "TERMINAL",
    "Belief",
    "Budget",
    "Expansion",
    "Model",
    "ModelError",
    "Result",
    "Roots",
    "Search",
    "SearchConfiguration",
    "Trunk",
]
