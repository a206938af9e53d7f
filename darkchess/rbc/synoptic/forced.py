"""Wins that need no search: the king can be taken, wherever he is.

Before its move who acts wins if one request takes the king in every position that it holds possible; before its sense,
if there is a window after which, whatever it shows, one request does. That is a proof as long as the truth is among
the positions, whatever the opponent knows: for of what is claimed nothing is left to it. Of a set that was cut it is
one about the members that are left.

Deviation from the source (G. Clark, "Deep Synoptic Monte Carlo Planning in Reconnaissance Blind Chess", which also
finds losses on the opponent's turn without saying how): of a *loss* nothing can be claimed from the loser's set alone.
That the opponent has a move that takes the king in every position does not mean that it knows it, and without that
another move may be its own. A loss is what is a win at the opponent's own set, when it acts.
"""

from __future__ import annotations

from darkchess.board.kernels.tables import TABLES
from darkchess.rbc.synoptic._kernels import forced as kernels
from klss.support.arrays import Words

__all__ = ["forced_win"]


def forced_win(own_row: Words, halves: Words, stage: int) -> int | None:
    """The action of a sure win at the set of who acts.

    Parameters
    ----------
    own_row, halves, stage
        As in :func:`darkchess.rbc.synoptic.synopsis.synopsis`.

    Returns
    -------
    int or None
        As it sees the board: 65 · from + to of a request that takes the king in every position, or 65 · square + 64
        of a sense, after which there is one whatever it shows; the lowest such square. None: no win is sure.

    Raises
    ------
    ValueError
        The set is empty.
    """
    if not halves.shape[0]:
        raise ValueError("bad set: got no position, expected at least one")
    found = int(kernels.forced_win(own_row, halves, stage, TABLES))
    return None if found < 0 else found
