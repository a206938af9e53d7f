"""Wins that need no search: the king can be taken in every possible position.

Before its move, the player to act wins if one request takes the king in every position of its set. Before its sense, it
wins if there is a window such that, whatever it shows, one request then does. This is a proof as long as the true
position is in the set, whatever the opponent knows, since the opponent has no move in between. For a set that was cut,
it is a proof only for the remaining members.

Deviation from the source (G. Clark, "Deep Synoptic Monte Carlo Planning in Reconnaissance Blind Chess", which also
finds losses on the opponent's turn without saying how): a *loss* can't be proved from the loser's set alone. Even if
the opponent can take the king in every position of that set, it may not know this, and then it may play another move.
So a loss is only found as a win for the opponent, from its own set, when it acts.
"""

from __future__ import annotations

from darkchess.board.kernels.tables import TABLES
from darkchess.rbc.synoptic._kernels import forced as kernels
from klss.support.arrays import Words


def forced_win(own_row: Words, halves: Words, stage: int) -> int | None:
    """Return the action of a sure win, from the set of the player to act.

    Parameters
    ----------
    own_row, halves, stage
        As in :func:`darkchess.rbc.synoptic.synopsis.synopsis`.

    Returns
    -------
    int or None
        As the player sees the board: 65 · from + to of a request that takes the king in every position; or 65 · square
        + 64 of a sense after which there is such a request whatever it shows, with the lowest such square. None: no win
        is sure.
    """
    assert halves.shape[0], "an empty set has no wins"
    found = int(kernels.forced_win(own_row, halves, stage, TABLES))
    return None if found < 0 else found
