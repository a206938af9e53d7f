"""Who wins with king and pawn against a king under the rules of Fog of War if both see everything: the table of all
positions, by going back from the won ones.

Shares no code with the engine. White, who has the pawn, wins where the black king can be taken, or where the pawn
becomes a queen that can't be taken, or only at the price of the king. There is no check: a king may step anywhere.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from tests.oracles.brute_force import Position


def _near(square: int) -> list[int]:
    file, rank = square % 8, square // 8
    return [
        8 * r + f
        for f in range(max(0, file - 1), min(8, file + 2))
        for r in range(max(0, rank - 1), min(8, rank + 2))
        if (f, r) != (file, rank)
    ]


NEAR = [_near(square) for square in range(64)]
_TOUCH = np.array([[b in NEAR[a] for b in range(64)] for a in range(64)])


@lru_cache(maxsize=1)
def won() -> tuple[np.ndarray, np.ndarray]:
    """Whether White wins, bool[64, 64, 64] by White's king, Black's king and pawn: White to move, Black to move."""
    white, black = np.zeros((64, 64, 64), bool), np.zeros((64, 64, 64), bool)
    apart = ~_TOUCH & ~np.eye(64, dtype=bool)
    # The pawn farthest ahead first: the others come to where it stands.
    for pawn in reversed(range(8, 56)):
        free = np.arange(64) != pawn
        hit = [pawn + step for step in (7, 9) if abs((pawn + step) % 8 - pawn % 8) == 1]
        takes = _TOUCH.copy()
        takes[:, hit] = True
        pushes = _pushes(pawn, black) & apart
        while True:
            # White takes the king, pushes the pawn, or steps to where the black king is not next to its own.
            stays = black[:, :, pawn] & free[:, None]
            steps = np.array([stays[NEAR[king]].any(axis=0) for king in range(64)])
            white[:, :, pawn] = (takes | pushes | steps) & free[:, None] & free
            # Black loses where every step does: next to White's king, or to a square where White wins.
            loses = _TOUCH | (white[:, :, pawn] & free)
            caught = np.array([loses[:, NEAR[other]].all(axis=1) for other in range(64)]).T & apart
            caught &= free[:, None] & free
            if np.array_equal(caught, black[:, :, pawn]):
                break
            black[:, :, pawn] = caught
    return white, black


def _pushes(pawn: int, black: np.ndarray) -> np.ndarray:
    """Where a push of the pawn wins, bool[64, 64] by the kings, if they are apart."""
    ahead = np.arange(64) == pawn + 8
    clear = ~ahead[:, None] & ~ahead
    if pawn >= 48:
        # A new queen stays where the black king is not next to it, or is taken for it.
        return clear & (~_TOUCH[pawn + 8] | _TOUCH[:, pawn + 8 : pawn + 9])
    wins = black[:, :, pawn + 8] & clear
    if pawn < 16:
        further = np.arange(64) == pawn + 16
        wins |= black[:, :, pawn + 16] & clear & ~further[:, None] & ~further
    return wins


def wins(position: Position) -> bool:
    """Whether the side with the pawn, White, wins; after a promotion, whether the new piece stays."""
    board, turn, _, _ = position
    if "k" not in board or "K" not in board:
        return "k" not in board
    king, other, pawn = board.index("K"), board.index("k"), board.find("P")
    if pawn < 0 and turn == "w":  # Black took the pawn
        return bool(_TOUCH[king][other])
    if pawn < 0:
        queen = board.find("Q")
        return (
            queen >= 0
            and turn == "b"
            and not _TOUCH[king][other]
            and (not _TOUCH[other][queen] or bool(_TOUCH[king][queen]))
        )
    return bool(won()[0 if turn == "w" else 1][king, other, pawn])
