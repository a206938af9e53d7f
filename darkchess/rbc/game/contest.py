"""What players of Reconnaissance Blind Chess and their hosts give each other: observations, senses and requests.

A player is asked twice a turn, and each question is a call with a limit of its own.
"""

from __future__ import annotations

from typing import Literal

import chess

import klss.table.contest
from darkchess.board.position import Position
from darkchess.rbc.game.observation import Moved, Notice, Observation, Sensed
from klss.table.contest import Decision
from klss.table.limits import Limit, Progress

__all__ = ["DEFAULT_PLAYER", "Asked", "Look", "Player", "Question", "observed_before"]

Question = Literal["sense", "move"]
"""Which of a turn's two questions."""

DEFAULT_PLAYER = "rbc-siamese"
"""The configuration that plays where none is named."""


class Look(Decision):
    """Where a player looks (None: nowhere), and what it reports about that."""

    @property
    def square(self) -> int | None:
        """The square, 0 to 63."""
        found: int | None = self.answer
        return found


class Asked(Decision):
    """What a player requests (None: a pass), and what it reports about that."""

    @property
    def request(self) -> chess.Move | None:
        """The request."""
        found: chess.Move | None = self.answer
        return found


def observed_before(turns: int, color: chess.Color, start: Position) -> int:
    """How much ``color`` has observed after ``turns`` of both sides from ``start``, a notice of its own turn included.

    >>> start = Position.from_fen(chess.STARTING_FEN)
    >>> [observed_before(turns, chess.WHITE, start) for turns in range(4)]
    [1, 3, 4, 6]
    """
    first = start.turn == color
    to_move = (turns % 2 == 0) == first
    return 3 * ((turns + first) // 2) + to_move


class Player(klss.table.contest.Player):
    """Whoever plays one colour: the calls of :class:`klss.table.contest.Player` in the words of this game.

    A turn has two questions, ``"sense"`` and ``"move"``. An observation is a
    :class:`~darkchess.rbc.game.observation.Notice`, a ``Sensed`` or a ``Moved``.
    """

    def begin(self, seat: chess.Color, setup: Position) -> None:
        """See :class:`klss.table.contest.Player`; the start position is all that is known."""
        self.start(seat, setup)

    def observe(self, observation: Observation) -> None:
        """See :class:`klss.table.contest.Player`."""
        if isinstance(observation, Notice):
            self.notice(observation)
        elif isinstance(observation, Sensed):
            self.sensed(observation)
        else:
            self.moved(observation)

    def answer(self, question: Question, limit: Limit, progress: Progress | None = None) -> Decision:
        """See :class:`klss.table.contest.Player`."""
        return self.choose_sense(limit) if question == "sense" else self.choose_move(limit)

    def start(self, color: chess.Color, start: Position) -> None:
        """Begin a game from ``start``, which both players know."""
        raise NotImplementedError

    def notice(self, notice: Notice) -> None:
        """Take in what the opponent's turn cost; the player's turn begins."""
        raise NotImplementedError

    def choose_sense(self, limit: Limit) -> Look:
        """Choose where to look."""
        raise NotImplementedError

    def sensed(self, sensed: Sensed) -> None:
        """Take in what was seen."""
        raise NotImplementedError

    def choose_move(self, limit: Limit) -> Asked:
        """Choose a request."""
        raise NotImplementedError

    def moved(self, moved: Moved) -> None:
        """Take in what became of the request; the turn ends."""
        raise NotImplementedError
