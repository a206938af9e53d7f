"""What a player believes, square by square: how likely each piece is there, over the positions that the player can't
rule out; and this as a board in text.
"""

from __future__ import annotations

from dataclasses import dataclass

import chess
import numpy as np

from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game.render import Style, board_lines
from darkchess.fog.game.view import View
from darkchess.weighting.enemy_features import weight_sums
from klss.support.arrays import Floats


@dataclass(frozen=True)
class Marginals:
    """What stands on each square, over all positions that a player can't rule out."""

    color: chess.Color  # the player
    own: dict[int, chess.Piece]  # the player's own pieces
    # probability of each enemy piece (pawn to king) on each square: float64[64, 6], exactly 0 or 1 only if it is
    # certain: in none of the positions, or in all
    shares: Floats

    def at(self, square: int) -> dict[str, float]:
        """Return the probability of each piece that may stand on ``square`` (a FEN letter), the likeliest first.

        The rest to 1 is the probability that the square is empty.
        """
        if square in self.own:
            return {self.own[square].symbol(): 1.0}
        shares = self.shares[square].tolist()
        order = sorted(range(6), key=lambda piece: (-shares[piece], piece))
        return {chess.Piece(piece + 1, not self.color).symbol(): shares[piece] for piece in order if shares[piece]}

    def by_square(self) -> dict[str, dict[str, float]]:
        """Return :meth:`at` by the square's name, a1 first; squares that are surely empty are left out."""
        found = {chess.SQUARE_NAMES[square]: self.at(square) for square in range(64)}
        return {name: men for name, men in found.items() if men}


def marginals(positions: PositionSet) -> Marginals:
    """Return the exact sums over all of ``positions``, by their weights."""
    view = positions.view
    squares = np.arange(64) ^ (56 if positions.flipped else 0)  # halves are seen from the player's side
    counts, weighed = (weight_sums(positions.halves, each)[:, squares].T for each in (None, positions.weights))
    # Sums of weights round, so they are kept off 0 and 1 wherever the counts say that nothing is certain.
    inner = np.clip(weighed, np.finfo(np.float64).tiny, np.nextafter(1.0, 0.0))
    found = np.where((counts > 0) & (counts < positions.size), inner, counts / positions.size)
    own = {square: piece for square, piece in sorted(view.pieces.items()) if piece.color == view.color}
    return Marginals(view.color, own, found)


def percent(probability: float) -> str:
    """Return ``probability`` in at most four characters; only what is certain gets 0 % or 100 %.

    >>> [percent(p) for p in (0.0, 0.001, 0.43, 0.999, 1.0)]
    ['0%', '<1%', '43%', '>99%', '100%']
    """
    if 0.0 < probability < 0.01:
        return "<1%"
    if 0.99 < probability < 1.0:
        return ">99%"
    return f"{100 * probability:.0f}%"


def belief_lines(view: View, found: Marginals, *, unicode: bool = True) -> list[str]:
    """Return the lines of a board (at most 75 columns), the player's side at the bottom: what the player sees, and on
    every unseen square the likeliest enemy piece with its percentage.

    Parameters
    ----------
    view
        What the player sees.
    found
        What the player believes, at the same ply.
    unicode
        See :class:`darkchess.fog.game.render.Style`; the sign of fog is for unseen squares on which no piece can stand.
    """
    pieces, labels = dict(view.pieces), {}
    for square in chess.SQUARES:
        if not view.sees(square) and (men := found.at(square)):
            symbol, probability = next(iter(men.items()))
            pieces[square], labels[square] = chess.Piece.from_symbol(symbol), f" {percent(probability)}"
    style = Style(unicode=unicode)
    return board_lines(pieces, view.visible, bottom=view.color, style=style, labels=labels, cell=9)
