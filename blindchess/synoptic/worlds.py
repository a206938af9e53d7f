"""Reconnaissance Blind Chess as :mod:`klss.synoptic` sees it: worlds of true positions and of what both players hold
possible there, and what a player holds possible in her game.

Actions are numbered from the side of who acts, who moves up: 65 · from + to is a request (a pawn that reaches the last
rank becomes a queen), 65 · square + 64 a sense, 4160 passes. Senses that make the same partition of a set are one
choice; those that tell nothing which another one does not tell are none.

Deviations from docs/rbc.md: nothing ends a playout but a king's capture; other promotions than to queens are not asked
for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import chess
import numpy as np

from blindchess.belief.position_set import PositionSet
from blindchess.game._kernels.requests import MAX_REQUESTS
from blindchess.synoptic._kernels import worlds as kernels
from blindchess.synoptic.synopsis import MEMORY, PLANES, SENSE
from darkchess.board.kernels.members import ACTIONS, PASS, landing
from darkchess.board.kernels.tables import TABLES
from darkchess.board.worlds import EVERY, HalvesBelief, HalvesModel, divided, set_arrays
from klss.arrays import Bools, Int32s, Ints, Keys, States, Words
from klss.synoptic.model import Belief, Looks, Worlds

__all__ = ["ACTIONS", "PASS", "BlindBelief", "BlindModel", "Played", "request_action", "sense_action"]


def sense_action(square: int) -> int:
    """The action of a sense around a square, as who acts sees it."""
    return 65 * square + 64


def request_action(code: int) -> int | None:
    """The action of a request's code, as who acts sees it (−1: to pass); None: a promotion to something else than a
    queen.
    """
    if code < 0:
        return PASS
    return 65 * (code >> 9) + (code >> 3 & 63) if code & 7 in (0, 4) else None


def _divided(states: States, side: int) -> tuple[Words, Words]:
    return divided(kernels.halves_of, states, side)


class BlindModel(HalvesModel):
    """See :class:`klss.synoptic.model.Model`."""

    memory = MEMORY
    divided = staticmethod(_divided)

    def advance(self, worlds: Worlds, actions: Int32s, keys: Keys, most: Ints) -> None:
        """See :class:`klss.synoptic.model.Model`."""
        kernels.advance(worlds.states, self._planner, actions, keys, most, TABLES, EVERY, *set_arrays(worlds))

    def after(self, states: States, actions: Int32s, keys: Keys) -> States:
        """See :class:`klss.synoptic.model.Model`."""
        out: Words = states.copy()
        kernels.after(out, actions, TABLES)
        return out

    def look(self, worlds: Worlds) -> Looks:
        """See :class:`klss.synoptic.model.Model`."""
        count = len(worlds)
        synopses, keys = np.empty((count, PLANES), dtype=np.uint64), np.empty(count, dtype=np.uint64)
        offsets, listing = np.empty(count + 1, dtype=np.int64), np.empty(MAX_REQUESTS * count + 1, dtype=np.int64)
        actions, alike = (np.empty(MAX_REQUESTS * count, dtype=np.int32) for _ in range(2))
        forced = np.zeros(count, dtype=np.int8)
        kernels.looks(
            worlds.states, self._planner, TABLES, *set_arrays(worlds), synopses, keys, offsets, actions, listing, alike,
            forced,
        )  # fmt: skip
        listing = listing[: offsets[-1] + 1]
        return Looks(synopses, keys, offsets, actions[: offsets[-1]], listing, alike[: listing[-1]], forced)


@dataclass(frozen=True)
class Played:
    """What a turn did, as the planner was told it.

    Attributes
    ----------
    request, taken, capture
        Codes as she sees them, −1 for none; for the opponent's turn ``capture`` alone, where it cost the planner a man.
    """

    request: int
    taken: int
    capture: int


@dataclass(frozen=True)
class BlindBelief(HalvesBelief):
    """What a player holds possible at one time.

    Attributes
    ----------
    stage
        :data:`~blindchess.synoptic.synopsis.SENSE` or ``MOVE``: what is done next.
    follows
        What led from the time before to this one.
    """

    stage: int
    follows: Played | None = None

    divided = staticmethod(_divided)
    told = np.uint64(6)

    @staticmethod
    def of(known: PositionSet, memory: Words, *, hers: bool, stage: int, follows: Played | None = None) -> BlindBelief:
        """Of a position set, which may change afterwards."""
        return BlindBelief(known.own.color, known.own_row, known.halves.copy(), memory.copy(), hers, stage, follows)

    @property
    def flags(self) -> np.uint64:
        """The stage."""
        return np.uint64(self.stage)

    def _encoded(self, halves: Words, passed: np.uint64, out: States) -> None:
        kernels.states_of(self.own, halves, passed, self.color == chess.BLACK, self.hers, self.stage, out)

    def before(self, later: Belief) -> BlindBelief | None:
        """See :class:`klss.synoptic.model.Belief`."""
        if self.stage == SENSE:
            assert isinstance(later, BlindBelief)
            return None if later.size == self.size else replace(self, halves=later.halves)
        return super().before(later)

    def _survivors(self, later: BlindBelief, kept: Bools) -> None:
        played = later.follows
        assert played is not None
        if self.hers:
            kernels.survivors_of_move(
                self.halves, self.own, played.request, played.taken, played.capture, TABLES, later.halves, kept
            )
        else:
            lost = np.uint64(0 if played.capture < 0 else 1 << played.capture)
            passed = landing(self.remembered, self.own, lost)
            kernels.survivors_of_turn(self.halves, self.own, lost, passed, TABLES, EVERY, later.halves, kept)
