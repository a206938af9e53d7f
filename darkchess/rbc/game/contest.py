"""What players of Reconnaissance Blind Chess and their hosts say to each other in a game.

Limits and the ways out of a game are those of :mod:`darkchess.fog.game.contest`; a player is asked twice a turn, and
each question is a call with a limit of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import chess

from darkchess.board.position import Position
from darkchess.rbc.game.observation import Moved, Notice, Sensed
from klss.table.contest import Positions
from klss.table.limits import Limit
from klss.table.outcome import Outcome

__all__ = ["DEFAULT_PLAYER", "Asked", "Look", "Player", "seconds_of_call", "seconds_of_set"]

DEFAULT_PLAYER = "rbc-expect"
"""The configuration that plays where none is named."""

_TURNS_TO_GO = 30.0
_SENSE_SHARE = 0.3
_SET_SHARE = 0.025


@dataclass(frozen=True)
class Look:
    """Where a player looks, and what she has to say about it."""

    square: int | None
    diagnostics: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """What a player asks for, None: she passes; and what she has to say about it."""

    request: chess.Move | None
    diagnostics: dict[str, Any] = field(default_factory=dict)


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


class Player(Protocol):
    """Whoever plays one colour of one game: ours, a human at a terminal, a process, a bot of ``reconchess``.

    A class that names it as its base has the answers of one who keeps nothing and holds nothing.

    Attributes
    ----------
    trouble : str or None
        Her last fault that cost her something, for the records.
    """

    trouble: str | None = None

    @property
    def position_set(self) -> Positions | None:
        """What she holds possible, up to date with what she was told; None if she keeps that to herself."""
        return None

    def start(self, color: chess.Color, start: Position) -> None:
        """Begin a game from ``start``, which both players know."""
        ...

    def notice(self, notice: Notice) -> None:
        """Her turn begins."""
        ...

    def choose_sense(self, limit: Limit) -> Look:
        """Where she looks."""
        ...

    def sensed(self, sensed: Sensed) -> None:
        """See what was there."""
        ...

    def choose_move(self, limit: Limit) -> Asked:
        """What she asks for."""
        ...

    def moved(self, moved: Moved) -> None:
        """Hear what became of it; her turn ends."""
        ...

    def end(self, outcome: Outcome) -> None:
        """Hear how the game ended."""
        return

    def close(self) -> None:
        """Free what is held."""
        return
