"""The true position of a finished game, compared with the engine's analysis: its weight among the possible ones, and
the luck of a move.

This is on the referee's side: it knows the true game. The engine's analysis still comes from views alone
(:mod:`darkchess.fog.analysis.analyst`).
"""

from __future__ import annotations

from typing import Any

import chess
import numpy as np

from darkchess.board.kernels.board import IDENTITY, META
from darkchess.board.move import encode
from darkchess.board.position import Position
from darkchess.fog.analysis.analyst import Analysis, Analyst
from darkchess.fog.belief.position_set import PositionSet

_MOST_VALUED = 256
"""Most possible positions over which luck values each move; of a larger set as many are drawn."""

_ROUNDING = 1e-9
"""Differences up to this may be rounding errors: such numbers count as equal."""


def truth_at(position: Position, analysis: Analysis, positions: PositionSet) -> dict[str, Any]:
    """Return where ``position``, the true one, is in ``analysis`` and in ``positions``, the set of that analysis:
    ``truth`` of docs/analyse.md.
    """
    view, found = analysis.view, analysis.marginals
    row = position.row.copy()
    row[META] &= IDENTITY
    possible = positions.contains(row)
    # By the filter's weights.
    weight, weight_rank = None, None
    if possible:
        weight = float(positions.weights[positions.indices(row)[0]])
        weight_rank = 1 + int((positions.weights > weight * (1.0 + _ROUNDING)).sum())
    # By the search: the equilibrium's probability of each root, the opponent's plan times chance.
    trunk = analysis.trunk
    roots = trunk.root_count
    reach = trunk.nodes.chance[:roots] * analysis.profile.y[trunk.nodes.sequence[:roots, 1]]
    states = trunk.states[:roots, :9].copy()
    states[:, META] &= IDENTITY
    equal = (states == row).all(axis=1)
    particle, particle_rank = None, None
    if equal.any():
        own_reach, total = float(reach[equal].sum()), float(reach.sum())
        particle = own_reach / total if total > 0.0 else None
        particle_rank = 1 + int((reach > reach[equal].max() + _ROUNDING).sum())
    hidden = {
        chess.SQUARE_NAMES[square]: {
            "piece": piece.symbol(),
            "probability": found.at(square).get(piece.symbol(), 0.0),
        }
        for square, piece in sorted(position.pieces.items())
        if piece.color != view.color and not view.sees(square)
    }
    return {
        "fen": position.fen(),
        "possible": possible,
        "positions": positions.size,
        "weight": weight,
        "weight_rank": weight_rank,
        "particle": particle,
        "particle_rank": particle_rank,
        "particles": roots,
        "hidden": hidden,
    }


def luck(position: Position, move: chess.Move, analysis: Analysis, analyst: Analyst) -> float:
    """Return the luck of ``move`` in ``position``, the true one: its value there less its mean over the possible
    positions, less the same of the mixed strategy, by the evaluator.

    It is in [−4, 4], positive if the mover was lucky. Its mean over the possible positions is 0; so it is 0 if only one
    position was possible. ``analyst`` made ``analysis``, and has seen no later view.
    """
    rows, weights = analyst.possible(_MOST_VALUED)
    # All these positions show the player's last view, so they have the same moves.
    found = analyst.model.expand(analyst.model.states(np.concatenate([position.row[None, :], rows]), analyst.quiet))
    codes = found.actions.reshape(len(rows) + 1, -1)
    values = np.take_along_axis(found.values.reshape(codes.shape), np.argsort(codes, axis=1), axis=1)
    gain = dict(zip(np.sort(codes[0]).tolist(), values[0] - weights @ values[1:], strict=True))
    mix = sum(each.probability for each in analysis.moves)
    chosen = sum(each.probability * gain[encode(each.move)] for each in analysis.moves) / mix
    return float(gain[encode(move)] - chosen)
