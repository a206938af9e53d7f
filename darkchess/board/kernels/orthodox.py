"""Which Fog of War positions a chess engine can evaluate, and which ones the rules decide without it.

In orthodox chess no position lets the king be taken: an engine that gets one crashes or answers nonsense (*measured*
with Stockfish 15.1).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.attacks import attacked_by
from darkchess.board.kernels.bits import lowest, popcount
from darkchess.board.kernels.board import BLACK, KING, KNIGHT, PAWN, QUEEN, WHITE, turn
from darkchess.board.kernels.moves import MAX_MOVES, generate, has_move, king_capture, make
from klss.support.kernel import kernel

ASK, WON, LOST, NO_MOVE, FOREIGN = range(5)
"""Codes of :func:`classify`: ask the engine; the side to move takes the king; each of its moves loses its own king; it
has no move; a chess engine can't take the position.
"""


@kernel
def _foreign(row: Any) -> Any:
    """Whether the position may overflow a chess engine's tables, or breaks what every engine assumes (bool)."""
    # One king each, at most sixteen pieces, no pawn on the first or last rank.
    if popcount(row[KING] & row[WHITE]) != 1 or popcount(row[KING] & row[BLACK]) != 1:
        return True
    if popcount(row[WHITE]) > 16 or popcount(row[BLACK]) > 16:
        return True
    if row[PAWN] & np.uint64(0xFF000000000000FF) != np.uint64(0):
        return True
    # No more pieces than promotions explain: each queen after the first, and each other piece after the second, was one
    # of the eight pawns.
    for side in range(2):
        left = row[WHITE + side]
        extra = popcount(row[PAWN] & left) + max(0, popcount(row[QUEEN] & left) - 1)
        for piece in range(KNIGHT, QUEEN):
            extra += max(0, popcount(row[piece] & left) - 2)
        if extra > 8:
            return True
    return False


@kernel
def classify(rows: Any, tables: Any, codes: Any) -> None:
    """Write a code for each of ``rows`` (uint64[n, 9]) into ``codes`` (int8[n])."""
    moves = np.empty(MAX_MOVES, dtype=np.int32)
    child = np.empty(9, dtype=np.uint64)
    for k in range(rows.shape[0]):
        row = rows[k]
        side = turn(row)
        king = row[KING] & row[WHITE + side]
        if row[KING] & row[BLACK - side] == np.uint64(0) or king_capture(row, tables) >= 0:
            codes[k] = WON
        elif king == np.uint64(0):
            codes[k] = LOST
        elif not has_move(row, tables):
            codes[k] = NO_MOVE
        elif _foreign(row):
            codes[k] = FOREIGN
        else:
            # Lost, unless some move leaves the king unattacked. Castling counts as well, although a chess engine allows
            # it under conditions that are not tested here.
            codes[k] = LOST
            count = generate(row, tables, moves)
            for i in range(count):
                make(row, moves[i], tables, child)
                if not attacked_by(child, 1 - side, lowest(child[KING] & child[WHITE + side]), tables):
                    codes[k] = ASK
                    break
