"""Kernels of :mod:`klss.search.equilibrium.restricted`: a trunk cut down to some sequences."""

from __future__ import annotations

from typing import Any

import numpy as np

from klss.support.kernel import kernel


@kernel
def admit(side: Any, best: Any, strategy: Any, allowed: Any) -> None:
    """At each infoset that follows an allowed sequence, allow the best sequence and those that the strategy plays."""
    for k in range(side.first_sequence.shape[0]):
        if allowed[side.parent_sequence[k]]:
            # If the other never comes here, there is no best one (−1); the strategy then keeps the infoset from being
            # empty.
            if best[k] >= 0:
                allowed[best[k]] = True
            for s in range(side.first_sequence[k], side.first_sequence[k] + side.action_count[k]):
                if strategy[s] > 0.0:
                    allowed[s] = True


@kernel
def numbered(allowed: Any) -> Any:
    """Return the number of each allowed sequence among the allowed ones, int32[S]; −1 for the others."""
    places = np.full(allowed.shape[0], -1, dtype=np.int32)
    count = 0
    for s in range(allowed.shape[0]):
        if allowed[s]:
            places[s] = count
            count += 1
    return places


@kernel
def cut_side(side: Any, places: Any, found: Any, kept: Any, acting: Any) -> int:
    """Write the infosets of ``side`` that follow an allowed sequence into ``found`` and their places in ``side`` into
    ``kept``; write into ``acting``, by their old places, their new ones. Return the number of these infosets.
    """
    count = 0
    for k in range(side.first_sequence.shape[0]):
        parent = places[side.parent_sequence[k]]
        if parent < 0:
            continue
        # Its allowed sequences: their new numbers are consecutive too.
        size, first = 0, 0
        for s in range(side.first_sequence[k], side.first_sequence[k] + side.action_count[k]):
            if places[s] >= 0:
                if size == 0:
                    first = places[s]
                size += 1
        found.infoset[count] = side.infoset[k]
        found.parent_sequence[count] = parent
        found.first_sequence[count] = first
        found.action_count[count] = size
        kept[count] = k
        acting[k] = count
        count += 1
    return count


@kernel
def cut_tree(opened: Any, payoff: Any, roots: int, kept: Any, places: Any, acting: Any, found: Any, paid: Any) -> int:
    """Write the ``kept`` expanded nodes into ``found``, each with the children that are left, and the children's
    payoffs into ``paid`` after those of the roots. Return the number of payoffs.
    """
    # Roots keep their places; every other payoff gets a new place after them.
    for node in range(roots):
        paid[node] = payoff[node]
    count = roots
    for n in range(kept.shape[0]):
        # The node, with both players' sequences in their new numbers.
        k = kept[n]
        mover = opened.mover[k]
        first = opened.first[k]
        moves = opened.moves[k]
        found.chance[n] = opened.chance[k]
        found.first[n] = count
        found.mover[n] = mover
        found.own[n] = places[0][opened.own[k]]
        found.theirs[n] = places[1][opened.theirs[k]]
        found.acting[n] = 0
        found.moves[n] = 0
        # Its children: all of nature's, of a player's those whose sequence is allowed.
        if mover < 0:
            for c in range(opened.children[k]):
                paid[count] = payoff[first + c]
                count += 1
        else:
            found.acting[n] = acting[mover][opened.acting[k]]
            for c in range(opened.children[k]):
                place = places[mover][moves + c]
                if place >= 0:
                    if count == found.first[n]:
                        found.moves[n] = place
                    paid[count] = payoff[first + c]
                    count += 1
        found.children[n] = count - found.first[n]
    return count
