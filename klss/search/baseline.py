"""``baseline``: the paper's own yardstick (§7), "the same algorithm as our agent, except that it only performs
imperfect-information search to depth 1": :mod:`klss.search.expansion.deepening` has the rest.

A tree of depth 1 holds no node of player 0's *next* infoset: I' is always empty, so all roots are fresh samples, û is
infinite and the alternate values are ũ(h), the model's plain values.
"""

from __future__ import annotations

from dataclasses import dataclass

from klss.search.choice.mixture import Mixture
from klss.search.choice.purification import Purified
from klss.search.equilibrium.linear_program import GadgetChoice, LinearPrograms, check_caution
from klss.search.expansion.deepening import OnePly
from klss.search.parts import Parts, SearchConfiguration
from klss.search.subgame.order_one import OrderOne

__all__ = ["Baseline"]


@dataclass(frozen=True, kw_only=True)
class Baseline(SearchConfiguration):
    """One ply of imperfect information, a perfect-information search below it.

    Attributes
    ----------
    gadget, purify, caution
        As of :class:`klss.search.klss2021.Klss2021`.
    """

    gadget: GadgetChoice = "hybrid"
    purify: bool = True
    caution: float = 3.0

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        super().__post_init__()
        check_caution(self.caution)

    def parts(self) -> Parts:
        """See :class:`klss.search.parts.SearchConfiguration`."""
        return Parts(
            builder=OrderOne(self.particles, nested=False),
            solver=LinearPrograms(self.gadget, self.caution),
            expander=OnePly(),
            choice=Purified() if self.purify else Mixture(),
        )
