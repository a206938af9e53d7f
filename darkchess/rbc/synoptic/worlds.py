"""Reconnaissance Blind Chess as :mod:`klss.synoptic` sees it: worlds, each a true position with both players' position
sets, and the belief of a player in its game.

A *state* is uint64[10]: a row of :mod:`darkchess.board.kernels.board` on the real board, then a word of flags
(:data:`~darkchess.rbc.synoptic._kernels.members.OVER` and its neighbours). A *member* is an enemy half, uint64[2], seen
from the side of the set's owner; the owner's half is that of the state.

Actions are numbered from the side that acts, which moves up: 65 · from + to is a request (a pawn that reaches the last
rank becomes a queen), 65 · square + 64 a sense, 4160 a pass. Senses that make the same partition of a set are one
choice; a sense that tells nothing more than another one is not a choice.

Deviations from docs/rbc.md: only a king's capture ends a playout; promotions are to queens only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import chess
import numpy as np

from darkchess.board.kernels import board
from darkchess.board.kernels.tables import TABLES
from darkchess.rbc.belief._kernels.position_set import keep_moved
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.game._kernels.requests import MAX_REQUESTS
from darkchess.rbc.synoptic._kernels import worlds as kernels
from darkchess.rbc.synoptic._kernels.members import ACTIONS, BLACK_WON, OVER, PASS, STATE, drawn, landing, match
from darkchess.rbc.synoptic._kernels.synopsis import MEMORY, PLANES, SENSE
from klss.support.arrays import Bools, Floats, Int8s, Int32s, Ints, Keys, States, Words
from klss.synoptic.model import Belief, Looks, Sets, Worlds
from klss.theory.movers import TERMINAL

_MASK = 0xFFFF_FFFF_FFFF_FFFF

LOOKED_BACK = 20_000
"""Largest set for which it is found out later which positions have led to a possible one."""


def sense_action(square: int) -> int:
    """Return the action of a sense around a square, as the acting side sees it."""
    return 65 * square + 64


def request_action(code: int) -> int | None:
    """Return the action of a request's code, as the acting side sees it (−1: a pass); None for a promotion to another
    piece than a queen.
    """
    if code < 0:
        return PASS
    return 65 * (code >> 9) + (code >> 3 & 63) if code & 7 in (0, 4) else None


def _divided(states: States, side: int) -> tuple[Words, Words]:
    """Return states as ``side`` (0 White) sees them: its own halves uint64[n, 9], the enemy's uint64[n, 2]."""
    owns = np.empty((states.shape[0], board.WIDTH), dtype=np.uint64)
    halves = np.empty((states.shape[0], 2), dtype=np.uint64)
    kernels.halves_of(states, side, owns, halves)
    return owns, halves


class BlindModel:
    """See :class:`klss.synoptic.model.Model`.

    Parameters
    ----------
    color
        The planner's.
    """

    action_count = ACTIONS

    def __init__(self, color: chess.Color) -> None:
        self._planner = 0 if color else 1

    def alone(self, states: States, most: int) -> Worlds:
        count = states.shape[0]
        seats = []
        for seat in (0, 1):
            members: Words = np.zeros((count, most, 2), dtype=np.uint64)
            members[:, 0] = _divided(states, self._planner ^ seat)[1]
            memories = np.zeros((count, MEMORY), dtype=np.uint64)
            seats.append(Sets(members, np.ones(count, dtype=np.int64), memories))
        return Worlds(states.copy(), (seats[0], seats[1]))

    def acting(self, states: States) -> Int8s:
        seats = (states[:, board.META] & np.uint64(1)).astype(np.int8) ^ np.int8(self._planner)
        seats[states[:, 9] & OVER != 0] = TERMINAL
        return seats

    def results(self, states: States) -> Floats:
        black = (states[:, 9] & BLACK_WON != 0).astype(np.int64)
        return np.where(black == self._planner, 1.0, -1.0)

    def advance(self, worlds: Worlds, actions: Int32s, keys: Keys, most: Ints) -> None:
        kernels.advance(worlds.states, self._planner, actions, keys, most, TABLES, *worlds.sets[0], *worlds.sets[1])

    def after(self, states: States, actions: Int32s, keys: Keys) -> States:
        out: Words = states.copy()
        kernels.after(out, actions, TABLES)
        return out

    def look(self, worlds: Worlds) -> Looks:
        count = len(worlds)
        synopses, keys = np.empty((count, PLANES), dtype=np.uint64), np.empty(count, dtype=np.uint64)
        offsets, listing = np.empty(count + 1, dtype=np.int64), np.empty(MAX_REQUESTS * count + 1, dtype=np.int64)
        actions, alike = (np.empty(MAX_REQUESTS * count, dtype=np.int32) for _ in range(2))
        forced = np.zeros(count, dtype=np.int8)
        kernels.looks(
            worlds.states, self._planner, TABLES, *worlds.sets[0], *worlds.sets[1], synopses, keys, offsets, actions,
            listing, alike, forced,
        )  # fmt: skip
        listing = listing[: offsets[-1] + 1]
        return Looks(synopses, keys, offsets, actions[: offsets[-1]], listing, alike[: listing[-1]], forced)


@dataclass(frozen=True)
class Played:
    """The result of a turn, as far as the planner observed it."""

    # codes as it sees them, −1 for none; of an opponent's turn only ``capture``, where the planner lost a piece
    request: int
    taken: int
    capture: int


@dataclass(frozen=True)
class BlindBelief:
    """The positions that a player can't rule out at one time; see :class:`klss.synoptic.model.Belief`."""

    color: chess.Color  # the player's
    own: Words  # uint64[9], its half as it sees it
    halves: Words  # uint64[n, 2], the enemy's
    remembered: Words  # its memory, uint64[MEMORY]
    acts: bool  # whether it is the one to act
    stage: int  # the next action: ``darkchess.rbc.synoptic.synopsis.SENSE`` or ``MOVE``
    follows: Played | None = None  # the turn's result that led from the belief before to this one

    @staticmethod
    def of(known: PositionSet, memory: Words, *, acts: bool, stage: int, follows: Played | None = None) -> BlindBelief:
        """Return the belief of a position set, as a copy: the set may change afterwards."""
        return BlindBelief(known.own.color, known.own_row, known.halves.copy(), memory.copy(), acts, stage, follows)

    @property
    def size(self) -> int:
        return int(self.halves.shape[0])

    def memory(self) -> Words:
        return self.remembered

    def member(self, states: States) -> States:
        return _divided(states, 0 if self.color else 1)[1]

    def contains(self, states: States) -> Bools:
        owns, halves = _divided(states, 0 if self.color else 1)
        found = np.empty(states.shape[0], dtype=bool)
        match(self.halves, halves, found)
        turn = np.uint64(1 if self.acts != self.color else 0)
        acting = (states[:, board.META] & np.uint64(1) == turn) & (states[:, 9] == np.uint64(self.stage))
        rights = (owns[:, board.META] ^ self.own[board.META]) & np.uint64(6) == 0
        men = slice(board.PAWN, board.BLACK)
        same: Bools = found & acting & rights & (owns[:, men] == self.own[men]).all(axis=1)
        return same

    def members(self, count: int, seed: int) -> States:
        """See :class:`klss.synoptic.model.Belief`. From a larger set, up to twice ``count`` members are drawn with
        replacement, and different ones kept; if the set is only slightly larger, there may be fewer than ``count``.
        """
        if count >= self.size:
            return self.halves
        indices = np.empty(count, dtype=np.int64)
        return self.halves[indices[: drawn(np.uint64(seed * 2 + 1 & _MASK), self.size, indices)]]

    def sample(self, count: int, seed: int) -> States:
        return self.states(self.members(count, seed))

    def states(self, halves: Words) -> States:
        """Return members as states: uint64[n, 10]."""
        out: Words = np.zeros((halves.shape[0], STATE), dtype=np.uint64)
        passed = landing(self.remembered, self.own, self.remembered[1])
        kernels.states_of(self.own, halves, passed, self.color == chess.BLACK, self.acts, self.stage, out)
        return out

    def before(self, later: Belief) -> BlindBelief | None:
        assert isinstance(later, BlindBelief)
        if self.stage == SENSE:
            return None if later.size == self.size else replace(self, halves=later.halves)
        if self.size > LOOKED_BACK or self.size == 1:
            return None
        kept = np.empty(self.size, dtype=bool)
        played = later.follows
        assert played is not None
        if self.acts:
            # The kernel moves one weight with each half: let it be the half's place.
            halves, places = self.halves.copy(), np.arange(self.size, dtype=np.float64)
            count = keep_moved(halves, places, self.own, played.request, played.taken, played.capture, TABLES)
            possible = np.empty(count, dtype=bool)
            match(later.halves, halves[:count], possible)
            kept[:] = np.isin(np.arange(self.size), places[:count][possible])
        else:
            lost = np.uint64(0 if played.capture < 0 else 1 << played.capture)
            passed = landing(self.remembered, self.own, lost)
            kernels.survivors_of_turn(self.halves, self.own, lost, passed, TABLES, later.halves, kept)
        # A sample that was repaired descends from none of the members before, so it rules out nothing.
        return replace(self, halves=self.halves[kept]) if kept.any() and not kept.all() else None
