"""The fields of a FEN, for true positions (:mod:`darkchess.board.position`) and for views, which have hidden squares
(:mod:`darkchess.fog.game.view`).
"""

from __future__ import annotations

from collections.abc import Mapping

import chess

from darkchess.errors import FenError

HIDDEN = "?"
"""Character of a hidden square."""

_LONGEST = 120
"""Most characters of a FEN: a board has 71, and no counter that makes sense has six digits."""

ROOK_HOMES = {"K": chess.H1, "Q": chess.A1, "k": chess.H8, "q": chess.A8}
"""Home square of the rook of each castling right."""


def parsed(text: str) -> tuple[chess.Board, str]:
    """Return python-chess's board of a FEN, and the field of castling rights; both counters may be left out together
    and are then ``0 1``.
    """
    fields = text.split()
    try:
        counters = all(each.isdigit() for each in fields[4:])
        if len(fields) not in (4, 6) or len(text) > _LONGEST or not (text.isascii() and counters) or "~" in text:
            raise ValueError(f"got {text[:_LONGEST]!r}")
        return chess.Board(" ".join(fields)), fields[2]
    except ValueError as error:
        raise FenError(
            f"bad FEN: {error}; expected board, side to move, castling rights and en passant square, and optionally "
            "both counters"
        ) from None


def board_text(pieces: Mapping[int, chess.Piece], unseen: int = 0) -> str:
    """Return the first field of a FEN; squares of the mask ``unseen`` are written as hidden."""
    rows = []
    for rank in range(7, -1, -1):
        row, empty = "", 0
        for square in range(8 * rank, 8 * rank + 8):
            piece = pieces.get(square)
            if piece is None and not unseen >> square & 1:
                empty += 1
                continue
            row += (str(empty) if empty else "") + (piece.symbol() if piece is not None else HIDDEN)
            empty = 0
        rows.append(row + (str(empty) if empty else ""))
    return "/".join(rows)


def parse_castling(text: str, pieces: Mapping[int, chess.Piece]) -> str:
    """Return the castling rights of a FEN's third field in the order ``KQkq``; each needs its king and rook at home.

    Shredder-FEN names rooks by their files, which is the same for rooks at home.
    """
    if text == "-":
        return ""
    if set(text) <= set("HAha"):
        text = text.translate(str.maketrans("HAha", "KQkq"))
    if not text or set(text) - set("KQkq") or len(set(text)) != len(text):
        raise FenError(f"bad FEN castling rights: got {text!r}, expected '-' or some of KQkq, each once")
    for right in text:
        color = right.isupper()
        king, rook = chess.E1 if color else chess.E8, ROOK_HOMES[right]
        for square, kind in ((king, chess.KING), (rook, chess.ROOK)):
            if pieces.get(square) != chess.Piece(kind, color):
                raise FenError(
                    f"bad FEN castling right {right!r}: got {pieces.get(square, 'nothing')} on "
                    f"{chess.SQUARE_NAMES[square]}, expected {chess.COLOR_NAMES[color]}'s {chess.PIECE_NAMES[kind]}; "
                    f"drop the right from {text!r}"
                )
    return "".join(right for right in "KQkq" if right in text)
