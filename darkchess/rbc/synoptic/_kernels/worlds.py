"""Kernels of playouts: the effect of a sense or a request on the true position and on both players' sets.

States, members and actions are as in :mod:`darkchess.rbc.synoptic._kernels.members`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.bits import beside, bit, lowest, popcount, squares
from darkchess.board.kernels.board import BLACK, KING, META, PAWN, QUEEN, WHITE, ep_square, turn
from darkchess.board.kernels.halves import MOST_SUCCESSORS, code_at, encode_half, plain, without
from darkchess.board.kernels.moves import make
from darkchess.board.kernels.position_table import half_hash
from darkchess.board.move import TURNED
from darkchess.rbc.belief._kernels.position_set import (
    decode,
    encode_stepped,
    keep_moved,
    keep_sensed,
    outcome,
    successors,
    without_step,
)
from darkchess.rbc.belief._kernels.senses import partitions
from darkchess.rbc.game._kernels.requests import MAX_REQUESTS, generate_requests, pass_turn
from darkchess.rbc.synoptic._kernels.forced import forced_win
from darkchess.rbc.synoptic._kernels.members import (
    BLACK_WON,
    OVER,
    PASS,
    cut,
    hashed,
    held,
    landing,
    request_of,
    upward,
)
from darkchess.rbc.synoptic._kernels.synopsis import MOVE, PLANES, SENSE, remember_moved, remember_notice, synopsis
from klss.support.hashing import mix64
from klss.support.kernel import kernel

_NONE = np.uint64(0)


@kernel(allocates=False)
def _divided(state: Any, side: int, own: Any, half: Any) -> None:
    """Write a state as ``side`` sees it: the viewer's own half (uint64[9], the viewer to move) and the enemy's half, in
    which a pawn that the viewer can capture en passant is marked.
    """
    # The enemy's half first, while its pieces are in the row; then keep only the own pieces and rights.
    upward(state, side, own)
    encode_half(own, half)
    target = ep_square(own)
    if target >= 0 and turn(state) == side:
        encode_stepped(half, bit(target - 8))
    mine = own[WHITE]
    for i in range(8):
        own[i] &= mine
    own[META] &= np.uint64(6)


@kernel
def halves_of(states: Any, side: int, owns: Any, halves: Any) -> None:
    """Apply :func:`_divided` to many states: owns uint64[n, 9], halves uint64[n, 2], written."""
    for i in range(states.shape[0]):
        _divided(states[i], side, owns[i], halves[i])


@kernel
def states_of(own: Any, halves: Any, passed: Any, flipped: bool, moves: bool, stage: int, out: Any) -> None:
    """Write the states (uint64[n, STATE]) of a player's half (uint64[9], as its side sees it) and enemy halves.

    ``passed``: the square that its last double step passed, a set of one or none.
    """
    row = np.empty(9, dtype=np.uint64)
    for i in range(halves.shape[0]):
        # The pieces, turned to the real board, and the side to move.
        decode(halves[i, 0], halves[i, 1], own, False, row)
        side = 1 if flipped else 0
        upward(row, side, out[i])
        to_move = side if moves else 1 - side
        out[i, META] = (out[i, META] & np.uint64(0x1E)) | np.uint64(to_move)
        # The en passant square: of the enemy's double step if the player is to move; else of the player's double step,
        # if the enemy can capture there.
        target = np.int64((row[META] >> np.uint64(8)) & np.uint64(0x7F)) if moves else np.int64(0)
        if not moves and passed != _NONE and beside(passed << np.uint64(8)) & row[PAWN] & row[BLACK] != _NONE:
            target = np.int64(lowest(passed) + 1)
        if target > 0 and flipped:
            target = ((target - 1) ^ 56) + 1
        out[i, META] |= np.uint64(target) << np.uint64(8)
        out[i, 9] = np.uint64(stage)


@kernel(inline="always")
def _window(square: int) -> Any:
    """Return the squares of the window around ``square``."""
    middle = bit(square)
    row = middle | beside(middle)
    return row | (row << np.uint64(8)) | (row >> np.uint64(8))


@kernel(allocates=False)
def _played(state: Any, side: int, own: Any, half: Any, action: int, tables: Any, after: Any) -> Any:
    """Play a request of ``side`` in a state, in place; ``own`` and ``half`` are the state as that side sees it, and
    ``after`` is room for a row. Return the move played and the square of its capture, as that side sees them, −1 for
    none. If it captures the king, only the flags of the state change.
    """
    # The move that the request becomes in this state.
    taken, capture = outcome(own, half[0], half[1], request_of(own, action), tables)
    if capture >= 0 and code_at(half[0], half[1], bit(capture)) == np.uint64(KING):
        state[9] |= OVER | (BLACK_WON if side == 1 else _NONE)
        return taken, capture
    # Make it; the other player's turn begins, with the stage of a sense.
    if taken >= 0:
        make(state[:9], taken ^ TURNED if side == 1 else taken, tables, after)
    else:
        pass_turn(state[:9], after)
    for k in range(9):
        state[k] = after[k]
    state[9] &= ~np.uint64(1)
    return taken, capture


@kernel
def after(states: Any, actions: Any, tables: Any) -> None:
    """Take an action in each state, in place."""
    own = np.empty(9, dtype=np.uint64)
    half = np.empty(2, dtype=np.uint64)
    row = np.empty(9, dtype=np.uint64)
    # A sense changes nothing but the stage.
    for i in range(states.shape[0]):
        if states[i, 9] & np.uint64(1) == np.uint64(SENSE):
            states[i, 9] |= np.uint64(MOVE)
            continue
        side = turn(states[i])
        _divided(states[i], side, own, half)
        _played(states[i], side, own, half, np.int64(actions[i]), tables, row)


@kernel
def advance(
    states: Any, planner: int, actions: Any, keys: Any, most: Any, tables: Any,
    members_0: Any, counts_0: Any, memories_0: Any, members_1: Any, counts_1: Any, memories_1: Any,
) -> None:  # fmt: skip
    """Take an action in each world, in place; see :meth:`klss.synoptic.model.Model.advance`.

    ``planner`` is the side (0 White) of seat 0.
    """
    # Room for the successors of the largest set.
    room = 128 * MOST_SUCCESSORS
    for i in range(states.shape[0]):
        room = max(room, (max(counts_0[i], counts_1[i]) + 1) * MOST_SUCCESSORS)
    buffer = np.empty((room, 2), dtype=np.uint64)
    emitted = np.zeros(1, dtype=np.int64)
    own = np.empty(9, dtype=np.uint64)
    half = np.empty(2, dtype=np.uint64)
    other_own = np.empty(9, dtype=np.uint64)
    other_half = np.empty(2, dtype=np.uint64)
    row = np.empty(9, dtype=np.uint64)
    planes = np.empty(PLANES, dtype=np.uint64)
    expected = np.empty(64, dtype=np.int64)
    none = np.empty(0, dtype=np.float64)
    for i in range(states.shape[0]):
        # The acting player: its set, its memory, the number of members it may keep, and the state as it sees it.
        state = states[i]
        side = turn(state)
        first = side == planner
        members = members_0[i] if first else members_1[i]
        counts = counts_0 if first else counts_1
        memory = memories_0[i] if first else memories_1[i]
        room_mine = most[0, i] if first else most[1, i]
        room_theirs = most[1, i] if first else most[0, i]
        _divided(state, side, own, half)
        action = np.int64(actions[i])
        # A sense: keep the members that show in the window what the true half shows.
        if state[9] & np.uint64(1) == np.uint64(SENSE):
            area = _window(action // 65)
            remaining = half[0] & area
            for square in squares(remaining):
                expected[square] = plain(np.int64(code_at(half[0], half[1], bit(square))))
            counts[i] = keep_sensed(members[: counts[i]], area, remaining, expected)
            state[9] |= np.uint64(MOVE)
            continue
        # A request: play it in the true position. If it takes the king, the sets need no update.
        _divided(state, 1 - side, other_own, other_half)
        request = request_of(own, action)
        taken, capture = _played(state, side, own, half, action, tables, row)
        if state[9] & OVER != _NONE:
            continue
        # Keep the members in which the request becomes the same move; remove the captured piece from them and from the
        # true half. The synopsis before that goes into the memory.
        synopsis(own, members[: counts[i]], MOVE, memory, tables, planes)
        kept = keep_moved(members[: counts[i]], none, own, request, taken, capture, tables)
        codes = half[1]
        enemy = half[0]
        if capture >= 0:
            mask = bit(capture)
            codes = without(codes, popcount(enemy & (mask - np.uint64(1))))
            enemy ^= mask
        half[0] = enemy
        half[1] = without_step(codes)
        for k in range(kept):
            buffer[k, 0] = members[k, 0]
            buffer[k, 1] = members[k, 1]
        counts[i] = cut(buffer, kept, keys[i], room_mine, half, members)
        # Remember this turn for the player's next synopses.
        if taken >= 0:
            remember_moved(memory, taken >> 9, (taken >> 3) & 63, capture if capture >= 0 else 64, planes)
        else:
            remember_moved(memory, 64, 64, 64, planes)
        # The other player's turn begins: it learns where it lost a piece, and consistent successors replace its set.
        theirs = members_1[i] if first else members_0[i]
        their_counts = counts_1 if first else counts_0
        their_memory = memories_1[i] if first else memories_0[i]
        lost = _NONE if capture < 0 else bit(capture ^ 56)
        passed = landing(their_memory, other_own, lost)
        emitted[:] = 0
        successors(
            theirs[: their_counts[i]], 0, their_counts[i], other_own[WHITE], other_own[PAWN], lost, passed, tables,
            buffer, room, emitted,
        )  # fmt: skip
        _divided(state, 1 - side, other_own, other_half)
        their_counts[i] = cut(buffer, emitted[0], keys[i], room_theirs, other_half, theirs)
        remember_notice(their_memory, 64 if capture < 0 else capture ^ 56)


# ------------------------------------------------------------------------------------------------ looking at sets
@kernel
def _sense_choices(members: Any, every: Any, classes: Any, found: Any, actions: Any, listing: Any, alike: Any) -> int:
    """Write the senses to choose from: windows whose partition no other one refines, equal partitions as one choice.
    Return the number of choices; ``alike`` has the actions of choice k from ``listing[k]`` on.
    """
    # Drop a window if another one refines its partition: each class of that one lies in one class of this. Of windows
    # with equal partitions, keep the first.
    count = members.shape[0]
    partitions(members, every[:count], classes, found)
    less = np.zeros(36, dtype=np.bool_)  # dropped: it tells nothing more than a window that is kept
    first = np.arange(36)  # the first window with the same partition
    image = np.empty(count, dtype=np.int32)
    for one in range(36):
        if less[one]:
            continue
        for other in range(36):
            if other == one or less[other] or found[other] > found[one] or (found[other] == found[one] and other < one):
                continue
            for k in range(found[one]):
                image[k] = -1
            refined = True
            for j in range(count):
                mine = classes[one, j]
                if image[mine] < 0:
                    image[mine] = classes[other, j]
                elif image[mine] != classes[other, j]:
                    refined = False
                    break
            less[other] = refined
            if refined and found[other] == found[one]:
                first[other] = one
    # The windows that are kept, each with those of the same partition.
    choices = 0
    listed = 0
    for one in range(36):
        if less[one]:
            continue
        actions[choices] = _sense_action(one)
        listing[choices] = listed
        for other in range(one, 36):
            if first[other] == one:
                alike[listed] = _sense_action(other)
                listed += 1
        choices += 1
    listing[choices] = listed
    return choices


@kernel(inline="always")
def _sense_action(window: int) -> Any:
    """Return the action of a window by its number, b2 first."""
    return np.int64(65 * (8 * (window // 6 + 1) + window % 6 + 1) + 64)


@kernel
def _move_choices(own: Any, tables: Any, requests: Any, actions: Any) -> int:
    """Write the actions of all requests, sorted, a pass last; return how many."""
    # Only promotions to a queen. A pawn's capture on the last rank comes with and without one: these are one action.
    count = generate_requests(own, 0, tables, requests)
    kept = 0
    for j in range(count):
        code = requests[j]
        if code & 7 in (0, QUEEN):
            actions[kept] = 65 * (code >> 9) + ((code >> 3) & 63)
            kept += 1
    actions[:kept].sort()
    different = 0
    for j in range(kept):
        if j == 0 or actions[j] != actions[different - 1]:
            actions[different] = actions[j]
            different += 1
    actions[different] = PASS
    return different + 1


@kernel
def looks(
    states: Any, planner: int, tables: Any, members_0: Any, counts_0: Any, memories_0: Any, members_1: Any,
    counts_1: Any, memories_1: Any, synopses: Any, keys: Any, offsets: Any, actions: Any, listing: Any, alike: Any,
    forced: Any,
) -> None:  # fmt: skip
    """Write the arrays of :class:`klss.synoptic.model.Looks` for the sets of the acting players; there is room for
    :data:`MAX_REQUESTS` choices and actions of each set.
    """
    own = np.empty(9, dtype=np.uint64)
    half = np.empty(2, dtype=np.uint64)
    requests = np.empty(MAX_REQUESTS, dtype=np.int32)
    classes = np.empty((36, max(members_0.shape[1], members_1.shape[1])), dtype=np.int32)
    every = np.arange(classes.shape[1])
    found = np.empty(36, dtype=np.int64)
    firsts = np.empty(MAX_REQUESTS + 1, dtype=np.int64)
    offsets[0] = 0
    listing[0] = 0
    for i in range(states.shape[0]):
        # The acting player's set and its synopsis; whether it has a sure win.
        side = turn(states[i])
        first = side == planner
        members = members_0[i, : counts_0[i]] if first else members_1[i, : counts_1[i]]
        memory = memories_0[i] if first else memories_1[i]
        stage = np.int64(states[i, 9] & np.uint64(1))
        _divided(states[i], side, own, half)
        synopsis(own, members, stage, memory, tables, synopses[i])
        forced[i] = 1 if forced_win(own, members, stage, tables) >= 0 else 0
        # A key of stage, side, own half and members. The members' order must not matter, so their hashes are added.
        key = np.uint64(stage + 2 * side + 1)
        for k in range(9):
            key = mix64(key ^ own[k])
        total = np.uint64(0)
        for k in range(members.shape[0]):
            total += half_hash(members[k, 0], members[k, 1], key)
        keys[i] = mix64(total ^ key)
        # Append the choices to those of the sets before.
        begin = offsets[i]
        listed = listing[begin]
        if stage == SENSE:
            count = _sense_choices(members, every, classes, found, actions[begin:], firsts, alike[listed:])
            for k in range(count):
                listing[begin + k + 1] = listed + firsts[k + 1]
        else:
            count = _move_choices(own, tables, requests, actions[begin:])
            for k in range(count):
                alike[listed + k] = actions[begin + k]
                listing[begin + k + 1] = listed + k + 1
        offsets[i + 1] = begin + count


# ------------------------------------------------------------------------------------------------ beliefs
@kernel
def survivors_of_turn(halves: Any, own: Any, lost: Any, passed: Any, tables: Any, later: Any, kept: Any) -> None:
    """Write which halves, before the opponent's move, may lead to one of ``later`` by it: bool[n]."""
    # One successor that is still possible later is enough.
    table = hashed(later)
    buffer = np.empty((2 * MOST_SUCCESSORS, 2), dtype=np.uint64)
    emitted = np.zeros(1, dtype=np.int64)
    for i in range(halves.shape[0]):
        emitted[:] = 0
        successors(
            halves, i, i + 1, own[WHITE], own[PAWN], lost, passed, tables, buffer,
            2 * MOST_SUCCESSORS, emitted,
        )  # fmt: skip
        kept[i] = False
        for k in range(emitted[0]):
            if held(table, buffer[k, 0], buffer[k, 1]):
                kept[i] = True
                break
