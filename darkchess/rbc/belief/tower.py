"""Learned weights of possible positions. A network tower reads the observation, once for each question, and gives a
logit to each feature, such as an enemy piece on a square. The log weight of a member of a
:class:`~darkchess.rbc.belief.position_set.PositionSet` is the sum over its features, added to the logarithm of its
weight by the filter over kinds of opponents (:mod:`darkchess.rbc.belief.kinds`). The tower reads what the filter says,
so that it learns where the filter errs.

Source, and deviations from it: :mod:`darkchess.weighting.network`. Requests are given by origin and target, not by one
of 73 kinds.

Everything is seen from the viewer's side of the board: the viewer moves up. The numbers of an observation
are, block by block (:data:`BLOCKS`):

===============  ======================================================================================================
own              own pieces, piece × square
now              the share of the possible positions in which each enemy piece stands on each square
before           the same at the end of the player's last turn, before the opponent's move
likely           the same as ``now``, by the filter's weights
trace            where an enemy piece was certain: 1 now, times :data:`FADE` for each own turn since
seen             the squares that were sensed: 1 in this turn, times :data:`FADE` for each turn since
lost, taken      where the opponent's last turn captured an own piece; where the player's last move captured one
losses, takings  the same over all turns, fading as ``seen`` does
from, to         the player's last move
refused          the target of the last request, if another move was played or none
scalars          the filter's probability of each kind of opponent; colour, phase, ln of the set's size now and
                 before, turn, number of pieces of both sides, whether the last request failed, whether it was a pass,
                 own rights, king- and queenside
===============  ======================================================================================================

A member's features are piece × square of the enemy's pieces, the enemy's two castling rights, and the file of a pawn
that has just made a double step.
"""

from __future__ import annotations

import math

import numpy as np

from darkchess.board.kernels import board
from darkchess.rbc.belief.kinds import KINDS, Kinds
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.game.observation import Moved, Notice, Sensed
from darkchess.weighting.enemy_features import SQUARES, own_squares, shares
from darkchess.weighting.network import Blocks, LearnedScores
from klss.support.arrays import Float32s, Floats, Ints, Words

LOST = 0.06
"""Probability that the filter has lost the true position; it counts as that much evenly spread weight."""

FADE = 0.8
"""Factor of fading planes for each own turn."""

_SIZES = {
    "own": SQUARES, "now": SQUARES, "before": SQUARES, "likely": SQUARES, "trace": SQUARES, "seen": 64, "lost": 64,
    "taken": 64, "losses": 64, "takings": 64, "from": 64, "to": 64, "refused": 64, "scalars": len(KINDS) + 11,
}  # fmt: skip

BLOCKS = Blocks(_SIZES, twice=("now", "likely"), shares=("now", "before", "likely", "trace"))
"""The blocks of an observation's numbers."""


class Observer:
    """The numbers of the player's observation, which the tower reads; updated after the position set each time.

    Parameters
    ----------
    known
        The set at the beginning of the game.
    kinds
        The filter beside the set, which is updated by the same observations.
    """

    def __init__(self, known: PositionSet, kinds: Kinds) -> None:
        self.kinds = kinds
        # Marginals of the set now and before, and the trace of certain pieces.
        self._before = self._now = shares(known.halves)
        self._size_before = self.size = known.size
        self._trace = (self._now == 1).astype(np.float32)
        self._side = known.own
        self._turn = 0
        self._planes = {name: np.zeros(64, dtype=np.float32) for name in ("seen", "lost", "taken", "losses", "takings")}
        self._moved = Moved(None, None, None)
        self._own: Words = known.own_row
        self._looked = False

    def noticed(self, notice: Notice, known: PositionSet) -> None:
        """Begin the player's turn."""
        self._turn += 1
        self._looked = False
        planes = self._planes
        for name in ("seen", "losses", "takings"):
            planes[name] = planes[name] * np.float32(FADE)
        planes["lost"] = self._plane(notice.square)
        planes["losses"] = np.maximum(planes["losses"], planes["lost"])
        planes["takings"] = np.maximum(planes["takings"], planes["taken"])
        self._trace = self._trace * np.float32(FADE)
        self._look(known)

    def sensed(self, sensed: Sensed, known: PositionSet) -> None:
        """Record the result of a sense."""
        self._looked = True
        for square, _ in sensed.contents:
            at = self._side.upward(square)
            self._planes["seen"][at] = 1
            self._trace[at::64] = 0
        self._look(known)

    def moved(self, moved: Moved, known: PositionSet) -> None:
        """Record the result of the player's request; the turn ends."""
        self._moved = moved
        self._planes["taken"] = self._plane(moved.capture_square)
        self._look(known)
        self._before, self._size_before = self._now, self.size

    @property
    def numbers(self) -> Float32s:
        """The numbers after the last observation: float32[BLOCKS.count]. Computed at each access."""
        own = own_squares(self._own)
        # The last request: it failed if another move was played, or none; a promotion does not count as another one.
        asked, taken = self._moved.requested, self._moved.taken
        failed = asked is not None and (
            taken is None or (asked.from_square, asked.to_square) != (taken.from_square, taken.to_square)
        )
        # Scalars, each divided by a number that brings it to about 1.
        rights = int(self._own[board.META])
        scalars = (
            *self.kinds.shares,
            float(self._side.color),
            float(self._looked),
            math.log(self.size) / 10,
            math.log(self._size_before) / 10,
            min(self._turn, 100) / 50,
            own.sum() / 16,
            self._now.sum() / 16,
            float(failed),
            float(self._turn > 1 and asked is None),
            float(rights >> 1 & 1),
            float(rights >> 2 & 1),
        )
        return BLOCKS.filled({
            "own": own, "now": self._now, "before": self._before, "likely": shares(*self.kinds.kept),
            "trace": self._trace, **self._planes, "scalars": scalars,
            "from": self._plane(None if taken is None else taken.from_square),
            "to": self._plane(None if taken is None else taken.to_square),
            "refused": self._plane(asked.to_square if failed and asked is not None else None),
        })  # fmt: skip

    def _look(self, known: PositionSet) -> None:
        self._now, self.size, self._own = shares(known.halves), known.size, known.own_row
        self._trace[self._now == 1] = 1

    def _plane(self, square: int | None) -> Float32s:
        plane = np.zeros(64, dtype=np.float32)
        if square is not None:
            plane[self._side.upward(square)] = 1
        return plane


class Tower(LearnedScores):
    """Learned weights of a position set's members."""

    blocks = BLOCKS
    package = "darkchess.rbc.belief"

    def log_weights(self, known: PositionSet, observer: Observer, indices: Ints | None = None) -> Floats:
        """Return logarithms of the members' weights, up to a constant.

        Parameters
        ----------
        known
            The set.
        observer
            An observer of the same observations.
        indices
            int64[n], the members; None: all.

        Returns
        -------
        float64[n]
        """
        assert observer.size == known.size, "the observer is of other observations"
        chosen = np.arange(known.size) if indices is None else indices
        prior = log_prior(observer.kinds, known, chosen)
        return self.scores(observer.numbers, known.halves, chosen) + prior


def log_prior(kinds: Kinds, known: PositionSet, indices: Ints) -> Floats:
    """Return the logarithms of the filter's weights of members (int64[n]), none of them 0: float64[n]."""
    found = kinds.weights(known, indices) @ kinds.shares
    return np.asarray(np.log((1.0 - LOST) * found + LOST / known.size))
