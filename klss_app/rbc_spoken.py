"""Reconnaissance Blind Chess in words: the results of looks and requests, and requests as a human types them: squares
(``e2e4``, ``e7e8n``), the letters of chess (``Nf3``, ``exd5``, ``e8=N``, ``O-O``), or ``pass``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import chess

from darkchess.rbc.game.observation import Moved, Notice, Sensed

_SQUARES = re.compile(r"([a-h][1-8])-?([a-h][1-8])=?([nbrqNBRQ]?)")
_LETTERS = re.compile(r"([NBRQK]?)([a-h]?)([1-8]?)([x:]?)([a-h][1-8])=?([NBRQ]?)[+#]?")
_PASS = ("pass", "-", "--", "0000")


class UnknownRequest(Exception):
    """The typed text is not a request; the message says why."""


def request_of(text: str, requests: Sequence[chess.Move], pieces: Mapping[int, chess.Piece]) -> chess.Move | None:
    """The one of ``requests`` that ``text`` means for a player with these pieces by square (0–63); None: a pass. Raises
    :class:`UnknownRequest`: it means none, or more than one.

    >>> board = chess.Board()
    >>> asked = [chess.Move.from_uci(text) for text in ("e2e4", "e2d3", "g1f3")]
    >>> [request_of(text, asked, board.piece_map()).uci() for text in ("e4", "exd3", "Nf3", "g1f3")]
    ['e2e4', 'e2d3', 'g1f3', 'g1f3']
    >>> request_of("pass", asked, board.piece_map()) is None
    True
    """
    text = text.strip()
    if text.lower() in _PASS:
        return None
    found = _meant(text, requests, pieces)
    if not found:
        raise UnknownRequest(f"{text[:40]!r} is not a move that you may ask for; moves lists them, pass asks for none.")
    if len(found) > 1:
        raise UnknownRequest(f"{text[:40]!r} means {' or '.join(move.uci() for move in found)}; type one of them.")
    return found[0]


def _meant(text: str, requests: Sequence[chess.Move], pieces: Mapping[int, chess.Piece]) -> list[chess.Move]:
    castled = {"O-O": 2, "0-0": 2, "O-O-O": -2, "0-0-0": -2}.get(text.upper())
    if castled is not None:
        return [
            move
            for move in requests
            if pieces[move.from_square].piece_type == chess.KING and move.to_square - move.from_square == castled
        ]
    squares = _SQUARES.fullmatch(text)
    if squares is not None:
        start, end, letter = squares.groups()
        return _promoted([move for move in requests if move.uci()[:4] == start + end], letter)
    letters = _LETTERS.fullmatch(text)
    if letters is None:
        return []
    piece, file, rank, takes, end, letter = letters.groups()
    kind = chess.PIECE_SYMBOLS.index(piece.lower()) if piece else chess.PAWN
    found = [
        move
        for move in requests
        if pieces[move.from_square].piece_type == kind
        and chess.SQUARE_NAMES[move.to_square] == end
        and file in ("", chess.SQUARE_NAMES[move.from_square][0])
        and rank in ("", chess.SQUARE_NAMES[move.from_square][1])
    ]
    if kind == chess.PAWN:
        aside = bool(takes) or file not in ("", end[0])
        found = [move for move in found if ((move.to_square - move.from_square) % 8 != 0) == aside]
    if kind == chess.KING:
        found = [move for move in found if abs(move.to_square - move.from_square) != 2]
    return _promoted(found, letter)


def _promoted(found: list[chess.Move], letter: str) -> list[chess.Move]:
    """The moves with that promotion; to a queen if none is typed."""
    wanted = chess.PIECE_SYMBOLS.index(letter.lower()) if letter else chess.QUEEN
    promoting = [move for move in found if move.promotion == wanted]
    return promoting or [move for move in found if move.promotion is None and not letter]


def request_letters(moved: Moved, pieces: Mapping[int, chess.Piece]) -> str:
    """The move played, in the letters of chess, as its player knows it: ``Nf3``, ``dxe5``, ``–`` for none; ``pieces``
    are the player's before it.

    >>> request_letters(Moved(chess.Move.from_uci("g1f3"), chess.Move.from_uci("g1f3"), 21), chess.Board().piece_map())
    'Nxf3'
    """
    if moved.taken is None:
        return "pass" if moved.requested is None else "–"
    return _letters(moved.taken, pieces, takes=moved.capture_square is not None)


def move_letters(move: str | None, pieces: Mapping[int, chess.Piece]) -> str:
    """A request given as squares (``g1f3``), ``pass`` or None, in the letters of chess; a pawn's diagonal is a capture.

    >>> move_letters("g1f3", chess.Board().piece_map()), move_letters("pass", {})
    ('Nf3', 'pass')
    """
    return "pass" if move in (None, "pass") else _letters(chess.Move.from_uci(move), pieces, takes=False)


def _letters(move: chess.Move, pieces: Mapping[int, chess.Piece], *, takes: bool) -> str:
    kind = pieces[move.from_square].piece_type
    step = chess.square_file(move.to_square) - chess.square_file(move.from_square)
    if kind == chess.KING and abs(step) == 2:
        return "O-O" if step > 0 else "O-O-O"
    start = chess.SQUARE_NAMES[move.from_square][0] if step else ""
    letter = start if kind == chess.PAWN else chess.piece_symbol(kind).upper() + _which(move, pieces)
    takes = takes or (kind == chess.PAWN and step != 0)
    promotion = "" if move.promotion is None else f"={chess.piece_symbol(move.promotion).upper()}"
    return f"{letter}{'x' if takes else ''}{chess.SQUARE_NAMES[move.to_square]}{promotion}"


def _which(move: chess.Move, pieces: Mapping[int, chess.Piece]) -> str:
    """The file, rank or square that tells a piece from others of its kind with a request to the same square; only own
    pieces block a request.

    >>> rooks = {square: chess.Piece.from_symbol("R") for square in (chess.A1, chess.A5, chess.H1)}
    >>> [_which(chess.Move.from_uci(text), rooks) for text in ("h1d1", "a5a3", "h1h3")]
    ['h', '5', '']
    """
    mine = pieces[move.from_square]
    board = chess.BaseBoard(None)
    board.set_piece_map({square: piece for square, piece in pieces.items() if piece.color == mine.color})
    alike = board.attackers(mine.color, move.to_square) & board.pieces(mine.piece_type, mine.color)
    alike.discard(move.from_square)
    name, others = chess.SQUARE_NAMES[move.from_square], [chess.SQUARE_NAMES[square] for square in alike]
    if not others:
        return ""
    if all(other[0] != name[0] for other in others):
        return name[0]
    return name[1] if all(other[1] != name[1] for other in others) else name


def lost_text(notice: Notice, pieces: Mapping[int, chess.Piece]) -> str:
    """The loss in the opponent's turn, as a sentence; ``pieces`` are the player's before it."""
    if notice.square is None:
        return "None of your pieces was captured."
    lost = chess.PIECE_NAMES[pieces[notice.square].piece_type]
    return f"Your {lost} on {chess.SQUARE_NAMES[notice.square]} was captured."


def sensed_text(sensed: Sensed, color: chess.Color) -> str:
    """The result of a look for a player of that colour, as a sentence."""
    if sensed.square is None:
        return "You looked nowhere."
    there = [
        f"{chess.PIECE_NAMES[piece.piece_type]} {chess.SQUARE_NAMES[square]}"
        for square, piece in sensed.contents
        if piece is not None and piece.color != color
    ]
    return f"Around {chess.SQUARE_NAMES[sensed.square]}: {', '.join(there) or 'no enemy piece'}."


def moved_text(moved: Moved, pieces: Mapping[int, chess.Piece]) -> str:
    """The result of a request, as a sentence; ``pieces`` are the player's before it."""
    if moved.requested is None:
        return "You passed."
    asked = move_letters(moved.requested.uci(), pieces)
    if moved.taken is None:
        return (
            f"You asked for {asked}, and nothing was played: something stood in the way, or nothing was there to take."
        )
    end = chess.SQUARE_NAMES[moved.taken.to_square]
    text = f"You played {asked}"
    if moved.taken.to_square != moved.requested.to_square:
        text = f"You asked for {asked}: it went as far as {end}"
    if moved.capture_square is None:
        return text + "."
    where = "" if moved.capture_square == moved.taken.to_square else " en passant"
    return f"{text} and captured{where} on {chess.SQUARE_NAMES[moved.capture_square]}."
