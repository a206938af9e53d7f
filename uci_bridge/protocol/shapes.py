"""The fields of the engine protocol's messages in every game: docs/engine-protocol.md's tables as types with bounds.

Fields have their JSON names. A field with the default None may be left out or null. Unknown fields are ignored, and so
is ``protocolVersion``, which is checked before. Conditions on several fields are checked in the shape that has them. A
game adds its own fields (:mod:`uci_bridge.protocol.fog`); the chess vocabulary at the end is for games of chess.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

import chess
import msgspec
from msgspec import Meta, Struct, field

from darkchess.board.position import START_FEN, Position
from darkchess.errors import FenError
from klss.play.outcome import Outcome, Seat
from klss.support.text import printable
from uci_bridge.errors import ProtocolError

MAX_ID = 256
MAX_PLY = 20_000

MAX_COMPLAINT = 300
"""Characters of what is wrong with a message; it may quote a value."""

Color = Literal["white", "black"]

COLORS: dict[Color, Seat] = {"white": True, "black": False}
COLOR_NAMES = {seat: name for name, seat in COLORS.items()}

_From = TypeVar("_From")
_To = TypeVar("_To")

Id = Annotated[str, Meta(min_length=1, max_length=MAX_ID)]
IdOrEmpty = Annotated[str, Meta(max_length=MAX_ID)]
Ply = Annotated[int, Meta(ge=0, le=MAX_PLY)]
Milliseconds = Annotated[int, Meta(ge=0, le=10**11)]  # three years: more than any clock holds
Nodes = Annotated[int, Meta(ge=1, le=10**8)]
Seed = Annotated[int, Meta(ge=-(2**63))]  # msgspec's bounds end at 2^63


class Clock(Struct, frozen=True, kw_only=True):
    """A player's clock: the time left (None: there is no clock), and the time added after each of its turns."""

    remaining_ms: Milliseconds | None = None
    increment_ms: Milliseconds


class Request(Struct, frozen=True, kw_only=True):
    """A question; a game adds ``observationTranscript``, ``latestObservationDelta`` and the possible answers."""

    gameId: Id
    engineId: Id
    sessionId: Id
    color: Color
    ply: Ply
    engineSeed: Seed
    clock: Clock
    budget_ms: Milliseconds | None = None
    nodes: Nodes | None = None

    def __post_init__(self) -> None:
        """Refuse a seed that is too large."""
        if self.engineSeed >= 2**64:
            raise ValueError("engineSeed: got 2^64 or more, expected a whole number of 64 bits")


class Push(Struct, frozen=True, kw_only=True):
    """An observation outside the player's questions; a game adds ``observation``."""

    gameId: Id
    engineId: IdOrEmpty = ""
    sessionId: Id
    color: Color
    ply: Ply

    def __post_init__(self) -> None:
        """Refuse an observation of another ply."""
        ply = self.observation.ply  # type: ignore[attr-defined]
        if self.ply != ply:
            raise ValueError(f"ply: got {self.ply} with observation.ply {ply}, expected the same")


class Received(Struct, frozen=True, kw_only=True):
    """The answer to a push."""

    gameId: IdOrEmpty = ""
    sessionId: IdOrEmpty = ""
    engineId: IdOrEmpty = ""


class Answer(Received, frozen=True, kw_only=True):
    """The answer to a question; a game adds the field that holds it."""

    diagnostics: dict[str, Any] | None = None


class GameOver(Struct, frozen=True, kw_only=True):
    """The end of the game."""

    winner: Color | None = None
    reason: Annotated[str, Meta(max_length=64)]


def fitted(value: dict[str, Any], shape: type[_To]) -> _To:
    """``value`` converted to ``shape``. Raises ProtocolError if it does not fit."""
    try:
        return msgspec.convert(value, shape)
    except (msgspec.ValidationError, UnicodeEncodeError, RecursionError) as error:
        raise ProtocolError(printable(str(error), MAX_COMPLAINT)) from None


def bad(where: str, got: Any, expected: str) -> ProtocolError:
    """The error for one bad value.

    >>> print(bad("ply", None, "a whole number"))
    ply: got nothing, expected a whole number
    """
    shown = "nothing" if got is None else printable(repr(got), 60)
    return ProtocolError(f"{where}: got {shown}, expected {expected}")


def given(convert: Callable[[_From], _To], value: _From | None) -> _To | None:
    """``value`` converted; None stays None."""
    return None if value is None else convert(value)


# ----------------------------------------------------------------------------------------------------------------------
# chess

_SQUARES = {name: square for square, name in enumerate(chess.SQUARE_NAMES)}
Promotion = Literal["queen", "rook", "bishop", "knight"]
PieceLetter = Literal["P", "N", "B", "R", "Q", "K"]

_PROMOTIONS: dict[Promotion, int] = {
    "queen": chess.QUEEN, "rook": chess.ROOK, "bishop": chess.BISHOP, "knight": chess.KNIGHT
}  # fmt: skip
_PROMOTION_NAMES = {piece: name for name, piece in _PROMOTIONS.items()}
_PIECES: dict[PieceLetter, int] = {
    "P": chess.PAWN, "N": chess.KNIGHT, "B": chess.BISHOP, "R": chess.ROOK, "Q": chess.QUEEN, "K": chess.KING
}  # fmt: skip
_PIECE_LETTERS = {piece: letter for letter, piece in _PIECES.items()}

Square = Annotated[int, Meta(ge=0, le=63)]
SquareName = Annotated[str, Meta(pattern=r"^[a-h][1-8]\Z")]
Fen = Annotated[str, Meta(max_length=120)]


class Move(Struct, frozen=True, omit_defaults=True):
    """A move."""

    from_: SquareName = field(name="from")
    to: SquareName
    promotion: Promotion | None = None

    def __post_init__(self) -> None:
        """Refuse a move from a square to itself."""
        if self.from_ == self.to:
            raise ValueError(f"got a move from {self.from_} to itself, expected two squares")


class Piece(Struct, frozen=True):
    """A piece on a square."""

    type: PieceLetter
    color: Color


def move_of(raw: Move) -> chess.Move:
    """The move of a shape."""
    return chess.Move(_SQUARES[raw.from_], _SQUARES[raw.to], _PROMOTIONS[raw.promotion] if raw.promotion else None)


def move_shape(move: chess.Move) -> Move:
    """A move as a shape."""
    promotion = None if move.promotion is None else _PROMOTION_NAMES[move.promotion]
    return Move(chess.SQUARE_NAMES[move.from_square], chess.SQUARE_NAMES[move.to_square], promotion)


def piece_of(raw: Piece) -> chess.Piece:
    """The piece of a shape."""
    return chess.Piece(_PIECES[raw.type], COLORS[raw.color])


def piece_shape(piece: chess.Piece) -> Piece:
    """A piece as a shape."""
    return Piece(_PIECE_LETTERS[piece.piece_type], COLOR_NAMES[piece.color])


def start_of(fen: str | None) -> Position:
    """The start position. Raises ProtocolError: no game can start from ``fen``."""
    try:
        return Position.from_fen(fen or START_FEN)
    except FenError as error:
        raise ProtocolError(str(error)) from None


def over_shape(outcome: Outcome) -> GameOver:
    """An outcome as a shape."""
    return GameOver(winner=None if outcome.winner is None else COLOR_NAMES[outcome.winner], reason=outcome.reason)


def outcome_of(raw: GameOver) -> Outcome:
    """The outcome of a shape."""
    return Outcome(None if raw.winner is None else COLORS[raw.winner], raw.reason)
