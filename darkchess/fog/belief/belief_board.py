"""A player's belief as a board in text: its own pieces, what it sees, and on every unseen square the likeliest enemy
piece with its percentage. Only drawing; a line has at most 75 columns.
"""

from __future__ import annotations

import chess

from darkchess.fog.belief.marginals import Marginals
from darkchess.fog.game.view import View

_CELL = 9
"""Columns of a square."""


def percent(probability: float) -> str:
    """Return ``probability`` in at most four characters; only what is certain gets 0 % or 100 %.

    >>> [percent(p) for p in (0.0, 0.001, 0.43, 0.999, 1.0)]
    ['0%', '<1%', '43%', '>99%', '100%']
    """
    if probability <= 0.0 or probability >= 1.0:
        return f"{100 * probability:.0f}%"
    if probability < 0.01:
        return "<1%"
    if probability > 0.99:
        return ">99%"
    return f"{100 * probability:.0f}%"


def belief_lines(view: View, found: Marginals, *, unicode: bool = True) -> list[str]:
    """Return the lines of the board, the player's side at the bottom, with the files above and below.

    Parameters
    ----------
    view
        What the player sees.
    found
        What the player believes, at the same ply.
    unicode
        Chess figures, ``·`` for squares seen empty and ``░`` for unseen ones on which no piece can stand; else letters,
        ``.`` and ``?``.

    Examples
    --------
    >>> import numpy as np
    >>> from darkchess import Position
    >>> from darkchess.fog.game.view import initial_view
    >>> start = Position.start()
    >>> counts = np.zeros((64, 6), dtype=np.int64)
    >>> counts[chess.D8, 4], counts[chess.D8, 5] = 3, 1
    >>> own = {s: p for s, p in start.pieces.items() if p.color}
    >>> view = initial_view(start, chess.WHITE)
    >>> lines = belief_lines(view, Marginals(chess.WHITE, 4, counts, own), unicode=False)
    >>> print(lines[1].split(), lines[4].split()[:3], lines[8].split()[:3], sep="\\n")
    ['8', '?', '?', '?', 'q', '75%', '?', '?', '?', '?']
    ['5', '?', '?']
    ['1', 'R', 'N']
    """
    files = range(8) if view.color == chess.WHITE else range(7, -1, -1)
    ranks = range(7, -1, -1) if view.color == chess.WHITE else range(8)
    names = ("  " + "".join(f"{'abcdefgh'[file]:<{_CELL}}" for file in files)).rstrip()
    lines = [names]
    for rank in ranks:
        cells = (f"{_cell(view, found, 8 * rank + file, unicode):<{_CELL}}" for file in files)
        lines.append(f"{rank + 1} {''.join(cells)}".rstrip())
    return [*lines, names]


def _cell(view: View, found: Marginals, square: int, unicode: bool) -> str:
    if view.sees(square):
        piece = view.piece_at(square)
        return _sign(piece, unicode) if piece is not None else "·" if unicode else "."
    men = found.at(square)
    if not men:
        return "░" if unicode else "?"
    symbol, probability = next(iter(men.items()))
    return f"{_sign(chess.Piece.from_symbol(symbol), unicode)} {percent(probability)}"


def _sign(piece: chess.Piece, unicode: bool) -> str:
    return piece.unicode_symbol() if unicode else piece.symbol()
