"""Moves as text: SAN among all pseudo-legal moves, without ``+`` and ``#``, since there is no check
(docs/rules.md, "Formats").

A true :class:`~darkchess.board.position.Position` and a player's own :class:`~darkchess.fog.game.view.View` give the
same text: a player always knows its exact legal moves and sees the pieces that it can capture.

python-chess reads and writes SAN, on a board with our moves. Before that, other spellings become plain SAN: a needless
origin, captures without ``x`` or with the letter of the captured piece (``Bb5xNc6``), ``0-0``, ``e8Q``, figurines and
en dashes, signs and ``e.p.`` at the end, long notation (``Ng1-f3``), UCI, and castling in UCI as the king's capture of
its own rook.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches

import chess

from darkchess.board.kernels.board import META
from darkchess.board.position import Position
from darkchess.errors import IllegalMove
from darkchess.fog.game.view import View

_UCI = re.compile(r"([a-h][1-8]){2}[nbrq]?", re.IGNORECASE)
_CASTLING = re.compile(r"[Oo0]-?[Oo0](-?[Oo0])?")
_SAN = re.compile(r"([NBRQK])?P?([a-h]?[1-8]?)(?:-|[x:]([NBRQKP])?)?([a-h][1-8])(?:[=/]?\(?([NBRQKnbrqk])\)?)?")
_ORNAMENT = re.compile(r"(?:\s*e\.?p\.?)?[^\w)]*$")
_LONGEST = 40
"""Most characters of a text that is read as a move; no spelling of a move has half as many."""

_FAULTS = {chess.InvalidMoveError: "misspelt", chess.AmbiguousMoveError: "ambiguous"}
"""What python-chess's exceptions say of a move; any other says that it is illegal."""

PLAIN = str.maketrans(
    dict(zip("♔♕♖♗♘♚♛♜♝♞", "KQRBN" * 2, strict=True))
    | dict.fromkeys("♙♟\ufe0e\ufe0f", "")
    | dict.fromkeys("‐‑‒–—−", "-")
    | {"×": "x", "½": "1/2"}
)
"""Figurines, dashes and other signs in the letters of SAN and of results."""


class _Board(chess.Board):
    """python-chess's board with the pieces that a position or a view has, and with its moves; there is no check."""

    def __init__(self, seen: Position | View) -> None:
        super().__init__(None)
        if isinstance(seen, View):
            row, self.turn, self.moves = seen.row(), seen.to_move, seen.legal_moves
        else:
            row, self.turn, self.moves = seen.row, seen.turn, seen.legal_moves()
        self.pawns, self.knights, self.bishops, self.rooks, self.queens, self.kings, white, black = row[:META].tolist()
        self.occupied_co = [black, white]
        self.occupied = white | black
        self.ep_square = seen.ep_square

    def generate_castling_moves(
        self, from_mask: chess.Bitboard = chess.BB_ALL, to_mask: chess.Bitboard = chess.BB_ALL
    ) -> Iterator[chess.Move]:
        return (move for move in self.moves if self.is_castling(move))

    def generate_legal_moves(
        self, from_mask: chess.Bitboard = chess.BB_ALL, to_mask: chess.Bitboard = chess.BB_ALL
    ) -> Iterator[chess.Move]:
        """Yield the moves that SAN writes by squares: castling is none of them."""
        for move in self.moves:
            if from_mask >> move.from_square & to_mask >> move.to_square & 1 and not self.is_castling(move):
                yield move

    def is_legal(self, move: chess.Move) -> bool:
        return move in self.moves

    def is_check(self) -> bool:
        return False


def san(board: Position | View, move: chess.Move) -> str:
    """Return ``move`` in SAN.

    Raises
    ------
    IllegalMove
        ``move`` is not a move of the side to move.

    >>> san(Position.start(), chess.Move.from_uci("g1f3"))
    'Nf3'
    """
    here = _Board(board)
    if move not in here.moves:
        raise IllegalMove(
            f"illegal move: got {move.uci()}, expected one of the {len(here.moves)} moves of the side to move"
        )
    return here.san(move)


def parse_move(board: Position | View, text: str) -> chess.Move:
    """Return the move of the side to move that ``text`` (SAN or UCI) names.

    Raises
    ------
    IllegalMove
        The text is misspelt, the move is illegal, or several moves fit; the message says which, and what was expected.

    >>> parse_move(Position.start(), "Nf3") == parse_move(Position.start(), "g1f3")
    True
    """
    here = _Board(board)
    bare = _ORNAMENT.sub("", text[:_LONGEST].translate(PLAIN).strip())
    try:
        if len(text) > _LONGEST:
            raise chess.InvalidMoveError
        if castling := _CASTLING.fullmatch(bare):
            return here.parse_san("O-O" if castling[1] is None else "O-O-O")
        match = _SAN.fullmatch(bare.lower() if _UCI.fullmatch(bare) else bare)
        if match is None:
            raise chess.InvalidMoveError
        piece, origin, captured, target, promotion = match.groups(default="")
        move = here.parse_san(piece + origin + target + promotion)
        taken = here.piece_type_at(move.to_square) or (chess.PAWN if here.is_en_passant(move) else None)
        if captured and taken != chess.PIECE_SYMBOLS.index(captured.lower()):
            raise chess.IllegalMoveError
        return move
    except ValueError as error:  # python-chess's three kinds, also for a move from a square to itself
        fault = _FAULTS.get(type(error), "illegal")
    near = get_close_matches(
        bare, [name for move in here.moves for name in (here.san(move), move.uci())], n=3, cutoff=0.5
    )
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    expected = f"one of {len(here.moves)} moves in SAN (Nf3, exd5, O-O, e8=Q) or UCI (g1f3)"
    raise IllegalMove(f"{fault} move: got {text[:_LONGEST]!r}, expected {expected}{hint}")


def parse_moves(position: Position, words: Iterable[str]) -> tuple[list[chess.Move], Position]:
    """Return the moves from ``position`` on that the words name, and the last position; raises IllegalMove, which says
    the ply.
    """
    moves = []
    for ply, word in enumerate(words, 1):
        try:
            moves.append(parse_move(position, word))
        except IllegalMove as error:
            raise IllegalMove(f"ply {ply}: {error}") from None
        position = position.after(moves[-1])
    return moves, position
