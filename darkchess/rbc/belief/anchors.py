"""What the pair of networks of :mod:`darkchess.rbc.belief.siamese` reads, as planes of 8 × 8 bits: the *anchor*, what a
player was told in its latest turns; and a *board*, a position that it considers possible.

Source: T. Bertram, J. Fürnkranz, M. Müller, *Neural Network-based Information Set Weighting for Playing Reconnaissance
Blind Chess*. An anchor has the planes of the 20 latest turns, the present one first, and then a plane of ones for the
opponent's name. The 90 planes of a turn:

=======  ===============================================================================================================
0        where the opponent's last move captured
1–73     the request: on its origin, in the plane of its kind (:func:`request_plane`); none for a pass
74, 75   where the player's move captured; ones if the request failed: another move was played, or none
76–81    own pawns, knights, bishops, rooks, queens and king
82       the sensed squares
83–88    the enemy's pieces that were sensed, by kind
89       ones for White
=======  ===============================================================================================================

A board has the player's pieces, then the enemy's, by kind: 12 planes.

Deviations: the player's side of the board is below, whatever its color; a turn's own pieces are those after its notice,
where the source does not say; the names are those of this project's opponents.
"""

from __future__ import annotations

import chess
import numpy as np

from darkchess.board.kernels import board
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.game.observation import Moved, Notice, Sensed
from klss.support.arrays import Words

NAMES = (
    "rbc-tower", "rbc-expect", "rbc-siamese", "dsmcp", "rbc-rl", "rbc-attacker", "rbc-random", "trout", "attacker",
    "random",
)  # fmt: skip
"""Opponents that have a plane."""

TURNS, OF_TURN, NAMED = 20, 90, 50
"""Turns of an anchor, planes of a turn, and planes for names."""
ANCHOR, BOARD = TURNS * OF_TURN + NAMED, 12
"""Planes of an anchor, and of a board."""

_LOST, _REQUEST, _TAKEN, _FAILED, _OWN, _AREA, _SEEN, _WHITE = 0, 1, 74, 75, 76, 82, 83, 89

_WAYS = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1))
"""Steps of a queen: ranks and files."""
_LEAPS = ((2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1), (-1, -2), (1, -2), (2, -1))
"""Steps of a knight."""

_EVERY = np.uint64(0xFFFFFFFFFFFFFFFF)


def request_plane(move: chess.Move) -> int:
    """Return the plane of a move up the board, 0 to 72, as AlphaZero has them: 8 directions × 7 distances, a knight's 8
    leaps, and promotions to knight, bishop and rook × 3 files. One to a queen, or left open, is a step.

    >>> [request_plane(chess.Move.from_uci(text)) for text in ("e2e4", "g1f3", "e7d8n")]
    [1, 63, 64]
    """
    ranks = chess.square_rank(move.to_square) - chess.square_rank(move.from_square)
    files = chess.square_file(move.to_square) - chess.square_file(move.from_square)
    if move.promotion in (chess.KNIGHT, chess.BISHOP, chess.ROOK):
        return 64 + 3 * (move.promotion - chess.KNIGHT) + files + 1
    if (ranks, files) in _LEAPS:
        return 56 + _LEAPS.index((ranks, files))
    distance = max(abs(ranks), abs(files))
    return 7 * _WAYS.index((ranks // distance, files // distance)) + distance - 1


class Anchor:
    """What a player was told; updated after its position set each time.

    Parameters
    ----------
    known
        The set at the beginning of the game.
    opponent
        One of :data:`NAMES`; another one is unknown.
    """

    def __init__(self, known: PositionSet, opponent: str = "") -> None:
        self._turns: Words = np.zeros((TURNS, OF_TURN), dtype=np.uint64)
        self._named: Words = np.zeros(NAMED, dtype=np.uint64)
        if opponent in NAMES:
            self._named[NAMES.index(opponent)] = _EVERY
        self._side = known.own

    @property
    def words(self) -> Words:
        """The planes, each a set of squares from the player's side: uint64[ANCHOR]."""
        return np.concatenate([self._turns.reshape(-1), self._named])

    def noticed(self, notice: Notice, known: PositionSet) -> None:
        """Begin the player's turn."""
        self._turns = np.roll(self._turns, 1, axis=0)
        now = self._turns[0]
        now[:] = 0
        now[_LOST] = self._square(notice.square)
        now[_OWN : _OWN + 6] = known.own_row[:6] & known.own_row[board.WHITE]
        now[_WHITE] = _EVERY if self._side.color else 0

    def sensed(self, sensed: Sensed, known: PositionSet) -> None:
        """Record the result of a sense."""
        now = self._turns[0]
        for square, piece in sensed.contents:
            now[_AREA] |= self._square(square)
            if piece is not None and piece.color != self._side.color:
                now[_SEEN + piece.piece_type - 1] |= self._square(square)

    def moved(self, moved: Moved, known: PositionSet) -> None:
        """Record the result of the player's request; the turn ends."""
        now, asked, taken = self._turns[0], moved.requested, moved.taken
        now[_TAKEN] = self._square(moved.capture_square)
        if asked is not None:
            ends = (asked.from_square, asked.to_square)
            up = chess.Move(self._side.upward(ends[0]), self._side.upward(ends[1]), asked.promotion)
            now[_REQUEST + request_plane(up)] = self._square(asked.from_square)
            now[_FAILED] = 0 if taken is not None and ends == (taken.from_square, taken.to_square) else _EVERY

    def _square(self, square: int | None) -> np.uint64:
        return np.uint64(0 if square is None else 1 << self._side.upward(square))


def boards_of(rows: Words, color: chess.Color) -> Words:
    """Return the planes of positions (uint64[n, 9]) for the player of ``color``: uint64[n, BOARD]."""
    sides = (board.WHITE, board.BLACK) if color else (board.BLACK, board.WHITE)
    found: Words = np.concatenate([rows[:, :6] & rows[:, side, None] for side in sides], axis=1)
    return found if color else found.byteswap()  # exchanges the ranks
