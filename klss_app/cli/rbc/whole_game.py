"""The turns of a kept game (:mod:`darkchess.rbc.analysis`): as documents, as text with the costliest turns first, and
one turn with all senses and requests that were valued.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import chess

from darkchess.rbc.analysis import AnalysedTurn, square_name, uci
from klss.support.text import counted
from klss_app.rbc_spoken import move_letters

_SHOWN = 10
_SHOWN_OF_TURN = 8


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


def full_document(found: AnalysedTurn) -> dict[str, Any]:
    """The document of a turn, with the gain of each sense, the value of each request, and what stands where."""
    shown = document(found)
    shown["sense"]["gains"] = found.gains
    shown["move"]["moves"] = found.moves
    return shown | {"marginals": found.pieces}


def full_text(document: dict[str, Any], pieces: Mapping[int, chess.Piece]) -> list[str]:
    """The text of a :func:`full_document`; ``pieces``: on the board at the turn."""
    sense, move = document["sense"], document["move"]
    gains = sorted(sense["gains"].items(), key=lambda window: -window[1])
    asked, played = (move_letters(move[name], pieces) for name in ("best", "played"))
    return [
        f"best look {sense['best']} (played: {sense['played'] or 'nowhere'}); gain of a look:",
        "  " + "  ".join(f"{name} {gain:+.2f}" for name, gain in gains[:_SHOWN_OF_TURN]),
        f"after the played look {counted(document['positions_after_sense'], 'position')}",
        f"best request {asked} (played: {played}):",
        *(f"  {move_letters(each['move'], pieces):<6} {each['value']:+.3f}" for each in move["moves"][:_SHOWN_OF_TURN]),
    ]


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
