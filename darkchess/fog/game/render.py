"""Boards as text: what one player sees, or the true board, alone or side by side. Only drawing: no terminal is queried.

There are three styles, which the caller chooses: letters and ``?`` for fog (``ASCII``), chess figures and shading
(``UNICODE``), and the same on coloured squares (``COLOR``, ANSI sequences of 256 colours). Fog is a square whose
contents the player does not see.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

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
    """The style in which boards are drawn.

    Attributes
    ----------
    unicode
        Whether to use chess figures and shading; else letters, ``.`` and ``?``.
    color
        Whether to colour the squares, by ANSI sequences.
    """

    unicode: bool = True
    color: bool = False


ASCII = Style(unicode=False)
UNICODE = Style()
COLOR = Style(color=True)


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
    bottom: chess.Color = chess.WHITE,
    style: Style = UNICODE,
    marked: Collection[int] = (),
    cell: int = 2,
) -> list[str]:
    """Return the lines of a board: eight ranks and the line of files.

    Parameters
    ----------
    pieces
        Piece by square (0–63). A piece on a fogged square is drawn too: the caller decides which pieces are shown.
    visible
        Mask of the squares whose contents are seen (bit 0 is a1); the others are fog.
    bottom
        The side at the bottom.
    style
        See :class:`Style`.
    marked
        Squares to highlight, such as those of the last move.
    cell
        Columns of a square, 2 or more; 3 looks square in most terminals.

    Examples
    --------
    >>> lines = board_lines({0: chess.Piece.from_symbol("R")}, 0x101, style=ASCII)
    >>> lines[-3:]
    ['2 . ? ? ? ? ? ? ?', '1 R ? ? ? ? ? ? ?', '  a b c d e f g h']
    """
    # Ranks and files in the order in which the side at the bottom sees them.
    ranks = range(7, -1, -1) if bottom == chess.WHITE else range(8)
    files = range(8) if bottom == chess.WHITE else range(7, -1, -1)
    lines = []
    for rank in ranks:
        squares = [8 * rank + file for file in files]
        cells = [
            _cell(square, pieces.get(square), bool(visible >> square & 1), style, square in marked, cell)
            for square in squares
        ]
        lines.append(f"{rank + 1}" + (" " if style.color else "") + "".join(cells) + (_RESET if style.color else ""))
    # The names of the files, under the middle of their squares.
    left, right = _padding(cell, style)
    names = "".join(" " * left + "abcdefgh"[file] + " " * right for file in files)
    lines.append((" " + (" " if style.color else "") + names).rstrip())
    return [line if style.color else line.rstrip() for line in lines]


def _padding(cell: int, style: Style) -> tuple[int, int]:
    """Return the blanks left and right of a cell's sign: it is centred on coloured squares; else they only separate."""
    left = (cell - 1) // 2 if style.color else cell - 1
    return left, cell - 1 - left


def _cell(square: int, piece: chess.Piece | None, seen: bool, style: Style, marked: bool, cell: int) -> str:
    if piece is not None:
        # On coloured squares both sides have the filled figures, since outlined ones look hollow there.
        filled = chess.Piece(piece.piece_type, not style.color and piece.color)
        sign = filled.unicode_symbol() if style.unicode else piece.symbol()
    elif style.color:
        sign = " " if seen or style.unicode else "?"
    elif style.unicode:
        sign = "·" if seen else "░"
    else:
        sign = "." if seen else "?"
    left, right = _padding(cell, style)
    text = " " * left + sign + " " * right
    if not style.color:
        return text
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
