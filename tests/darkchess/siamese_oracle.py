"""What tests of both games' learned weights share: weights of no meaning, and the enemy's pieces by python-chess."""

from __future__ import annotations

import chess
import numpy as np

from darkchess.board.position import Position
from darkchess.weighting.enemy_features import FEATURES
from darkchess.weighting.network import Blocks
from klss.networks.towers import Towers


def towers(blocks: Blocks, temperature: float) -> Towers:
    """Weights of no meaning."""
    generator = np.random.default_rng(0)
    (_, _, planes), (scalars,), (shares, map_size) = blocks.shapes
    shapes: dict[str, tuple[int, ...]] = {
        "conv0": (3, 3, planes, 4), "conv0_bias": (8, 8, 4), "scalars": (scalars, 4), "kinds": (4, 6),
        "pooled": (4, 2), "dense": (128, 5), "others": (5, FEATURES - 384), "map_bias": (FEATURES,),
        "shares": (2 * shares, map_size),
    }  # fmt: skip
    return Towers({name: generator.normal(0, 0.2, shape) for name, shape in shapes.items()}, temperature, {})


def enemies(position: Position, viewer: chess.Color) -> set[int]:
    """Features of the enemy's pieces, by python-chess's own squares."""
    side = 0 if viewer else 56
    return {
        (piece.piece_type - 1) * 64 + (square ^ side)
        for square, piece in position.pieces.items()
        if piece.color != viewer
    }
