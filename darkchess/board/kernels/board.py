"""The row that represents a position inside the kernels: ``uint64[9]``.

==========  ==========================================================================================
index       content
==========  ==========================================================================================
0 … 5       squares of the pawns, knights, bishops, rooks, queens, kings of both sides
6, 7        squares of White's pieces, of Black's pieces
8 (META)    bit 0: side to move (0 White, 1 Black); bits 1–4: castling rights K, Q, k, q;
            bits 8–14: en passant target + 1 (0: none; set only if the side to move can capture there);
            bits 16–31: quiet plies (no pawn move, no capture), saturating
==========  ==========================================================================================

Two rows are the same position (docs/rules.md, rule 3) if and only if entries 0–7 and ``META & IDENTITY`` agree.

A move's code is ``from << 9 | to << 3 | promotion`` (promotion: 0 none, else the piece's index 1–4), so that codes sort
by from, to, promotion. Castling is the king's move of two squares. Sides are 0 White, 1 Black.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from klss.support.kernel import kernel

PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING, WHITE, BLACK, META = range(9)
WIDTH = 9
IDENTITY = np.uint64(0x7FFF)
"""Bits of META that make a position what it is: all but the quiet plies."""
QUIET_SHIFT = 16


@kernel(inline="always")
def turn(row: Any) -> Any:
    """Return the side to move: 0 White, 1 Black."""
    return np.int64(row[META] & np.uint64(1))


@kernel(inline="always")
def ep_square(row: Any) -> Any:
    """Return the en passant target square, −1 if the side to move can't capture there."""
    return np.int64((row[META] >> np.uint64(8)) & np.uint64(0x7F)) - 1


@kernel(allocates=False)
def piece_on(row: Any, mask: Any) -> Any:
    """Return the index 0–5 of the piece on the one square of ``mask``, which is occupied."""
    # No early exit from the loop: its branch would be mispredicted.
    found = KING
    for piece in range(KING):
        if row[piece] & mask != np.uint64(0):
            found = piece
    return found
