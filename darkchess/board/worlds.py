"""Worlds and beliefs whose members are enemy halves: what the models of both games have in common for
:mod:`klss.synoptic`.

A *state* is uint64[10]: a row of :mod:`darkchess.board.kernels.board` as the board really lies, then a word of flags
(:data:`~darkchess.board.kernels.members.OVER` and its neighbours). A *member* is an enemy half, uint64[2], seen from
the set's owner's side; her own half is that of the state.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import chess
import numpy as np

from darkchess.board.kernels import board
from darkchess.board.kernels.members import ACTIONS, BLACK_WON, DRAWN, OVER, STATE, drawn, landing, match
from darkchess.board.kernels.position_table import Layout
from klss.arrays import Bools, Floats, Int8s, Ints, States, Words
from klss.movers import TERMINAL
from klss.synoptic.model import Belief, Sets, Worlds

__all__ = ["EVERY", "LOOKED_BACK", "HalvesBelief", "HalvesModel", "divided", "set_arrays"]

_MASK = 0xFFFF_FFFF_FFFF_FFFF
EVERY = Layout(np.uint64(0), np.uint64(0), np.uint64(_MASK), np.uint64(0), np.uint64(0), 0)
"""Takes every successor."""

LOOKED_BACK = 20_000
"""Most positions whose successors are looked at again."""


def divided(kernel: Callable[[States, int, Words, Words], None], states: States, side: int) -> tuple[Words, Words]:
    """States as ``side`` (0 White) sees them, by a game's ``halves_of``: her own halves uint64[n, 9], the enemy's
    uint64[n, 2].
    """
    owns = np.empty((states.shape[0], board.WIDTH), dtype=np.uint64)
    halves = np.empty((states.shape[0], 2), dtype=np.uint64)
    kernel(states, side, owns, halves)
    return owns, halves


def set_arrays(worlds: Worlds) -> tuple[Words | Ints, ...]:
    """Members, counts and memories of seat 0, then of seat 1, as kernels take them."""
    first, second = worlds.sets
    return first.members, first.counts, first.memories, second.members, second.counts, second.memories


class HalvesModel(abc.ABC):
    """The part of a :class:`klss.synoptic.model.Model` that does not depend on the game.

    Parameters
    ----------
    color
        The planner's.
    """

    action_count = ACTIONS
    memory: ClassVar[int]
    """Words that a seat remembers."""

    def __init__(self, color: chess.Color) -> None:
        self._planner = 0 if color else 1

    @abc.abstractmethod
    def divided(self, states: States, side: int) -> tuple[Words, Words]:
        """See :func:`divided`."""

    def alone(self, states: States, most: int) -> Worlds:
        """See :class:`klss.synoptic.model.Model`."""
        count = states.shape[0]
        seats = []
        for seat in (0, 1):
            members: Words = np.zeros((count, most, 2), dtype=np.uint64)
            members[:, 0] = self.divided(states, self._planner ^ seat)[1]
            memories = np.zeros((count, self.memory), dtype=np.uint64)
            seats.append(Sets(members, np.ones(count, dtype=np.int64), memories))
        return Worlds(states.copy(), (seats[0], seats[1]))

    def acting(self, states: States) -> Int8s:
        """See :class:`klss.synoptic.model.Model`."""
        seats = (states[:, board.META] & np.uint64(1)).astype(np.int8) ^ np.int8(self._planner)
        seats[states[:, 9] & OVER != 0] = TERMINAL
        return seats

    def results(self, states: States) -> Floats:
        """See :class:`klss.synoptic.model.Model`."""
        black = (states[:, 9] & BLACK_WON != 0).astype(np.int64)
        won = np.where(black == self._planner, 1.0, -1.0)
        return np.where(states[:, 9] & DRAWN != 0, 0.0, won)


@dataclass(frozen=True)
class HalvesBelief(abc.ABC):
    """What a player holds possible at one time; see :class:`klss.synoptic.model.Belief`.

    Attributes
    ----------
    color
        Hers.
    own
        uint64[9], her half as she sees it.
    halves
        uint64[n, 2], the enemy's.
    remembered
        What she remembers, uint64[k].
    hers
        Whether she acts.
    """

    color: chess.Color
    own: Words
    halves: Words
    remembered: Words
    hers: bool

    @abc.abstractmethod
    def divided(self, states: States, side: int) -> tuple[Words, Words]:
        """See :func:`divided`."""

    @property
    @abc.abstractmethod
    def flags(self) -> np.uint64:
        """The last word of each of her states."""

    @property
    @abc.abstractmethod
    def told(self) -> np.uint64:
        """The bits of ``own``'s word of rights that say something here."""

    @abc.abstractmethod
    def _encoded(self, halves: Words, passed: np.uint64, out: States) -> None:
        """Write members as states; ``passed``: the square that her last double step passed, a set of one or none."""

    @abc.abstractmethod
    def _survivors(self, later: Self, kept: Bools) -> None:
        """Write which members may have come to one of ``later``, what she held possible one action later."""

    @property
    def size(self) -> int:
        """See :class:`klss.synoptic.model.Belief`."""
        return int(self.halves.shape[0])

    def memory(self) -> Words:
        """See :class:`klss.synoptic.model.Belief`."""
        return self.remembered

    def member(self, states: States) -> States:
        """See :class:`klss.synoptic.model.Belief`."""
        return self.divided(states, 0 if self.color else 1)[1]

    def contains(self, states: States) -> Bools:
        """See :class:`klss.synoptic.model.Belief`."""
        owns, halves = self.divided(states, 0 if self.color else 1)
        found = np.empty(states.shape[0], dtype=bool)
        match(self.halves, halves, found)
        turn = np.uint64(1 if self.hers != self.color else 0)
        acting = (states[:, board.META] & np.uint64(1) == turn) & (states[:, 9] == self.flags)
        rights = (owns[:, board.META] ^ self.own[board.META]) & self.told == 0
        men = slice(board.PAWN, board.BLACK)
        same: Bools = found & acting & rights & (owns[:, men] == self.own[men]).all(axis=1)
        return same

    def _indices(self, count: int, seed: int) -> Ints:
        if count >= self.size:
            return np.arange(self.size)
        indices = np.empty(count, dtype=np.int64)
        return indices[: drawn(np.uint64(seed * 2 + 1 & _MASK), self.size, indices)]

    def members(self, count: int, seed: int) -> States:
        """See :class:`klss.synoptic.model.Belief`. Of many more than ``count`` twice as many are drawn with
        replacement, and the first different ones taken: where there are few more, some may lack.
        """
        return self.halves[self._indices(count, seed)]

    def sample(self, count: int, seed: int) -> States:
        """See :class:`klss.synoptic.model.Belief`."""
        return self.states(self.members(count, seed))

    def states(self, halves: Words) -> States:
        """Members as states: uint64[n, 10]."""
        out: Words = np.zeros((halves.shape[0], STATE), dtype=np.uint64)
        self._encoded(halves, landing(self.remembered, self.own, self.remembered[1]), out)
        return out

    def before(self, later: Belief) -> Self | None:
        """See :class:`klss.synoptic.model.Belief`."""
        assert isinstance(later, type(self))
        if self.size > LOOKED_BACK or self.size == 1:
            return None
        kept = np.empty(self.size, dtype=bool)
        self._survivors(later, kept)
        # A sample that was mended descends from none of those before: it rules nothing out.
        return replace(self, halves=self.halves[kept]) if kept.any() and not kept.all() else None
