"""What a player who maximises expectation thinks at one turn."""

from __future__ import annotations

from typing import Any

import chess

from darkchess.board.position import Position
from darkchess.rbc.belief.senses import partitions
from darkchess.rbc.game.observation import INNER
from darkchess.rbc.game.referee import Turn
from darkchess.rbc.players.expectation import ExpectationPlayer, expected_values
from klss.table.limits import Limit
from klss_app.cli.rbc.spoken import square_name, uci

__all__ = ["text", "thoughts"]

_SHOWN = 8


def thoughts(player: ExpectationPlayer, turn: Turn, limit: Limit) -> dict[str, Any]:
    """The answers to a turn's two questions, and their reasons; the player has observed all before its sense."""
    known = player.known
    document: dict[str, Any] = {}
    look = player.choose_sense(limit)
    found, weights = player.weighed(limit, sense=True)
    divided = partitions(known, found.indices)
    after = expected_values(divided, found.values, weights)
    now = float((weights @ found.values).max())
    left = divided.left_over(weights)
    document["sense"] = {
        "chosen": square_name(look.square),
        "played": square_name(turn.sensed.square),
        "windows": {
            chess.SQUARE_NAMES[square]: {"gain": float(value) - now, "left_over": float(share)}
            for square, value, share in zip(INNER, after, left, strict=True)
        },
    }
    player.sensed(turn.sensed)
    document["positions_after_sense"] = known.size
    asked = player.choose_move(limit)
    found, weights = player.weighed(limit, sense=False)
    values = weights @ found.values
    order = (-values).argsort(kind="stable")
    document["move"] = {
        "chosen": uci(asked.request),
        "played": uci(turn.moved.requested),
        "value": float(values.max()),
        "boards": found.boards,
        "nodes": found.children,
        "moves": [
            {"move": uci(known.request(int(found.codes[i]))) or "pass", "value": float(values[i])}
            for i in order.tolist()
        ],
    }
    document["marginals"] = _marginals(player, found.indices, weights)
    return document


def _marginals(player: ExpectationPlayer, indices: Any, weights: Any) -> dict[str, dict[str, float]]:
    """How likely each enemy piece stands on each square."""
    found: dict[str, dict[str, float]] = {}
    for row, weight in zip(player.known.rows(indices), weights.tolist(), strict=True):
        for square, piece in Position(row).pieces.items():
            if piece.color != player.known.own.color:
                at = found.setdefault(chess.SQUARE_NAMES[square], {})
                at[piece.symbol()] = at.get(piece.symbol(), 0.0) + weight
    return {name: found[name] for name in sorted(found)}


def text(document: dict[str, Any]) -> list[str]:
    """The same as lines."""
    sense, move = document["sense"], document["move"]
    gains = sorted(sense["windows"].items(), key=lambda window: -window[1]["gain"])
    lines = [
        f"looks at {sense['chosen']} (played: {sense['played'] or 'nowhere'}); gain of a look, share of the set left:",
        "  " + "  ".join(f"{name} {each['gain']:+.2f} {each['left_over']:.0%}" for name, each in gains[:_SHOWN]),
        f"after the played look {document['positions_after_sense']:,} positions, {move['boards']:,} valued",
        f"asks for {move['chosen'] or 'nothing'} (played: {move['played'] or 'nothing'}):",
    ]
    return lines + [f"  {entry['move']:<6} {entry['value']:+.3f}" for entry in move["moves"][:_SHOWN]]
