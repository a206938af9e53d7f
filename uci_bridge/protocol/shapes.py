"""The vocabulary of chess in the engine protocol's messages: squares, moves, pieces, start positions, with bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeVar

import chess
from msgspec import Meta, Struct, field

from darkchess.board.position import START_FEN, Position
from darkchess.errors import FenError
from klss.play.messages import COLOR_NAMES, COLORS, Color, ProtocolError

_From = TypeVar("_From")
_To = TypeVar("_To")

Square = Annotated[int, Meta(ge=0, le=63)]
SquareName = Annotated[str, Meta(pattern=r"^[a-h][1-8]\Z")]
Promotion = Annotated[str, Meta(pattern=r"^(queen|rook|bishop|knight)\Z")]
PieceLetter = Annotated[str, Meta(pattern=r"^[PNBRQK]\Z")]
Fen = Annotated[str, Meta(max_length=120)]


class Move(Struct, frozen=True, omit_defaults=True):
    """A move."""

    from_: SquareName = field(name="from")
    to: SquareName
    promotion: Promotion | None = None


class Piece(Struct, frozen=True):
    """A piece on a square."""

    type: PieceLetter
    color: Color


def given(convert: Callable[[_From], _To], value: _From | None) -> _To | None:
    """``value`` converted; None stays None."""
    return None if value is None else convert(value)


def move_of(raw: Move) -> chess.Move:
    """The move of a shape."""
    promotion = chess.PIECE_NAMES.index(raw.promotion) if raw.promotion else None
    return chess.Move(chess.parse_square(raw.from_), chess.parse_square(raw.to), promotion)


def move_shape(move: chess.Move) -> Move:
    """A move as a shape."""
    promotion = None if move.promotion is None else chess.PIECE_NAMES[move.promotion]
    return Move(chess.SQUARE_NAMES[move.from_square], chess.SQUARE_NAMES[move.to_square], promotion)


def piece_of(raw: Piece) -> chess.Piece:
    """The piece of a shape."""
    return chess.Piece(chess.PIECE_SYMBOLS.index(raw.type.lower()), COLORS[raw.color])


def piece_shape(piece: chess.Piece) -> Piece:
    """A piece as a shape."""
    return Piece(piece.symbol().upper(), COLOR_NAMES[piece.color])


def start_of(fen: str | None) -> Position:
    """The start position. Raises ProtocolError: no game can start from ``fen``."""
    try:
        return Position.from_fen(fen or START_FEN)
    except FenError as error:
        raise ProtocolError(str(error)) from None
