"""The cost of every turn of a kept game (:mod:`darkchess.rbc.analysis`): as a document, and as text with the costliest
turns first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import chess

from darkchess.rbc.analysis import AnalysedTurn, square_name, uci
from klss.support.text import counted
from klss_app.rbc_spoken import move_letters

__all__ = ["document", "text"]

_SHOWN = 10


def document(found: AnalysedTurn) -> dict[str, Any]:
    """The document of a turn."""
    return {
        "turn": found.number,
        "color": chess.COLOR_NAMES[found.turn.color],
        "positions": found.held[0],
        "positions_after_sense": found.held_after,
        "sense": {
            "played": square_name(found.turn.sensed.square),
            "best": found.best_look,
            "cost": found.look_cost,
        },
        "move": {
            "played": uci(found.turn.moved.requested),
            "best": found.moves[0]["move"],
            "value": found.moves[0]["value"],
            "cost": found.request_cost,
        },
    }


def text(turns: Sequence[dict[str, Any]], pieces: Sequence[Mapping[int, chess.Piece]]) -> list[str]:
    """The text: both sides' mean costs, and the costliest looks and requests; ``pieces``: on the board at each turn."""
    lines = []
    for part, what in (("sense", "looks"), ("move", "requests")):
        known = [turn for turn in turns if turn[part]["cost"] is not None]
        means = []
        for color in ("white", "black"):
            costs = [turn[part]["cost"] for turn in known if turn["color"] == color]
            means.append(f"{color} {sum(costs) / len(costs):.3f}" if costs else f"{color} ?")
        lines += ["", f"{what}, mean cost: {', '.join(means)}; the costliest:"]
        for turn in sorted(known, key=lambda turn: -turn[part]["cost"])[:_SHOWN]:
            did, best = turn[part]["played"], turn[part]["best"]
            if part == "move":
                did, best = (move_letters(move, pieces[turn["turn"]]) for move in (did, best))
            held = turn["positions"] if part == "sense" else turn["positions_after_sense"]
            lines.append(
                f"  turn {turn['turn']:>3} {turn['color']:<5} {did or 'nothing':<8} cost {turn[part]['cost']:.3f}, "
                f"best {best or 'nothing':<8} of {counted(held, 'position')}"
            )
    return lines[1:]
