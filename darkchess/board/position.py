"""A position of dark chess: an immutable object around the kernels' row.

A position knows neither the game before it (repetitions) nor the ruleset;
:class:`darkchess.fog.game.referee.Referee` does. Its moves are all pseudo-legal moves (docs/rules.md, rule 1). The row
also counts quiet plies; the move number is kept beside it, for FEN.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import chess
import numpy as np
import numpy.typing as npt

from darkchess.board import fen as fen_text
from darkchess.board.kernels import board, moves
from darkchess.board.kernels.tables import TABLES
from darkchess.board.move import decode, encode
from darkchess.errors import IllegalMove
from klss.support.arrays import Int32s, Words

START_FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
"""The usual start position."""

RIGHTS = "KQkq"
"""Letters of the castling rights, in the order of bits 1 to 4 of META."""
_QUIET_MAX = 0xFFFF
"""Largest number of quiet plies that META can hold."""


def row_of(
    pieces: Mapping[int, chess.Piece], turn: chess.Color, rights: str = "", ep_square: int | None = None, quiet: int = 0
) -> Words:
    """Return the kernels' row (uint64[9]) of these pieces, unchecked; ``rights`` are letters of ``KQkq``."""
    sets = [0] * 8
    for square, piece in pieces.items():
        sets[piece.piece_type - 1] |= 1 << square
        sets[6 if piece.color else 7] |= 1 << square
    meta = (
        (0 if turn else 1)
        | sum(2 << RIGHTS.index(right) for right in rights)
        | min(quiet, _QUIET_MAX) << board.QUIET_SHIFT
    )
    if ep_square is not None:
        meta |= (ep_square + 1) << 8
    return np.array([*sets, meta], dtype=np.uint64)


def turned(row: Words) -> Words:
    """Return ``row`` (uint64[9]) with the ranks mirrored and the colours exchanged, without the quiet plies."""
    # In a set, a byte is a rank, so swapping the bytes mirrors the board. In META, side to move and rights change
    # sides, and the en passant square is mirrored.
    meta = int(row[board.META])
    passed = meta >> 8 & 0x7F
    out: Words = row.byteswap()
    out[[board.WHITE, board.BLACK]] = out[[board.BLACK, board.WHITE]]
    out[board.META] = meta & 1 ^ 1 | meta >> 2 & 0x06 | meta << 2 & 0x18 | ((passed - 1 ^ 56) + 1 << 8 if passed else 0)
    return out


def upward(row: Words, *, flipped: bool) -> Words:
    """Return ``row`` (uint64[9]) with the viewer as White, moving up, without en passant square and counter.

    ``flipped``: the viewer is Black.
    """
    out = turned(row) if flipped else row.copy()
    out[board.META] &= np.uint64(0x1F)
    return out


class Position:
    """An immutable position.

    Parameters
    ----------
    row
        uint64[9] in the layout of :mod:`darkchess.board.kernels.board`; it is copied, but not checked.
    fullmove
        The number of the next move, as in FEN.
    """

    __slots__ = ("_fullmove", "_moves", "_pieces", "_row")

    def __init__(self, row: npt.ArrayLike, fullmove: int = 1) -> None:
        own: Words = np.array(row, dtype=np.uint64)
        own.setflags(write=False)
        self._row = own
        self._fullmove = fullmove
        self._moves: tuple[chess.Move, ...] | None = None
        self._pieces: dict[int, chess.Piece] | None = None

    @classmethod
    def start(cls) -> Position:
        """The usual start position."""
        return cls.from_fen(START_FEN)

    @classmethod
    def from_fen(cls, text: str) -> Position:
        """Return the position of a FEN.

        Castling rights that the FEN lacks are never guessed. The en passant square is kept only if the side to move can
        capture there.

        Raises
        ------
        FenError
            The text is garbled, or the position breaks rule 6 of docs/rules.md (:func:`darkchess.board.fen.parsed`).

        >>> Position.from_fen("4k3/8/8/8/8/8/8/4K3 w - - 0 1").turn == chess.WHITE
        True
        """
        read = fen_text.parsed(text)
        rights = "".join(
            right
            for right, home in zip(RIGHTS, (chess.BB_H1, chess.BB_A1, chess.BB_H8, chess.BB_A8), strict=True)
            if read.castling_rights & home
        )
        ep_square = read.ep_square if read.has_pseudo_legal_en_passant() else None
        return cls(row_of(read.piece_map(), read.turn, rights, ep_square, read.halfmove_clock), read.fullmove_number)

    @property
    def row(self) -> Words:
        """The kernels' row: uint64[9], read-only."""
        return self._row

    @property
    def turn(self) -> chess.Color:
        """The side to move."""
        return not int(self._row[board.META]) & 1

    @property
    def fullmove(self) -> int:
        """The number of the next move, as in FEN."""
        return self._fullmove

    @property
    def quiet_plies(self) -> int:
        """Plies since the last pawn move or capture."""
        return int(self._row[board.META]) >> board.QUIET_SHIFT & _QUIET_MAX

    @property
    def ep_square(self) -> int | None:
        """The en passant target, None if the side to move cannot capture there."""
        target = int(self._row[board.META]) >> 8 & 0x7F
        return target - 1 if target else None

    @property
    def castling_rights(self) -> str:
        """The castling rights of both sides, letters of ``KQkq``."""
        meta = int(self._row[board.META])
        return "".join(right for i, right in enumerate(RIGHTS) if meta >> (1 + i) & 1)

    @property
    def pieces(self) -> Mapping[int, chess.Piece]:
        """All pieces by square, in the order of squares."""
        if self._pieces is None:
            sets = [int(mask) for mask in self._row[: board.META]]
            found = {}
            for kind in range(6):
                for color in chess.COLORS:
                    piece = chess.Piece(kind + 1, color)
                    for square in chess.scan_forward(sets[kind] & sets[board.WHITE if color else board.BLACK]):
                        found[square] = piece
            self._pieces = dict(sorted(found.items()))
        return self._pieces

    def men(self, color: chess.Color) -> int:
        """Return the squares of the pieces of ``color``, as a 64-bit set."""
        return int(self._row[board.WHITE if color else board.BLACK])

    def piece_at(self, square: int) -> chess.Piece | None:
        """Return the piece on ``square`` (0–63), None if it is empty."""
        return self.pieces.get(square)

    def king(self, color: chess.Color) -> int | None:
        """Return the square of the king of ``color``, None if it was captured."""
        mask = int(self._row[board.KING]) & self.men(color)
        return mask.bit_length() - 1 if mask else None

    def codes(self) -> Int32s:
        """Return the codes of all moves, sorted: int32[moves]."""
        out = np.empty(moves.MAX_MOVES, dtype=np.int32)
        return np.sort(out[: moves.generate(self._row, TABLES, out)])

    def legal_moves(self) -> tuple[chess.Move, ...]:
        """Return all moves of the side to move, sorted by from, to, promotion; () if a king was captured."""
        if self._moves is None:
            alive = self.king(chess.WHITE) is not None and self.king(chess.BLACK) is not None
            self._moves = tuple(decode(code) for code in self.codes().tolist()) if alive else ()
        return self._moves

    def is_legal(self, move: chess.Move) -> bool:
        """Whether ``move`` is a move of the side to move."""
        return move in self.legal_moves()

    def captured_square(self, move: chess.Move) -> int | None:
        """Return the square of the piece that the legal move ``move`` captures (en passant: the pawn's), or None."""
        if self.men(not self.turn) >> move.to_square & 1:
            return move.to_square
        # En passant: a pawn goes to the square that the other one has passed.
        if move.to_square == self.ep_square and int(self._row[board.PAWN]) >> move.from_square & 1:
            return move.to_square + (-8 if self.turn else 8)
        return None

    def after(self, move: chess.Move) -> Position:
        """Return the position after ``move``.

        Raises
        ------
        IllegalMove
            ``move`` is not a move of the side to move.
        """
        if not self.is_legal(move):
            raise IllegalMove(
                f"illegal move: got {move.uci()}, expected one of the {len(self.legal_moves())} moves of "
                f"{chess.COLOR_NAMES[self.turn]}"
            )
        out = np.empty(board.WIDTH, dtype=np.uint64)
        moves.make(self._row, encode(move), TABLES, out)
        return Position(out, self._fullmove + (not self.turn))

    def key(self) -> bytes:
        """Return a key that is equal for equal positions (docs/rules.md, rule 3): pieces, side to move, castling
        rights, possible en passant capture."""
        row = self._row.copy()
        row[board.META] &= board.IDENTITY
        return row.tobytes()

    def fen(self) -> str:
        """Return the FEN of this position, with an en passant square only if the side to move can capture there."""
        return fen_text.written(
            self.pieces, self.turn, self.castling_rights, self.ep_square, self.quiet_plies, self._fullmove
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Position):
            return NotImplemented
        return self._fullmove == other._fullmove and bool((self._row == other._row).all())

    def __hash__(self) -> int:
        return hash(self._row.tobytes())

    def __reduce__(self) -> tuple[Any, ...]:
        return Position, (self._row, self._fullmove)

    def __repr__(self) -> str:
        return f"Position.from_fen({self.fen()!r})"
