"""The gadget on top of a trunk, as payoff A plus B in sequence form (App. C, App. E).

The form is Maxmargin's: player 1 chooses among all root infosets, and its sequences have the trunk's own numbers. In
Resolve nature chooses the root infoset, and player 1 plays on or exits for 0. The game below is the same, so
:mod:`klss.search.equilibrium.program` builds both gadgets from this form.

B's top row contains the alternate values, negated, and the folded-in entries; its first column contains the information
penalty of player 0's actions at the root infoset, negated. The penalty is D.3's 2^(−H(a))·|I|/M (line 20 adds the same
up to the constant |I|/M); *margins are tested without it*.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from klss.search.model import Belief
from klss.search.trunk import Trunk
from klss.support.arrays import Floats
from klss.theory.sequence_form import SequenceForm
from klss.theory.treeplex import Treeplex

_INFORMATION = 1e7
"""M: denominator of the information penalty."""


def treeplexes(trunk: Trunk) -> tuple[Treeplex, Treeplex]:
    """Return both players' treeplexes, with the trunk's numbers of sequences. Player 1's first infoset is its choice
    among the root infosets.
    """
    # First the gadget's infosets (one for player 1, none for player 0), then the trunk's acting infosets.
    both = []
    for player, top in enumerate((np.zeros((0, 3), np.int64), np.array([[0, 1, trunk.group_count]]))):
        infosets, acting = trunk.infosets[player], trunk.acting(player)
        columns = zip(top.T, (infosets.sequence, infosets.first, infosets.size), strict=True)
        both.append(Treeplex(*(np.concatenate([head, array[acting]]).astype(np.int64) for head, array in columns)))
    return both[0], both[1]


def gadget_form(trunk: Trunk, penalty: Floats | None = None) -> SequenceForm:
    """Return the gadget's treeplexes and payoffs. ``penalty`` (float64[actions at player 0's infoset]) is subtracted
    from player 0's payoff for each action at the root infoset.
    """
    both = treeplexes(trunk)
    shape = (both[0].sequence_count, both[1].sequence_count)
    # A: the leaves' payoffs, by both players' sequences; sparse arrays sum the entries of one pair.
    nodes = trunk.nodes
    leaves = np.flatnonzero(trunk.leaf & (nodes.value[: trunk.node_count] != 0.0))
    rows, columns = nodes.sequence[leaves].astype(np.int64).T
    a = sparse.csr_array((nodes.chance[leaves] * nodes.value[leaves], (rows, columns)), shape=shape)
    # B: alternate values and folded-in entries in the top row, the penalty in the first column.
    roots = 1 + np.arange(trunk.group_count, dtype=np.int64)
    folded = trunk.infosets[1].sequence[trunk.folded_infoset].astype(np.int64)
    top = np.concatenate([roots, folded])
    b_rows, b_columns = [np.zeros_like(top)], [top]
    values = [-trunk.alternate, trunk.folded_value]
    if penalty is not None and trunk.infosets[0].first[0] >= 0:
        first, count = int(trunk.infosets[0].first[0]), int(trunk.infosets[0].size[0])
        b_rows.append(np.arange(first, first + count, dtype=np.int64))
        b_columns.append(np.zeros(count, dtype=np.int64))
        values.append(-np.asarray(penalty, dtype=np.float64))
    at = (np.concatenate(b_rows), np.concatenate(b_columns))
    return SequenceForm(treeplexes=both, a=a, b=sparse.csr_array((np.concatenate(values), at), shape=shape))


def information_penalty(trunk: Trunk, belief: Belief | None) -> Floats | None:
    """Return 2^(−H(a))·|I|/M for each action at player 0's infoset (D.3); None without a belief I."""
    first, count = int(trunk.infosets[0].first[0]), int(trunk.infosets[0].size[0])
    if belief is None or first < 0:
        return None
    bits = belief.information(trunk.sequences[0].action[first : first + count])
    return np.asarray(2.0**-bits * (belief.size / _INFORMATION))
