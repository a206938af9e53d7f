"""Gadgets solved from scratch."""

from __future__ import annotations

from klss.paper.subgame import Gadget
from klss.search.equilibrium.program import GadgetProgram
from klss.search.profile import Profile
from klss.search.trunk import Trunk
from klss.support.arrays import Floats


def solve_gadget(trunk: Trunk, gadget: Gadget, penalty: Floats | None = None, *, caution: float = 1.0) -> Profile:
    """An equilibrium of a gadget; parameters as of :meth:`klss.search.equilibrium.program.GadgetProgram.solve`."""
    return GadgetProgram(caution=caution).solve(trunk, gadget, penalty).profile
