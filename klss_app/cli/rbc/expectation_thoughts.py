"""What a player who maximises expectation thinks at one turn."""

from __future__ import annotations

from typing import Any

import chess

from darkchess.board.position import Position
from darkchess.rbc.belief.senses import partitions
from darkchess.rbc.game.observation import INNER
from darkchess.rbc.game.referee import Turn
from darkchess.rbc.players.expectation import ExpectationPlayer, expected_values
from darkchess.rbc.players.outlook import Outlook
from klss.support.arrays import Floats
from klss.table.limits import Limit
from klss_app.cli.rbc.spoken import square_name, uci

__all__ = ["requests", "text", "thoughts", "windows"]

_SHOWN = 8


def windows(player: ExpectationPlayer, limit: Limit) -> dict[str, dict[str, float]]:
    """What each look would gain, and leaves over, by the square in its middle."""
    found, weights = player.weighed(limit, sense=True)
    divided = partitions(player.known, found.indices)
    after = expected_values(divided, found.values, weights)
    now = float((weights @ found.values).max())
    return {
        chess.SQUARE_NAMES[square]: {"gain": float(value) - now, "left_over": float(share)}
        for square, value, share in zip(INNER, after, divided.left_over(weights), strict=True)
    }


def requests(player: ExpectationPlayer, found: Outlook, weights: Floats) -> list[dict[str, Any]]:
    """The requests that were valued, best first, each with its expected value."""
    values = weights @ found.values
    return [
        {"move": uci(player.known.request(int(found.codes[i]))) or "pass", "value": float(values[i])}
        for i in (-values).argsort(kind="stable").tolist()
    ]


def thoughts(player: ExpectationPlayer, turn: Turn, limit: Limit) -> dict[str, Any]:
    """The answers to a turn's two questions, and their reasons; the player has observed all before its sense."""
    document: dict[str, Any] = {}
    look = player.choose_sense(limit)
    document["sense"] = {
        "chosen": square_name(look.square),
        "played": square_name(turn.sensed.square),
        "windows": windows(player, limit),
    }
    player.sensed(turn.sensed)
    document["positions_after_sense"] = player.known.size
    asked = player.choose_move(limit)
    found, weights = player.weighed(limit, sense=False)
    moves = requests(player, found, weights)
    document["move"] = {
        "chosen": uci(asked.request),
        "played": uci(turn.moved.requested),
        "value": moves[0]["value"],
        "boards": found.boards,
        "nodes": found.children,
        "moves": moves,
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
