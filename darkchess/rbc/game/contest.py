"""The interface between players of Reconnaissance Blind Chess and their hosts: observations, senses and requests.

A player gets two questions each turn; each question is a call with its own limit.
"""

from __future__ import annotations

from typing import Literal

import chess

import klss.play.contest
from darkchess.board.position import Position
from darkchess.rbc.game.observation import Moved, Notice, Observation, Sensed
from klss.play.contest import Decision
from klss.play.limits import Limit

Question = Literal["sense", "move"]
"""The two questions of a turn."""

Answer = int | chess.Move | None
"""A square to sense, or a request; None: neither."""

DEFAULT_PLAYER = "rbc-tower"
"""The configuration that plays if none is named."""


class Player(klss.play.contest.Player[Position, Observation, Answer]):
    """Player of one colour: the calls of :class:`klss.play.contest.Player` in the words of this game.

    A turn has two questions, ``"sense"`` and ``"move"``. An observation is a
    :class:`~darkchess.rbc.game.observation.Notice`, a ``Sensed`` or a ``Moved``.
    """

    def begin(self, seat: chess.Color, setup: Position) -> None:
        """Begin a game from ``setup``, the position that both players know."""
        raise NotImplementedError

    def observe(self, observation: Observation) -> None:
        if isinstance(observation, Notice):
            self.notice(observation)
        elif isinstance(observation, Sensed):
            self.sensed(observation)
        else:
            self.moved(observation)

    def answer(self, question: str, limit: Limit) -> Decision[Answer]:
        return self.choose_sense(limit) if question == "sense" else self.choose_move(limit)

    def notice(self, notice: Notice) -> None:
        """Begin the player's turn: ``notice`` reports whether the opponent's turn captured a piece."""
        raise NotImplementedError

    def choose_sense(self, limit: Limit) -> Decision[int | None]:
        """Choose the square to sense, 0 to 63; None: nowhere."""
        raise NotImplementedError

    def sensed(self, sensed: Sensed) -> None:
        """Update by the result of the sense."""
        raise NotImplementedError

    def choose_move(self, limit: Limit) -> Decision[chess.Move | None]:
        """Choose a request; None: a pass."""
        raise NotImplementedError

    def moved(self, moved: Moved) -> None:
        """Update by the result of the request; the turn ends."""
        raise NotImplementedError
