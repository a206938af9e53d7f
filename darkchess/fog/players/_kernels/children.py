"""Kernels of :mod:`darkchess.fog.players.model`: all children of a batch of positions, with the data that the search
needs of each.

A search state is a position's row with one more entry, 9: plies since the searcher last *observed* a pawn move or a
capture (by the searcher, or of one of its pieces).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.attacks import attacked_by
from darkchess.board.kernels.bits import bit, lowest
from darkchess.board.kernels.board import KING, PAWN, WHITE, WIDTH, turn
from darkchess.board.kernels.moves import generate, has_move, king_capture, make
from darkchess.fog.game._kernels.vision import observation_key
from darkchess.fog.game.rules import FIFTY_MOVES_PLIES, REPETITIONS
from klss.support.kernel import kernel
from klss.theory.movers import TERMINAL

STATE_WIDTH = 10
_QUIET = 9

_FORCING = 10.0
"""Added to the interest of captures, checks and promotions, which rank above all other moves (paper, D.2)."""


@kernel(allocates=False)
def sort_codes(codes: Any, count: int) -> None:
    """Sort codes[:count] in place, by insertion: there are few, and it compiles much faster than a library's sort."""
    for i in range(1, count):
        code = codes[i]
        j = i
        while j > 0 and codes[j - 1] > code:
            codes[j] = codes[j - 1]
            j -= 1
        codes[j] = code


@kernel(allocates=False)
def children(
    states: Any, side: int, no_move_value: float, tables: Any, offsets: Any, out: Any, actions: Any, movers: Any,
    observations: Any, values: Any, forcing: Any, rows: Any, rows_offsets: Any, moves: Any,
) -> None:  # fmt: skip
    """Write the children of ``states`` in the order of their moves' codes.

    ``side`` is the searcher's (0 White, 1 Black), ``no_move_value`` the value for a side without a move. A position
    whose side to move can take the king, or has no move, is terminal and gets its exact value for the searcher;
    ``values`` of the others are not written. ``forcing`` (bool) marks captures, checks and promotions.

    The positions that are not terminal are also written into ``rows`` (uint64[m, 9]): those of ``states[i]`` into
    ``rows[rows_offsets[i]:rows_offsets[i + 1]]``. ``moves`` (int32[MAX_MOVES]) is scratch, one array a thread.
    """
    rows_offsets[0] = 0
    for i in range(states.shape[0]):
        row = states[i]
        # Sorted by code, since the nodes of an infoset must list the same actions in the same order.
        count = generate(row, tables, moves)
        sort_codes(moves, count)
        mover = turn(row)
        own_move = mover == side
        kept = rows_offsets[i]
        for c in range(count):
            at = offsets[i] + c
            code = moves[c]
            child = out[at]
            own_before = row[WHITE + side]
            captured = make(row, code, tables, child)
            # Quiet plies as the searcher knows them: only its own pawn moves, its captures and its losses end them.
            from_mask = bit(code >> 9)
            quiet = row[_QUIET] + np.uint64(1)
            if own_move:
                if captured >= 0 or row[PAWN] & from_mask != np.uint64(0):
                    quiet = np.uint64(0)
            elif child[WHITE + side] != own_before:
                quiet = np.uint64(0)
            child[_QUIET] = quiet
            # The move, and what both players observe of it.
            actions[at] = code
            observations[at, 0] = observation_key(child, side, tables)
            observations[at, 1] = observation_key(child, 1 - side, tables)
            # Whether the move is forcing, so that it is looked at first.
            to_move = 1 - mover
            check = False
            king = child[KING] & child[WHITE + to_move]
            if king != np.uint64(0):
                check = attacked_by(child, mover, lowest(king), tables)
            forcing[at] = captured >= 0 or (code & 7) != 0 or check
            # Decided positions get their exact value; the others go to the evaluator.
            sign = 1.0 if to_move == side else -1.0
            if king == np.uint64(0):
                movers[at] = TERMINAL
                values[at] = -sign
            elif king_capture(child, tables) >= 0:
                movers[at] = TERMINAL
                values[at] = sign
            elif not has_move(child, tables):
                movers[at] = TERMINAL
                values[at] = sign * no_move_value
            else:
                movers[at] = 0 if to_move == side else 1
                for j in range(WIDTH):
                    rows[kept, j] = child[j]
                kept += 1
        rows_offsets[i + 1] = kept


@kernel(allocates=False)
def finish(
    states: Any, side: int, offsets: Any, out: Any, movers: Any, theirs: Any, times: Any, values: Any, forcing: Any,
    interest: Any, ceilings: Any,
) -> None:  # fmt: skip
    """Fill in ``values``, all for the searcher, ``interest`` and ``ceilings``. ``theirs`` (float64) has the values of
    the children that are not terminal, in order, each for its side to move.

    ``times`` (int64[m], or of length 0: not known): how often the searcher has made the same observation before.
    """
    k = 0
    for i in range(states.shape[0]):
        own_move = turn(states[i]) == side
        for at in range(offsets[i], offsets[i + 1]):
            if movers[at] != TERMINAL:
                values[at] = theirs[k] if movers[at] == 0 else -theirs[k]
                k += 1
            interest[at] = (values[at] if own_move else -values[at]) + (_FORCING if forcing[at] else 0.0)
            # A draw is possible by fifty quiet moves, or if the same is observed for the third time.
            drawable = out[at, _QUIET] >= np.uint64(FIFTY_MOVES_PLIES)
            if times.shape[0] != 0 and times[at] + 1 >= REPETITIONS:
                drawable = True
            ceilings[at] = 0.0 if drawable else np.inf
