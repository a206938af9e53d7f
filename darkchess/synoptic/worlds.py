"""Fog of War as :mod:`klss.synoptic` sees it: worlds of true positions and of what both players hold possible there,
and what a player holds possible in her game.

Actions are numbered from the side of who acts, who moves up: 65 · from + to (a pawn that reaches the last rank becomes
a queen). What she may do is the same in every position that she holds possible.

Deviations from docs/rules.md: nothing ends a playout but a king's capture and a player who cannot move; other
promotions than to queens are not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import chess
import numpy as np

from darkchess.belief.position_set import PositionSet
from darkchess.board.kernels import board
from darkchess.board.kernels.members import ACTIONS, DRAWN
from darkchess.board.kernels.moves import MAX_MOVES
from darkchess.board.kernels.tables import TABLES
from darkchess.board.position import START_FEN, Position
from darkchess.board.worlds import EVERY, HalvesBelief, HalvesModel, divided, set_arrays
from darkchess.game.rules import PAPER, Ruleset
from darkchess.synoptic._kernels import worlds as kernels
from darkchess.synoptic.synopsis import MEMORY, PLANES, own_half
from klss.arrays import Bools, Int32s, Ints, Keys, States, Words
from klss.synoptic.model import Looks, Worlds

__all__ = ["ACTIONS", "DarkBelief", "DarkModel", "action_of", "compile_rare_kernels", "move_of"]


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


def _divided(states: States, side: int) -> tuple[Words, Words]:
    return divided(kernels.halves_of, states, side)


class DarkModel(HalvesModel):
    """See :class:`klss.synoptic.model.Model`.

    Parameters
    ----------
    color
        The planner's.
    ruleset
        Says what becomes of who cannot move.
    """

    memory = MEMORY
    divided = staticmethod(_divided)

    def __init__(self, color: chess.Color, ruleset: Ruleset = PAPER) -> None:
        super().__init__(color)
        self._no_move = DRAWN if ruleset.no_move == "draw" else np.uint64(0)

    def advance(self, worlds: Worlds, actions: Int32s, keys: Keys, most: Ints) -> None:
        """See :class:`klss.synoptic.model.Model`."""
        kernels.advance(
            worlds.states, self._planner, actions, keys, most, self._no_move, TABLES, EVERY, *set_arrays(worlds)
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
        kernels.looks(
            worlds.states, self._planner, TABLES, *set_arrays(worlds), synopses, keys, offsets, actions, forced
        )
        actions = actions[: offsets[-1]]
        return Looks(synopses, keys, offsets, actions, np.arange(actions.shape[0] + 1), actions, forced)


@dataclass(frozen=True)
class DarkBelief(HalvesBelief):
    """What a player holds possible at one time. Her half is :func:`darkchess.synoptic.synopsis.own_half`."""

    divided = staticmethod(_divided)
    flags = np.uint64(0)
    told = np.uint64(0xFFFF_FFFF_FFFF_FFFF)

    @staticmethod
    def of(known: PositionSet, memory: Words) -> DarkBelief:
        """Of a position set, which may change afterwards."""
        view = known.view
        return DarkBelief(view.color, own_half(view), known.halves.copy(), memory.copy(), view.to_move == view.color)

    def _encoded(self, halves: Words, passed: np.uint64, out: States) -> None:
        kernels.states_of(self.own, halves, passed, self.color == chess.BLACK, self.hers, out)

    def _survivors(self, later: DarkBelief, kept: Bools) -> None:
        if self.hers:
            kernels.survivors_of_move(self.halves, later.remembered[2], later.halves, kept)
        else:
            kernels.survivors_of_turn(self.halves, self.own, later.own, TABLES, EVERY, later.halves, kept)


def compile_rare_kernels() -> None:
    """Compile, or load, the kernels that only some games call: what rules positions out that were possible before."""
    row = Position.from_fen(START_FEN).row
    owns, halves = _divided(row.reshape(1, -1), 0)
    for hers in (True, False):
        belief = DarkBelief(chess.WHITE, owns[0], np.repeat(halves, 2, axis=0), np.zeros(MEMORY, dtype=np.uint64), hers)
        belief.before(belief)
