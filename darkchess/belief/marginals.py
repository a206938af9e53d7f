"""What a player believes, square by square: in how many of the positions that she holds possible each man is there."""

from __future__ import annotations

from dataclasses import dataclass

import chess
import numpy as np

from darkchess.belief._kernels.marginals import count_men
from darkchess.belief.position_set import PositionSet
from klss.arrays import Ints

__all__ = ["Marginals", "marginals"]

_CHUNK = 1 << 16


@dataclass(frozen=True)
class Marginals:
    """For each square what stands there, over all positions that a player holds possible, each counted once.

    Attributes
    ----------
    color
        The player.
    size
        Number of positions.
    counts
        int64[64, 6]: in how many of them each enemy piece (pawn to king) stands on each square.
    own
        Her own men.
    """

    color: chess.Color
    size: int
    counts: Ints
    own: dict[int, chess.Piece]

    def at(self, square: int) -> dict[str, float]:
        """Probability of each man that may stand on ``square``, as FEN writes it, the likeliest first.

        What is left to 1 is the probability that the square is empty.
        """
        if square in self.own:
            return {self.own[square].symbol(): 1.0}
        order = sorted(range(6), key=lambda piece: (-int(self.counts[square, piece]), piece))
        return {
            chess.Piece(piece + 1, not self.color).symbol(): int(self.counts[square, piece]) / self.size
            for piece in order
            if self.counts[square, piece]
        }

    def enemy(self, square: int) -> float:
        """Probability that an enemy man stands on ``square``."""
        return int(self.counts[square].sum()) / self.size

    def by_square(self) -> dict[str, dict[str, float]]:
        """:meth:`at` by the square's name, a1 first; squares that are surely empty are left out."""
        found = {chess.SQUARE_NAMES[square]: self.at(square) for square in range(64)}
        return {name: men for name, men in found.items() if men}


def marginals(positions: PositionSet) -> Marginals:
    """Exact counts over all of ``positions``."""
    view = positions.view
    counts = np.zeros((64, 6), dtype=np.int64)
    for start in range(0, positions.size, _CHUNK):
        rows = positions.rows(np.arange(start, min(start + _CHUNK, positions.size)))
        count_men(rows, int(view.color == chess.WHITE), counts)
    own = {square: piece for square, piece in sorted(view.pieces.items()) if piece.color == view.color}
    return Marginals(view.color, positions.size, counts, own)
