"""What tests of both games' learned weights share: the features of positions by python-chess."""

from __future__ import annotations

import chess

from darkchess.board.position import Position


def enemies(position: Position, viewer: chess.Color) -> set[int]:
    """Features of the enemy's pieces, by python-chess's own squares."""
    side = 0 if viewer else 56
    return {
        (piece.piece_type - 1) * 64 + (square ^ side)
        for square, piece in position.pieces.items()
        if piece.color != viewer
    }


def features(position: Position, viewer: chess.Color) -> set[int]:
    """All features: the pieces, the rights to castle queen- and kingside, the file of a double step."""
    rights = {384 + "qk".index(right.lower()) for right in position.castling_rights if right.isupper() != viewer}
    stepped = set() if position.ep_square is None else {386 + position.ep_square % 8}
    return enemies(position, viewer) | rights | stepped
