"""Fog of War in the terminal."""

from __future__ import annotations

from typing import Any

import chess

from klss_app.cli.errors import own_name
from klss_app.cli.fog.human import HELP, HumanPlayer
from klss_app.cli.fog.review import ply_lines, result_text, review
from klss_app.cli.human import drawn, framed
from klss_app.cli.screen import Quit, Screen

__all__ = ["START_VISIBLE", "FogScreen"]

START_VISIBLE = 0xFFFF_FFFF
"""What White sees of the usual start position: ranks 1 to 4."""


class FogScreen(Screen):
    """See :class:`klss_app.cli.screen.Screen`."""

    turns = "plies"

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
        terminal.say(" You see your pieces and where they could move; the rest is fog. help tells what to type.")
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

    def start_lines(self, referee: Any) -> list[str]:
        """See the base."""
        return ["", *ply_lines(referee, 0, self.terminal, chess.WHITE)]

    def turn_lines(self, referee: Any, ply: int) -> list[str]:
        """See the base."""
        return ["", *ply_lines(referee, ply, self.terminal, chess.WHITE)]

    def end_lines(self, referee: Any) -> list[str]:
        """See the base."""
        return [result_text(referee)]

    def review(self, referee: Any) -> None:
        """See the base."""
        review(referee, self.terminal, chess.WHITE if self._human is None else self._human.bottom)

    def hints(self, path: str) -> list[str]:
        """See the base."""
        return [f"see it again: {own_name()} board {path}", f"what moves cost: {own_name()} analyse {path}"]
