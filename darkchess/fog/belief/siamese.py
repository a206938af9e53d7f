"""What is likely among what is possible, from two towers: the observation's, once a turn, and the board's, for each
member of a :class:`~darkchess.fog.belief.position_set.PositionSet`.

Source: the Siamese weighting of Reconnaissance Blind Chess (anchors are observations, boards near their anchor are
likely), brought to Fog of War. Training: :mod:`experiments.belief.siamese`.

Everything is seen from the viewer's side of the board: the viewer moves up. The numbers of an observation
(float32[:data:`NUMBERS`]) are, block by block (:data:`BLOCKS`):

===========  ==========================================================================================================
own          own pieces, piece × square
seen         the squares that the viewer sees
now          in which share of the possible positions each enemy piece stands on each square
before       the same at the viewer's turn before
trace        where an enemy piece surely stood: 1 now, less by :data:`FADE` with each own turn since
lost         where the enemy's last move took an own piece
taken        where the own last move took one
from, to     the own last move
scalars      colour, ln of the set's size now and before, move number, pieces of both sides, own rights
===========  ==========================================================================================================

A member's features are piece × square of the enemy's pieces, and the enemy's two castling rights.

Deviations from the source: the history is not the last twenty turns but what it amounts to in an exact set (marginals
now and before, the trace) and the last turn; the opponent's name is not asked for; only the observation, once a turn,
is read by convolutions (three layers instead of fifteen), and boards by a sum over their pieces: millions a second
instead of hundreds; a *logit map*, linear in the pieces, stands beside the distance; softmax over truth and sampled
members instead of triplets.
"""

from __future__ import annotations

import math

import chess
import numpy as np
import numpy.typing as npt

from darkchess.board.towers import SHARES, ChessTowers, Layout, ObserverBase, SiameseError, shares_of
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game.view import View
from klss.networks.towers import Float32s
from klss.support.arrays import Floats, Ints

__all__ = [
    "BLOCKS",
    "FADE",
    "FEATURES",
    "NUMBERS",
    "PLANES",
    "SHAPES",
    "SHARES",
    "Observer",
    "Siamese",
    "SiameseError",
    "board_features",
    "grids_of",
]

FEATURES = 6 * 64 + 2
"""Features of a board: piece · 64 + square, seen from the viewer's side, then queenside and kingside."""

MOST_FEATURES = 18
"""Of one board: sixteen pieces and two rights."""

FADE = 0.9
"""What a trace keeps from one own turn to the next."""

LAYOUT = Layout({
    "own": 384, "seen": 64, "now": 384, "before": 384, "trace": 384, "lost": 64, "taken": 64, "from": 64, "to": 64,
    "scalars": 8,
})  # fmt: skip
BLOCKS = LAYOUT.blocks
"""Where each block of an observation's numbers lies."""
NUMBERS = LAYOUT.numbers
"""Numbers of an observation."""
PLANES, SHAPES, grids_of = LAYOUT.planes, LAYOUT.shapes, LAYOUT.grids_of
"""What the observation's tower reads: see :class:`~darkchess.board.towers.Layout`."""


class Observer(ObserverBase):
    """The numbers that the observation's tower reads: kept from view to view beside a position set.

    Parameters
    ----------
    known
        The set at ply 0.

    Attributes
    ----------
    numbers
        float32[NUMBERS], as of the viewer's last turn; all 0 before the first. Not to be written to.

    Examples
    --------
    >>> from darkchess import Referee
    >>> game = Referee()
    >>> known = PositionSet(game.view(chess.BLACK), game.position)
    >>> observer = Observer(known)
    >>> game.push(chess.Move.from_uci("e2e4"))
    >>> known.observe(game.view(chess.BLACK))
    >>> observer.observe(known)
    >>> observer.numbers[BLOCKS["now"]].sum().round(3)
    np.float32(16.0)
    """

    def __init__(self, known: PositionSet) -> None:
        if known.view.ply:
            raise ValueError(f"bad set: got one of ply {known.view.ply}, expected the start's, of ply 0")
        super().__init__(known.halves)
        self.numbers: Float32s = np.zeros(NUMBERS, dtype=np.float32)
        self._view = known.view
        self._taken: int | None = None
        self._own_move: chess.Move | None = None
        if self._view.to_move == self._view.color:
            self.numbers = self._numbers(self._view)

    @property
    def ply(self) -> int:
        """Of the last view."""
        return self._view.ply

    def observe(self, known: PositionSet) -> None:
        """Go one ply on; ``known`` has observed that view already.

        Raises
        ------
        ValueError
            Its view is not the one after the last.
        """
        view, last = known.view, self._view
        if view.color != last.color or view.ply != last.ply + 1:
            raise ValueError(
                f"bad view: got {chess.COLOR_NAMES[view.color]}'s of ply {view.ply}, expected "
                f"{chess.COLOR_NAMES[last.color]}'s of ply {last.ply + 1}"
            )
        self._view = view
        if view.game_over is not None:
            return
        if view.own_move is not None:
            self._own_move, self._taken = view.own_move, _captured(last, view.own_move)
            return
        self._before, self._size_before = self._now, self.size
        self._now, self.size = shares_of(known.halves), known.size
        self._trace = np.where(np.tile(_seen(view), 6), 0, FADE * self._trace).astype(np.float32)
        self._trace[self._now == 1] = 1
        self.numbers = self._numbers(view)

    def _numbers(self, view: View) -> Float32s:
        out = np.zeros(NUMBERS, dtype=np.float32)
        own = out[BLOCKS["own"]].reshape(6, 64)
        for square, piece in view.pieces.items():
            if piece.color == view.color:
                own[piece.piece_type - 1, _upward(square, view.color)] = 1
        out[BLOCKS["seen"]] = _seen(view)
        self._fill(LAYOUT, out)
        moved = self._own_move
        squares = {
            "lost": view.own_capture_square,
            "taken": self._taken,
            "from": None if moved is None else moved.from_square,
            "to": None if moved is None else moved.to_square,
        }
        for name, marked in squares.items():
            if marked is not None:
                out[BLOCKS[name]][_upward(marked, view.color)] = 1
        out[BLOCKS["scalars"]] = (
            float(view.color),
            math.log(self.size) / 10,
            math.log(self._size_before) / 10,
            min(view.fullmove, 100) / 50,
            own.sum() / 16,
            self._now.sum() / 16,
            float(view.castling.kingside),
            float(view.castling.queenside),
        )
        out.flags.writeable = False
        return out


class Siamese(ChessTowers):
    """Learned weights over a position set's members."""

    layout = LAYOUT
    features = FEATURES
    most_features = MOST_FEATURES
    package = "darkchess.fog.belief"

    def log_weights(
        self, known: PositionSet, observer: Observer, indices: Ints | None = None, *, threads: int = 1
    ) -> Floats:
        """Logarithms of the members' weights, up to a constant; the temperature is in them.

        Parameters
        ----------
        known
            The set, at the viewer's turn.
        observer
            With the same views.
        indices
            int[n], which members; None: all.
        threads
            1 or 2; the weights are the same.

        Returns
        -------
        float64[n]
        """
        if observer.ply != known.view.ply or known.view.to_move != known.view.color:
            raise ValueError(
                f"bad observer: got one of ply {observer.ply} for a set of ply {known.view.ply}, expected both at one "
                "of the viewer's turns"
            )
        return self.weigh(observer.numbers, known.halves, indices, threads=threads)


board_features = Siamese.board_features


def _seen(view: View) -> npt.NDArray[np.uint8]:
    """Whether the viewer sees each square, from its side: uint8[64]."""
    squares = np.unpackbits(np.array([view.visible], dtype="<u8").view(np.uint8), bitorder="little")
    return squares if view.color else squares.reshape(8, 8)[::-1].reshape(-1)


def _upward(square: int, color: chess.Color) -> int:
    """``square`` as its own side sees it."""
    return square if color else square ^ 56


def _captured(before: View, move: chess.Move) -> int | None:
    """Where ``move``, an own one, took a piece; None: it took none. En passant counts as its landing square."""
    taken, moved = before.pieces.get(move.to_square), before.pieces.get(move.from_square)
    if taken is not None and taken.color != before.color:
        return move.to_square
    if moved is not None and moved.piece_type == chess.PAWN and (move.to_square - move.from_square) % 8:
        return move.to_square
    return None
