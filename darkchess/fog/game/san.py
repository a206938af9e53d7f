"""Moves as text: SAN among all pseudo-legal moves, without ``+`` and ``#``, since there is no check
(docs/rules.md, "Formats").

A true :class:`~darkchess.board.position.Position` and a player's own :class:`~darkchess.fog.game.view.View` give the
same text: a player always knows its exact legal moves and sees the pieces that it can capture.

The reader is lenient. It accepts SAN with a needless origin, captures without ``x`` or with the letter of the captured
piece (``Bb5xNc6``), ``0-0``, ``e8Q``, ``+ # ! ?`` and ``e.p.`` at the end, long notation (``Ng1-f3``), UCI, and
castling in UCI as the king's capture of its own rook.
"""

from __future__ import annotations

import re
from difflib import get_close_matches

import chess

from darkchess.board.position import Position
from darkchess.errors import IllegalMove
from darkchess.fog.game.view import View

__all__ = ["parse_move", "san"]

_UCI = re.compile(r"([a-h][1-8])([a-h][1-8])([nbrq])?", re.IGNORECASE)
_CASTLING = re.compile(r"[Oo0]-?[Oo0](-?[Oo0])?")
_SAN = re.compile(r"([NBRQKP])?([a-h])?([1-8])?(?:-|[x:]([NBRQKP])?)?([a-h][1-8])(?:[=/]?\(?([NBRQKnbrqk])\)?)?")
# Each alternative matches in one way only: otherwise a text of nothing but signs would take exponential time.
_ORNAMENT = re.compile(r"(?:\s*e\.?p\.?|[+#!?])+$")
_LONGEST = 40
"""Most characters of a text that is read as a move; no spelling of a move has half as many."""


def _moves(board: Position | View) -> tuple[chess.Move, ...]:
    return board.legal_moves if isinstance(board, View) else board.legal_moves()


def _is_castling(board: Position | View, move: chess.Move) -> bool:
    piece = board.piece_at(move.from_square)
    return piece is not None and piece.piece_type == chess.KING and abs(move.to_square - move.from_square) == 2


def san(board: Position | View, move: chess.Move) -> str:
    """Return ``move`` in SAN.

    Raises
    ------
    IllegalMove
        ``move`` is not a move of the side to move.

    >>> san(Position.start(), chess.Move.from_uci("g1f3"))
    'Nf3'
    """
    moves = _moves(board)
    piece = board.piece_at(move.from_square)
    if move not in moves or piece is None:
        raise IllegalMove(f"illegal move: got {move.uci()}, expected one of the {len(moves)} moves of the side to move")
    if _is_castling(board, move):
        return "O-O" if move.to_square > move.from_square else "O-O-O"
    target = chess.SQUARE_NAMES[move.to_square]
    file = chess.FILE_NAMES[chess.square_file(move.from_square)]
    # A pawn's origin is its file, which is written only for captures.
    if piece.piece_type == chess.PAWN:
        capture = chess.square_file(move.from_square) != chess.square_file(move.to_square)
        promotion = "=" + chess.piece_symbol(move.promotion).upper() if move.promotion else ""
        return (file + "x" if capture else "") + target + promotion
    # Another piece's origin is written if a second piece of its kind can go there: the file if that is enough, else the
    # rank, else both.
    rivals = [
        other.from_square
        for other in moves
        if other.to_square == move.to_square
        and other.from_square != move.from_square
        and board.piece_at(other.from_square) == piece
        and not _is_castling(board, other)
    ]
    origin = ""
    if rivals:
        rank = str(chess.square_rank(move.from_square) + 1)
        if all(chess.square_file(square) != chess.square_file(move.from_square) for square in rivals):
            origin = file
        elif all(chess.square_rank(square) != chess.square_rank(move.from_square) for square in rivals):
            origin = rank
        else:
            origin = file + rank
    return piece.symbol().upper() + origin + ("x" if board.piece_at(move.to_square) is not None else "") + target


def parse_move(board: Position | View, text: str) -> chess.Move:
    """Return the move of the side to move that ``text`` (SAN or UCI) names.

    Raises
    ------
    IllegalMove
        The text is misspelt, the move is illegal, or several moves fit; the message says which, and what was expected.

    >>> parse_move(Position.start(), "Nf3") == parse_move(Position.start(), "g1f3")
    True
    """
    moves = _moves(board)
    if len(text) > _LONGEST:
        raise IllegalMove(f"misspelt move: got {text[:_LONGEST]!r}… of {len(text)} characters, expected SAN or UCI")
    if not moves:
        raise IllegalMove(f"illegal move: got {text!r}, expected none: there is no move to make here")
    bare = _ORNAMENT.sub("", text.strip())
    if match := _UCI.fullmatch(bare):
        return _parse_uci(board, moves, text, match)
    if match := _CASTLING.fullmatch(bare):
        kingside = match.group(1) is None
        fits = [move for move in moves if _is_castling(board, move) and (move.to_square > move.from_square) == kingside]
        if not fits:
            raise IllegalMove(
                f"illegal move: got {text!r}, expected the right to castle {'kingside' if kingside else 'queenside'} "
                "and only empty squares between king and rook"
            )
        return fits[0]
    if match := _SAN.fullmatch(bare):
        return _parse_san(board, moves, text, match)
    near = get_close_matches(bare, [san(board, move) for move in moves], n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    raise IllegalMove(
        f"misspelt move: got {text!r}, expected SAN like Nf3, exd5, O-O, e8=Q or UCI like g1f3, e7e8q{hint}"
    )


def _parse_uci(board: Position | View, moves: tuple[chess.Move, ...], text: str, match: re.Match[str]) -> chess.Move:
    move = chess.Move.from_uci(match.group(0).lower())
    if move in moves:
        return move
    piece = board.piece_at(move.from_square)
    # Castling may be written as the king's capture of its own rook.
    for castling in moves:
        if castling.from_square == move.from_square and _is_castling(board, castling):
            rook = castling.to_square + (1 if castling.to_square > castling.from_square else -2)
            if rook == move.to_square and move.promotion is None:
                return castling
    if move.promotion is None and any(
        other.from_square == move.from_square and other.to_square == move.to_square for other in moves
    ):
        raise IllegalMove(f"ambiguous move: got {text!r}, expected the promotion as well, like {move.uci()}q")
    # No such move: the message says what is wrong, the target, the origin or the piece.
    origin, target = chess.SQUARE_NAMES[move.from_square], chess.SQUARE_NAMES[move.to_square]
    from_here = [chess.SQUARE_NAMES[other.to_square] for other in moves if other.from_square == move.from_square]
    if from_here:
        reach = " ".join(dict.fromkeys(from_here))
        raise IllegalMove(f"illegal move: got {text!r}, expected a target of the {_name(piece)} on {origin}: {reach}")
    if piece is None or piece.color != (board.to_move if isinstance(board, View) else board.turn):
        raise IllegalMove(f"illegal move: got {text!r}, expected a piece of the side to move on {origin}")
    raise IllegalMove(
        f"illegal move: got {text!r}, expected a piece that can move; "
        f"the {_name(piece)} on {origin} cannot go to {target}"
    )


def _parse_san(board: Position | View, moves: tuple[chess.Move, ...], text: str, match: re.Match[str]) -> chess.Move:
    letter, file, rank, captured, target, promotion = match.groups()
    kind = chess.PAWN if letter in (None, "P") else chess.PIECE_SYMBOLS.index(letter.lower())
    to_square = chess.SQUARE_NAMES.index(target)
    if kind == chess.PAWN and file is None:
        file = target[0]
    # The moves that agree with all parts of the text except the promotion.
    fits = []
    for move in moves:
        piece = board.piece_at(move.from_square)
        if (
            move.to_square == to_square
            and piece is not None
            and piece.piece_type == kind
            and not _is_castling(board, move)
            and (captured is None or _captured(board, move, piece) == captured)
            and (file is None or chess.FILE_NAMES[chess.square_file(move.from_square)] == file)
            and (rank is None or str(chess.square_rank(move.from_square) + 1) == rank)
        ):
            fits.append(move)
    if promotion is None and fits and all(move.promotion for move in fits):
        raise IllegalMove(f"ambiguous move: got {text!r}, expected the promotion as well, like {san(board, fits[-1])}")
    # Those with the written promotion, if any; then exactly one must be left.
    fits = [
        move
        for move in fits
        if (chess.piece_symbol(move.promotion) if move.promotion else None) == (promotion or "").lower()
        or not promotion
    ]
    if len(fits) == 1:
        return fits[0]
    if fits:
        raise IllegalMove(
            f"ambiguous move: got {text!r}, expected one of {' '.join(san(board, move) for move in fits)}"
        )
    # If none is left, the message lists the moves to that square.
    others = [san(board, move) for move in moves if move.to_square == to_square]
    hint = f"; what can go to {target}: {' '.join(others)}" if others else f"; nothing can go to {target}"
    raise IllegalMove(f"illegal move: got {text!r}, expected a {chess.PIECE_NAMES[kind]} that can make it{hint}")


def _captured(board: Position | View, move: chess.Move, piece: chess.Piece) -> str | None:
    """Return the letter of the piece that ``move`` of ``piece`` captures, also en passant; None: it captures none."""
    taken = board.piece_at(move.to_square)
    if taken is not None:
        return taken.symbol().upper()
    sideways = chess.square_file(move.from_square) != chess.square_file(move.to_square)
    return "P" if piece.piece_type == chess.PAWN and sideways else None


def _name(piece: chess.Piece | None) -> str:
    return "piece" if piece is None else chess.piece_name(piece.piece_type)
