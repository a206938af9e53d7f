"""A policy of moves over every position of a set at once: what each legal move of the enemy looks like, as indices into
one table of multipliers, and how likely that makes it.

A move has one index in each of :data:`GROUPS` groups; its weight is the product of the multipliers there, its
likelihood that weight over the sum over all legal moves of its position. Products need no exponential, and what the
moves of a position have in common (who attacks what) is found once.

The board lies as the viewer sees it: the viewer is White, the mover is the enemy, moves down and is Black. "Seen"
pieces of the viewer are those that the enemy's pieces attack, so those that the enemy sees (docs/rules.md).

======== ========================================================================================= ============
group    index                                                                                     size
======== ========================================================================================= ============
FROM     phase, piece, square                                                                      3 · 6 · 64
TO       phase, piece, square                                                                      3 · 6 · 64
TAKEN    what is taken, by what                                                                    7 · 6
TARGET   what is taken, by what, cheapest piece of the viewer's that attacks the square, defended    7 · 6 · 6 · 2
SEEN     the same by the pieces that are seen                                                         7 · 6 · 6 · 2
ORIGIN   piece, cheapest piece that attacks where it stood, defended there                           6 · 6 · 2
LEFT     the same by the pieces that are seen                                                         6 · 6 · 2
HANGING  dearest other piece that hangs, by seen pieces and by all; whether something is taken          6 · 6 · 2
KING     attacked after the move, by a seen piece, before the move                                   2 · 2 · 2
THREAT   piece, dearest seen piece that it attacks from where it goes                                6 · 7
KIND     no promotion, to knight, bishop, rook, queen; castling short, long                        7
======== ========================================================================================= ============

*Approximations*: attacks are those of the position before the move (a piece that stood in the way still does, but for
the king); whether a piece hangs is judged by its cheapest attacker and by whether it is defended at all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from darkchess.board.kernels.attacks import bishop_attacks, rook_attacks
from darkchess.board.kernels.bits import bit, lowest, popcount, without_lowest
from darkchess.board.kernels.board import BISHOP, BLACK, KING, KNIGHT, PAWN, QUEEN, ROOK, WHITE, ep_square
from darkchess.board.kernels.moves import generate
from darkchess.board.kernels.tables import KING_STEPS, KNIGHT_STEPS, PAWN_CAPTURES
from klss.support.kernel import kernel

__all__ = ["GROUPS", "NAMES", "PLAIN", "SIZE", "STARTS", "describe", "multiplied"]

NAMES = ("from", "to", "taken", "target", "seen", "origin", "left", "hanging", "king", "threat", "kind")
"""Of the groups."""

_SIZES = (1152, 1152, 42, 504, 504, 72, 72, 72, 8, 42, 7)
GROUPS = len(_SIZES)
STARTS = tuple(sum(_SIZES[:group]) for group in range(GROUPS))
"""Where each group begins in the table."""
SIZE = sum(_SIZES)
"""Entries of the table."""
PLAIN = 3
"""The first so many groups need no attacks: the policy of tables."""

_TO, _TAKEN, _TARGET, _SEEN, _ORIGIN, _LEFT, _HANGING, _KING, _THREAT, _KIND = STARTS[1:]

_MAPS = 12
"""Attack maps: the enemy's pieces once, twice; the viewer's by class of pieces, all of them, then the seen ones."""
_THEIRS, _THEIRS_TWICE, _ALL, _SEEN_ONLY = 0, 1, 2, 7


@kernel(allocates=False)
def _attacks(piece: int, square: int, side: int, occupied: Any, tables: Any) -> Any:
    """Squares that a piece of ``side`` attacks."""
    if piece == PAWN:
        return tables[square, PAWN_CAPTURES + side]
    if piece == KNIGHT:
        return tables[square, KNIGHT_STEPS]
    if piece == KING:
        return tables[square, KING_STEPS]
    found = np.uint64(0)
    if piece != BISHOP:
        found |= rook_attacks(square, occupied, tables)
    if piece != ROOK:
        found |= bishop_attacks(square, occupied, tables)
    return found


@kernel(inline="always")
def _class(piece: int) -> int:
    """Pawn, minor, rook, queen, king: 0 to 4."""
    return piece if piece == PAWN else piece - 1 if piece > KNIGHT else 1


@kernel(inline="always")
def _cheapest(mask: Any, maps: Any, first: int) -> int:
    """Class of the cheapest attacker of a square, from 1; 0 where nothing attacks it."""
    for kind in range(5):
        if maps[first + kind] & mask != np.uint64(0):
            return kind + 1
    return 0


@kernel(inline="always")
def _hangs(piece: int, mask: Any, maps: Any, first: int) -> Any:
    """Whether a piece of the enemy's can be taken at a profit, roughly."""
    attacker = _cheapest(mask, maps, first)
    if attacker == 0:
        return False
    return maps[_THEIRS] & mask == np.uint64(0) or attacker - 1 < _class(piece)


@kernel(allocates=False)
def _fill_maps(row: Any, pieces: Any, tables: Any, maps: Any) -> Any:
    """Fill ``maps`` and ``pieces`` (int8[64], by square; −1 empty); returns which of the viewer's pieces are seen."""
    for i in range(_MAPS):
        maps[i] = np.uint64(0)
    for square in range(64):
        pieces[square] = -1
    theirs, own = row[BLACK], row[WHITE]
    occupied = theirs | own
    for piece in range(6):
        left = row[piece] & theirs
        while left != np.uint64(0):
            square = lowest(left)
            left = without_lowest(left)
            pieces[square] = piece
            reached = _attacks(piece, square, 1, occupied, tables)
            maps[_THEIRS_TWICE] |= maps[_THEIRS] & reached
            maps[_THEIRS] |= reached
    # The enemy sees what it attacks; what it cannot see it cannot fear, so that has maps of its own.
    seen = own & maps[_THEIRS]
    for piece in range(6):
        left = row[piece] & own
        while left != np.uint64(0):
            square = lowest(left)
            left = without_lowest(left)
            pieces[square] = piece
            reached = _attacks(piece, square, 0, occupied, tables)
            maps[_ALL + _class(piece)] |= reached
            if seen & bit(square) != np.uint64(0):
                maps[_SEEN_ONLY + _class(piece)] |= reached
    return seen


@kernel(allocates=False)
def _king_attackers(square: int, pieces: Any, row: Any, occupied: Any, tables: Any) -> Any:
    """Those of the viewer's ``pieces`` that attack ``square``."""
    found = tables[square, KNIGHT_STEPS] & row[KNIGHT]
    found |= tables[square, KING_STEPS] & row[KING]
    found |= tables[square, PAWN_CAPTURES + 1] & row[PAWN]
    found |= bishop_attacks(square, occupied, tables) & (row[BISHOP] | row[QUEEN])
    found |= rook_attacks(square, occupied, tables) & (row[ROOK] | row[QUEEN])
    return found & pieces


@kernel(inline="always")
def _hanging(row: Any, pieces: Any, maps: Any, first: int) -> Any:
    """The two dearest of the enemy's pieces that hang: class from 1 and square of each; class 0: there is none."""
    best, best_square, second = 0, -1, 0
    left = row[BLACK] & ~row[KING]
    while left != np.uint64(0):
        square = lowest(left)
        left = without_lowest(left)
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
    """Write all legal moves of the enemy, and what each looks like; returns how many.

    Parameters
    ----------
    row
        uint64[9], the viewer White, the enemy (Black) to move; not without a king.
    plain
        Whether only the first :data:`PLAIN` groups are wanted.
    codes
        int32[MAX_MOVES], written: the moves, as many as are returned.
    index
        int16[MAX_MOVES, GROUPS], written: entries of the table of multipliers.
    pieces, maps
        int8[64], uint64[12]: to work in.
    """
    count = generate(row, tables, codes)
    own, theirs = row[WHITE], row[BLACK]
    occupied = own | theirs
    seen = np.uint64(0)
    # What stands where, and for the dearer groups what attacks what.
    if plain:
        for square in range(64):
            pieces[square] = -1
        for piece in range(6):
            left = row[piece]
            while left != np.uint64(0):
                pieces[lowest(left)] = piece
                left = without_lowest(left)
    else:
        seen = _fill_maps(row, pieces, tables, maps)
    men_left = popcount(occupied)
    phase = 0 if men_left > 26 else 1 if men_left > 14 else 2
    ep = ep_square(row)
    king = lowest(row[KING] & theirs)
    # What holds for all moves: check or not, and what hangs (for the enemy, and as far as it sees).
    attackers = np.uint64(0)
    lines = np.uint64(0)
    all_best, all_square, all_second, seen_best, seen_square, seen_second = 0, -1, 0, 0, -1, 0
    if not plain:
        attackers = _king_attackers(king, own, row, occupied, tables)
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
        # From, to, and what is taken by what: all that the plain groups ask.
        mask, start = bit(target), bit(origin)
        index[k, 0] = (phase * 6 + piece) * 64 + origin
        index[k, 1] = _TO + (phase * 6 + piece) * 64 + target
        index[k, 2] = _TAKEN + taken * 6 + piece
        if plain:
            continue
        # Where it arrives: the cheapest attacker there, and a defender. A piece that arrives no longer defends, but a
        # pawn's step and castling did not defend that square before.
        pushes = piece == PAWN and taken == 0
        castles = piece == KING and (target == origin + 2 or target == origin - 2)
        defenders = maps[_THEIRS] if pushes or castles else maps[_THEIRS_TWICE]
        defended = 1 if defenders & mask != np.uint64(0) else 0
        trade = (taken * 6 + piece) * 6
        index[k, 3] = _TARGET + (trade + _cheapest(mask, maps, _ALL)) * 2 + defended
        index[k, 4] = _SEEN + (trade + _cheapest(mask, maps, _SEEN_ONLY)) * 2 + defended
        # Where it left: whether it was attacked and defended there.
        stood = 1 if maps[_THEIRS] & start != np.uint64(0) else 0
        index[k, 5] = _ORIGIN + (piece * 6 + _cheapest(start, maps, _ALL)) * 2 + stood
        index[k, 6] = _LEFT + (piece * 6 + _cheapest(start, maps, _SEEN_ONLY)) * 2 + stood
        # What else hangs and is left so: the second when the first one moves.
        hanging = all_second if origin == all_square else all_best
        in_sight = seen_second if origin == seen_square else seen_best
        index[k, 7] = _HANGING + (hanging * 6 + in_sight) * 2 + (1 if taken else 0)
        # Check before and after: only a king's move, an answer to check, or a piece that leaves a line can change it.
        after = np.uint64(0)
        gone = (occupied ^ start) | mask
        if piece == KING:
            if not castles:
                after = _king_attackers(target, own & ~mask, row, gone, tables)
        elif attackers != np.uint64(0) or lines & start != np.uint64(0) or passing:
            left = own & ~mask
            if passing:
                left &= ~bit(target + 8)
                gone &= ~bit(target + 8)
            after = _king_attackers(king, left, row, gone, tables)
        state = 4 if after != np.uint64(0) else 0
        if after & seen != np.uint64(0):
            state += 2
        if attackers != np.uint64(0):
            state += 1
        index[k, 8] = _KING + state
        # The dearest piece in sight that it attacks from there.
        becomes = promotion if promotion else piece
        threatened = _attacks(becomes, target, 1, gone, tables) & seen & ~mask
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
    """Product of a move's multipliers (float64) over its first ``groups`` groups."""
    product = 1.0
    for group in range(groups):
        product *= multipliers[index[group]]
    return product
