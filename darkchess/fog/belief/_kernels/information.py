"""What the viewer would observe after each of its moves, in each of many positions: the observations behind the paper's
information penalty (D.3).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.halves import decode_half
from darkchess.board.kernels.moves import has_move, make
from darkchess.fog.game._kernels.vision import observation_key
from klss.support.hashing import mix64
from klss.support.kernel import kernel


@kernel
def observation_keys(
    positions: Any, indices: Any, own_row: Any, flipped: bool, codes: Any, no_move_ends: bool, tables: Any, out: Any
) -> None:
    """Write a key of what the viewer sees right after each of its moves from each position; equal keys: equal views.

    Parameters
    ----------
    positions, indices
        Enemy halves, uint64[·, 2], and the indices of those to take, int64[n].
    own_row, flipped
        See :func:`darkchess.board.kernels.halves.decode_half`.
    codes
        The viewer's moves, int64[m].
    no_move_ends
        Whether an enemy without a move ends the game, which the viewer would learn.
    out
        uint64[m, n].
    """
    row = np.empty(9, dtype=np.uint64)
    child = np.empty(9, dtype=np.uint64)
    side = 1 if flipped else 0
    for i in range(indices.shape[0]):
        decode_half(positions[indices[i], 0], positions[indices[i], 1], own_row, flipped, row)
        for k in range(codes.shape[0]):
            make(row, codes[k], tables, child)
            key = observation_key(child, side, tables)
            # An end of the game is an observation too: any constant makes its key differ from the key of going on.
            if no_move_ends and not has_move(child, tables):
                key = mix64(key ^ np.uint64(0x517CC1B727220A95))
            out[k, i] = key
