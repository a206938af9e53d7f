"""The fields of a FEN, for true positions (:mod:`darkchess.board.position`) and for views, which have hidden squares
(:mod:`darkchess.fog.game.view`).
"""

from __future__ import annotations

from collections.abc import Mapping

import chess

from darkchess.errors import FenError

_LONGEST = 120
"""Most characters of a FEN: a board has 71, and no counter that makes sense has six digits."""

_UNLAWFUL = (
    chess.STATUS_NO_WHITE_KING | chess.STATUS_NO_BLACK_KING | chess.STATUS_TOO_MANY_KINGS
    | chess.STATUS_TOO_MANY_WHITE_PIECES | chess.STATUS_TOO_MANY_BLACK_PIECES | chess.STATUS_PAWNS_ON_BACKRANK
    | chess.STATUS_BAD_CASTLING_RIGHTS | chess.STATUS_INVALID_EP_SQUARE
)  # fmt: skip
"""The faults of python-chess's boards that rule 6 of docs/rules.md knows too; checks and checkers are none."""


def parsed(text: str) -> chess.Board:
    """Return python-chess's board of a FEN; both counters may be left out together and are then ``0 1``. Castling
    rights may be named by the rooks' files, as in Shredder-FEN.

    Raises
    ------
    FenError
        The text is garbled, or breaks rule 6 of docs/rules.md.
    """
    fields = text.split()
    try:
        counters = all(each.isdigit() for each in fields[4:])
        if len(fields) not in (4, 6) or len(text) > _LONGEST or not (text.isascii() and counters) or "~" in text:
            raise ValueError(f"got {text[:_LONGEST]!r}")
        read = chess.Board(" ".join(fields))
    except ValueError as error:
        raise FenError(
            f"bad FEN: {error}; expected board, side to move, castling rights and en passant square, and optionally "
            "both counters"
        ) from None
    faults = read.status() & _UNLAWFUL
    if chess.popcount(read.castling_rights) != len(fields[2].replace("-", "")):  # a right that is named twice
        faults |= chess.STATUS_BAD_CASTLING_RIGHTS
    if faults:
        names = ", ".join(str(each.name).lower().replace("_", " ") for each in chess.Status if each & faults)
        raise FenError(
            f"bad FEN: got {names} in {text!r}; expected one king and at most sixteen men a side, no pawn on rank 1 or "
            "8, each castling right once with king and rook at home, and an en passant square behind a pawn that made "
            "a double step"
        )
    return read


def board_text(pieces: Mapping[int, chess.Piece], unseen: int = 0) -> str:
    """Return the first field of a FEN, with ``?`` on squares of the mask ``unseen``."""
    rows = []
    for rank in range(7, -1, -1):
        row, empty = "", 0
        for square in range(8 * rank, 8 * rank + 8):
            piece = pieces.get(square)
            if piece is None and not unseen >> square & 1:
                empty += 1
                continue
            row += (str(empty) if empty else "") + (piece.symbol() if piece is not None else "?")
            empty = 0
        rows.append(row + (str(empty) if empty else ""))
    return "/".join(rows)


def written(
    pieces: Mapping[int, chess.Piece], turn: chess.Color, rights: str, ep_square: int | None, quiet: int, fullmove: int,
    unseen: int = 0,
) -> str:  # fmt: skip
    """Return a FEN; ``unseen`` is as in :func:`board_text`."""
    ep = "-" if ep_square is None else chess.SQUARE_NAMES[ep_square]
    return f"{board_text(pieces, unseen)} {'w' if turn else 'b'} {rights or '-'} {ep} {quiet} {fullmove}"
