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

__all__ = ["DEFAULT_PLAYER", "Asked", "Look", "Player", "Question", "seconds_of_call", "seconds_of_set"]

Question = Literal["sense", "move"]
"""Which of a turn's two questions."""

DEFAULT_PLAYER = "rbc-expect"
"""The configuration that plays where none is named."""

_TURNS_TO_GO = 30.0
_SENSE_SHARE = 0.3
_SET_SHARE = 0.025


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


def seconds_of_call(limit: Limit, *, sense: bool) -> float | None:
    """Seconds to spend on one of a turn's two questions; None with a node limit.

    Of a clock, a thirtieth of what is left and most of the increment go into a turn, three tenths of that into the
    sense.
    """
    if limit.nodes is not None:
        return None
    if limit.time_s is not None or limit.clock is None:
        return limit.seconds()
    remaining, increment = limit.clock
    turn = min(remaining / _TURNS_TO_GO + 0.8 * increment, 0.25 * remaining)
    return max(0.005, turn * (_SENSE_SHARE if sense else 1.0 - _SENSE_SHARE))


def seconds_of_set(limit: Limit) -> float | None:
    """Seconds to spend on what the opponent may have done, before the first question is answered; None with a node
    limit.

    Half of the call's time; of a clock a fortieth of what is left, or half of what the call gets where the increment
    makes that more: a large set is rare.
    """
    seconds = seconds_of_call(limit, sense=True)
    if seconds is None:
        return None
    if limit.time_s is not None or limit.clock is None:
        return 0.5 * seconds
    return max(0.5 * seconds, _SET_SHARE * limit.clock[0])


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
