"""What tests of both games' learned weights share: the features of positions by python-chess."""

from __future__ import annotations

from collections.abc import Iterable

import chess
import numpy as np

from darkchess.board.position import Position
from klss.support.arrays import Floats


def men(position: Position, viewer: chess.Color, color: chess.Color) -> set[int]:
    """Features of the pieces of ``color``, by python-chess's own squares."""
    side = 0 if viewer else 56
    return {
        (piece.piece_type - 1) * 64 + (square ^ side)
        for square, piece in position.pieces.items()
        if piece.color == color
    }


def shares(positions: Iterable[Position], viewer: chess.Color, color: chess.Color, weights: Floats) -> Floats:
    """Weight of the positions that have each of these features."""
    out = np.zeros(384)
    for position, weight in zip(positions, weights, strict=True):
        out[list(men(position, viewer, color))] += weight
    return out


def features(position: Position, viewer: chess.Color) -> set[int]:
    """All features: the pieces, the rights to castle queen- and kingside, the file of a double step."""
    rights = {384 + "qk".index(right.lower()) for right in position.castling_rights if right.isupper() != viewer}
    stepped = set() if position.ep_square is None else {386 + position.ep_square % 8}
    return men(position, viewer, not viewer) | rights | stepped
