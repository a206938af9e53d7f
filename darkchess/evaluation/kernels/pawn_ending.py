"""King and pawn against king under the rules of Fog of War, solved: which side wins if both see everything.

There is no stalemate: a king must move even if every square that it can reach is attacked. So the pawn wins wherever it
is not captured, also in many positions that are draws in chess.

The board is turned so that the pawn moves up. Source of the idea: the bitbases of the Chess Programming Wiki.
*Deviation*: a new queen counts as a win if it can't be captured, or only by a king that is then captured itself.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from darkchess.board.kernels.bits import bit, lowest, popcount, squares
from darkchess.board.kernels.board import BLACK, KING, PAWN, WHITE, turn
from darkchess.board.kernels.tables import KING_STEPS, PAWN_CAPTURES, TABLES
from klss.support.arrays import Words
from klss.support.kernel import kernel

_WON, _STEP = 6.0, 0.4
"""Score of a won ending, in pawns: a base, below the worth of the queen to come, and a step for each rank of the pawn.
"""


@kernel(allocates=False)
def _pushes(pawn: int, king: int, won: Any, tables: Any) -> Any:
    """Return the squares (uint64) of the other king for which a push of the pawn wins."""
    ahead = pawn + 8
    if ahead == king:
        return np.uint64(0)
    if ahead >= 56:
        if tables[king, KING_STEPS] & bit(ahead) != np.uint64(0):
            return ~bit(ahead)
        return ~(tables[ahead, KING_STEPS] | bit(ahead))
    squares = won[1, ahead, king] & ~bit(ahead)
    if pawn < 16 and ahead + 8 != king:
        squares |= won[1, ahead + 8, king] & ~(bit(ahead) | bit(ahead + 8))
    return squares


@kernel(allocates=False)
def _fill(won: Any, tables: Any) -> None:
    """Fill the table of :func:`pawn_ending_table`, given as zeros."""
    # The most advanced pawns first: a push leads to a square that is already solved. For each pawn's square, repeat
    # until nothing changes, since the kings' steps connect its positions.
    for pawn in range(55, 7, -1):
        changed = True
        while changed:
            changed = False
            for king in range(64):
                if king == pawn:
                    continue
                touched = tables[king, KING_STEPS]
                # The owner to move wins if it takes the king, pushes well, or steps to where the other side is lost.
                wins = touched | tables[pawn, PAWN_CAPTURES] | _pushes(pawn, king, won, tables)
                for square in squares(touched & ~bit(pawn)):
                    wins |= won[1, pawn, square]
                won[0, pawn, king] = wins & ~(bit(king) | bit(pawn))
                # The other king to move is lost if each of its steps leads next to this king or to a won position.
                lost = np.uint64(0)
                good = touched | (won[0, pawn, king] & ~bit(pawn))
                for other in range(64):
                    apart = bit(other) & (touched | bit(king) | bit(pawn)) == np.uint64(0)
                    if apart and tables[other, KING_STEPS] & ~good == np.uint64(0):
                        lost |= bit(other)
                if lost != won[1, pawn, king]:
                    won[1, pawn, king] = lost
                    changed = True


@lru_cache(maxsize=1)
def pawn_ending_table() -> Words:
    """Return the squares of the other king for which the pawn wins: uint64[2, 64, 64], by the side to move (the pawn's
    owner, the other side), the pawn's square and its king's square.
    """
    won = np.zeros((2, 64, 64), dtype=np.uint64)
    _fill(won, TABLES)
    won.setflags(write=False)
    return won


@kernel(inline="always")
def is_pawn_ending(row: Any) -> Any:
    """Whether exactly the two kings and one pawn are on the board."""
    return popcount(row[WHITE] | row[BLACK]) == 3 and popcount(row[KING]) == 2 and row[PAWN] != np.uint64(0)


@kernel(allocates=False)
def pawn_ending_score(row: Any, won: Any) -> float:
    """Return the score of such an ending, in pawns for the side to move; 0 if it is not won."""
    owner = 0 if row[PAWN] & row[WHITE] != np.uint64(0) else 1
    flip = 56 * owner
    pawn = lowest(row[PAWN]) ^ flip
    king = lowest(row[KING] & row[WHITE + owner]) ^ flip
    other = lowest(row[KING] & row[BLACK - owner]) ^ flip
    waits = int(turn(row) != owner)
    if won[waits, pawn, king] & bit(other) == np.uint64(0):
        return 0.0
    score = _WON + _STEP * (pawn >> 3)
    return -score if waits else score
