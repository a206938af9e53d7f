"""Ways to refine a blueprint in a subgame, by name: the part of the game in the subgame, and the gadget on top of it.

Sources: Zhang & Sandholm (NeurIPS 2021) for k-KLSS; Zhang & Sandholm (Obscuro, arXiv 2506.01242) for k-KLUSS; Burch,
Johanson & Bowling (AAAI 2014) for Resolve; Moravčík et al. (AAAI 2016) for Maxmargin; Brown & Sandholm (NeurIPS 2017)
for reach; Kubíček, Lisý & Sandholm (arXiv 2601.17131) for prior, as far as :mod:`klss.paper.selection` says.

Legend: I player 0's infoset; I^k its order-k knowledge set; I0 an infoset of player 1 that meets I^k.

- ``k-klss``, k odd: player 0 is free in I^k and below; at nodes of an I0 outside I^k it plays the blueprint.
- ``k-kluss``: the subgame has I^k and nothing else, and player 0 is free in all of it. Player 1 is assumed to know that
  the game is in I^k: its alternate values count only the nodes of I0 in I^k. (With the blueprint played at the others
  it would be k-KLSS.) For k = inf it is common-knowledge subgame solving, as is ``inf-klss``. The search's 2-KLUSS
  (:mod:`klss.search.subgame.order_two`) keeps the same nodes, but is another method: its alternate values are those of
  the last profile minus its gifts, not of best responses, nature draws the roots by a prior, and its depth is limited.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from klss.paper.subgame import Gadget, Outside


class Method(NamedTuple):
    """The part of the game that a subgame contains."""

    order: float  # k, a whole number or inf
    outside: Outside = "blueprint"

    @property
    def updates(self) -> bool:
        """Whether Theorem 4 holds for the method: its solutions can replace the blueprint in the whole subgame."""
        return self.order == math.inf or self.outside == "blueprint"


class GadgetChoice(NamedTuple):
    """The gadget on top of a subgame."""

    kind: Gadget
    # Whether alternate values are lowered by player 1's gifts on the way. Common-knowledge subgames stay safe with it,
    # and so do updates of the blueprint (docs/search.md, "Reach is safe").
    reach: bool = False
    # Whether, of the gadget's optima, the best is taken if player 1's choice in the gadget errs, drawn from a prior.
    prior: bool = False


METHODS = {f"{k:g}-klss": Method(k) for k in (1, 3, 5, math.inf)} | {
    f"{k:g}-kluss": Method(k, "removed") for k in (1, 2, 3, math.inf)
}

GADGETS = {
    "maxmargin": GadgetChoice("maxmargin"),
    "maxmargin-reach": GadgetChoice("maxmargin", reach=True),
    "resolve": GadgetChoice("resolve"),
    "resolve-reach": GadgetChoice("resolve", reach=True),
    "maxmargin-prior": GadgetChoice("maxmargin", prior=True),
    "resolve-prior": GadgetChoice("resolve", prior=True),
}
