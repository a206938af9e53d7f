"""The material that each of a player's moves wins or loses, in every position that the player can't rule out.

A full search of two plies (the move and the reply), and of a third one (a capture after the reply) for the upper bound.
Only material counts: no position is evaluated, nothing is sampled.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.bits import bit
from darkchess.board.kernels.board import BLACK, PAWN, WIDTH, ep_square, piece_on, turn
from darkchess.board.kernels.moves import MAX_MOVES, generate, king_capture, make
from klss.support.kernel import kernel

LEAST, MOST, REPLY = range(3)
"""Columns of ``out``: the two bounds, and the code of a reply (−1: the game is over)."""

LINE = 3
"""Number of these columns."""


@kernel(allocates=False)
def _gain(row: Any, code: int, worth: Any) -> int:
    """Return the worth of what a move captures, and the gain of a promotion, in pawns."""
    target = bit((code >> 3) & 63)
    moved = row[PAWN] & bit(code >> 9)
    gain = 0
    if target & row[BLACK - turn(row)] != np.uint64(0):
        gain = worth[piece_on(row, target)]
    elif moved != np.uint64(0) and ((code >> 3) & 63) == ep_square(row):
        gain = worth[PAWN]
    if code & 7 != 0:
        gain += worth[code & 7] - worth[PAWN]
    return gain


@kernel(allocates=False)
def _best_gain(row: Any, worth: Any, tables: Any, codes: Any) -> int:
    """Return the largest gain of a move of the side to move; at least 0, since most moves capture nothing."""
    best = 0
    for i in range(generate(row, tables, codes)):
        best = max(best, _gain(row, codes[i], worth))
    return best


@kernel
def balances(rows: Any, moves: Any, worth: Any, bounded_above: bool, tables: Any, out: Any) -> None:
    """Write the material balance of each of ``moves`` in each of ``rows``, for the side to move, in pawns.

    Parameters
    ----------
    rows : uint64[n, 9]
        The positions; ``moves`` can be played in each.
    moves : int32[m]
    worth : int64[6]
        Worth of each kind of piece; the last one, the king's, is far above the sum of all others.
    bounded_above : bool
        Whether to compute the upper bound too, which takes ten times as long; else ``MOST`` is equal to ``LEAST``.
    out : int64[m, n, 3]
        Gets ``LEAST``: the move's gain, less the largest gain of a reply. ``MOST``: the same, but the largest gain of
        the move after a reply is added before the opponent chooses the reply. A king that falls ends the game:
        ``±worth[5]``. If every reply lets the mover take the king, both are ``worth[5]`` too. ``REPLY``: the reply that
        gives ``MOST`` if it is wanted, else ``LEAST``.
    """
    king = worth[5]
    after, then = np.empty((2, WIDTH), dtype=np.uint64)
    replies, codes = np.empty((2, MAX_MOVES), dtype=np.int32)
    for j in range(moves.shape[0]):
        for i in range(rows.shape[0]):
            # A move that captures the king, or lets its own be captured, decides both bounds.
            gain = _gain(rows[i], moves[j], worth)
            out[j, i, REPLY] = -1
            if gain >= king:
                out[j, i, LEAST] = out[j, i, MOST] = king
                continue
            make(rows[i], moves[j], tables, after)
            capture = king_capture(after, tables)
            if capture >= 0:
                out[j, i, LEAST] = out[j, i, MOST] = -king
                out[j, i, REPLY] = capture
                continue
            # The opponent's best reply for each bound; and whether the king can be taken after every reply.
            n = generate(after, tables, replies)
            least = most = king
            forced = n > 0
            for k in range(n):
                balance = gain - _gain(after, replies[k], worth)
                if balance < least:
                    least = balance
                    if not bounded_above:
                        out[j, i, REPLY] = replies[k]
                if not bounded_above and not forced:
                    continue
                make(after, replies[k], tables, then)
                if forced and king_capture(then, tables) < 0:
                    forced = False
                if bounded_above:
                    balance += _best_gain(then, worth, tables, codes)
                    if balance < most:
                        most = balance
                        out[j, i, REPLY] = replies[k]
            # Without a reply the game is over, and only the move's own gain counts.
            if forced:
                out[j, i, LEAST] = out[j, i, MOST] = king
            else:
                out[j, i, LEAST] = gain if n == 0 else least
                out[j, i, MOST] = most if bounded_above and n > 0 else out[j, i, LEAST]
