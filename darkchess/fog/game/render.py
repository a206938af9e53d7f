"""Boards as text: what one player sees, or the true board, alone or side by side. Only drawing: no terminal is queried.

The caller chooses the style: letters and ``?`` for fog, or chess figures and shading; and the squares' colours (ANSI
sequences of 256 colours). Fog is a square whose contents the player does not see.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import chess

ALL_SQUARES = (1 << 64) - 1
"""The mask of all squares."""

_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
_RESET = "\x1b[0m"
_GAP = 4
"""Columns between two blocks."""
# Backgrounds of the 256-colour palette: (dark square, light square). On all but fog, both white and black pieces have a
# contrast of at least 3, which WCAG 2.1 requires for graphics.
_SEEN = (60, 103)
_FOG = (234, 236)
_MARKED = (94, 136)
_FOREGROUND = {chess.WHITE: "38;5;231;1", chess.BLACK: "38;5;16"}


@dataclass(frozen=True)
class Style:
    """The style in which boards are drawn."""

    unicode: bool = True  # chess figures and shading; else letters, ``.`` and ``?``
    color: bool = False  # coloured squares, by ANSI sequences


def width(text: str) -> int:
    """Return the columns that ``text`` takes in a terminal: ANSI sequences take none.

    >>> width("\\x1b[1mab\\x1b[0m")
    2
    """
    return len(_ESCAPE.sub("", text))


def board_lines(
    pieces: Mapping[int, chess.Piece],
    visible: int = ALL_SQUARES,
    *,
    style: Style,
    bottom: chess.Color = chess.WHITE,
    marked: Collection[int] = (),
    labels: Mapping[int, str] = MappingProxyType({}),
    cell: int = 2,
) -> list[str]:
    """Return the lines of a board: eight ranks and the line of files.

    Parameters
    ----------
    pieces
        Piece by square (0–63). A piece on a fogged square is drawn too: the caller decides which pieces are shown.
    visible
        Mask of the squares whose contents are seen (bit 0 is a1); the others are fog.
    style
        See :class:`Style`.
    bottom
        The side at the bottom.
    marked
        Squares to highlight, such as those of the last move.
    labels
        Texts that follow the pieces of some squares.
    cell
        Columns of a square, 2 or more; 3 looks square in most terminals.

    Examples
    --------
    >>> lines = board_lines({0: chess.Piece.from_symbol("R")}, 0x101, style=Style(unicode=False))
    >>> lines[-3:]
    ['2 . ? ? ? ? ? ? ?', '1 R ? ? ? ? ? ? ?', '  a b c d e f g h']
    """
    # Ranks and files in the order in which the side at the bottom sees them.
    ranks = range(7, -1, -1) if bottom == chess.WHITE else range(8)
    files = range(8) if bottom == chess.WHITE else range(7, -1, -1)
    # A cell's text is centred on coloured squares; else blanks only separate.
    fitted = str.center if style.color else str.ljust if labels else str.rjust
    begin = " " if style.color or labels else ""
    lines = []
    for rank in ranks:
        line = f"{rank + 1}{begin}"
        for square in (8 * rank + file for file in files):
            piece, seen = pieces.get(square), bool(visible >> square & 1)
            text = fitted(_sign(piece, seen, style) + labels.get(square, ""), cell)
            line += _colored(text, square, piece, seen, square in marked) if style.color else text
        lines.append(line + _RESET if style.color else line.rstrip())
    names = "".join(fitted("abcdefgh"[file], cell) for file in files)
    lines.append(f" {begin}{names}".rstrip())
    return lines


def _sign(piece: chess.Piece | None, seen: bool, style: Style) -> str:
    if piece is not None:
        # On coloured squares both sides have the filled figures, since outlined ones look hollow there.
        filled = chess.Piece(piece.piece_type, not style.color and piece.color)
        return filled.unicode_symbol() if style.unicode else piece.symbol()
    if style.color:
        return " " if seen or style.unicode else "?"
    empty, fog = ("·", "░") if style.unicode else (".", "?")
    return empty if seen else fog


def _colored(text: str, square: int, piece: chess.Piece | None, seen: bool, marked: bool) -> str:
    light = (chess.square_rank(square) + chess.square_file(square)) % 2
    background = (_MARKED if marked else _SEEN if seen else _FOG)[light]
    foreground = _FOREGROUND[piece.color] if piece is not None else "38;5;244"
    return f"\x1b[0;{foreground};48;5;{background}m{text}"


def beside(blocks: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """Return blocks of lines, ``(title, lines)`` from left to right, side by side, each under its title.

    >>> beside([("A", ["x", "yy"]), ("B", ["z"])])
    ['A     B', 'x     z', 'yy']
    """
    columns = [[title, *lines] for title, lines in blocks]
    widths = [max(map(width, column)) for column in columns]
    return [
        "".join(text + " " * (wide - width(text) + _GAP) for text, wide in zip(texts, widths, strict=True)).rstrip()
        for texts in itertools.zip_longest(*columns, fillvalue="")
    ]
