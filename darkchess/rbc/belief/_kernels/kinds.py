"""The step of :class:`darkchess.rbc.belief.kinds.Kinds` across an enemy move, seen from the viewer's side."""

from __future__ import annotations

from typing import Any

import chess
import numpy as np

from darkchess.board.kernels.attacks import attacks
from darkchess.board.kernels.bits import bit, lowest, popcount, squares, without_lowest
from darkchess.board.kernels.board import KING, KNIGHT, META, PAWN, WHITE
from darkchess.board.kernels.halves import MOST_SUCCESSORS, code_at, plain
from darkchess.rbc.belief._kernels.position_set import decode, successors
from klss.support.kernel import kernel

FEATURES = 9
"""Number of features of a move: those of :func:`_describe`, then :data:`LOSS`."""

LOSS = 8
"""The last feature: how much less the position after the move is worth than that after the best one, for the enemy."""

_MOST_LOST = 0.25
"""Most that counts of such a loss: the enemy does not see everything, and what it does not know of may cost a queen."""


_WITHIN_A_MOVE = np.eye(64, dtype=np.int64) + [
    [attacked >> square & 1 for square in chess.SQUARES] for attacked in chess.BB_KNIGHT_ATTACKS
]
_KNIGHT_MOVES = sum((np.linalg.matrix_power(_WITHIN_A_MOVE, k) == 0).astype(np.int64) for k in range(6))
"""Number of moves that a knight needs between two squares of an empty board, at most 6: int64[64, 64]. It is the number
of those k for which k moves are not enough.
"""


@kernel(inline="always")
def _distance(a: int, b: int) -> Any:
    return max(abs((a >> 3) - (b >> 3)), abs((a & 7) - (b & 7)))


@kernel
def _threats(own_row: Any, occupied: Any, tables: Any) -> Any:
    """Return the squares that the viewer's pieces attack."""
    found = np.uint64(0)
    for piece in range(KING + 1):
        for square in squares(own_row[piece] & own_row[WHITE]):
            found |= attacks(piece, square, 0, occupied, tables)
    return found


@kernel
def _describe(
    enemy: Any, codes: Any, after: Any, codes_after: Any, own: Any, king: int, victim: int, threats: Any, worth: Any,
    tables: Any, out: Any,
) -> None:  # fmt: skip
    """Write the features of a move from ``enemy`` to ``after`` into ``out`` (float64[FEATURES]; the last one, its
    loss, is set to 0): whether nothing moved; steps towards the viewer's king, unless it is a pawn's (for a knight,
    twice the moves that it saves); whether the moved piece attacks that king; worth of the captured piece; the moved
    piece's worth if the viewer attacks its target, less that if it attacks its origin; whether a pawn moves; whether
    the king does; whether a piece leaves its back rank, or the king castles.
    """
    out[:] = 0.0
    gone = enemy & ~after
    if gone == np.uint64(0):
        out[0] = 1.0
        return
    # Two squares were left: castling, which counts as development.
    if popcount(gone) == 2:
        out[7] = 1.0
        return
    came = after & ~enemy
    origin, target = lowest(gone), lowest(came)
    piece = plain(np.int64(code_at(enemy, codes, gone)))
    arrived = plain(np.int64(code_at(after, codes_after, came)))
    if piece == KNIGHT:
        # A knight two squares from the king may need more moves than one four squares away, so its steps say little.
        # A move saved counts as two steps.
        out[1] = 2 * (_KNIGHT_MOVES[origin, king] - _KNIGHT_MOVES[target, king])
    elif piece != PAWN:
        out[1] = _distance(origin, king) - _distance(target, king)
    reached = attacks(arrived, target, 1, (after | own) & ~bit(origin), tables)
    out[2] = 1.0 if reached & bit(king) != np.uint64(0) else 0.0
    if victim >= 0:
        out[3] = worth[victim]
    out[4] = (worth[arrived] if threats & came != np.uint64(0) else 0.0) - (
        worth[piece] if threats & gone != np.uint64(0) else 0.0
    )
    out[5] = 1.0 if piece == PAWN else 0.0
    out[6] = 1.0 if piece == KING else 0.0
    out[7] = 1.0 if origin >= 56 and target < 56 and piece >= KNIGHT and piece != KING else 0.0


@kernel
def expand(positions: Any, own_row: Any, passed: Any, tables: Any, offsets: Any, out: Any, taken: Any) -> int:
    """Write every successor of some positions, whatever the notice.

    Parameters
    ----------
    positions
        uint64[n, 2], the enemy's halves.
    own_row
        uint64[9], the viewer's half before the enemy's turn, as White's.
    passed
        The square (a set of one or none) on which the viewer's last double step ended.
    offsets
        int64[n + 1], written: the successors of a position i are those from ``offsets[i]`` to ``offsets[i + 1]``.
    out, taken
        uint64[·, 2] and uint64[·], written: the successors, and the square (a set of one or none) on which one of the
        viewer's pieces was captured.

    Returns
    -------
    int
        The number of successors; transpositions are not merged.
    """
    own = own_row[WHITE]
    made = np.empty((MOST_SUCCESSORS + 1, 2), dtype=np.uint64)
    counts = np.zeros(1, dtype=np.int64)
    end = 0
    for i in range(positions.shape[0]):
        offsets[i] = end
        # The kernel gives moves for one notice only. So go through all notices: no capture, then a capture on each of
        # the viewer's squares.
        targets = own
        mask = np.uint64(0)
        while True:
            counts[:] = 0
            landing = mask >> np.uint64(8) if mask == passed else np.uint64(0)
            successors(
                positions, i, i + 1, own, own_row[PAWN] & own, mask, landing, tables, made,
                MOST_SUCCESSORS + 1, counts,
            )  # fmt: skip
            for j in range(counts[0]):
                out[end, 0], out[end, 1] = made[j, 0], made[j, 1]
                taken[end] = mask
                end += 1
            if targets == np.uint64(0):
                break
            mask = targets & ~(targets - np.uint64(1))
            targets = without_lowest(targets)
    offsets[positions.shape[0]] = end
    return end


@kernel
def boards(successors: Any, taken: Any, own_row: Any, out: Any) -> None:
    """Write the rows (uint64[n, 9]) of successors of :func:`expand`, with the viewer as White and to move."""
    own = own_row.copy()
    for i in range(successors.shape[0]):
        for piece in range(WHITE + 1):
            own[piece] = own_row[piece] & ~taken[i]
        # Of META only the viewer's castling rights stay, and those only if nothing was captured.
        own[META] = own_row[META] & np.uint64(0b110) if taken[i] == np.uint64(0) else np.uint64(0)
        decode(successors[i, 0], successors[i, 1], own, False, out[i])


@kernel
def weigh(
    positions: Any, weights: Any, own_row: Any, captured: Any, offsets: Any, after: Any, taken: Any, values: Any,
    habits: Any, worth: Any, tables: Any, out: Any, shares: Any,
) -> int:  # fmt: skip
    """Write the successors of some positions that agree with a notice, with their weights.

    Parameters
    ----------
    positions, own_row
        As for :func:`expand`, which wrote ``offsets``, ``after`` and ``taken``.
    weights
        float64[n, k]: the weight of each position for each kind of opponent.
    captured
        The square (a set of one or none) on which the turn captured one of the viewer's pieces.
    values
        float64[m]: values, for the enemy, of all successors of the first positions; those of others lose nothing.
    habits
        float64[k, FEATURES]: a move's likelihood for a kind is exp(habits · features), over the sum for all moves.
    worth
        float64[6], of the pieces; the king's decides how surely a king is captured.
    out, shares
        uint64[·, 2] and float64[·, k], written: the successors, and weight times likelihood.

    Returns
    -------
    int
        The number of successors; transpositions are not merged.
    """
    own = own_row[WHITE]
    king = lowest(own_row[KING] & own)
    kinds = weights.shape[1]
    features = np.empty(FEATURES)
    totals = np.empty(kinds)
    end = 0
    for i in range(positions.shape[0]):
        first = end
        totals[:] = 0.0
        enemy, codes = positions[i, 0], positions[i, 1]
        threats = _threats(own_row, enemy | own, tables)
        valued = offsets[i + 1] <= values.shape[0]
        best = values[offsets[i] : offsets[i + 1]].max() if valued else 0.0
        # All moves count in the sum, and those of the true notice are written.
        for j in range(offsets[i], offsets[i + 1]):
            # The piece that the move captures, whose worth is one of its features.
            victim = -1
            if taken[j] != np.uint64(0):
                for piece in range(KING + 1):
                    if own_row[piece] & taken[j] != np.uint64(0):
                        victim = piece
            _describe(enemy, codes, after[j, 0], after[j, 1], own, king, victim, threats, worth, tables, features)
            if valued:
                features[LOSS] = min(best - values[j], _MOST_LOST)
            for kind in range(kinds):
                score = 0.0
                for f in range(FEATURES):
                    score += habits[kind, f] * features[f]
                likelihood = np.exp(score)
                totals[kind] += likelihood
                if taken[j] == captured:
                    shares[end, kind] = likelihood
            if taken[j] == captured:
                out[end, 0], out[end, 1] = after[j, 0], after[j, 1]
                end += 1
        # Divide by the sum over all moves, and multiply by the source's weight.
        for kind in range(kinds):
            factor = weights[i, kind] / totals[kind]
            for j in range(first, end):
                shares[j, kind] *= factor
    return end
