"""Moves: :class:`chess.Move` in every public function, an integer code inside the kernels.

The code is ``from << 9 | to << 3 | promotion`` with promotion 0 (none), 1 knight, 2 bishop, 3 rook, 4 queen: codes sort
by from, to, promotion. Castling is the king's move of two squares.
"""

from __future__ import annotations

from functools import lru_cache

import chess

TURNED = 56 << 9 | 56 << 3
"""Bits of a move's code that change when the board is turned: the ranks of both squares are mirrored."""


def encode(move: chess.Move) -> int:
    """Return the code of ``move``.

    >>> encode(chess.Move.from_uci("e2e4")) == 12 << 9 | 28 << 3
    True
    """
    # chess.KNIGHT is 2, the kernels' knight is 1.
    return move.from_square << 9 | move.to_square << 3 | (move.promotion - 1 if move.promotion else 0)


@lru_cache(maxsize=1 << 15)
def decode(code: int) -> chess.Move:
    """Return the move of a code that :func:`encode` or a kernel made.

    >>> decode(encode(chess.Move.from_uci("b7a8n"))).uci()
    'b7a8n'
    """
    promotion = code & 7
    return chess.Move(int(code >> 9), int(code >> 3 & 63), int(promotion) + 1 if promotion else None)
