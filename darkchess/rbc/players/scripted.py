"""Players without a position set: one plays at random, one rushes at the king."""

from __future__ import annotations

import chess
import numpy as np

from darkchess.board.position import Position
from darkchess.rbc.game.contest import Player
from darkchess.rbc.game.observation import INNER, Moved, Notice, Sensed
from darkchess.rbc.game.own_half import OwnHalf
from klss.play.contest import Decision
from klss.play.limits import Limit

RUSHES = (
    ("e2e4", "f1c4", "d1h5", "h5f7", "f7e8"),
    ("e2e3", "d1f3", "f1c4", "f3f7", "f7e8"),
    ("b1c3", "c3b5", "b5c7", "c7e8"),
    ("b1c3", "c3d5", "d5f6", "f6e8"),
    ("g1f3", "f3e5", "e5f7", "f7e8"),
    ("g1f3", "f3g5", "g5f7", "f7e8"),
    ("d2d4", "c1f4", "b1c3", "c3b5", "b5c7", "c7e8"),
)
"""Sequences of moves of a player that moves up the board; each captures a king on e8 unless a piece is in the way."""


class RandomPlayer(Player):
    """Senses at random, and requests a random move, or passes; it knows its own pieces alone."""

    def __init__(self, *, seed: int = 0) -> None:
        self._seed = seed

    def begin(self, seat: chess.Color, setup: Position) -> None:
        self._own = OwnHalf(seat, setup)
        self._rng = np.random.default_rng(self._seed)

    def notice(self, notice: Notice) -> None:
        if notice.square is not None:
            self._own.lose(notice.square)

    def choose_sense(self, limit: Limit) -> Decision[int | None]:
        """Choose any of the 36 windows at random."""
        return Decision(INNER[int(self._rng.integers(len(INNER)))])

    def sensed(self, sensed: Sensed) -> None:
        """See :class:`darkchess.rbc.game.contest.Player`."""

    def moved(self, moved: Moved) -> None:
        self._own.play(moved.taken)

    def choose_move(self, limit: Limit) -> Decision[chess.Move | None]:
        asked = (None, *self._own.requests())
        return Decision(asked[int(self._rng.integers(len(asked)))])


class AttackerPlayer(RandomPlayer):
    """Senses at random, and follows one of :data:`RUSHES`, drawn for the game; skips moves that it can't request, and
    passes at the end.
    """

    def begin(self, seat: chess.Color, setup: Position) -> None:
        super().begin(seat, setup)
        rush = RUSHES[int(self._rng.integers(len(RUSHES)))]
        self._left = [chess.Move.from_uci(text) for text in rush]
        if seat == chess.BLACK:
            self._left = [chess.Move(move.from_square ^ 56, move.to_square ^ 56) for move in self._left]

    def choose_move(self, limit: Limit) -> Decision[chess.Move | None]:
        asked = self._own.requests()
        while self._left and self._left[0] not in asked:
            self._left.pop(0)
        return Decision(self._left.pop(0) if self._left else None)
