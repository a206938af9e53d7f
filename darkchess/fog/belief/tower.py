"""Learned weights of possible positions: a network tower reads what the player was told, once for each of its turns,
and its scores are added to the logarithms of the filter's weights (:mod:`darkchess.fog.belief.filter`). The tower reads
what the filter says, so that it learns where the filter errs.

Source, and deviations from it: :mod:`darkchess.weighting.network`; docs/dsmcp.md.

Everything is seen from the viewer's side of the board: the viewer moves up. The numbers of an observation are, block by
block (:data:`BLOCKS`):

===========  ==========================================================================================================
own          own pieces, piece × square
seen         the squares that the player sees
now          the share of the possible positions in which each enemy piece stands on each square
likely       the same by the filter's weights
before       ``likely`` at the player's last turn
trace        where an enemy piece was certain: 1 now, times :data:`FADE` for each own turn since, 0 once seen to be gone
lost, taken  where the enemy's last move captured an own piece; where the player's last move captured one, except en
             passant (the packaged weights were learned so)
from, to     the player's last move
scalars      colour, ln of the set's size now and at the last turn, number of the move, numbers of own and enemy pieces,
             own rights, king- and queenside
===========  ==========================================================================================================
"""

from __future__ import annotations

import math

import chess
import numpy as np

from darkchess.board.position import upward
from darkchess.fog.game.view import View
from darkchess.weighting.enemy_features import SQUARES, own_squares, shares
from darkchess.weighting.network import Blocks, LearnedScores
from klss.support.arrays import Float32s, Floats, Words
from klss.support.greatest import greatest

FADE = 0.9
"""Factor of the trace for each own turn."""

LOST = 0.1
"""Probability that the filter's weights are worth nothing; it counts as that much evenly spread weight."""

SHARPNESS = 0.75
"""Exponent of the filter's weights, which are too sure of themselves."""

_SIZES = {
    "own": SQUARES, "seen": 64, "now": SQUARES, "likely": SQUARES, "before": SQUARES, "trace": SQUARES, "lost": 64,
    "taken": 64, "from": 64, "to": 64, "scalars": 8,
}  # fmt: skip

BLOCKS = Blocks(_SIZES, twice=("now", "likely", "before"), shares=("now", "likely", "trace"))
"""The blocks of an observation's numbers."""

_COUNTED = 30_000
"""Most positions that ``now`` is counted over: the first ones, which in the set's order of hashes are as good as
random.
"""
_LIKELIEST = 20_000
"""Most positions that ``likely`` is summed over."""
_SCORED = 50_000
"""Most positions that are scored, the likeliest ones; each other one gets their mean score. This takes 3 ms."""


class Observer:
    """The numbers of a player's observation; updated with every view, after the position set.

    Parameters
    ----------
    view
        The player's first view.
    halves
        uint64[1, 2], the enemy's half of the start position.
    """

    def __init__(self, view: View, halves: Words) -> None:
        self._view = view
        self._before = shares(halves)
        self._size_before = 1
        self._trace = (self._before == 1).astype(np.float32)
        self._moved: chess.Move | None = None
        self._taken: int | None = None

    def moved(self, view: View) -> None:
        """Record the player's own move, by the view after it."""
        assert view.own_move is not None
        self._moved = view.own_move
        taken = self._view.piece_at(self._moved.to_square) is not None
        self._taken = self._moved.to_square if taken else None
        self._view = view

    def turn(self, view: View, halves: Words, weights: Floats) -> Float32s:
        """Return the numbers at the player's turn: float32[BLOCKS.count].

        Parameters
        ----------
        view
            After the enemy's move.
        halves, weights
            uint64[n, 2], float64[n]: the set and the filter's weights after it.
        """
        self._view = view
        now = shares(halves[:_COUNTED])
        likeliest = greatest(weights, _LIKELIEST)
        likely = shares(halves[likeliest], weights[likeliest])
        seen = self._upward(view.visible)
        self._trace = np.where(np.tile(seen, 6) > 0, np.float32(0), np.float32(FADE) * self._trace)
        self._trace[now == 1] = 1
        own = own_squares(upward(view.row(), flipped=not view.color))
        # Scalars, each divided by a number that brings it to about 1.
        size, moved = len(weights), self._moved
        scalars = (
            float(view.color),
            math.log(size) / 10,
            math.log(self._size_before) / 10,
            min(view.fullmove, 100) / 50,
            own.sum() / 16,
            now.sum() / 16,
            float("K" in view.castling.upper()),
            float("Q" in view.castling.upper()),
        )
        numbers = BLOCKS.filled({
            "own": own, "seen": seen, "now": now, "likely": likely, "before": self._before, "trace": self._trace,
            "lost": self._plane(view.own_capture_square), "taken": self._plane(self._taken), "scalars": scalars,
            "from": self._plane(None if moved is None else moved.from_square),
            "to": self._plane(None if moved is None else moved.to_square),
        })  # fmt: skip
        self._before, self._size_before = likely, size
        return numbers

    def _upward(self, mask: int) -> Float32s:
        """Return a bitboard from the viewer's side of the board: float32[64]."""
        bits = np.unpackbits(np.array([mask], dtype="<u8").view(np.uint8), bitorder="little").reshape(8, 8)
        return (bits if self._view.color else bits[::-1]).reshape(-1).astype(np.float32)

    def _plane(self, square: int | None) -> Float32s:
        return self._upward(0 if square is None else 1 << square)


class Tower(LearnedScores):
    """Learned weights of a position set's members."""

    blocks = BLOCKS
    package = "darkchess.fog.belief"

    def corrected(self, numbers: Float32s, halves: Words, weights: Floats) -> Floats:
        """Return the weights of all positions: float64[n], summing to 1.

        Parameters
        ----------
        numbers
            Of :meth:`Observer.turn`, at the player's last turn.
        halves, weights
            uint64[n, 2], float64[n]: the set and the filter's weights.
        """
        logs = log_prior(weights)
        scored = greatest(weights, _SCORED)
        scores = self.scores(numbers, halves, scored)
        likely = np.exp(logs[scored] - logs[scored].max())
        logs[scored] += scores - float(likely @ scores) / float(likely.sum())
        found = np.exp(logs - logs.max())
        return np.asarray(found / found.sum())


def log_prior(weights: Floats) -> Floats:
    """Return what the scores are added to, from the filter's weights (float64[n]): logarithms, float64[n]."""
    return np.asarray(SHARPNESS * np.log((1.0 - LOST) * weights + LOST / len(weights)))
