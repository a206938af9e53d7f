"""Values of player 0's actions in a solved trunk.

Values are player 0's expected utility û in [−1, 1] against the opponent's equilibrium plan y:

* of an action that x plays: the profile's, Σ chance·y·x/x(a)·value over the leaves below it, divided by the roots'
  Σ chance·y;
* of an action that x never plays: the value of the best response to y after it, since x has no plan below it.

The information penalty is left out, so the values of actions in one mixture may differ a little. y is the plan of
the gadget's player 1, which aims at x's weakest points; an average opponent plays otherwise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klss.search.gadget import gadget_form
from klss.search.profile import SUPPORT, Profile, reach_of, strategy_at
from klss.search.trunk import Trunk
from klss.support.arrays import Floats, Int32s
from klss.theory.best_response import best_response


class RootValues(NamedTuple):
    """Player 0's actions at the root infoset, n of them."""

    actions: Int32s  # [n], codes
    probabilities: Floats  # [n]
    values: Floats  # [n], nan where unknown


def responses(trunk: Trunk, y: Floats) -> Floats:
    """Return the value of each of player 0's sequences followed by a best response, not normalised: float64[S0]."""
    form = gadget_form(trunk)
    return best_response(form.treeplexes[0], form.a @ y, maximize=True).sequence_value


def root_values(trunk: Trunk, profile: Profile, infoset: int = 0) -> RootValues:
    """Return the strategy at player 0's ``infoset`` (0: the root's), and the value of each action (see the module).

    Roots that were never expanded are left out, since they have no actions, and so are roots at other infosets of
    player 0 (order-2 subgames have some). If player 1's plan reaches only such roots, because the search was too short,
    the values are nan.
    """
    nodes, count = trunk.nodes, trunk.node_count
    first, size = int(trunk.infosets[0].first[infoset]), int(trunk.infosets[0].size[infoset])
    codes, probabilities = strategy_at(trunk, profile, infoset)
    # Probability, by nature and player 1, of the expanded roots at this infoset.
    reach = reach_of(1, trunk, profile.y)
    here = nodes.infoset[:count, 0] == infoset
    total = float(reach[here & (nodes.first_child[:count] >= 0)].sum())
    if total <= SUPPORT:
        return RootValues(codes, probabilities, np.full(size, np.nan))
    # Start with the best response's values; those of played actions are replaced by the profile's, from the leaves.
    values = responses(trunk, profile.y)[first : first + size] / total
    below = np.full(count, -1, dtype=np.int64)
    top = np.flatnonzero(here[np.maximum(nodes.parent[:count], 0)] & (nodes.parent[:count] >= 0))
    below[top] = nodes.sequence[top, 0] - first
    trunk.spread_down(below)
    leaves = np.flatnonzero(trunk.leaf & (below >= 0))
    utility = reach[leaves] * profile.x[nodes.sequence[leaves, 0]] * nodes.value[leaves]
    expected = np.bincount(below[leaves], weights=utility, minlength=size)
    played = probabilities > 0.0
    values[played] = expected[played] / (profile.x[first : first + size][played] * total)
    return RootValues(codes, probabilities, values)
