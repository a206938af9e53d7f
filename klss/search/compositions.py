"""The named searches: each is a :class:`~klss.search.parts.SearchConfiguration` that combines one part of every kind.

* :class:`Klss2021`: the paper's agent (Zhang & Sandholm 2021, §6, Appendix D).
* :class:`Baseline`: the paper's baseline (§7), "the same algorithm as our agent, except that it only performs
  imperfect-information search to depth 1". A tree of depth 1 has no node of player 0's *next* infoset: I' is always
  empty, so all roots are fresh samples, û is infinite and the alternate values are ũ(h), the model's plain values.
* :class:`Kluss`: 2-KLUSS solved by PCFR+ on a trunk that grows one-sidedly; most of it is Obscuro's (Zhang & Sandholm,
  arXiv 2506.01242).

Each part lists its deviations from its source; docs/search.md, "Deviations", lists all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from klss.paper.subgame import Gadget
from klss.search.choice import Purified, mixture
from klss.search.equilibrium.linear_program import LinearPrograms
from klss.search.equilibrium.pcfr import RegretMinimiser, RootLayer
from klss.search.expansion.deepening import OnePly
from klss.search.expansion.one_sided import OneSided
from klss.search.expansion.support import SupportDriven
from klss.search.likelihood import ByWeight
from klss.search.parts import Likelihood, Parts, SearchConfiguration
from klss.search.subgame.order_one import OrderOne
from klss.search.subgame.order_two import OrderTwo

_LEAST = 0.05
"""Probability below which Kluss plays no action but the likeliest."""

_MAX_CARRIED, _ROOT_NODE_FRACTION = 128, 0.25
"""Most roots that Kluss carries on, and largest fraction of a move's nodes that goes into expanding roots."""


@dataclass(frozen=True, kw_only=True)
class Klss2021(SearchConfiguration):
    """Nested, depth-limited 1-KLSS; the defaults are the paper's except for the deviations that the parts list."""

    max_carried: int = 100  # most roots carried on from the previous trunk
    first: Gadget = "resolve"  # the gadget that is solved first at each move; the paper's is Maxmargin (line 23)
    nested: bool = True  # whether the previous trunk is carried on; if not, every search starts afresh
    purify: bool = True  # whether the move is drawn from the *purified* strategy (:mod:`klss.search.choice`)
    # largest weight of a root infoset in Resolve, as a multiple of the uniform weight; 1: the paper's
    caution: float = 3.0

    def parts(self) -> Parts:
        return Parts(
            builder=OrderOne(self.particles, self.max_carried, self.nested),
            solver=LinearPrograms(self.first, self.caution),
            expander=SupportDriven(),
            choice=Purified() if self.purify else mixture,
        )


@dataclass(frozen=True, kw_only=True)
class Baseline(SearchConfiguration):
    """One ply of imperfect information with a perfect-information search below it; the rest is as in
    :class:`Klss2021`.
    """

    def parts(self) -> Parts:
        own = Klss2021(particles=self.particles, nested=False).parts()
        return replace(own, expander=OnePly())


@dataclass(frozen=True, kw_only=True)
class Kluss(SearchConfiguration):
    """2-KLUSS, PCFR+ and one-sided growth."""

    order: int = 2  # of the subgame: 1-KLSS or 2-KLUSS
    particles: int = 256  # most roots, carried ones among them
    nested: bool = True  # whether the previous trunk is carried on
    ponders: ClassVar = True
    value_beta: float = 5.0  # β of :class:`klss.search.likelihood.ByWeight`; 0: values do not count
    sample_by_weight: bool = False  # whether roots are drawn by the belief's weights, otherwise uniformly
    root: RootLayer = "nature"  # see :mod:`klss.search.equilibrium.pcfr`
    maxmargin_share: float = 0.1  # of Maxmargin beside nature, if some root infoset is feared
    purify: bool = True  # whether the move is drawn from the *purified* strategy
    whole: bool = False  # see :class:`klss.search.parts.Parts`

    def likelihood(self) -> Likelihood:
        """Return the likelihood by which roots are drawn and weighed."""
        return ByWeight(self.value_beta, self.sample_by_weight)

    def parts(self) -> Parts:
        return Parts(
            builder=(OrderOne if self.order == 1 else OrderTwo)(
                self.particles,
                _MAX_CARRIED,
                self.nested,
                root_node_fraction=_ROOT_NODE_FRACTION,
                likelihood=self.likelihood(),
            ),
            solver=RegretMinimiser(self.root, maxmargin_share=self.maxmargin_share),
            expander=OneSided(),
            choice=Purified(_LEAST) if self.purify else mixture,
            whole=self.whole and self.nested,
        )
