"""Reconnaissance Blind Chess in the terminal."""

from __future__ import annotations

from typing import Any

import chess

from darkchess.fog.game.render import ALL_SQUARES
from klss_app.cli.human import drawn
from klss_app.cli.rbc.human import BlindHuman
from klss_app.cli.rbc.review import review
from klss_app.cli.rbc.spoken import turn_text
from klss_app.cli.screen import Screen

__all__ = ["RbcScreen"]


class RbcScreen(Screen):
    """See :class:`klss_app.cli.screen.Screen`."""

    def __init__(self, *game: Any) -> None:
        super().__init__(*game)
        self._human: BlindHuman | None = None

    def human(self, resumed: int) -> BlindHuman:
        """See the base."""
        self._human = BlindHuman(self.terminal, self.names, self.clocks)
        return self._human

    def turn_lines(self, referee: Any, ply: int) -> list[str]:
        """See the base."""
        return [turn_text(referee.turns[ply - 1], ply - 1)]

    def end_lines(self, referee: Any) -> list[str]:
        """See the base."""
        board = drawn(self.terminal, referee.position.pieces, ALL_SQUARES, self._bottom)
        return [" The board:", *(" " + line for line in board), "", *super().end_lines(referee)]

    def review(self, referee: Any) -> None:
        """See the base."""
        if referee.ply:
            review(referee, self.terminal, self._bottom)

    @property
    def _bottom(self) -> chess.Color:
        return chess.WHITE if self._human is None else self._human.bottom
