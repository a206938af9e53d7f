"""``kluss``: 1-KLSS solved by PCFR+ on a trunk that grows one-sidedly."""

from __future__ import annotations

from dataclasses import dataclass

from klss.search.choice.mixture import Mixture
from klss.search.choice.purification import Purified
from klss.search.equilibrium.pcfr import RegretMinimiser, RootLayer
from klss.search.expansion.one_sided import OneSided
from klss.search.likelihood.by_value import ByValue
from klss.search.parts import Parts, SearchConfiguration, at_least_one
from klss.search.subgame.order_one import OrderOne

__all__ = ["Kluss"]


@dataclass(frozen=True, kw_only=True)
class Kluss(SearchConfiguration):
    """The composition.

    Attributes
    ----------
    particles : int
        Most roots, carried ones among them.
    most_carried : int
        Most roots carried on from the previous trunk.
    share : float
        Of a move's nodes, what goes into expanding roots at the most; infinite: no limit.
    slope, even : float
        Of the likelihood by value (:mod:`klss.search.likelihood.by_value`).
    root : "blend", "maxmargin" or "resolve"
        See :mod:`klss.search.equilibrium.pcfr`.
    iterations : int
        Of PCFR+ after each batch of leaves.
    exploration : float
        C of the expansion (:mod:`klss.search.expansion.one_sided`).
    walks : int
        Leaves of a batch.
    purify : bool
        Whether the move is drawn from the purified strategy.
    """

    particles: int = 256
    information: float = float("inf")
    most_carried: int = 128
    share: float = 0.25
    slope: float = 5.0
    even: float = 0.2
    root: RootLayer = "blend"
    iterations: int = 8
    exploration: float = 1.0
    walks: int = 8
    purify: bool = True

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        super().__post_init__()
        for field in ("most_carried", "iterations", "walks"):
            at_least_one(field, getattr(self, field))

    def parts(self) -> Parts:
        """See :class:`klss.search.parts.SearchConfiguration`."""
        return Parts(
            builder=OrderOne(
                self.particles, self.most_carried, share=self.share, likelihood=ByValue(self.slope, self.even)
            ),
            solver=RegretMinimiser(self.root, self.iterations),
            expander=OneSided(self.exploration, self.walks),
            choice=Purified() if self.purify else Mixture(),
        )
