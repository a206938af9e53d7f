"""Perfect-information search: alpha-beta to a fixed depth, the built-in evaluation's quiescence search at the leaves.

The paper's baseline and ``best-guess`` value positions by it, as if both players saw everything (Zhang & Sandholm 2021,
§7). Dark chess's rules hold: every pseudo-legal move is legal, a side that can take the king has won, and the ruleset
says what a side without a move gets.

Source: Knuth & Moore 1975, "An analysis of alpha-beta pruning" (fail-soft; the negamax form). The value is exactly the
minimax value over the leaves' quiescence scores: a leaf's own search is cut short only if its static evaluation, which
bounds the score from below, already reaches beta. *Deviations*: no transposition table, no check for repetitions; all
wins have the same value, however long they take.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.bits import bit
from darkchess.board.kernels.board import BLACK, KING, PAWN, WHITE, WIDTH, turn
from darkchess.board.kernels.moves import MAX_MOVES, generate, has_move, king_capture, make
from darkchess.evaluation.kernels.evaluation import WON, bring_best, new_scratch, quiescence
from klss.support.kernel import kernel

DEEPEST = 30
"""Greatest depth that a caller may ask for, in plies."""

_KILLER = 0.5
"""Rank, in pawns, of the killer: the quiet move that last caused a cutoff at the same ply. Less than any capture."""

_ALPHA, _BETA, _BEST = range(3)  # columns of ``window``
_AT, _END = range(2)  # columns of ``place``
_NEXT, _NODES = range(2)  # entries of ``progress``


@kernel(allocates=False)
def _order(row: Any, moves: Any, keys: Any, n: int, killer: int, worth: Any) -> None:
    """Rank moves[:n]: by what they capture and promote to, cheap captors first; the killer before other quiet moves."""
    side = turn(row)
    enemy = row[BLACK - side]
    for i in range(n):
        code = moves[i]
        target = bit((code >> 3) & 63)
        source = bit(code >> 9)
        # The most valuable victim first, and among equal ones the least valuable captor (MVV-LVA).
        key = 0.0
        if target & enemy != np.uint64(0):
            for piece in range(6):
                if row[piece] & target != np.uint64(0):
                    key += worth[piece] + 1.0
                if row[piece] & source != np.uint64(0):
                    key -= 0.01 * worth[piece]
        if code & 7 != 0:
            key += worth[code & 7] - worth[PAWN]
        if code == killer:
            key += _KILLER
        keys[i] = key


@kernel(allocates=False)
def _settled(row: Any, no_move: float, tables: Any) -> float:
    """Return the score of a position that the rules decide, 2·WON if they don't."""
    side = turn(row)
    if row[KING] & row[BLACK - side] == np.uint64(0) or king_capture(row, tables) >= 0:
        return WON
    if row[KING] & row[WHITE + side] == np.uint64(0):
        return -WON
    if not has_move(row, tables):
        return no_move
    return 2.0 * WON


@kernel
def minimax_many(
    rows: Any, depth: int, no_move: float, soft: int, hard: int, knowledge: Any, scores: Any, progress: Any
) -> Any:  # fmt: skip
    """Search each of ``rows[progress[0]:]`` (uint64[n, 9]) to ``depth`` plies (0 … DEEPEST), one after the other.

    Parameters
    ----------
    no_move : float
        Score in pawns of a side to move without any move: −WON or 0.
    soft, hard : int
        Nodes after which no further row is begun, and after which the current one is given up. A node is a visited
        position; a whole quiescence search counts as one.
    knowledge : Knowledge
    scores : float64[n]
        Gets the score, in pawns for the side to move, of each row that was finished.
    progress : int64[2]
        Modified in place: the first row that is not finished, and the number of nodes of this call.

    Returns
    -------
    bool
        Whether a row was given up.
    """
    # The stack of the search, one row for each ply: position, moves and their ranks, window, next move and end, killer.
    size = depth + 1
    line = np.zeros((size, WIDTH), dtype=np.uint64)
    codes = np.zeros((size, MAX_MOVES), dtype=np.int32)
    ranks = np.zeros((size, MAX_MOVES), dtype=np.float64)
    window = np.zeros((size, 3), dtype=np.float64)
    place = np.zeros((size, 2), dtype=np.int64)
    killers = np.zeros(size, dtype=np.int64)
    return _minimax_each(
        rows, depth, no_move, soft, hard, scores, progress, line, codes, ranks, window, place, killers, new_scratch(),
        knowledge,
    )  # fmt: skip


@kernel(allocates=False)
def _minimax_each(
    rows: Any, depth: int, no_move: float, soft: int, hard: int, scores: Any, progress: Any,
    line: Any, codes: Any, ranks: Any, window: Any, place: Any, killers: Any, leaf: Any, knowledge: Any,
) -> Any:  # fmt: skip
    nodes = 0
    progress[_NODES] = 0
    while progress[_NEXT] < rows.shape[0] and nodes < soft:
        for i in range(WIDTH):
            line[0, i] = rows[progress[_NEXT], i]
        killers[:] = -1
        window[0, _ALPHA] = -2.0 * WON
        window[0, _BETA] = 2.0 * WON
        ply = 0
        entering = True
        while ply >= 0:
            # A new node gets its score if the rules or the last ply decide, else its moves.
            if entering:
                if nodes >= hard:
                    progress[_NODES] = nodes
                    return True
                nodes += 1
                place[ply, _AT] = place[ply, _END] = 0
                score = _settled(line[ply], no_move, knowledge.tables)
                if score > WON and ply == depth:
                    # The leaf's own search may stop if its static evaluation reaches beta.
                    for i in range(WIDTH):
                        leaf.rows[0, i] = line[ply, i]
                    score = quiescence(min(window[ply, _BETA], WON), leaf, knowledge)
                elif score > WON:
                    score = -WON
                    place[ply, _END] = generate(line[ply], knowledge.tables, codes[ply])
                    _order(line[ply], codes[ply], ranks[ply], place[ply, _END], killers[ply], knowledge.worth)
                window[ply, _BEST] = score
            # Go down to the best-ranked move that is left, with the window negated.
            at = place[ply, _AT]
            if at < place[ply, _END]:
                bring_best(codes[ply], ranks[ply], at, place[ply, _END])
                place[ply, _AT] = at + 1
                make(line[ply], codes[ply, at], knowledge.tables, line[ply + 1])
                window[ply + 1, _ALPHA] = -window[ply, _BETA]
                window[ply + 1, _BETA] = -window[ply, _ALPHA]
                ply += 1
                entering = True
                continue
            # Go back up with the score; one that reaches beta, or wins, ends the node above.
            score = -window[ply, _BEST]
            ply -= 1
            entering = False
            if ply >= 0 and score > window[ply, _BEST]:
                window[ply, _BEST] = score
                window[ply, _ALPHA] = max(window[ply, _ALPHA], score)
                if score >= min(window[ply, _BETA], WON):
                    killers[ply] = codes[ply, place[ply, _AT] - 1]
                    place[ply, _END] = 0
        scores[progress[_NEXT]] = window[0, _BEST]
        progress[_NEXT] += 1
    progress[_NODES] = nodes
    return False
