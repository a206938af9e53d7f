"""A human at the page who plays Fog of War: what the page is sent, and the moves that it sends.

Stands on the player's side of the wall.
"""

from __future__ import annotations

from dataclasses import replace

import chess

from darkchess.errors import IllegalMove
from darkchess.fog.game.contest import Setup
from darkchess.fog.game.san import parse_move
from darkchess.fog.game.view import View, initial_view
from klss.support.text import printable
from klss.table.contest import Decision
from klss.table.outcome import Outcome
from klss_app.web.messages import Telling
from klss_app.web.seats import Answer, HumanAtBoard

_MOST_TEXT = 40


class FogHuman(HumanAtBoard):
    """See :class:`klss_app.web.seats.HumanAtBoard`; a question's number is the ply."""

    _view: View | None = None

    def begin(self, seat: chess.Color, setup: Setup) -> None:
        self._view = initial_view(setup.start, seat)
        self._telling = Telling(self._view)
        if not self._earlier:
            self._show(self._telling.message())

    def observe(self, view: View) -> None:
        self._telling.observe(view)
        self._view = view
        if view.ply >= self._earlier:
            self._show(self._telling.message())

    def end(self, outcome: Outcome) -> None:
        """See :class:`klss.table.contest.Player`: the last view again, unless it says how the game ended."""
        if self._view is not None and self._view.game_over is None:
            self._view = replace(self._view, game_over=outcome, legal_moves=())
            self._telling.end(self._view)
            self._show(self._telling.message())

    @property
    def asked(self) -> tuple[chess.Color, int]:
        """See the base."""
        assert self._view is not None
        return self._view.color, self._view.ply

    def move(self, text: str, number: int) -> str | None:
        """See the base: a move, SAN or UCI."""
        view = self._view
        if view is None or view.game_over is not None or view.to_move != view.color:
            return "it is not your turn"
        if number != view.ply:
            return "the board has changed since"
        try:
            move = parse_move(view, text[:_MOST_TEXT])
        except IllegalMove as error:
            return printable(str(error))
        self._inbox.put(Answer(view.color, view.ply, Decision(move, {})))
        return None
