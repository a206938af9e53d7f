"""The thoughts of a player that maximises expectation, at one turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import chess

from darkchess.rbc.analysis import marginals, requests, square_name, uci, windows
from darkchess.rbc.game.referee import Turn
from darkchess.rbc.players.expectation import ExpectationPlayer
from klss.support.text import counted
from klss.table.limits import Limit
from klss_app.rbc_spoken import move_letters

__all__ = ["text", "thoughts"]

_SHOWN = 8


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
    document["marginals"] = marginals(player, found.indices, weights)
    return document


def text(document: dict[str, Any], pieces: Mapping[int, chess.Piece]) -> list[str]:
    """The same as lines; ``pieces``: on the board at the turn."""
    sense, move = document["sense"], document["move"]
    gains = sorted(sense["windows"].items(), key=lambda window: -window[1]["gain"])
    lines = [
        f"looks at {sense['chosen']} (played: {sense['played'] or 'nowhere'}); gain of a look, share of the set left:",
        "  " + "  ".join(f"{name} {each['gain']:+.2f} {each['left_over']:.0%}" for name, each in gains[:_SHOWN]),
        f"after the played look {counted(document['positions_after_sense'], 'position')}, {move['boards']:,} valued",
        f"asks for {move_letters(move['chosen'], pieces)} (played: {move_letters(move['played'], pieces)}):",
    ]
    shown = move["moves"][:_SHOWN]
    return lines + [f"  {move_letters(entry['move'], pieces):<6} {entry['value']:+.3f}" for entry in shown]
