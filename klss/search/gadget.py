"""The gadget on top of a trunk, as payoff A plus B in sequence form (App. C, App. E).

Maxmargin: player 1 chooses among all root infosets. Resolve: nature does, uniformly, and player 1 plays on or exits
for 0. What lies below is the same; only the numbering of player 1's sequences and the scale of A and of B's top row
(1/J in Resolve) differ, so either form is laid over the same trunk. A *cautious* Resolve
(:mod:`klss.search.equilibrium.program`) has no such form: player 1 then chooses nature's weights, within bounds.

B's top row holds the alternate values (with a minus) and the folded-in entries, its first column the information
penalty of player 0's actions at the root infoset. The penalty is D.3's 2^(−H(a))·|I|/M with a minus (line 20 adds the
same up to the constant |I|/M); *margins are tested without it*.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from klss.search.model import Belief
from klss.search.trunk import Trunk
from klss.sequence_form import SequenceForm
from klss.subgame import Gadget
from klss.support.arrays import Floats, Ints
from klss.treeplex import Treeplex

__all__ = ["gadget_form", "information_penalty", "treeplexes"]


def _treeplex(trunk: Trunk, player: int, shift: int, top: list[tuple[int, int, int]]) -> Treeplex:
    """A player's treeplex; ``top`` are (parent sequence, first sequence, actions) put before the trunk's infosets,
    whose sequences move up by ``shift``.
    """
    infosets = trunk.infosets[player]
    active = trunk.acting(player)
    head = np.array(top, dtype=np.int64).reshape(-1, 3)
    parents = infosets.sequence[active].astype(np.int64)
    if player == 1:
        roots = trunk.group_count
        parents = np.where(parents > roots, parents + shift, _play(parents, shift))
    return Treeplex(
        parent_sequence=np.concatenate([head[:, 0], parents]),
        first_sequence=np.concatenate([head[:, 1], infosets.first[active].astype(np.int64) + shift]),
        action_count=np.concatenate([head[:, 2], infosets.size[active].astype(np.int64)]),
    )


def _play(sequence: Ints, shift: int) -> Ints:
    """The form's number of a root sequence 1 + j: itself in Maxmargin (no shift), the first of the pair (play,
    exit) in Resolve.
    """
    return sequence if shift == 0 else np.where(sequence > 0, 2 * sequence - 1, 0)


def _their_numbers(trunk: Trunk, gadget: Gadget) -> Ints:
    """Number in the form of each of player 1's sequences in the trunk."""
    numbers = np.arange(trunk.sequence_count(1), dtype=np.int64)
    if gadget == "maxmargin":
        return numbers
    roots = trunk.group_count
    return np.where(numbers > roots, numbers + roots, _play(numbers, roots))


def treeplexes(trunk: Trunk, gadget: Gadget) -> tuple[Treeplex, Treeplex]:
    """Both players' treeplexes in the gadget; Maxmargin's has the trunk's own numbers of sequences."""
    roots = trunk.group_count
    if gadget == "maxmargin":
        return _treeplex(trunk, 0, 0, []), _treeplex(trunk, 1, 0, [(0, 1, roots)])
    return _treeplex(trunk, 0, 0, []), _treeplex(trunk, 1, roots, [(0, 1 + 2 * j, 2) for j in range(roots)])


def gadget_form(trunk: Trunk, gadget: Gadget, penalty: Floats | None = None) -> SequenceForm:
    """The gadget's treeplexes and payoffs.

    Parameters
    ----------
    trunk : Trunk
    gadget : "maxmargin" or "resolve"
    penalty : float64[actions at player 0's infoset] or None
        What is subtracted from player 0's payoff for each action at the root infoset.
    """
    roots = trunk.group_count
    scale = 1.0 if gadget == "maxmargin" else 1.0 / roots
    both = treeplexes(trunk, gadget)
    shape = (both[0].sequence_count, both[1].sequence_count)
    numbers = _their_numbers(trunk, gadget)
    # A: what the leaves pay, by both players' sequences.
    nodes = trunk.nodes
    leaves = np.flatnonzero(trunk.leaf & (nodes.value[: trunk.node_count] != 0.0))
    rows = nodes.sequence[leaves, 0].astype(np.int64)
    columns = numbers[nodes.sequence[leaves, 1]]
    a = sparse.csr_array((scale * nodes.chance[leaves] * nodes.value[leaves], (rows, columns)), shape=shape)
    # B: alternate values and folded-in entries in the top row, the penalty in the first column.
    at = [numbers[1 : 1 + roots], numbers[trunk.infosets[1].sequence[trunk.folded_infoset]]]
    values = [-scale * trunk.alternate, scale * trunk.folded_value]
    b_rows = [np.zeros(roots, dtype=np.int64), np.zeros(len(trunk.folded_value), dtype=np.int64)]
    if penalty is not None and trunk.infosets[0].first[0] >= 0:
        first, count = int(trunk.infosets[0].first[0]), int(trunk.infosets[0].size[0])
        b_rows.append(np.arange(first, first + count, dtype=np.int64))
        at.append(np.zeros(count, dtype=np.int64))
        values.append(-np.asarray(penalty, dtype=np.float64))
    b = sparse.csr_array((np.concatenate(values), (np.concatenate(b_rows), np.concatenate(at))), shape=shape)
    return SequenceForm(treeplexes=both, a=a, b=b)


def information_penalty(trunk: Trunk, belief: Belief | None, denominator: float) -> Floats | None:
    """2^(−H(a))·|I|/M for each action at player 0's infoset (D.3); None where there is nothing to pay.

    Parameters
    ----------
    trunk : Trunk
    belief : Belief or None
        I; None: nothing is charged.
    denominator : float
        M; infinite: nothing is charged.
    """
    first, count = int(trunk.infosets[0].first[0]), int(trunk.infosets[0].size[0])
    if belief is None or np.isinf(denominator) or first < 0:
        return None
    bits = belief.information(trunk.sequences[0].action[first : first + count])
    return np.asarray(2.0**-bits * (belief.size / denominator))
