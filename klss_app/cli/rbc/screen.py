"""Reconnaissance Blind Chess in the terminal: the game, and afterwards a review turn by turn with nothing hidden."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import chess

from darkchess.fog.game.render import ALL_SQUARES, Style, beside, board_lines
from darkchess.rbc.game.observation import window
from klss_app.cli.human import drawn, side_name
from klss_app.cli.rbc.human import BlindHuman, known_board
from klss_app.cli.screen import Screen, step_through
from klss_app.cli.terminal import Terminal
from klss_app.rbc_spoken import move_letters
from klss_app.web.rbc_seat import Knowledge

if TYPE_CHECKING:
    from darkchess.rbc.game.referee import Referee, Turn


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
            lines = partial(_turn_lines, referee, followed(referee), self.terminal, self._bottom)
            step_through(self.terminal, referee.ply, lines)

    @property
    def _bottom(self) -> chess.Color:
        return chess.WHITE if self._human is None else self._human.bottom


def followed(referee: Referee) -> list[tuple[dict[int, chess.Piece], int]]:
    """What the mover last knew at its request in each turn; see :func:`klss_app.cli.rbc.human.known_board`."""
    known = {color: Knowledge(color, referee.positions[0]) for color in chess.COLORS}
    found = []
    for turn in referee.turns:
        mine = known[turn.color]
        mine.notice(turn.notice)
        mine.sensed(turn.sensed)
        found.append(known_board(mine))
        mine.moved(turn.moved)
    return found


def _turn_lines(
    referee: Referee,
    known: list[tuple[dict[int, chess.Piece], int]],
    terminal: Terminal,
    bottom: chess.Color,
    at: int,
) -> list[str]:
    """The block of the turn after ``at`` turns, or of the end: the true board, and what was known."""
    style = Style(unicode=terminal.unicode, color=terminal.color)
    if at == referee.ply:
        return ["the end", *board_lines(referee.positions[at].pieces, bottom=bottom, style=style)]
    turn = referee.turns[at]
    taken = turn.moved.taken
    marked = () if taken is None else (taken.from_square, taken.to_square)
    title = f"{at}: {turn_text(turn, at)}"
    true = board_lines(turn.before.pieces, bottom=bottom, style=style, marked=marked)
    looked = () if turn.sensed.square is None else window(turn.sensed.square)
    own = board_lines(*known[at], bottom=bottom, style=style, marked=looked)
    return [title, *beside([(f"  {side_name(turn.color)} knew", own), ("  the board", true)])]


def turn_text(turn: Turn, at: int) -> str:
    """A turn in words, after ``at`` turns of both sides: ``2. White looks at e5, asks for Nc3.``"""
    looked = "nowhere" if turn.sensed.square is None else f"at {chess.SQUARE_NAMES[turn.sensed.square]}"
    requested, taken = turn.moved.requested, turn.moved.taken
    asked = "passes" if requested is None else f"asks for {move_letters(requested.uci(), turn.before.pieces)}"
    if requested is not None and taken != requested:
        asked += ", nothing is played" if taken is None else f", plays {taken.uci()}"
    if turn.moved.capture_square is not None:
        asked += f", takes on {chess.SQUARE_NAMES[turn.moved.capture_square]}"
    number = f"{at // 2 + 1}{'.' if turn.color else '...'}"
    return f"{number} {'White' if turn.color else 'Black'} looks {looked}, {asked}."
