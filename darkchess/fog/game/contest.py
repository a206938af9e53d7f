"""What players and their hosts say to each other in a game: limits and decisions, and the ways out of it.

A host is :class:`darkchess.fog.game.arbiter.Arbiter`, or whoever else has a player and her views.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import chess

from darkchess.errors import DarkchessError
from darkchess.fog.game.rules import PAPER, Ruleset

if TYPE_CHECKING:  # a command line draws its first board before these load compiled code
    import numpy as np
    import numpy.typing as npt

    from darkchess.board.position import Position
    from darkchess.fog.game.view import View

__all__ = [
    "DEFAULT_PLAYER", "DEFAULT_TIME_S", "Decision", "Forfeit", "Limit", "OutOfTime", "Player", "PlayerError",
    "Positions", "Progress", "Resignation", "is_loud", "king_capture",
]  # fmt: skip

Progress = Callable[[dict[str, float]], None]
"""Called now and then while a player thinks, with ``nodes``, ``depth`` and ``seconds``."""

DEFAULT_PLAYER = "kluss"
"""The configuration that plays where none is named: the strongest."""

DEFAULT_TIME_S = 5.0
"""Seconds a move where nothing else limits it."""

_MOVES_TO_GO = 25.0
_SET_SHARE = 0.5
_RESERVE_S = 0.4
"""Kept on a clock for one slow move: an equilibrium that can't be cut off, a busy machine."""


class PlayerError(DarkchessError, ValueError):
    """A player was used out of order; the message says what, got, expected."""


class Resignation(Exception):
    """Raised by a player's ``choose``: she gives up."""


class OutOfTime(Exception):
    """Raised by a player's ``choose``: she noticed herself that her clock ran out."""


class Forfeit(Exception):
    """Raised by a player's ``choose``: there is no move to be had from her, or none that is legal; says why."""


@dataclass(frozen=True)
class Limit:
    """What limits one move; nodes go before time, time before the clock, and 5 s a move stand where nothing is given.

    Attributes
    ----------
    time_s : float or None
        Seconds for this move.
    nodes : int or None
        Nodes added to the trunk in this move; nothing then reads a clock.
    clock : (float, float) or None
        Seconds remaining on the player's clock, and increment.
    """

    time_s: float | None = None
    nodes: int | None = None
    clock: tuple[float, float] | None = None

    def seconds(self) -> float | None:
        """Seconds to spend on this move; None with a node limit."""
        if self.nodes is not None:
            return None
        if self.time_s is not None:
            return self.time_s
        if self.clock is None:
            return DEFAULT_TIME_S
        remaining, increment = self.clock
        usable = max(0.0, remaining - _RESERVE_S)
        return max(0.01, min(usable / _MOVES_TO_GO + 0.8 * increment, 0.5 * usable))

    def set_seconds(self) -> float | None:
        """The position set's share: half the move's time, or of a twentieth of the clock."""
        seconds = self.seconds()
        if seconds is None:
            return None
        if self.time_s is None and self.clock is not None:
            return _SET_SHARE * min(self.clock[0] / 20.0, seconds)
        return _SET_SHARE * seconds


@dataclass(frozen=True)
class Decision:
    """A move and what the player has to say about it (the engine protocol's ``diagnostics``)."""

    move: chess.Move
    diagnostics: dict[str, Any]


class Positions(Protocol):
    """What a player holds possible, as far as a host may ask."""

    @property
    def size(self) -> int:
        """How many positions."""
        ...

    @property
    def capped_by(self) -> str | None:
        """None where they are all that agree with her views; else why they are a sample."""
        ...

    def contains(self, row: npt.NDArray[np.uint64], /) -> bool:
        """Whether the position ``row`` (uint64[9]) is among them."""
        ...


class Player(Protocol):
    """Whoever plays one colour of one game: ours, a human at a terminal, a process.

    A class that names it as its base has the answers of one who keeps nothing and holds nothing.

    Attributes
    ----------
    trouble : str or None
        Her last fault that cost her something, for the records.
    """

    trouble: str | None = None

    @property
    def position_set(self) -> Positions | None:
        """What she holds possible, up to date with her last view; None if she keeps that to herself."""
        return None

    def start(self, view: View, start: Position, ruleset: Ruleset = PAPER) -> None:
        """Begin a game from ``start``, which both players know; ``view`` is what she sees of it."""
        ...

    def observe(self, view: View) -> None:
        """Take in what is seen after a ply, her own or the opponent's; every ply is shown once, in order."""
        ...

    def end(self, view: View) -> None:
        """Hear of an end that is no ply, by resignation, flag or forfeit: the last view again, with the outcome."""
        return

    def choose(self, limit: Limit, progress: Progress | None = None) -> Decision:
        """Her move; it has to be her turn."""
        ...

    def close(self) -> None:
        """Free what is held."""
        return


def king_capture(view: View) -> chess.Move | None:
    """A move that takes the enemy king, which is always seen when it can be taken."""
    for move in view.legal_moves:
        piece = view.pieces.get(move.to_square)
        if piece is not None and piece.piece_type == chess.KING and piece.color != view.color:
            return move
    return None


def is_loud(before: View, view: View) -> bool:
    """Whether the player observed a pawn move or a capture on the way from ``before`` to ``view``."""
    if view.own_capture_square is not None:
        return True
    if view.own_move is None:
        return False
    mover = before.pieces.get(view.own_move.from_square)
    target = before.pieces.get(view.own_move.to_square)
    return (mover is not None and mover.piece_type == chess.PAWN) or (target is not None and target.color != view.color)
