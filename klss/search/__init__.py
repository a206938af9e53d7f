"""Depth-limited subgame solving from a value function only, independent of a game: a :class:`Model` provides batches of
children, a :class:`Belief` positions to draw from.

Reading order: ``model`` (what a game provides), ``trunk`` (growing flat arrays), ``utilities`` (of sequences on the
trunk), ``gadget`` (A plus B) and ``profile`` (both players' plans), ``budget`` and ``growth`` (limits), ``parts``
(the protocols), ``search`` (the loop and its report), ``root_values`` (values of actions), ``pondering`` (search in the
opponent's time); then the parts: ``subgame`` with ``likelihood``, ``equilibrium``, ``expansion``, ``choice``; and
``compositions``, which combine them. ``enumerated`` makes a model of any :class:`klss.theory.game.Game`.

docs/search.md defines the words and describes the steps from belief to move.
"""

from klss.search.budget import Budget
from klss.search.compositions import Baseline, Klss2021, Kluss
from klss.search.enumerated import EnumeratedBelief, EnumeratedModel
from klss.search.model import Belief, Expansion, Model, Past
from klss.search.parts import Parts, SearchConfiguration
from klss.search.search import Report, Result, Search
from klss.search.trunk import ModelError, Roots, Trunk
from klss.theory.movers import CHANCE, TERMINAL

__all__ = [
    "CHANCE",
    "TERMINAL",
    "Baseline",
    "Belief",
    "Budget",
    "EnumeratedBelief",
    "EnumeratedModel",
    "Expansion",
    "Klss2021",
    "Kluss",
    "Model",
    "ModelError",
    "Parts",
    "Past",
    "Report",
    "Result",
    "Roots",
    "Search",
    "SearchConfiguration",
    "Trunk",
]
