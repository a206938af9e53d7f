"""Analyse a finished game of Reconnaissance Blind Chess in a separate process: the request comes on stdin, one line of
JSON per turn goes to stdout.

``python -m klss_app.web.rbc_analysis`` is what a review runs; it ends when its reader does.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import chess

from darkchess.rbc.analysis import AnalysedTurn, square_name, turns, uci
from darkchess.rbc.game.history import replayed
from darkchess.rbc.players.configuration import configuration, make_player
from darkchess.rbc.players.expectation import ExpectationPlayer
from klss.play.limits import Limit
from klss_app.known.rbc import move_letters
from klss_app.stdout import print_document
from klss_app.web.game_analysis import MOST_MOVES, answer_one, likely, rounded
from klss_app.web.summaries import mark


def turn_document(found: AnalysedTurn, held: dict[str, tuple[int, bool]]) -> dict[str, Any]:
    """The document of a turn for a page: the fields of :func:`klss_app.web.game_analysis.turn_document` that this game
    has, and the mover's look.

    ``held``: the size of each side's position set when it last looked, and whether the set is a sample.
    """
    color = chess.COLOR_NAMES[found.turn.color]
    pieces = found.turn.before.pieces
    best, played = found.moves[0], uci(found.turn.moved.requested) or "pass"
    beliefs = {square: likely(each) for square, each in found.pieces.items()}
    both = {name: beliefs if name == color else {} for name in chess.COLOR_NAMES}
    return {
        "ply": found.number,
        "color": color,
        "positions": {name: list(of) for name, of in held.items()},
        "after_look": found.held_after,
        "beliefs": both,
        "value": round(best["value"], 4),
        "truth": None,
        "moves": [
            {
                "move": each["move"],
                "san": move_letters(each["move"], pieces),
                "p": None,
                "value": round(each["value"], 4),
            }
            for each in found.moves[:MOST_MOVES]
        ],
        "tries": {
            each["move"]: [move_letters(each["move"], pieces), round(best["value"] - each["value"], 4)]
            for each in found.moves
        },
        "looks": {square: round(gain, 4) for square, gain in found.gains.items()},
        "look": {"played": square_name(found.turn.sensed.square), "best": found.best_look},
        "lines": [],
        "played": {
            "san": move_letters(played, pieces),
            "p": None,
            "loss": rounded(found.request_cost),
            "look_loss": rounded(found.look_cost),
            "mark": mark(found.request_cost),
            "turned": None,
        },
        "best": {"san": move_letters(best["move"], pieces), "p": None},
    }


def turn_documents(found: Iterable[AnalysedTurn]) -> Iterator[dict[str, Any]]:
    """:func:`turn_document` of each of these turns, one after the other."""
    held: dict[str, tuple[int, bool]] = dict.fromkeys(chess.COLOR_NAMES, (1, False))
    for each in found:
        held[chess.COLOR_NAMES[each.turn.color]] = each.held
        yield turn_document(each, held)


def analyse(request: dict[str, Any]) -> None:
    """Write the turns of the game ``history``. ``configuration``, ``nodes`` (for each of a turn's two questions) and
    ``cap`` are the player's.
    """
    chosen = replace(configuration(request["configuration"]), cap=request["cap"])
    players = {color: make_player(chosen) for color in chess.COLORS}
    assert all(isinstance(player, ExpectationPlayer) for player in players.values())
    found = turns(replayed(request["history"]), players, Limit(nodes=request["nodes"]))  # type: ignore[arg-type]
    for document in turn_documents(found):
        print_document(document)


if __name__ == "__main__":
    sys.exit(answer_one(analyse))
