"""The repair of a sample without a consistent position: its first members are changed until they agree with what the
viewer has observed. The position sets of all games use it.

No source; a heuristic of ours for a state that an exact set never reaches. As few pieces as possible are moved. A piece
is lifted if its square is known to be empty or another piece is seen there. Squares of seen pieces and of blockers are
filled from the lifted pieces, then from unseen pieces of the same kind, then from a pawn (an unseen promotion). Lifted
pieces that are left go to unseen squares at random. So the material is kept, and the result agrees with the
observation by construction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import chess
import numpy as np

from darkchess.board.kernels.board import KING, KNIGHT, PAWN, ROOK
from darkchess.board.kernels.halves import CASTLING_ROOK, DOUBLE_STEPPED
from darkchess.board.position_step import key_of
from klss.support.arrays import Words

_REPAIRED = 1024
"""Most positions that a repair tries to make."""

_LAST_RANKS = 0xFF000000000000FF


class Observed(NamedTuple):
    """What is known of the enemy's half, seen from the viewer's side of the board: 64-bit sets of squares."""

    own: int  # the viewer's pieces
    empty: int  # no enemy piece stands here
    required: int  # an enemy piece stands here
    seen: int  # of these: the squares whose piece is known
    expected: Sequence[int]  # [64], the piece on each of them
    captured: int  # where the viewer's own move took a piece, which is gone


class _Repair:
    """One enemy half on a board (the piece on each square), which is changed step by step."""

    def __init__(self, known: Observed, seed: np.uint64) -> None:
        self._state = int(seed)
        self._own, self._empty, self._required, self._seen, self._expected, self._captured = known
        self._board: dict[int, int] = {}
        self._lifted = [0] * 6

    def one(self, enemy: int, codes: int) -> tuple[int, int] | None:
        """Return the repaired half; None if there is no room for a king, or for all pieces."""
        board, lifted = self._board, self._lifted
        board.clear()
        lifted[:] = [0] * 6
        # Unpack the half: lift the pieces that contradict the view, and leave the others on the board.
        castles = 0
        for place, square in enumerate(chess.scan_forward(enemy)):
            code = codes >> 4 * place & 15
            if self._captured >> square & 1:
                continue
            if code == CASTLING_ROOK:
                castles |= 1 << square
            code = {CASTLING_ROOK: ROOK, DOUBLE_STEPPED: PAWN}.get(code, code)
            if self._empty >> square & 1 or (self._seen >> square & 1 and self._expected[square] != code):
                lifted[code] += 1
            else:
                board[square] = code
        # Fill the seen squares, then those that block a pawn: of a blocker any kind will do.
        for squares in (self._seen, self._required & ~self._seen):
            for square in chess.scan_forward(squares):
                if square not in board:
                    self._fill(square, self._expected[square] if squares == self._seen else None)
        # Put the rest on free unseen squares, the king first; if there is none for it, it replaces another piece.
        for piece in range(KING, PAWN - 1, -1):
            for _ in range(lifted[piece]):
                shut = self._required | self._empty | self._own | (_LAST_RANKS if piece == PAWN else 0)
                free = [square for square in range(64) if square not in board and not shut >> square & 1]
                if not free and piece == KING:
                    free = self._with(range(KING), self._empty | self._seen)
                    if not free:
                        return None
                if free:
                    board[self._drawn(free)] = piece
        # Pack the half again: at most sixteen pieces, with castling rights if king and rook are still at home.
        at_home = board.get(60) == KING
        packed = 0
        for place, square in enumerate(sorted(board)):
            rook = board[square] == ROOK and at_home and castles >> square & 1
            packed |= (CASTLING_ROOK if rook else board[square]) << 4 * place
        fits = len(board) <= 16 and list(board.values()).count(KING) == 1
        return (sum(1 << square for square in board), packed) if fits else None

    def _fill(self, square: int, piece: int | None) -> None:
        """Put a piece on a square that must be filled with ``piece`` (None: any)."""
        board = self._board
        taken = self._taken(piece)
        if taken is None and piece == KING:
            # The king is seen here, but stands on another required square of this board: put a knight there.
            for other in self._with([KING]):
                board[other] = KNIGHT
            taken = KING
        # A knight, if nothing is left to take, or if a pawn would stand on the first or last rank.
        board[square] = KNIGHT if taken is None or (taken == PAWN and _LAST_RANKS >> square & 1) else taken

    def _taken(self, piece: int | None) -> int | None:
        """Take one of the lifted pieces, or one off the board, for ``piece``; return the piece that it stands for."""
        # Of a certain piece: a lifted one, else an unseen one of the same kind. There is only one king, and a pawn
        # cannot become one; anything else was promoted, or the sample is wrong: give a pawn for it, or any piece.
        # For any piece: the least valuable lifted one, else an unseen one.
        if piece is None:
            ways: list[tuple[Sequence[int], Sequence[int]]] = [(range(6), range(KING))]
        else:
            ways = [([piece], [piece])] + ([([PAWN], [PAWN]), ([], range(KING))] if piece != KING else [])
        for kinds, unseen in ways:
            for kind in kinds:
                if self._lifted[kind]:
                    self._lifted[kind] -= 1
                    return kind if piece is None else piece
            loose = self._with(unseen, self._required | self._empty)
            if loose:
                kind = self._board.pop(self._drawn(loose))
                return kind if piece is None else piece
        return None if piece in (None, KING) else piece

    def _with(self, kinds: Sequence[int], shut: int = 0) -> list[int]:
        """Return the squares with one of these pieces, without those of the set ``shut``."""
        return [square for square in sorted(self._board) if self._board[square] in kinds and not shut >> square & 1]

    def _drawn(self, squares: Sequence[int]) -> int:
        """Draw one of these squares (SplitMix64)."""
        value = int(key_of(self._state))
        self._state += 0x9E3779B97F4A7C15
        return squares[(value >> 32) * len(squares) >> 32]


def repaired(positions: Words, known: Observed, seed: np.uint64, cap: int) -> Words:
    """Return repaired copies of ``positions`` (uint64[·, 2]), which agree with what is known: uint64[n, 2], at most
    ``cap``. They are taken in turn, again from the first after the last; equal ones are kept.
    """
    repair = _Repair(known, seed)
    count = min(cap, _REPAIRED)
    halves = positions[:count].tolist()
    found = [repair.one(*halves[i % len(halves)]) for i in range(count)]
    return np.array([half for half in found if half is not None], dtype=np.uint64).reshape(-1, 2)
