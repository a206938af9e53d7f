"""``klss2021``: the paper's agent (Zhang & Sandholm 2021, §6, Appendix D), its parts put together.

Each part lists where it departs from the paper: :mod:`klss.search.subgame.order_one`,
:mod:`klss.search.equilibrium.linear_program`, :mod:`klss.search.expansion.support`,
:mod:`klss.search.choice.purification`; docs/search.md, "Deviations", lists all.
"""

from __future__ import annotations

from dataclasses import dataclass

from klss.search.choice.mixture import Mixture
from klss.search.choice.purification import Purified
from klss.search.equilibrium.linear_program import GadgetChoice, LinearPrograms, check_caution
from klss.search.expansion.support import SupportDriven, SupportRule
from klss.search.likelihood.by_value import ByValue, check_likelihood
from klss.search.likelihood.uniform import Uniform
from klss.search.parts import Parts, SearchConfiguration, at_least_one
from klss.search.subgame.order_one import OrderOne
from klss.subgame import Gadget

__all__ = ["Klss2021"]


@dataclass(frozen=True, kw_only=True)
class Klss2021(SearchConfiguration):
    """Nested, depth-limited 1-KLSS; the defaults are the paper's but for the deviations that the parts list.

    Attributes
    ----------
    max_carried : int
        Most roots carried on from the previous trunk.
    reach : bool
        Whether gifts lower the alternate values.
    gadget : "hybrid", "maxmargin" or "resolve"
        Hybrid: Maxmargin while no margin is negative, else Resolve.
    first : "maxmargin" or "resolve"
        What a hybrid solves first at each move; Maxmargin: the paper's (line 23).
    nested : bool
        Whether the previous trunk is carried on; if not, every search starts afresh.
    expansion : "node" or "leaf"
        See :mod:`klss.search.expansion.support`.
    purify : bool
        Whether the move is drawn from the *purified* strategy (:mod:`klss.search.choice.purification`).
    caution : float
        How many times its uniform weight a root infoset may have in Resolve, 1 or more; 1: the paper's.
    value_beta, uniform_mix : float
        Of the likelihood by value (:mod:`klss.search.likelihood.by_value`), by which Resolve then weighs root infosets;
        a beta of 0: all alike, the paper's.
    """

    max_carried: int = 100
    reach: bool = True
    gadget: GadgetChoice = "hybrid"
    first: Gadget = "resolve"
    nested: bool = True
    expansion: SupportRule = "node"
    purify: bool = True
    caution: float = 3.0
    value_beta: float = 0.0
    uniform_mix: float = 0.2

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        super().__post_init__()
        at_least_one("max_carried", self.max_carried)
        check_caution(self.caution)
        check_likelihood(self.value_beta, self.uniform_mix)

    def parts(self) -> Parts:
        """See :class:`klss.search.parts.SearchConfiguration`."""
        return Parts(
            builder=OrderOne(
                self.particles,
                self.max_carried,
                self.reach,
                self.nested,
                likelihood=ByValue(self.value_beta, self.uniform_mix) if self.value_beta else Uniform(),
            ),
            solver=LinearPrograms(self.gadget, self.caution, first=self.first),
            expander=SupportDriven(self.expansion),
            choice=Purified() if self.purify else Mixture(),
        )
