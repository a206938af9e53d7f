"""Fog of War in the terminal: the game, and afterwards each ply's true board between White's and Black's views."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import chess

from darkchess.fog.game.render import Style, beside, board_lines
from klss_app.cli.fog.human import HELP, HumanPlayer
from klss_app.cli.human import drawn, framed, side_name
from klss_app.cli.screen import Quit, Screen, step_through
from klss_app.cli.terminal import Terminal

if TYPE_CHECKING:
    from darkchess.fog.game.referee import Referee

START_VISIBLE = 0xFFFF_FFFF
"""The squares that White sees in the usual start position: ranks 1 to 4."""


class FogScreen(Screen):
    """See :class:`klss_app.cli.screen.Screen`."""

    turns = "ply", "plies"

    def __init__(self, *game: Any) -> None:
        super().__init__(*game)
        self._human: HumanPlayer | None = None
        self._drawn = False

    def first_prompt(self) -> None:
        """See the base."""
        own = {square: piece for square, piece in chess.Board().piece_map().items() if piece.color == chess.WHITE}
        terminal = self.terminal
        board = drawn(terminal, own, START_VISIBLE, chess.WHITE)
        terminal.clear()
        terminal.say(*framed(board, chess.WHITE, self.names, self.clocks))
        terminal.say(
            " You see your pieces and where they could move; the rest is fog. Type help for the commands.",
            " Easier or harder: klss play --black level-1 to level-8.",
        )
        self._drawn = True
        while True:
            text = terminal.ask(" 1. your move: ")
            if text.lower() in ("quit", "exit"):
                raise Quit
            if text.lower() in ("help", "?"):
                terminal.say(HELP)
            elif text:
                terminal.type_ahead(text)
                return

    def human(self, resumed: int) -> HumanPlayer:
        """See the base."""
        self._human = HumanPlayer(self.terminal, self.names, self.clocks, resumed)
        if self._drawn:
            self._human.board_is_drawn()
        return self._human

    def seconds_left(self) -> float | None:
        """See the base."""
        return None if self._human is None else self._human.seconds_left()

    def start_lines(self, referee: Referee) -> list[str]:
        """See the base."""
        return self.turn_lines(referee, 0)

    def turn_lines(self, referee: Referee, ply: int) -> list[str]:
        """See the base."""
        return ["", *_ply_lines(referee, self.terminal, chess.WHITE, ply)]

    def review(self, referee: Referee) -> None:
        """See the base."""
        bottom = chess.WHITE if self._human is None else self._human.bottom
        step_through(self.terminal, referee.ply, partial(_ply_lines, referee, self.terminal, bottom))

    def hints(self, path: str) -> list[str]:
        """See the base."""
        return [f"see it again: klss board {path}", f"what moves cost: klss analyse {path}"]


def _ply_lines(referee: Referee, terminal: Terminal, bottom: chess.Color, ply: int) -> list[str]:
    """The block of one ply: the move that led there and the board after it, between both views."""
    style = Style(unicode=terminal.unicode, color=terminal.color)
    marked: tuple[int, ...] = ()
    title = "start"
    if ply:
        move = referee.moves[ply - 1]
        marked = (move.from_square, move.to_square)
        title = _numbered(referee, ply)
    board = board_lines(referee.positions[ply].pieces, bottom=bottom, style=style, marked=marked)
    blocks = []
    for color in chess.COLORS:
        view = referee.views(color)[ply]
        own = marked if view.own_move is not None else ()
        if not own and view.own_capture_square is not None:
            own = (view.own_capture_square,)
        lines = board_lines(view.pieces, view.visible, bottom=bottom, style=style, marked=own)
        blocks.append((f"  {side_name(color)} sees", lines))
    return [title, *beside([blocks[0], ("  the board", board), blocks[1]])]


def _numbered(referee: Referee, ply: int) -> str:
    """The move that led to ``ply``, numbered: ``7. Nf3`` or ``7... Nf6``."""
    from darkchess.fog.game.san import san

    before = referee.positions[ply - 1]
    return f"{before.fullmove}{'.' if before.turn else '...'} {san(before, referee.moves[ply - 1])}"
