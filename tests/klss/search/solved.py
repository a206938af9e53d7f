"""Trunks grown by hand, and gadgets solved from scratch."""

from __future__ import annotations

import dataclasses

import numpy as np

from klss.paper.subgame import Gadget
from klss.search.enumerated import EnumeratedModel
from klss.search.equilibrium.program import GadgetProgram
from klss.search.model import Model
from klss.search.profile import Profile
from klss.search.trunk import Trunk, game_root
from klss.support.arrays import Floats, Ints, Keys

NO_KEYS = np.zeros(0, dtype=np.uint64)


def solve_gadget(trunk: Trunk, gadget: Gadget, penalty: Floats | None = None, *, caution: float = 1.0) -> Profile:
    """An equilibrium of a gadget; parameters as of :meth:`klss.search.equilibrium.program.GadgetProgram.solve`."""
    return GadgetProgram(caution=caution).solve(trunk, gadget, penalty).profile


def whole_trunk(model: EnumeratedModel, alternate: float = 0.0) -> Trunk:
    """A game's trunk, expanded to its end."""
    trunk = Trunk.from_roots(dataclasses.replace(game_root(model, model.root), alternate=np.array([alternate])))
    while len(leaves := np.flatnonzero(trunk.open_leaf)):
        expand(trunk, leaves, model)
    return trunk


def expand(trunk: Trunk, leaves: Ints, model: Model, history: Keys = NO_KEYS) -> None:
    """Add all children of open leaves; where a child is a node of nature, add its children too."""
    while len(leaves):
        start = trunk.node_count
        trunk.attach(leaves, trunk.prepare(leaves, model, history))
        leaves = trunk.nature_since(start)
