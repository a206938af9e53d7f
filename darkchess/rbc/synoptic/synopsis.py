"""The synopsis of a set of positions: 104 sets of squares, the whole input of a network.

Source: G. Clark, "Deep Synoptic Monte Carlo Planning in Reconnaissance Blind Chess" (NeurIPS 2021), appendix: a feature
of single positions becomes one of a set by AND ("definitely") or OR ("possibly") over its members. Planes are seen from
the player's side: it moves up, and bit 0 is a1. "I" is the player, "it" the opponent.

======== ===============================================================================================
plane    squares
======== ===============================================================================================
0–9      east half (files e–h), west, south (ranks 1–4), north; rank 1, rank 8; file a, file h; the squares of the
         colour of a1, the others
10       all before the move, none before the sense
11       without a piece of mine
12–17    my pawns, knights, bishops, rooks, queens, king
18–24    definitely: no enemy piece (mine may stand there); an enemy pawn, knight, bishop, rook, queen, king
25–31    possibly: the same
32, 33   origin and target of my last move (castling: the king's); none if nothing was played
34       where my last move captured a piece (en passant: the pawn's square)
35       where the opponent's last turn captured one of mine (en passant likewise)
36       definitely attacked by one piece of mine that is the same in every member
37, 38   definitely, possibly attacked by any piece of mine
39–41    the same three for two pieces: the same two; any two in every member; any two in some member
42, 43   definitely, possibly: where a pawn of mine can capture (en passant: where it lands)
44       attacked by my knights
45–48    definitely, possibly by my bishops; by my rooks
49, 50   possibly attacked by my pieces except the king; except the pawns
51–54    definitely, possibly attacked by it; by two of its pieces
55–62    definitely, possibly by its pawns; knights; bishops; rooks
63, 64   possibly attacked by its pieces except the king; except the pawns
65       where its king may stand without being attacked by me
66       where one of its pieces could move to if it were to move now (castling: the king's square)
67       its rooks that possibly have the right to castle
68       known: the same piece, or none, in every member; my pieces are
69       next to my king
70–72    a knight's step from my king; its knights definitely, possibly there
73–75    possibly on a free diagonal of my king; its bishops definitely, possibly on one
76–78    possibly on a free rank or file of my king; its rooks definitely, possibly on one
79       all my pieces
80       definitely empty
81       my rooks that have the right to castle
82, 83   where my king can possibly, definitely castle to now
84, 85   possibly attacked by my queens along ranks and files; along diagonals
86–99    planes 18–31 of my previous turn, before its move
100–103  planes 32–35 of my previous turn
======== ===============================================================================================

Decisions where the source's list leaves the meaning open:

- *Attacked* squares are those on which a piece could capture an enemy: squares of pieces of its own side count (they
  are defended), a pawn's diagonals count whether they are empty or not, and a line ends at the first piece on it. For
  my knights and pawns, "definitely" and "possibly" would then be the same; so planes 42 and 43, of which the list has
  both, show the captures that a pawn can make.
- Its queens count as bishops and as rooks (59–62, 74, 75, 77, 78), since they have no planes of attacks of their own.
  Mine do not (45–48), since they have planes 84 and 85.
- A *last* move or capture is one of the last turn; earlier ones do not count. Planes 100–103 are those of the turn
  before. In the first turn they are empty, and so are 86–99.
- The previous turn's planes are of the moment after its sense, when most was known.
- 81 and 67 are rooks, 82 and 83 the squares that a request would name.
"""

from __future__ import annotations

import numpy as np

from darkchess.board.kernels.tables import TABLES
from darkchess.rbc.game.observation import Moved, Notice
from darkchess.rbc.synoptic._kernels import synopsis as kernels
from darkchess.rbc.synoptic._kernels.synopsis import MEMORY
from darkchess.rbc.synoptic._kernels.synopsis import MOVE as MOVE
from darkchess.rbc.synoptic._kernels.synopsis import PLANES as PLANES
from darkchess.rbc.synoptic._kernels.synopsis import SENSE as SENSE
from klss.support.arrays import Words


def synopsis(own_row: Words, halves: Words, stage: int, memory: Words) -> Words:
    """Return the synopsis of one set.

    Parameters
    ----------
    own_row
        uint64[9], the player's half as it sees it (:attr:`darkchess.rbc.belief.position_set.PositionSet.own_row`).
    halves
        uint64[n, 2], the enemy's (:attr:`~darkchess.rbc.belief.position_set.PositionSet.halves`).
    stage
        The player's next action: :data:`SENSE` or :data:`MOVE`.
    memory
        uint64[MEMORY], see :class:`Memory`.

    Returns
    -------
    uint64[104]
    """
    assert halves.shape[0], "an empty set has no synopsis"
    out = np.empty(PLANES, dtype=np.uint64)
    kernels.synopsis(own_row, halves, stage, memory, TABLES, out)
    return out


class Memory:
    """The part of a synopsis that is about the past, updated by a player's observations.

    Parameters
    ----------
    flipped
        Whether the player is Black.
    """

    def __init__(self, *, flipped: bool) -> None:
        # uint64[MEMORY]: planes 32–35 of this turn, then planes 86–103. All zeros before its first turn
        self.words: Words = np.zeros(MEMORY, dtype=np.uint64)
        self._turned = 56 if flipped else 0

    def noticed(self, notice: Notice) -> None:
        """Begin the player's turn."""
        kernels.remember_notice(self.words, self._seen(notice.square))

    def moved(self, moved: Moved, planes: Words) -> None:
        """End the player's turn; ``planes`` (uint64[104]) is the synopsis of its set before the move."""
        taken = moved.taken
        kernels.remember_moved(
            self.words,
            self._seen(None if taken is None else taken.from_square),
            self._seen(None if taken is None else taken.to_square),
            self._seen(moved.capture_square),
            planes,
        )

    def _seen(self, square: int | None) -> int:
        return 64 if square is None else square ^ self._turned
