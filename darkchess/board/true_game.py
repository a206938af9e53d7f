"""Base of both games' referees: the true positions, and how a game ends. No player may see it."""

from __future__ import annotations

import chess

from darkchess.board.position import START_FEN, Position
from darkchess.errors import IllegalMove
from klss.play.outcome import Outcome
from klss.support.arrays import Words


class TrueGame:
    """The true course of a game; a subclass makes the moves and decides how they end it.

    Parameters
    ----------
    fen
        The start position, which both players know; None for the usual one.

    Raises
    ------
    FenError
        See :meth:`darkchess.board.position.Position.from_fen`.
    """

    def __init__(self, fen: str | None = None) -> None:
        self._positions = [Position.from_fen(START_FEN if fen is None else fen)]
        self.outcome: Outcome | None = None  # how the game ended; None while it goes on

    @property
    def position(self) -> Position:
        """The true position."""
        return self._positions[-1]

    @property
    def positions(self) -> tuple[Position, ...]:
        """Every true position; the index is the ply."""
        return tuple(self._positions)

    @property
    def turn(self) -> chess.Color:
        """The side whose turn it is."""
        return self.position.turn

    @property
    def ply(self) -> int:
        """Number of turns played by both sides."""
        return len(self._positions) - 1

    @property
    def truth(self) -> Words:
        """See :class:`klss.play.contest.Referee`: the true position's row, uint64[9]."""
        return self.position.row.copy()

    def resign(self, color: chess.Color) -> None:
        """End the game: ``color`` resigns."""
        self.end(Outcome(not color, "resign"))

    def flag(self, color: chess.Color) -> None:
        """End the game: ``color`` loses, since its clock ran out."""
        self.end(Outcome(not color, "flag"))

    def end(self, outcome: Outcome) -> None:
        """End the game by something that is not a move: a resignation, a flag, a forfeit, an abort."""
        self._check_running(f"an end by {outcome.reason}")
        self.outcome = outcome

    def _check_running(self, what: str) -> None:
        if self.outcome is not None:
            raise IllegalMove(
                f"the game is over: got {what} after {self.outcome.reason} at ply {self.ply}, expected nothing more"
            )
