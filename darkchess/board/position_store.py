"""Base of the position sets of all games: the stored positions, their limits, and how they are read.

A game's position set inherits :class:`PositionStore` and adds its own updates. All positions of a set share the
viewer's half, which is known. So a position takes 16 bytes, the enemy's half (:mod:`darkchess.board.kernels.halves`),
seen from the viewer's side of the board.

Deviation from an exact set: past ``cap``, or past a deadline, the set becomes a *declared* sample (``capped_by``,
``sampled``) and stays one: the true position, and others, may be missing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Literal

import numpy as np
import numpy.typing as npt

from darkchess.board.kernels import board
from darkchess.board.kernels.halves import encode_half
from darkchess.board.kernels.position_table import rank
from darkchess.board.position import Position, upward
from darkchess.board.position_step import Step, key_of, next_key
from klss.support.arrays import Ints, Words

_ROWS_AT_ONCE = 4096
"""Positions that an iteration decodes together: few enough for the cache, enough to make the call's cost negligible."""


class PositionStore(ABC):
    """The positions that a player can't rule out, in canonical order.

    Parameters
    ----------
    start
        The start position, which both players know: the only member at first.
    flipped
        Whether the viewer is Black, so that the board is turned.
    cap
        Most positions to keep.
    seed
        Seed of the key of the hash that orders the set and decides which positions a sample keeps.
    threads
        Most threads of an update; the set is the same.
    stream
        Whether to free the array of the last step instead of keeping it for the next one.
    """

    def __init__(
        self, start: Position, *, flipped: bool, cap: int, seed: int, threads: int, stream: bool = False
    ) -> None:
        assert cap >= 1 and threads >= 1
        # None while the set is exact; else ``"cap"`` or ``"time"``, the last reason why it is a sample
        self.capped_by: Literal["cap", "time"] | None = None
        # probability that the true position is in the set: 1 while it is exact, and multiplied by the part of all
        # weight that was kept at each cut. Later observations do not change it
        self.held = 1.0
        self.recoveries = 0  # number of times that a sample without a consistent member was repaired
        self.successors = 1  # consistent (source, move) pairs of the last update, before duplicates are merged
        self.flipped = flipped
        self._cap = cap
        self._threads = threads
        self._stream = stream
        self._key = key_of(seed)
        self._array: Words = np.zeros((1, 2), dtype=np.uint64)
        self._spare: Words | None = None
        encode_half(upward(start.row, flipped=flipped), self._array[0])
        self._positions = self._array

    # ------------------------------------------------------------------------------------------------ for each game
    @property
    @abstractmethod
    def fullmove(self) -> int:
        """Number of the current move, as FEN counts."""

    @abstractmethod
    def _decode(self, indices: Ints, out: Words) -> None:
        """Write the full rows of the positions ``indices`` into ``out`` (uint64[n, 9])."""

    @abstractmethod
    def _has_own_half(self, row: Words, index: int) -> bool:
        """Whether ``row`` (uint64[9], may be modified), whose enemy half is that of member ``index``, has the set's
        viewer's half.
        """

    # ------------------------------------------------------------------------------------------------ reading
    @property
    def size(self) -> int:
        """Number of positions."""
        return int(self._positions.shape[0])

    def __len__(self) -> int:
        return self.size

    @property
    def sampled(self) -> bool:
        """Whether this is only a sample: the true position may be missing."""
        return self.capped_by is not None

    @property
    def _next_key(self) -> np.uint64:
        """Key of the next step or merge: a sample needs another than it was drawn by (:func:`next_key` says why)."""
        return next_key(self._key) if self.sampled else self._key

    @property
    def halves(self) -> Words:
        """The stored positions: uint64[n, 2], the enemy's halves seen from the viewer's side. Read-only, valid until
        the next update.
        """
        halves = self._positions.view()
        halves.flags.writeable = False
        return halves

    def rows(self, indices: npt.ArrayLike) -> Words:
        """Return full positions.

        Parameters
        ----------
        indices
            int[n], each in [0, size). The order of the set does not depend on the number of threads; it has no other
            meaning.

        Returns
        -------
        uint64[n, 9]
            Rows of :mod:`darkchess.board.kernels.board`, with the side to move, both sides' castling rights and the en
            passant square. Quiet plies are 0: the viewer does not know them.
        """
        chosen = np.atleast_1d(np.asarray(indices, dtype=np.int64))
        assert not chosen.size or (chosen.min() >= 0 and chosen.max() < self.size)
        out = np.empty((chosen.shape[0], board.WIDTH), dtype=np.uint64)
        self._decode(chosen, out)
        return out

    def __iter__(self) -> Iterator[Position]:
        for start in range(0, self.size, _ROWS_AT_ONCE):
            for row in self.rows(np.arange(start, min(start + _ROWS_AT_ONCE, self.size))):
                yield Position(row, self.fullmove)

    def contains(self, row: npt.ArrayLike) -> bool:
        """Whether the position ``row`` (uint64[9]) is in the set: pieces, side to move, castling rights, en passant."""
        wanted = np.array(row, dtype=np.uint64)
        half = self._encode(wanted)
        index = int(rank(self._positions, half[0], half[1]))
        return index >= 0 and self._has_own_half(wanted, index)

    # ------------------------------------------------------------------------------------------------ keeping
    def _keep(self, step: Step) -> None:
        """Store the result of a step; keep the array that it replaces, so that the next step can be built in it."""
        self._spare = None if self._stream else self._array
        self._array = step.array
        self._positions = step.positions
        self.held *= step.part
        if step.capped_by is not None:
            self.capped_by = step.capped_by

    def _encode(self, row: Words) -> Words:
        """Return the enemy half of a full position: uint64[2]."""
        half = np.empty(2, dtype=np.uint64)
        encode_half(upward(row, flipped=self.flipped), half)
        return half

    def _square(self, square: int) -> int:
        """Return ``square`` as seen from the viewer's side."""
        return square ^ 56 if self.flipped else square
