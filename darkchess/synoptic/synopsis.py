"""The synopsis of a set of positions in Fog of War: 104 sets of squares, all that a network sees of it.

Source: G. Clark, "Deep Synoptic Monte Carlo Planning in Reconnaissance Blind Chess" (NeurIPS 2021), whose planes these
are, number by number, but for 10 and 79: there are no senses, and what is seen is to be shown. A feature of single
positions is turned into one of a set by AND ("definitely") or OR ("possibly") over its members. Planes are seen from
the side of the player who is to move, she moves up, and bit 0 is then a1; of the opponent, "she".

======== ===============================================================================================
plane    squares
======== ===============================================================================================
0–9      east half (files e–h), west, south (ranks 1–4), north; rank 1, rank 8; file a, file h; the squares of the
         colour of a1, the others
10       what I see now
11       without a man of mine
12–17    my pawns, knights, bishops, rooks, queens, king
18–24    definitely: no enemy man (mine may stand there); an enemy pawn, knight, bishop, rook, queen, king
25–31    possibly: the same
32, 33   from where and to where my last move went (castling: the king's); none before my first
34       where it took a man (en passant: the pawn's square)
35       where the opponent's move that has just been made took one of mine (en passant likewise)
36       definitely attacked by one and the same man of mine, whichever member is true
37, 38   definitely, possibly attacked by some man or other of mine
39–41    the same three by two men: the same two; some two or other in every member; some two in some member
42, 43   definitely, possibly: what a pawn of mine can take on (en passant: where it lands)
44       attacked by my knights
45–48    definitely, possibly by my bishops; by my rooks
49, 50   possibly attacked by my men but the king; but the pawns
51–54    definitely, possibly attacked by her; by two of her men
55–62    definitely, possibly by her pawns; knights; bishops; rooks
63, 64   possibly attacked by her men but the king; but the pawns
65       where her king may stand without being attacked by me
66       where a man of hers could go to if she were to move now (castling: the king's square)
67       her rooks that may possibly castle some day
68       known: the same man, or nobody, in every member; mine are
69       next to my king
70–72    a knight's step from my king; her knights definitely, possibly there
73–75    possibly on a free diagonal of my king; her bishops definitely, possibly on one
76–78    possibly on a free rank or file of my king; her rooks definitely, possibly on one
79       what I saw right after my last move; none before my first
80       definitely empty
81       my rooks that may castle some day
82, 83   where my king can possibly, definitely castle to now
84, 85   possibly attacked by my queens along ranks and files; along diagonals
86–99    planes 18–31 of my previous turn
100–103  planes 32–35 of my previous turn
======== ===============================================================================================

Where the list leaves the meaning open:

- *Attacked* squares are those on which a man would take an enemy: squares of one's own men count (they are defended),
  a pawn's diagonals count whatever stands there, and a line ends with the first man on it.
- Her queens count as bishops and as rooks (59–62, 74, 75, 77, 78); mine do not (45–48), since 84 and 85 are theirs.
- What is *seen* is what a view shows (docs/rules.md, rule 4): the same in every member.
- A *last* move or capture is one of the last turn; planes 100–103 are then its forerunners. There are none in a first
  turn, and neither are 86–99.
"""

from __future__ import annotations

import chess
import numpy as np
import numpy.typing as npt

from darkchess.board.kernels.board import META, WHITE
from darkchess.board.kernels.members import upward
from darkchess.board.kernels.tables import TABLES
from darkchess.game.view import View
from darkchess.synoptic._kernels import synopsis as kernels
from darkchess.synoptic._kernels.synopsis import MEMORY, PLANES
from klss.arrays import Words

__all__ = ["MEMORY", "PLANES", "Memory", "own_half", "synopses", "synopsis"]


def own_half(view: View) -> Words:
    """Her half as she sees it, moving up: uint64[9], with her rights, and where she can take in passing now."""
    side = 0 if view.color else 1
    row = np.empty(9, dtype=np.uint64)
    upward(view.row(), side, row)
    own: Words = row & row[WHITE]
    own[META] = row[META] & np.uint64(0x7F06 if view.to_move == view.color else 6)
    return own


def synopsis(own_row: Words, halves: Words, memory: Words) -> Words:
    """The synopsis of one set.

    Parameters
    ----------
    own_row
        uint64[9], see :func:`own_half`; she is to move.
    halves
        uint64[n, 2], the enemy's (:attr:`~darkchess.belief.position_set.PositionSet.halves`).
    memory
        uint64[MEMORY], see :class:`Memory`.

    Returns
    -------
    uint64[104]

    Raises
    ------
    ValueError
        The set is empty.
    """
    found: Words = synopses(own_row[None], halves, [0, halves.shape[0]], memory[None])[0]
    return found


def synopses(own_rows: Words, halves: Words, offsets: npt.ArrayLike, memories: Words) -> Words:
    """The synopses of many sets; of set i ``halves[offsets[i]:offsets[i + 1]]``.

    Parameters
    ----------
    own_rows
        uint64[b, 9].
    halves
        uint64[m, 2].
    offsets
        int64[b + 1], rising from 0 to m.
    memories
        uint64[b, MEMORY].

    Returns
    -------
    uint64[b, 104]

    Raises
    ------
    ValueError
        A set is empty, or ``offsets`` leave the halves.
    """
    starts = np.asarray(offsets, dtype=np.int64)
    if (np.diff(starts) < 1).any() or starts[0] < 0 or starts[-1] > halves.shape[0]:
        raise ValueError(
            f"bad set: got offsets {starts.tolist()}, expected at least one position in each and none beyond "
            f"{halves.shape[0]}"
        )
    out = np.empty((own_rows.shape[0], PLANES), dtype=np.uint64)
    kernels.synopses(own_rows, halves, starts, memories, TABLES, out)
    return out


class Memory:
    """What a synopsis holds of the past, kept up by the views.

    Parameters
    ----------
    view
        Her view of ply 0.
    passed
        Where the opponent, who is to move, can take a pawn of hers in passing at the start: what her last move was
        follows.

    Attributes
    ----------
    words
        uint64[MEMORY]: planes 32–35 and 79 of this turn, then planes 86–103. All zeros before her first turn.
    """

    def __init__(self, view: View, passed: int | None = None) -> None:
        self.words: Words = np.zeros(MEMORY, dtype=np.uint64)
        self._turned = 0 if view.color else 56
        if passed is not None and view.to_move != view.color:
            middle = passed ^ self._turned
            self.words[0], self.words[1] = np.uint64(1 << middle - 8), np.uint64(1 << middle + 8)

    def observe(self, before: View, view: View, planes: Words | None) -> None:
        """Go one ply on, from one view to the next, which does not end the game.

        Parameters
        ----------
        planes
            uint64[104], for her own move: the synopsis of what she held possible before it.
        """
        move = view.own_move
        if move is None:
            kernels.remember_lost(self.words, self._set(view.own_capture_square))
            return
        assert planes is not None, "the synopsis before her own move is not known"
        captured = None
        target = before.piece_at(move.to_square)
        if target is not None and target.color != view.color:
            captured = move.to_square
        elif move.to_square == before.ep_square and self._is_pawn(before, move.from_square):
            captured = move.to_square - 8 if view.color else move.to_square + 8
        seen = view.visible if view.color else int.from_bytes(view.visible.to_bytes(8, "little"), "big")
        kernels.remember_moved(
            self.words, move.from_square ^ self._turned, move.to_square ^ self._turned, self._set(captured),
            np.uint64(seen), planes,
        )  # fmt: skip

    def _is_pawn(self, view: View, square: int) -> bool:
        piece = view.piece_at(square)
        return piece is not None and piece.piece_type == chess.PAWN

    def _set(self, square: int | None) -> np.uint64:
        return np.uint64(0 if square is None else 1 << (square ^ self._turned))
