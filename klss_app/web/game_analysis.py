"""Analyse a finished game in a separate process: the request comes on stdin, one line of JSON per turn goes to stdout.

``python -m klss_app.web.game_analysis`` is what a review runs; it ends when its reader does.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import chess

from darkchess.evaluation.registry import EvaluatorChoice
from darkchess.fog.analysis.whole_game import Turn, turns
from darkchess.fog.belief.marginals import marginals
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game.record import read_pgn
from darkchess.fog.game.rules import ruleset
from darkchess.fog.players.configuration import configuration
from klss.play.limits import Limit
from klss_app.stdout import discard, own_stdout, print_document, release, reserve
from klss_app.web.summaries import mark
from uci_bridge.bot.true_game import replayed
from uci_bridge.evaluators import make_evaluator

MOST_MOVES = 8
"""Moves of a mixture that a page is sent."""

_LEAST_SHOWN = 0.001
"""Least probability that a page is sent."""


def turn_document(turn: Turn) -> dict[str, Any]:
    """The document of a turn for a page.

    ``positions``: the number in each side's position set, and whether that is a sample; ``beliefs``: for both sides,
    square by square, the enemy's pieces and the probability of each, by the learned filter if the configuration has
    one; ``value`` for the mover; ``truth``, the value of the true position for White; ``moves`` of the mixture;
    ``tries``, SAN and cost of every move; ``lines`` in SAN; ``played`` with its ``loss`` over the player's position
    set, and ``turned``, its luck; ``best``.
    """
    analysis, played = turn.analysis, turn.played
    loss, best = analysis.loss(turn.move), analysis.moves[0]
    sets = {color: analyst.position_set for color, analyst in turn.analysts.items()}
    shown = [each for each in analysis.moves if each.probability >= _LEAST_SHOWN][:MOST_MOVES]
    return {
        "ply": turn.ply,
        "color": chess.COLOR_NAMES[analysis.view.color],
        "positions": {
            chess.COLOR_NAMES[color]: [found.size, found.capped_by is not None] for color, found in sets.items()
        },
        "beliefs": {chess.COLOR_NAMES[color]: _belief(found) for color, found in sets.items()},
        "value": rounded(analysis.value),
        "truth": rounded(turn.true_value()),
        "moves": [
            {"move": each.move.uci(), "san": each.san, "p": round(each.probability, 4), "value": rounded(each.value)}
            for each in shown
        ],
        "tries": {each.move.uci(): [each.san, rounded(analysis.loss(each.move))] for each in analysis.moves},
        "lines": [[each.san for each in line.moves] for line in analysis.lines],
        "played": {
            "san": played.san,
            "p": round(played.probability, 4),
            "loss": rounded(loss),
            "mark": mark(loss),
            "turned": rounded(turn.luck()),
        },
        "best": {"san": best.san, "p": round(best.probability, 4)},
    }


def _belief(known: PositionSet) -> dict[str, dict[str, float]]:
    """Probability of each enemy piece on each square that is not seen."""
    found = marginals(known, known.weights)
    return {
        chess.SQUARE_NAMES[square]: likely(pieces)
        for square in chess.SQUARES
        if not known.view.sees(square) and (pieces := found.at(square))
    }


def likely(pieces: Mapping[str, float]) -> dict[str, float]:
    """Return the probabilities of pieces on a square, rounded, without those that are nearly impossible."""
    return {letter: round(p, 4) for letter, p in pieces.items() if p >= _LEAST_SHOWN}


def rounded(value: float | None) -> float | None:
    """Return a value as a page is sent it."""
    return None if value is None else round(value, 4)


def analyse(request: dict[str, Any]) -> None:
    """Write the turns of the game in ``request``, which has ``pgn``, ``rules``, ``configuration``, ``evaluator``,
    ``stockfish``, ``nodes`` and ``cap``.
    """
    rules = ruleset(request["rules"])
    chosen = configuration(request["configuration"])
    choice = EvaluatorChoice(request["evaluator"], request["stockfish"], reproducible=True)
    for turn in turns(
        replayed(read_pgn(request["pgn"])[0], rules),
        lambda: make_evaluator(chosen, choice, rules),
        configuration=replace(chosen, cap=request["cap"]),
        limit=Limit(nodes=request["nodes"]),
    ):
        print_document(turn_document(turn))


def answer_one(answer: Callable[[dict[str, Any]], None]) -> int:
    """Answer the request on stdin; return the exit code."""
    own_stdout()
    answers = reserve()
    try:
        answer(json.loads(sys.stdin.readline()))
    except BrokenPipeError:
        discard(answers)
        return 1
    finally:
        release()
    return 0


if __name__ == "__main__":
    sys.exit(answer_one(analyse))
