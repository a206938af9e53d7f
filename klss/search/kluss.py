"""``kluss``: 2-KLUSS solved by PCFR+ on a trunk that grows one-sidedly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from klss.search.choice.mixture import Mixture
from klss.search.choice.purification import Purified
from klss.search.equilibrium.linear_program import LinearPrograms
from klss.search.equilibrium.pcfr import RegretMinimiser, RootLayer
from klss.search.expansion.one_sided import OneSided
from klss.search.expansion.support import SupportDriven
from klss.search.likelihood.by_value import check_likelihood
from klss.search.likelihood.by_weight import ByWeight
from klss.search.parts import Likelihood, Parts, SearchConfiguration, SearchConfigurationError, Solver, at_least_one
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
    most_carried : int
        Most roots carried on from the previous trunk.
    nested : bool
        Whether the previous trunk is carried on; if not, every search starts afresh.
    share : float
        Of a move's nodes, what goes into expanding roots at the most; infinite: no limit.
    slope, even : float
        Of the likelihood by value (:mod:`klss.search.likelihood.by_value`).
    sharpness : float
        The exponent of the weights that the belief carries, if any (:mod:`klss.search.likelihood.by_weight`).
    drawn : bool
        Whether roots are drawn by those weights too.
    solver : "regrets" or "programs"
        PCFR+, or klss2021's linear programs.
    root : "nature", "blend", "maxmargin" or "resolve"
        See :mod:`klss.search.equilibrium.pcfr`; programs solve klss2021's hybrid for the first two.
    maxmargin_share : float
        Least share of Maxmargin in these.
    iterations : int
        Of PCFR+ after each batch of leaves.
    expansion : "one-sided", "two-sided" or "support"
        Explorers that take turns, or explore both at once, or klss2021's rule.
    exploration : float
        C of the expansion (:mod:`klss.search.expansion.one_sided`).
    walks : int
        Leaves of a batch.
    purify : bool
        Whether the move is drawn from the purified strategy.
    most : int
        Most actions of that (:mod:`klss.search.choice.purification`).
    """

    order: int = 2
    particles: int = 256
    information: float = float("inf")
    most_carried: int = 128
    nested: bool = True
    share: float = 0.25
    slope: float = 5.0
    even: float = 0.2
    sharpness: float = 1.0
    drawn: bool = False
    solver: Literal["regrets", "programs"] = "regrets"
    root: RootLayer = "nature"
    maxmargin_share: float = 0.1
    iterations: int = 8
    expansion: Literal["one-sided", "two-sided", "support"] = "one-sided"
    exploration: float = 1.0
    walks: int = 8
    purify: bool = True
    most: int = 3

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        super().__post_init__()
        for field in ("most_carried", "iterations", "walks", "most"):
            at_least_one(field, getattr(self, field))
        if self.order not in (1, 2):
            raise SearchConfigurationError(f"order is {self.order}, expected 1 or 2")
        check_likelihood(self.slope, self.even)
        for field in ("share", "exploration", "sharpness"):
            if not getattr(self, field) >= 0.0:
                raise SearchConfigurationError(f"{field} is {getattr(self, field)}, expected a number from 0 on")
        if not 0.0 <= self.maxmargin_share <= 1.0:
            raise SearchConfigurationError(f"maxmargin_share is {self.maxmargin_share}, expected a number from 0 to 1")

    def _solver(self) -> Solver:
        if self.solver == "regrets":
            return RegretMinimiser(self.root, self.iterations, caution=self.maxmargin_share)
        return LinearPrograms(self.root if self.root in ("maxmargin", "resolve") else "hybrid")

    def likelihood(self) -> Likelihood:
        """What the roots are drawn and weighed by."""
        return ByWeight(self.sharpness, self.slope, self.even, self.drawn)

    @property
    def ponders(self) -> bool:
        """See :class:`klss.search.parts.SearchConfiguration`."""
        return True

    def parts(self) -> Parts:
        """See :class:`klss.search.parts.SearchConfiguration`."""
        return Parts(
            builder=(OrderOne if self.order == 1 else OrderTwo)(
                self.particles,
                self.most_carried,
                nested=self.nested,
                share=self.share,
                likelihood=self.likelihood(),
            ),
            solver=self._solver(),
            expander=SupportDriven()
            if self.expansion == "support"
            else OneSided(self.exploration, self.walks, alternate=self.expansion == "one-sided"),
            choice=Purified(self.most, _LEAST) if self.purify else Mixture(),
        )
