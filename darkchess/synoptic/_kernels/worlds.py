"""Playouts' kernels: what a move does to a true position and to what both players hold possible.

States, members and actions are as in :mod:`darkchess.board.kernels.members`; bit 0 of a state's flags says nothing.
What a player sees after a move is held against them as a position set does it
(:mod:`darkchess.belief._kernels.position_set`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.belief._kernels.position_set import (
    CAPTURED,
    EMPTY,
    EP_CAPTORS,
    EP_LANDING,
    EP_TOLD,
    FORBIDDEN,
    MASKS,
    OWN_BEFORE,
    REQUIRED,
    SEEN,
    filter_positions,
    observation_masks,
    successors,
)
from darkchess.board.kernels.bits import beside, bit, lowest, popcount
from darkchess.board.kernels.board import BLACK, KING, META, PAWN, WHITE, ep_square, turn
from darkchess.board.kernels.halves import MOST_SUCCESSORS, decode_half, without
from darkchess.board.kernels.members import (
    BLACK_WON,
    DRAWN,
    OVER,
    cut,
    divided,
    hashed,
    held,
    mirrored,
    request_of,
    upward,
)
from darkchess.board.kernels.moves import MAX_MOVES, generate, has_move, king_capture, make
from darkchess.board.kernels.position_table import half_hash
from darkchess.game._kernels.vision import masked, visible
from darkchess.synoptic._kernels.synopsis import PLANES, remember_lost, remember_moved, synopsis
from klss.hashing import mix64
from klss.kernel import kernel

__all__ = [
    "actions_of", "advance", "after", "halves_of", "looks", "states_of",
    "survivors_of_move", "survivors_of_turn",
]  # fmt: skip

_TURNED = (56 << 9) | (56 << 3)
_NONE = np.uint64(0)
_RANK_5 = np.uint64(0xFF00000000)


@kernel
def halves_of(states: Any, side: int, owns: Any, halves: Any) -> None:
    """:func:`~darkchess.board.kernels.members.divided` of many states: owns uint64[n, 9], halves uint64[n, 2],
    written.
    """
    for i in range(states.shape[0]):
        divided(states[i], side, owns[i], halves[i])


@kernel
def states_of(own: Any, halves: Any, passed: Any, flipped: bool, hers: bool, out: Any) -> None:
    """States of a player's half (uint64[9], as she sees it) and the enemy's: uint64[n, STATE], written.

    ``passed``: the square that her last double step passed, a set of one or none.
    """
    row = np.empty(9, dtype=np.uint64)
    side = 1 if flipped else 0
    for i in range(halves.shape[0]):
        decode_half(halves[i, 0], halves[i, 1], own, False, row)
        row[META] &= ~np.uint64(1)
        if not hers:
            row[META] |= np.uint64(1)
            if passed != _NONE and beside(passed << np.uint64(8)) & row[PAWN] & row[BLACK] != _NONE:
                row[META] |= np.uint64(lowest(passed) + 1) << np.uint64(8)
        upward(row, side, out[i])
        out[i, 9] = _NONE


# ------------------------------------------------------------------------------------------------ what a player sees
@kernel(allocates=False)
def _looked(row: Any, view: Any, masks: Any, expected: Any, tables: Any) -> Any:
    """What she who is White in ``row`` (uint64[9], written) sees there, as masks; returns the squares."""
    seen = visible(row, 0, tables)
    masked(row, 0, seen, view)
    observation_masks(view, seen, masks, expected)
    return seen


@kernel(allocates=False)
def _masks_of_move(before: Any, after: Any, double_step: Any, view: Any, masks: Any, expected: Any, tables: Any) -> Any:
    """The masks of her own move, which led from one row to another, both as she sees them; ``double_step``: where that
    ended, a set of one or none. Returns where it took a man, a set, and what she sees.
    """
    seen = _looked(after, view, masks, expected, tables)
    if double_step != _NONE:
        masks[EP_CAPTORS] = beside(double_step)
    return before[BLACK] & ~after[BLACK], seen


@kernel(allocates=False)
def _masks_of_turn(own_before: Any, after: Any, view: Any, masks: Any, expected: Any, tables: Any) -> Any:
    """The masks of an enemy move, after which the row is ``after`` as she sees it, and before which she had the men
    ``own_before``, a set. Returns where it took one of them, a set.
    """
    _looked(after, view, masks, expected, tables)
    masks[OWN_BEFORE] = own_before
    lost = own_before & ~after[WHITE]
    if lost != _NONE:
        if after[BLACK] & lost != _NONE:
            masks[CAPTURED] = lost
            masks[REQUIRED] |= lost
        else:
            masks[EP_LANDING] = lost >> np.uint64(8)
            _expect_pawn(lost >> np.uint64(8), masks, expected)
            masks[EMPTY] |= lost
    passing = ep_square(after)
    if passing >= 0:
        masks[EP_TOLD] = bit(passing)
        _expect_pawn(bit(passing - 8), masks, expected)
        masks[EMPTY] |= bit(passing) | bit(passing + 8)
    else:
        masks[FORBIDDEN] = beside(after[PAWN] & after[WHITE] & _RANK_5)
    return lost


@kernel(allocates=False)
def _expect_pawn(square: Any, masks: Any, expected: Any) -> None:
    """She knows that an enemy pawn stands there (a set of one), seen or not."""
    masks[REQUIRED] |= square
    masks[SEEN] |= square
    expected[lowest(square)] = PAWN


# ------------------------------------------------------------------------------------------------ what a move does
@kernel(allocates=False)
def _made(state: Any, code: int, no_move: Any, tables: Any, row: Any) -> bool:
    """Make a move (a code as the board lies) in a state, in place; whether the game goes on. Where it took the king,
    the state stays as it is but for being over. ``no_move``: DRAWN if it is drawn where who is to move cannot, 0 if she
    loses. ``row``: room, uint64[9].
    """
    side = turn(state)
    if state[KING] & state[BLACK - side] & bit((code >> 3) & 63) != _NONE:
        state[9] = OVER | (BLACK_WON if side == 1 else _NONE)
        return False
    make(state[:9], code, tables, row)
    for k in range(9):
        state[k] = row[k]
    if has_move(row, tables):
        return True
    state[9] = OVER | no_move
    if no_move & DRAWN == _NONE and side == 1:
        state[9] |= BLACK_WON
    return False


@kernel
def after(states: Any, actions: Any, no_move: Any, tables: Any) -> None:
    """Take an action in each state, in place."""
    own = np.empty(9, dtype=np.uint64)
    half = np.empty(2, dtype=np.uint64)
    row = np.empty(9, dtype=np.uint64)
    for i in range(states.shape[0]):
        side = turn(states[i])
        divided(states[i], side, own, half)
        code = request_of(own, np.int64(actions[i]))
        _made(states[i], code ^ _TURNED if side == 1 else code, no_move, tables, row)


@kernel
def advance(
    states: Any, planner: int, actions: Any, keys: Any, most: Any, no_move: Any, tables: Any, layout: Any,
    members_0: Any, counts_0: Any, memories_0: Any, members_1: Any, counts_1: Any, memories_1: Any,
) -> None:  # fmt: skip
    """Take an action in each world, in place; see :meth:`klss.synoptic.model.Model.advance`.

    ``planner`` is the side (0 White) of seat 0; ``layout`` takes every hash; ``no_move`` is as in :func:`_made`.
    """
    room = 128 * MOST_SUCCESSORS
    for i in range(states.shape[0]):
        room = max(room, (max(counts_0[i], counts_1[i]) + 1) * MOST_SUCCESSORS)
    buffer = np.empty((1, room, 2), dtype=np.uint64)
    emitted = np.zeros(3, dtype=np.int64)
    own = np.empty(9, dtype=np.uint64)
    half = np.empty(2, dtype=np.uint64)
    row = np.empty(9, dtype=np.uint64)
    before = np.empty(9, dtype=np.uint64)
    later = np.empty(9, dtype=np.uint64)
    view = np.empty(9, dtype=np.uint64)
    planes = np.empty(PLANES, dtype=np.uint64)
    masks = np.empty(MASKS, dtype=np.uint64)
    expected = np.empty(64, dtype=np.int64)
    none = np.empty(0, dtype=np.float64)
    for i in range(states.shape[0]):
        state = states[i]
        side = turn(state)
        first = side == planner
        members = members_0[i] if first else members_1[i]
        counts = counts_0 if first else counts_1
        memory = memories_0[i] if first else memories_1[i]
        room_mine = most[0, i] if first else most[1, i]
        room_theirs = most[1, i] if first else most[0, i]
        divided(state, side, own, half)
        code = request_of(own, np.int64(actions[i]))
        origin = (code >> 9) & 63
        target = (code >> 3) & 63
        upward(state, side, before)
        their_men = state[WHITE + 1 - side]
        if not _made(state, code ^ _TURNED if side == 1 else code, no_move, tables, row):
            continue
        # Who moved sees what her move shows.
        upward(state, side, later)
        stepped = bit(target) if own[PAWN] & bit(origin) != _NONE and target == origin + 16 else _NONE
        synopsis(own, members[: counts[i]], memory, tables, row, planes)
        captured, seen = _masks_of_move(before, later, stepped, view, masks, expected, tables)
        kept = filter_positions(members, none, counts[i], captured, masks, expected, True, tables)
        divided(state, side, row, half)
        if captured == _NONE:
            counts[i] = kept
        else:
            # Positions that differed in the right of the rook that was taken are the same now.
            for k in range(kept):
                buffer[0, k, 0] = members[k, 0]
                buffer[0, k, 1] = members[k, 1]
            counts[i] = cut(buffer[0], kept, keys[i], room_mine, half, members)
        remember_moved(memory, origin, target, captured, seen, planes)
        # The other player sees what that shows her.
        theirs = members_1[i] if first else members_0[i]
        their_counts = counts_1 if first else counts_0
        their_memory = memories_1[i] if first else memories_0[i]
        upward(state, 1 - side, later)
        if side == 0:
            their_men = mirrored(their_men)
        lost = _masks_of_turn(their_men, later, view, masks, expected, tables)
        for k in range(3):
            emitted[k] = 0
        successors(theirs, 0, their_counts[i], masks, expected, tables, layout, False, buffer, room, emitted)
        divided(state, 1 - side, row, half)
        their_counts[i] = cut(buffer[0], emitted[0], keys[i], room_theirs, half, theirs)
        remember_lost(their_memory, lost)


# ------------------------------------------------------------------------------------------------ looking at sets
@kernel
def actions_of(row: Any, tables: Any, moves: Any, actions: Any) -> int:
    """The actions of who is to move in ``row`` (uint64[9]) and is White there, rising; promotions to queens only.
    Returns how many. ``moves``: room, int32[MAX_MOVES].
    """
    count = generate(row, tables, moves)
    kept = 0
    for j in range(count):
        code = moves[j]
        if code & 7 == 0 or code & 7 == 4:
            actions[kept] = 65 * (code >> 9) + ((code >> 3) & 63)
            kept += 1
    actions[:kept].sort()
    return kept


@kernel
def looks(
    states: Any, planner: int, tables: Any, members_0: Any, counts_0: Any, memories_0: Any, members_1: Any,
    counts_1: Any, memories_1: Any, synopses: Any, keys: Any, offsets: Any, actions: Any, forced: Any,
) -> None:  # fmt: skip
    """Look at the sets of who acts: :class:`klss.synoptic.model.Looks`'s arrays, written; with room for
    :data:`~darkchess.board.kernels.moves.MAX_MOVES` actions a set.
    """
    own = np.empty(9, dtype=np.uint64)
    half = np.empty(2, dtype=np.uint64)
    row = np.empty(9, dtype=np.uint64)
    moves = np.empty(MAX_MOVES, dtype=np.int32)
    offsets[0] = 0
    for i in range(states.shape[0]):
        side = turn(states[i])
        first = side == planner
        members = members_0[i, : counts_0[i]] if first else members_1[i, : counts_1[i]]
        memory = memories_0[i] if first else memories_1[i]
        divided(states[i], side, own, half)
        synopsis(own, members, memory, tables, row, synopses[i])
        upward(states[i], side, row)
        forced[i] = 1 if king_capture(row, tables) >= 0 else 0
        key = np.uint64(side + 1)
        for k in range(9):
            key = mix64(key ^ own[k])
        total = _NONE
        for k in range(members.shape[0]):
            total += half_hash(members[k, 0], members[k, 1], key)
        keys[i] = mix64(total ^ key)
        offsets[i + 1] = offsets[i] + actions_of(row, tables, moves, actions[offsets[i] :])


# ------------------------------------------------------------------------------------------------ beliefs
@kernel
def survivors_of_move(halves: Any, captured: Any, later: Any, kept: Any) -> None:
    """Which halves, before her own move, which took a man on ``captured`` (a set of one or none), come to one of
    ``later`` by it: bool[n], written.
    """
    table = hashed(later)
    for i in range(halves.shape[0]):
        enemy = halves[i, 0]
        codes = halves[i, 1]
        kept[i] = captured & ~enemy == _NONE
        if kept[i]:
            if captured != _NONE:
                codes = without(codes, popcount(enemy & (captured - np.uint64(1))))
                enemy ^= captured
            kept[i] = held(table, enemy, codes)


@kernel
def survivors_of_turn(halves: Any, own: Any, later_own: Any, tables: Any, layout: Any, later: Any, kept: Any) -> None:
    """Which halves, before the enemy's move, may come to one of ``later`` by it: bool[n], written.

    ``own``, ``later_own``: uint64[9], her half before and after it, as she sees it.
    """
    table = hashed(later)
    buffer = np.empty((1, 2 * MOST_SUCCESSORS, 2), dtype=np.uint64)
    emitted = np.zeros(3, dtype=np.int64)
    row = np.empty(9, dtype=np.uint64)
    view = np.empty(9, dtype=np.uint64)
    masks = np.empty(MASKS, dtype=np.uint64)
    expected = np.empty(64, dtype=np.int64)
    # What she saw is the same in all of them.
    decode_half(later[0, 0], later[0, 1], later_own, False, row)
    _masks_of_turn(own[WHITE], row, view, masks, expected, tables)
    for i in range(halves.shape[0]):
        for k in range(3):
            emitted[k] = 0
        successors(halves, i, i + 1, masks, expected, tables, layout, False, buffer, 2 * MOST_SUCCESSORS, emitted)
        kept[i] = False
        for k in range(emitted[0]):
            if held(table, buffer[0, k, 0], buffer[0, k, 1]):
                kept[i] = True
                break
