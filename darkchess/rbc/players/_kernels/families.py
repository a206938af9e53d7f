"""The positions that requests lead to, for many positions at once; requests with the same result share one."""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.bits import bit
from darkchess.board.kernels.board import BLACK, KING, META
from darkchess.board.kernels.moves import king_capture, make
from darkchess.board.move import TURNED
from darkchess.rbc.belief._kernels.position_set import decode, outcome
from darkchess.rbc.game._kernels.requests import pass_turn
from klss.support.kernel import kernel


@kernel
def families(
    positions: Any, indices: Any, own_row: Any, real_row: Any, flipped: bool, codes: Any, tables: Any,
    children: Any, place: Any, checks: Any,
) -> int:  # fmt: skip
    """Write the children of some positions by some requests.

    Parameters
    ----------
    positions, indices
        uint64[·, 2], the enemy's halves, and the indices of those to take, int64[n].
    own_row, real_row, flipped
        The player's half, uint64[9], with the viewer as White, and on the real board; whether the two differ.
    codes
        int32[m], requests seen from the viewer's side; −1: a pass.
    children
        uint64[n · m, 9], written: different positions on the real board with the opponent to move, in the order of
        their parents.
    place
        int32[n, m], written: the child that each request leads to, −1 if it takes the king.
    checks
        bool[n · m], written: whether the opponent may overlook that its king is attacked in a child: the player could
        take it if it moved again, and has not just captured, which tells the opponent where it stands.

    Returns
    -------
    int
        The number of children.
    """
    row = np.empty(9, dtype=np.uint64)
    again = np.empty(9, dtype=np.uint64)
    made = np.empty(codes.shape[0], dtype=np.int64)
    side = 1 if flipped else 0
    count = 0
    for i in range(indices.shape[0]):
        enemy = positions[indices[i], 0]
        held = positions[indices[i], 1]
        # The position on the real board.
        decode(enemy, held, real_row, flipped, row)
        king = row[KING] & row[BLACK - side]
        for j in range(codes.shape[0]):
            # The move that the request becomes here.
            taken, _ = outcome(own_row, enemy, held, codes[j], tables)
            if taken >= 0 and flipped:
                taken ^= TURNED
            made[j] = taken
            if taken >= 0 and bit((taken >> 3) & 63) & king != np.uint64(0):
                place[i, j] = -1
                continue
            # An earlier request that becomes the same move shares its child.
            same = -1
            for k in range(j):
                if made[k] == taken:
                    same = k
                    break
            if same >= 0:
                place[i, j] = place[i, same]
                continue
            # Else make a new child, and test whether the player, moving again, could take the king unexpectedly.
            if taken < 0:
                pass_turn(row, children[count])
            else:
                make(row, taken, tables, children[count])
            for k in range(9):
                again[k] = children[count, k]
            again[META] ^= np.uint64(1)
            quiet = children[count, BLACK - side] == row[BLACK - side]
            checks[count] = quiet and king_capture(again, tables) >= 0
            place[i, j] = count
            count += 1
    return count


@kernel
def ends(positions: Any, indices: Any, own_row: Any, codes: Any, tables: Any, out: Any) -> None:
    """Write which requests take the enemy king and which expose the player's, in some positions.

    Parameters
    ----------
    positions, indices, own_row, codes
        As for :func:`families`.
    out
        int8[n, m], written: 1 if the request takes the king, −1 if the player's own can be taken after it, else 0.
    """
    row = np.empty(9, dtype=np.uint64)
    child = np.empty(9, dtype=np.uint64)
    for i in range(indices.shape[0]):
        enemy = positions[indices[i], 0]
        held = positions[indices[i], 1]
        decode(enemy, held, own_row, False, row)
        king = row[KING] & row[BLACK]
        for j in range(codes.shape[0]):
            taken, _ = outcome(own_row, enemy, held, codes[j], tables)
            if taken >= 0 and bit((taken >> 3) & 63) & king != np.uint64(0):
                out[i, j] = 1
                continue
            if taken < 0:
                pass_turn(row, child)
            else:
                make(row, taken, tables, child)
            out[i, j] = -1 if king_capture(child, tables) >= 0 else 0
