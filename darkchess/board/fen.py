"""The fields of a FEN, for true positions (:mod:`darkchess.board.position`) and for views, which have hidden squares
(:mod:`darkchess.fog.game.view`).
"""

from __future__ import annotations

from collections.abc import Mapping

import chess

from darkchess.errors import FenError

HIDDEN = "?"
"""Character of a hidden square."""

ROOK_HOMES = {"K": chess.H1, "Q": chess.A1, "k": chess.H8, "q": chess.A8}
"""Home square of the rook of each castling right."""


def split_fields(text: str) -> list[str]:
    """Return the six fields of a FEN; both counters may be left out together and are then ``0 1``."""
    fields = text.split()
    if len(fields) == 4:
        fields += ["0", "1"]
    if len(fields) != 6:
        raise FenError(
            f"bad FEN: got {len(fields)} fields in {text!r}, expected 4 or 6 (board, side to move, castling rights, "
            "en passant square, and optionally both counters)"
        )
    return fields


def parse_board(text: str) -> dict[int, chess.Piece]:
    """Return the pieces, by square, of a FEN's first field."""
    try:
        if "~" in text:  # python-chess marks promoted pieces by it
            raise ValueError("got a '~'")
        return chess.BaseBoard(text).piece_map()
    except ValueError as error:
        raise FenError(f"bad FEN board: {error}; expected eight ranks of PNBRQK, pnbrqk and 1-8") from None


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


def parse_turn(text: str) -> chess.Color:
    """Return the side to move of a FEN's second field."""
    if text not in ("w", "b"):
        raise FenError(f"bad FEN side to move: got {text!r}, expected 'w' or 'b'")
    return text == "w"


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


def parse_ep_square(text: str) -> int | None:
    """Return the square of a FEN's fourth field, None for ``-``."""
    if text == "-":
        return None
    if text not in chess.SQUARE_NAMES:
        raise FenError(f"bad FEN en passant square: got {text!r}, expected '-' or a square a1-h8")
    return chess.SQUARE_NAMES.index(text)


def parse_counter(text: str, what: str) -> int:
    """Return a counter of a FEN, written in ASCII digits."""
    if not (text.isascii() and text.isdigit() and len(text) <= 5):
        raise FenError(f"bad FEN {what}: got {text!r}, expected a whole number from 0 to 99999")
    return int(text)
