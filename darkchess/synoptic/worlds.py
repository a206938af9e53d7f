"""Fog of War as :mod:`klss.synoptic` sees it: worlds of true positions and of what both players hold possible there,
and what a player holds possible in her game.

Actions are numbered from the side of who acts, who moves up: 65 · from + to (a pawn that reaches the last rank becomes
a queen). What she may do is the same in every position that she holds possible.

Deviations from docs/rules.md: nothing ends a playout but a king's capture and a player who cannot move; other
promotions than to queens are not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import chess
import numpy as np

from darkchess.belief.position_set import PositionSet
from darkchess.board.kernels import board
from darkchess.board.kernels.members import ACTIONS, drawn, landing, match
from darkchess.board.kernels.moves import MAX_MOVES
from darkchess.board.kernels.position_table import Layout
from darkchess.board.kernels.tables import TABLES
from darkchess.board.position import START_FEN, Position
from darkchess.game.rules import PAPER, Ruleset
from darkchess.synoptic._kernels import worlds as kernels
from darkchess.synoptic.synopsis import MEMORY, PLANES, own_half
from klss.arrays import Bools, Floats, Int8s, Int32s, Ints, Keys, States, Words
from klss.movers import TERMINAL
from klss.synoptic.model import Belief, Looks, Sets, Worlds

__all__ = ["ACTIONS", "DarkBelief", "DarkModel", "action_of", "compile_rare_kernels", "move_of"]

_MASK = 0xFFFF_FFFF_FFFF_FFFF
_EVERY = Layout(np.uint64(0), np.uint64(0), np.uint64(_MASK), np.uint64(0), np.uint64(0), 0)
"""Takes every successor."""

LOOKED_BACK = 20_000
"""Most positions whose successors are looked at again."""


def action_of(move: chess.Move, color: chess.Color) -> int | None:
    """The action of a player's move; None: a promotion to something else than a queen.

    >>> action_of(chess.Move.from_uci("e7e5"), chess.BLACK) == 65 * chess.E2 + chess.E4
    True
    """
    if move.promotion not in (None, chess.QUEEN):
        return None
    turned = 0 if color else 56
    return 65 * (move.from_square ^ turned) + (move.to_square ^ turned)


def move_of(action: int, own_row: Words, color: chess.Color) -> chess.Move:
    """The move of an action of the player whose half is ``own_row`` (uint64[9]), as she sees it."""
    origin, target = divmod(action, 65)
    queens = target >= 56 and int(own_row[board.PAWN]) >> origin & 1
    turned = 0 if color else 56
    return chess.Move(origin ^ turned, target ^ turned, chess.QUEEN if queens else None)


class DarkModel:
    """See :class:`klss.synoptic.model.Model`.

    Parameters
    ----------
    color
        The planner's.
    ruleset
        Says what becomes of who cannot move.
    """

    action_count = ACTIONS

    def __init__(self, color: chess.Color, ruleset: Ruleset = PAPER) -> None:
        self._planner = 0 if color else 1
        self._no_move = kernels.DRAWN if ruleset.no_move == "draw" else np.uint64(0)

    def alone(self, states: States, most: int) -> Worlds:
        """See :class:`klss.synoptic.model.Model`."""
        count = states.shape[0]
        seats = []
        for seat in (0, 1):
            members: Words = np.zeros((count, most, 2), dtype=np.uint64)
            owns, halves = np.empty((count, board.WIDTH), dtype=np.uint64), np.empty((count, 2), dtype=np.uint64)
            kernels.halves_of(states, self._planner ^ seat, owns, halves)
            members[:, 0] = halves
            seats.append(Sets(members, np.ones(count, dtype=np.int64), np.zeros((count, MEMORY), dtype=np.uint64)))
        return Worlds(states.copy(), (seats[0], seats[1]))

    def acting(self, states: States) -> Int8s:
        """See :class:`klss.synoptic.model.Model`."""
        seats = (states[:, board.META] & np.uint64(1)).astype(np.int8) ^ np.int8(self._planner)
        seats[states[:, 9] & kernels.OVER != 0] = TERMINAL
        return seats

    def results(self, states: States) -> Floats:
        """See :class:`klss.synoptic.model.Model`."""
        black = (states[:, 9] & kernels.BLACK_WON != 0).astype(np.int64)
        won = np.where(black == self._planner, 1.0, -1.0)
        return np.where(states[:, 9] & kernels.DRAWN != 0, 0.0, won)

    def advance(self, worlds: Worlds, actions: Int32s, keys: Keys, most: Ints) -> None:
        """See :class:`klss.synoptic.model.Model`."""
        kernels.advance(
            worlds.states, self._planner, actions, keys, most, self._no_move, TABLES, _EVERY, *_arrays(worlds)
        )

    def after(self, states: States, actions: Int32s, keys: Keys) -> States:
        """See :class:`klss.synoptic.model.Model`."""
        out: Words = states.copy()
        kernels.after(out, actions, self._no_move, TABLES)
        return out

    def look(self, worlds: Worlds) -> Looks:
        """See :class:`klss.synoptic.model.Model`."""
        count = len(worlds)
        synopses, keys = np.empty((count, PLANES), dtype=np.uint64), np.empty(count, dtype=np.uint64)
        offsets, actions = np.empty(count + 1, dtype=np.int64), np.empty(MAX_MOVES * count, dtype=np.int32)
        forced = np.zeros(count, dtype=np.int8)
        kernels.looks(worlds.states, self._planner, TABLES, *_arrays(worlds), synopses, keys, offsets, actions, forced)
        actions = actions[: offsets[-1]]
        return Looks(synopses, keys, offsets, actions, np.arange(actions.shape[0] + 1), actions, forced)


def _arrays(worlds: Worlds) -> tuple[Words | Ints, ...]:
    first, second = worlds.sets
    return first.members, first.counts, first.memories, second.members, second.counts, second.memories


@dataclass(frozen=True)
class DarkBelief:
    """What a player holds possible at one time; see :class:`klss.synoptic.model.Belief`.

    Attributes
    ----------
    color
        Hers.
    own
        uint64[9], her half as she sees it (:func:`darkchess.synoptic.synopsis.own_half`).
    halves
        uint64[n, 2], the enemy's.
    remembered
        uint64[MEMORY].
    hers
        Whether she acts.
    """

    color: chess.Color
    own: Words
    halves: Words
    remembered: Words
    hers: bool

    @staticmethod
    def of(known: PositionSet, memory: Words) -> DarkBelief:
        """Of a position set, which may change afterwards."""
        view = known.view
        return DarkBelief(view.color, own_half(view), known.halves.copy(), memory.copy(), view.to_move == view.color)

    @property
    def size(self) -> int:
        """See :class:`klss.synoptic.model.Belief`."""
        return int(self.halves.shape[0])

    def memory(self) -> Words:
        """See :class:`klss.synoptic.model.Belief`."""
        return self.remembered

    def member(self, states: States) -> States:
        """See :class:`klss.synoptic.model.Belief`."""
        return self._seen(states)[1]

    def _seen(self, states: States) -> tuple[Words, Words]:
        owns = np.empty((states.shape[0], board.WIDTH), dtype=np.uint64)
        halves = np.empty((states.shape[0], 2), dtype=np.uint64)
        kernels.halves_of(states, 0 if self.color else 1, owns, halves)
        return owns, halves

    def contains(self, states: States) -> Bools:
        """See :class:`klss.synoptic.model.Belief`."""
        owns, halves = self._seen(states)
        found = np.empty(states.shape[0], dtype=bool)
        match(self.halves, halves, found)
        turn = np.uint64(1 if self.hers != self.color else 0)
        acting = (states[:, board.META] & np.uint64(1) == turn) & (states[:, 9] == np.uint64(0))
        men = [*range(board.BLACK), board.META]
        same: Bools = found & acting & (owns[:, men] == self.own[men]).all(axis=1)
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
        return self.states(self.halves[self._indices(count, seed)])

    def states(self, halves: Words) -> States:
        """Members as states: uint64[n, 10]."""
        out: Words = np.zeros((halves.shape[0], kernels.STATE), dtype=np.uint64)
        passed = landing(self.remembered, self.own, self.remembered[1])
        kernels.states_of(self.own, halves, passed, self.color == chess.BLACK, self.hers, out)
        return out

    def before(self, later: Belief) -> DarkBelief | None:
        """See :class:`klss.synoptic.model.Belief`."""
        assert isinstance(later, DarkBelief)
        if self.size > LOOKED_BACK or self.size == 1:
            return None
        kept = np.empty(self.size, dtype=bool)
        if self.hers:
            kernels.survivors_of_move(self.halves, later.remembered[2], later.halves, kept)
        else:
            kernels.survivors_of_turn(self.halves, self.own, later.own, TABLES, _EVERY, later.halves, kept)
        # A sample that was mended descends from none of those before: it rules nothing out.
        return replace(self, halves=self.halves[kept]) if kept.any() and not kept.all() else None


def compile_rare_kernels() -> None:
    """Compile, or load, the kernels that only some games call: what rules positions out that were possible before."""
    row = Position.from_fen(START_FEN).row
    halves, owns = np.empty((1, 2), dtype=np.uint64), np.empty((1, board.WIDTH), dtype=np.uint64)
    kernels.halves_of(row.reshape(1, -1), 0, owns, halves)
    for hers in (True, False):
        belief = DarkBelief(chess.WHITE, owns[0], np.repeat(halves, 2, axis=0), np.zeros(MEMORY, dtype=np.uint64), hers)
        belief.before(belief)
