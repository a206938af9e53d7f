"""A game of Reconnaissance Blind Chess shown turn by turn with everything on the table: what its player could know at
its request, and the true board.

What it could know is the set of all positions that agree with its observations: a square is in the fog where two of
them differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import chess
import numpy as np

from darkchess.board.kernels import board
from darkchess.board.position import Position
from darkchess.fog.game.render import Style, beside, board_lines
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.game.observation import window
from klss_app.cli.rbc.spoken import turn_text
from klss_app.cli.screen import step_through
from klss_app.cli.terminal import Terminal

if TYPE_CHECKING:
    from darkchess.rbc.game.referee import Referee

__all__ = ["Known", "followed", "review"]

_CAP = 100_000
"""Positions that are followed of either side; beyond that, a sample."""


@dataclass(frozen=True)
class Known:
    """What a player could know at its request: how many positions were possible before its sense and after it, and
    whether there were more; what surely stood where, the own pieces among it; and the squares whose content was known,
    empty ones included, as a 64-bit set.
    """

    before: int
    after: int
    sampled: bool
    pieces: dict[int, chess.Piece]
    sure: int


def review(referee: Referee, terminal: Terminal, bottom: chess.Color) -> None:
    """Show a finished game turn by turn, its end first; see :func:`klss_app.cli.screen.step_through`."""
    known = followed(referee)
    step_through(terminal, referee.ply, bottom, lambda at, below, fog: _lines(referee, known, at, terminal, below, fog))


def followed(referee: Referee) -> list[Known]:
    """What was known at each turn."""
    sets = {color: PositionSet(color, referee.positions[0], cap=_CAP) for color in chess.COLORS}
    found = []
    for number, turn in enumerate(referee.turns):
        mine = sets[turn.color]
        mine.noticed(turn.notice)
        before = mine.size
        mine.sensed(turn.sensed)
        rows = mine.rows(np.arange(mine.size))
        same = np.bitwise_and.reduce(rows, axis=0)
        occupied = np.bitwise_or.reduce(rows[:, board.WHITE] | rows[:, board.BLACK])
        pieces = dict(Position(same).pieces)
        sure = sum(1 << square for square in pieces) | int(~occupied)
        found.append(Known(before, mine.size, mine.capped_by is not None, pieces, sure))
        if number + 1 < referee.ply:
            mine.moved(turn.moved)
    return found


def _lines(
    referee: Referee, known: list[Known], at: int, terminal: Terminal, bottom: chess.Color, fog: bool
) -> list[str]:
    """The block of the turn after ``at`` turns, or of the end."""
    style = Style(unicode=terminal.unicode, color=terminal.color)
    if at == referee.ply:
        return ["the end", *board_lines(referee.positions[at].pieces, bottom=bottom, style=style)]
    turn, mine = referee.turns[at], known[at]
    taken = turn.moved.taken
    marked = () if taken is None else (taken.from_square, taken.to_square)
    title = f"{at}: {turn_text(turn, at)}"
    true = board_lines(turn.before.pieces, bottom=bottom, style=style, marked=marked)
    if not fog:
        return [title, *true]
    looked = () if turn.sensed.square is None else window(turn.sensed.square)
    own_board = board_lines(mine.pieces, mine.sure, bottom=bottom, style=style, marked=looked)
    more = "more than " if mine.sampled else ""
    return [
        title,
        *beside([(f"  {'White' if turn.color else 'Black'} knew", own_board), ("  the board", true)]),
        f"  possible positions: {more}{mine.before:,}, after the look {more}{mine.after:,}",
    ]
