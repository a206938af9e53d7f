"""Values of player 0's actions in a solved trunk.

Values are player 0's expected utility û in [−1, 1] against the opponent's equilibrium plan y:

* of an action in the mix: the profile's, Σ chance·y·x/x(a)·value over the leaves below it, over the roots' Σ chance·y;
* of an action that x never plays there is no plan below it: the value of the best response to y after it.

The information penalty is left out, so that actions of one mix may differ a little. y is the opponent of the gadget:
it goes where x is weakest, which is not where an average opponent goes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klss.best_response import best_response
from klss.search.gadget import gadget_form
from klss.search.profile import SUPPORT, Profile, reach_of, strategy_at
from klss.search.trunk import Trunk
from klss.support.arrays import Floats, Int32s

__all__ = ["RootValues", "responses", "root_values"]


class RootValues(NamedTuple):
    """Player 0's actions at the root infoset (n of them): codes int32[n], probabilities float64[n], values float64[n]
    (nan where nothing is known).
    """

    actions: Int32s
    probabilities: Floats
    values: Floats


def responses(trunk: Trunk, y: Floats) -> Floats:
    """Value of each of player 0's sequences when a best response follows it, unnormalised: float64[S0]."""
    form = gadget_form(trunk)
    return best_response(form.treeplexes[0], form.a @ y, maximize=True).sequence_value


def root_values(trunk: Trunk, profile: Profile, infoset: int = 0) -> RootValues:
    """The strategy at player 0's infoset, the root's unless another is named, and what each action is worth (see the
    module).

    Roots that were never expanded say nothing of any action and are left out, and so are those at other infosets of
    player 0 (order-2 subgames have some). The values are nan where player 1 goes to such roots only: the search was too
    short.
    """
    nodes, count = trunk.nodes, trunk.node_count
    first, size = int(trunk.infosets[0].first[infoset]), int(trunk.infosets[0].size[infoset])
    codes, probabilities = strategy_at(trunk, profile, infoset)
    # How likely nature and player 1 come to roots that say something.
    reach = reach_of(1, trunk, profile.y)
    here = nodes.infoset[:count, 0] == infoset
    total = float(reach[here & (nodes.first_child[:count] >= 0)].sum())
    if total <= SUPPORT:
        return RootValues(codes, probabilities, np.full(size, np.nan))
    # Of an action that is not played, the best response's; of each other the profile's, by the leaves below its child.
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
