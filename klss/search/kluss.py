"""``kluss``: 2-KLUSS solved by PCFR+ on a trunk that grows one-sidedly."""

from __future__ import annotations

from dataclasses import dataclass

from klss.search.choice.mixture import Mixture
from klss.search.choice.purification import Purified
from klss.search.equilibrium.pcfr import RegretMinimiser, RootLayer
from klss.search.expansion.one_sided import OneSided
from klss.search.likelihood.by_value import check_likelihood
from klss.search.likelihood.by_weight import ByWeight
from klss.search.parts import Likelihood, Parts, SearchConfiguration, SearchConfigurationError, at_least_one
from klss.search.subgame.order_one import OrderOne
from klss.search.subgame.order_two import OrderTwo

__all__ = ["Kluss"]

_LEAST = 0.05
"""Probability below which an action beside the likeliest is not played."""


@dataclass(frozen=True, kw_only=True)
class Kluss(SearchConfiguration):
    """The composition.

    Attributes
    ----------
    order : 1 or 2
        Of the subgame: 1-KLSS or 2-KLUSS.
    particles : int
        Most roots, carried ones among them.
    max_carried : int
        Most roots carried on from the previous trunk.
    nested : bool
        Whether the previous trunk is carried on; if not, every search starts afresh.
    root_node_fraction : float
        Of a move's nodes, what goes into expanding roots at the most; infinite: no limit.
    value_beta, uniform_mix : float
        Of the likelihood by value (:mod:`klss.search.likelihood.by_value`).
    belief_exponent : float
        The exponent of the weights that the belief carries, if any (:mod:`klss.search.likelihood.by_weight`).
    sample_by_weight : bool
        Whether roots are drawn by those weights too.
    root : "nature", "safe", "maxmargin" or "resolve"
        See :mod:`klss.search.equilibrium.pcfr`.
    maxmargin_share : float
        Share of Maxmargin beside nature, where some root is to be feared.
    iterations : int
        Of PCFR+ after each batch of leaves.
    exploration : float
        C of the expansion (:mod:`klss.search.expansion.one_sided`).
    leaves_per_batch : int
        Leaves of a batch.
    purify : bool
        Whether the move is drawn from the purified strategy.
    max_support : int
        Most actions of that (:mod:`klss.search.choice.purification`).
    """

    order: int = 2
    particles: int = 256
    information: float = float("inf")
    max_carried: int = 128
    nested: bool = True
    root_node_fraction: float = 0.25
    value_beta: float = 5.0
    uniform_mix: float = 0.2
    belief_exponent: float = 1.0
    sample_by_weight: bool = False
    root: RootLayer = "nature"
    maxmargin_share: float = 0.1
    iterations: int = 8
    exploration: float = 1.0
    leaves_per_batch: int = 8
    purify: bool = True
    max_support: int = 3

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        super().__post_init__()
        for field in ("max_carried", "iterations", "leaves_per_batch", "max_support"):
            at_least_one(field, getattr(self, field))
        if self.order not in (1, 2):
            raise SearchConfigurationError(f"order is {self.order}, expected 1 or 2")
        check_likelihood(self.value_beta, self.uniform_mix)
        for field in ("root_node_fraction", "exploration", "belief_exponent"):
            if not getattr(self, field) >= 0.0:
                raise SearchConfigurationError(f"{field} is {getattr(self, field)}, expected a number from 0 on")
        if not 0.0 <= self.maxmargin_share <= 1.0:
            raise SearchConfigurationError(f"maxmargin_share is {self.maxmargin_share}, expected a number from 0 to 1")

    def likelihood(self) -> Likelihood:
        """What the roots are drawn and weighed by."""
        return ByWeight(self.belief_exponent, self.value_beta, self.uniform_mix, self.sample_by_weight)

    @property
    def ponders(self) -> bool:
        """See :class:`klss.search.parts.SearchConfiguration`."""
        return True

    def parts(self) -> Parts:
        """See :class:`klss.search.parts.SearchConfiguration`."""
        return Parts(
            builder=(OrderOne if self.order == 1 else OrderTwo)(
                self.particles,
                self.max_carried,
                nested=self.nested,
                root_node_fraction=self.root_node_fraction,
                likelihood=self.likelihood(),
            ),
            solver=RegretMinimiser(self.root, self.iterations, maxmargin_share=self.maxmargin_share),
            expander=OneSided(self.exploration, self.leaves_per_batch),
            choice=Purified(self.max_support, _LEAST) if self.purify else Mixture(),
        )
