"""The description of a move for the policy (:mod:`darkchess.fog.belief.policy`): an index into the table of multipliers
for each of :data:`GROUPS` groups.

A move's weight is the product of its multipliers. Its likelihood is this weight, divided by the sum of the weights of
all legal moves. Products need no exponential function. What the moves of a position have in common (which squares are
attacked) is computed once.

The viewer is White and the enemy, who moves, is Black. *Seen* pieces of the viewer are those that the enemy's pieces
attack, which is what the enemy sees (docs/rules.md).

======== ========================================================================================= ============
group    index                                                                                     size
======== ========================================================================================= ============
FROM     phase, piece, square                                                                      3 · 6 · 64
TO       phase, piece, square                                                                      3 · 6 · 64
TAKEN    captured piece or none, capturing piece                                                   7 · 6
TARGET   the same, the viewer's cheapest attacker of the target, whether it is defended            7 · 6 · 6 · 2
SEEN     the same, counting seen attackers only                                                    7 · 6 · 6 · 2
ORIGIN   piece, the viewer's cheapest attacker of the origin, whether it was defended              6 · 6 · 2
LEFT     the same, counting seen attackers only                                                    6 · 6 · 2
HANGING  most valuable other piece that hangs, by all attackers and by seen ones; whether the      6 · 6 · 2
         move captures
KING     whether the king is attacked after the move, by a seen piece, and before the move         2 · 2 · 2
THREAT   piece, the most valuable seen piece that it attacks from its target                       6 · 7
KIND     no promotion; to a knight, bishop, rook, queen; castling short, long                      7
======== ========================================================================================= ============

*Approximations*: attacks are those of the position before the move, so a piece that moves away still blocks lines
(except for attacks on the king). Whether a piece hangs is judged by its cheapest attacker, and by whether it is
defended at all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.attacks import attackers, attacks, bishop_attacks, rook_attacks
from darkchess.board.kernels.bits import bit, lowest, popcount, squares
from darkchess.board.kernels.board import BLACK, KING, KNIGHT, PAWN, WHITE, ep_square
from darkchess.board.kernels.moves import generate
from klss.support.kernel import kernel

NAMES = ("from", "to", "taken", "target", "seen", "origin", "left", "hanging", "king", "threat", "kind")
"""Names of the groups, in the order of a move's indices."""

_SIZES = (1152, 1152, 42, 504, 504, 72, 72, 72, 8, 42, 7)
GROUPS = len(_SIZES)
STARTS = tuple(sum(_SIZES[:group]) for group in range(GROUPS))
"""First entry of each group in the table."""
SIZE = sum(_SIZES)
"""Number of entries of the table."""
PLAIN = 3
"""Number of groups, the first ones, that need no attacks: those of the level ``tables``."""

_TO, _TAKEN, _TARGET, _SEEN, _ORIGIN, _LEFT, _HANGING, _KING, _THREAT, _KIND = STARTS[1:]

_MAPS = 12
"""Number of attack maps: squares that the enemy attacks at least once, and at least twice; squares that each class of
the viewer's pieces attacks, first of all pieces, then of the seen ones.
"""
_THEIRS, _THEIRS_TWICE, _ALL, _SEEN_ONLY = 0, 1, 2, 7


@kernel(inline="always")
def _class(piece: int) -> int:
    """Return the class of a piece: pawn, minor piece, rook, queen, king: 0 to 4."""
    return piece if piece == PAWN else piece - 1 if piece > KNIGHT else 1


@kernel(inline="always")
def _cheapest(mask: Any, maps: Any, first: int) -> int:
    """Return the class of the cheapest attacker of a square, plus 1; 0 if it is not attacked."""
    for kind in range(5):
        if maps[first + kind] & mask != np.uint64(0):
            return kind + 1
    return 0


@kernel(inline="always")
def _hangs(piece: int, mask: Any, maps: Any, first: int) -> Any:
    """Return whether one of the enemy's pieces can be captured at a profit, roughly."""
    attacker = _cheapest(mask, maps, first)
    if attacker == 0:
        return False
    return maps[_THEIRS] & mask == np.uint64(0) or attacker - 1 < _class(piece)


@kernel(allocates=False)
def _fill_maps(row: Any, pieces: Any, tables: Any, maps: Any) -> Any:
    """Write ``maps`` and ``pieces`` (int8[64], of each square; −1: empty); return the squares of the viewer's pieces
    that are seen.
    """
    for i in range(_MAPS):
        maps[i] = np.uint64(0)
    for square in range(64):
        pieces[square] = -1
    theirs, own = row[BLACK], row[WHITE]
    occupied = theirs | own
    for piece in range(6):
        for square in squares(row[piece] & theirs):
            pieces[square] = piece
            reached = attacks(piece, square, 1, occupied, tables)
            maps[_THEIRS_TWICE] |= maps[_THEIRS] & reached
            maps[_THEIRS] |= reached
    # The enemy sees what it attacks. It can't fear pieces that it does not see, so seen pieces have maps of their own.
    seen = own & maps[_THEIRS]
    for piece in range(6):
        for square in squares(row[piece] & own):
            pieces[square] = piece
            reached = attacks(piece, square, 0, occupied, tables)
            maps[_ALL + _class(piece)] |= reached
            if seen & bit(square) != np.uint64(0):
                maps[_SEEN_ONLY + _class(piece)] |= reached
    return seen


@kernel(inline="always")
def _hanging(row: Any, pieces: Any, maps: Any, first: int) -> Any:
    """Return the enemy's most valuable piece that hangs (its class plus 1, and its square), and the class plus 1 of the
    second one; 0: there is none.
    """
    best, best_square, second = 0, -1, 0
    for square in squares(row[BLACK] & ~row[KING]):
        piece = pieces[square]
        if _hangs(piece, bit(square), maps, first):
            dear = _class(piece) + 1
            if dear > best:
                second = best
                best, best_square = dear, square
            elif dear > second:
                second = dear
    return best, best_square, second


@kernel(allocates=False)
def describe(row: Any, plain: bool, tables: Any, codes: Any, index: Any, pieces: Any, maps: Any) -> Any:
    """Write all legal moves of the enemy and their descriptions; return their number.

    Parameters
    ----------
    row
        uint64[9], with the viewer as White and the enemy (Black) to move; the enemy must have its king.
    plain
        Whether only the first :data:`PLAIN` groups are needed.
    codes
        int32[MAX_MOVES], written: the moves' codes.
    index
        int16[MAX_MOVES, GROUPS], written: each move's entries in the table of multipliers.
    pieces, maps
        int8[64], uint64[12]: work arrays.
    """
    count = generate(row, tables, codes)
    own, theirs = row[WHITE], row[BLACK]
    occupied = own | theirs
    seen = np.uint64(0)
    # The piece on each square, and for the other groups the attacks.
    if plain:
        for square in range(64):
            pieces[square] = -1
        for piece in range(6):
            for square in squares(row[piece]):
                pieces[square] = piece
    else:
        seen = _fill_maps(row, pieces, tables, maps)
    men_left = popcount(occupied)
    phase = 0 if men_left > 26 else 1 if men_left > 14 else 2
    ep = ep_square(row)
    king = lowest(row[KING] & theirs)
    # What all moves share: attackers of the king, and what hangs, by all of the viewer's pieces and by the seen ones.
    checkers = np.uint64(0)
    lines = np.uint64(0)
    all_best, all_square, all_second, seen_best, seen_square, seen_second = 0, -1, 0, 0, -1, 0
    if not plain:
        checkers = attackers(row, 0, king, occupied, tables)
        lines = rook_attacks(king, occupied, tables) | bishop_attacks(king, occupied, tables)
        all_best, all_square, all_second = _hanging(row, pieces, maps, _ALL)
        seen_best, seen_square, seen_second = _hanging(row, pieces, maps, _SEEN_ONLY)
    for k in range(count):
        origin, target, promotion = codes[k] >> 9, (codes[k] >> 3) & 63, codes[k] & 7
        piece = pieces[origin]
        taken = pieces[target] + 1
        passing = piece == PAWN and target == ep
        if passing:
            taken = 1
        # The plain groups: from, to, and what is captured by what.
        mask, start = bit(target), bit(origin)
        index[k, 0] = (phase * 6 + piece) * 64 + origin
        index[k, 1] = _TO + (phase * 6 + piece) * 64 + target
        index[k, 2] = _TAKEN + taken * 6 + piece
        if plain:
            continue
        # The target: its cheapest attacker, and whether it is defended. The moving piece is one of those that attacked
        # the target and no longer defends it, so there must be another; but a pawn's step and castling are no attacks.
        pushes = piece == PAWN and taken == 0
        castles = piece == KING and (target == origin + 2 or target == origin - 2)
        defenders = maps[_THEIRS] if pushes or castles else maps[_THEIRS_TWICE]
        defended = 1 if defenders & mask != np.uint64(0) else 0
        trade = (taken * 6 + piece) * 6
        index[k, 3] = _TARGET + (trade + _cheapest(mask, maps, _ALL)) * 2 + defended
        index[k, 4] = _SEEN + (trade + _cheapest(mask, maps, _SEEN_ONLY)) * 2 + defended
        # The origin: its cheapest attacker, and whether the piece was defended there.
        stood = 1 if maps[_THEIRS] & start != np.uint64(0) else 0
        index[k, 5] = _ORIGIN + (piece * 6 + _cheapest(start, maps, _ALL)) * 2 + stood
        index[k, 6] = _LEFT + (piece * 6 + _cheapest(start, maps, _SEEN_ONLY)) * 2 + stood
        # The most valuable piece that hangs and does not move.
        hanging = all_second if origin == all_square else all_best
        in_sight = seen_second if origin == seen_square else seen_best
        index[k, 7] = _HANGING + (hanging * 6 + in_sight) * 2 + (1 if taken else 0)
        # Attacks on the king before and after. They can only change if the king moves, if it was attacked, or if a
        # piece leaves a line to the king.
        after = np.uint64(0)
        gone = (occupied ^ start) | mask
        if piece == KING:
            if not castles:
                after = attackers(row, 0, target, gone, tables) & ~mask
        elif checkers != np.uint64(0) or lines & start != np.uint64(0) or passing:
            if passing:
                gone &= ~bit(target + 8)
            after = attackers(row, 0, king, gone, tables) & gone & ~mask
        state = 4 if after != np.uint64(0) else 0
        if after & seen != np.uint64(0):
            state += 2
        if checkers != np.uint64(0):
            state += 1
        index[k, 8] = _KING + state
        # The most valuable seen piece that it attacks from the target.
        becomes = promotion if promotion else piece
        threatened = attacks(becomes, target, 1, gone, tables) & seen & ~mask
        dearest = 0
        if threatened != np.uint64(0):
            for other in range(5, -1, -1):
                if row[other] & threatened != np.uint64(0):
                    dearest = other + 1
                    break
        index[k, 9] = _THREAT + piece * 7 + dearest
        # Promotions and castling.
        index[k, 10] = _KIND + (promotion if not castles else 5 if target > origin else 6)
    return count


@kernel(inline="always")
def multiplied(index: Any, groups: int, multipliers: Any) -> Any:
    """Return the product of a move's multipliers (float64) over the first ``groups`` groups."""
    product = 1.0
    for group in range(groups):
        product *= multipliers[index[group]]
    return product
