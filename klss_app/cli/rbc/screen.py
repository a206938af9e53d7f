"""Reconnaissance Blind Chess in the terminal: the game, and afterwards a review turn by turn with nothing hidden.

A player's knowledge at its request is its position set: a square is in the fog where two positions of the set differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import chess
import numpy as np

from darkchess.board.kernels import board
from darkchess.board.position import Position
from darkchess.fog.game.render import ALL_SQUARES, Style, beside, board_lines
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.game.observation import window
from klss_app.cli.human import drawn, side_name
from klss_app.cli.rbc.human import BlindHuman
from klss_app.cli.screen import Screen, step_through
from klss_app.cli.terminal import Terminal
from klss_app.rbc_spoken import request_text

if TYPE_CHECKING:
    from darkchess.rbc.game.referee import Referee, Turn

_CAP = 100_000
"""Most positions in the set of either side; beyond that it is a sample."""


class RbcScreen(Screen):
    """See :class:`klss_app.cli.screen.Screen`."""

    def __init__(self, *game: Any) -> None:
        super().__init__(*game)
        self._human: BlindHuman | None = None

    def human(self, resumed: int) -> BlindHuman:
        """See the base."""
        self._human = BlindHuman(self.terminal, self.names, self.clocks, resumed=resumed)
        return self._human

    def turn_lines(self, referee: Referee, ply: int) -> list[str]:
        """See the base."""
        return [turn_text(referee.turns[ply - 1], ply - 1)]

    def end_lines(self, referee: Referee) -> list[str]:
        """See the base."""
        lines = drawn(self.terminal, referee.position.pieces, ALL_SQUARES, self._bottom)
        return [" The board:", *(" " + line for line in lines), "", *super().end_lines(referee)]

    def review(self, referee: Referee) -> None:
        """See the base."""
        if referee.ply:
            lines = partial(_turn_lines, referee, followed(referee), self.terminal)
            step_through(self.terminal, referee.ply, self._bottom, lines)

    @property
    def _bottom(self) -> chess.Color:
        return chess.WHITE if self._human is None else self._human.bottom


@dataclass(frozen=True)
class Known:
    """A player's knowledge at its request: the sizes of its set before its sense and after it, and whether the set was
    capped; the pieces that are certain, including its own; and the squares whose content is known, including empty
    ones, as a 64-bit set.
    """

    before: int
    after: int
    sampled: bool
    pieces: dict[int, chess.Piece]
    sure: int


def followed(referee: Referee) -> list[Known]:
    """The mover's knowledge at each turn."""
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


def _turn_lines(
    referee: Referee, known: list[Known], terminal: Terminal, at: int, bottom: chess.Color, fog: bool
) -> list[str]:
    """The block of the turn after ``at`` turns, or of the end: the true board, and with ``fog`` what was known."""
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
        *beside([(f"  {side_name(turn.color)} knew", own_board), ("  the board", true)]),
        f"  possible positions: {more}{mine.before:,}, after the look {more}{mine.after:,}",
    ]


def turn_text(turn: Turn, at: int) -> str:
    """A turn in words, after ``at`` turns of both sides: ``2. White looks at e5, asks for knight b1-c3.``"""
    looked = "nowhere" if turn.sensed.square is None else f"at {chess.SQUARE_NAMES[turn.sensed.square]}"
    requested, taken = turn.moved.requested, turn.moved.taken
    asked = "passes" if requested is None else f"asks for {request_text(requested, turn.before.pieces)}"
    if requested is not None and taken != requested:
        asked += ", nothing is played" if taken is None else f", plays {taken.uci()}"
    if turn.moved.capture_square is not None:
        asked += f", takes on {chess.SQUARE_NAMES[turn.moved.capture_square]}"
    number = f"{at // 2 + 1}{'.' if turn.color else '...'}"
    return f"{number} {'White' if turn.color else 'Black'} looks {looked}, {asked}."
