"""A finished game analysed, or one turn of it more deeply, in a process of its own: its request on stdin, a line of
JSON a turn on stdout.

``python -m klss_app.web.game_analysis`` is what a review runs; it ends when its reader does.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import chess

from darkchess.fog.analysis.whole_game import Turn, turns
from darkchess.fog.belief.marginals import Marginals, marginals
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game.record import read_pgn
from darkchess.fog.game.rules import ruleset
from darkchess.fog.players.configuration import configuration
from klss.table.limits import Limit
from klss_app.stdout import discard, own_stdout, print_document, release, reserve
from klss_app.web.reviews import replayed
from klss_app.web.summaries import mark
from uci_bridge.evaluators import EvaluatorChoice, make_evaluator

__all__ = ["analyse", "answer_one", "main", "middle", "turn_document"]

_MOST_MOVES = 8
_LEAST_SHOWN = 0.001
_SEEDS = range(3)  # of the searches of a turn that is looked at more deeply


def turn_document(turn: Turn) -> dict[str, Any]:
    """What a page is shown of a turn.

    ``positions``: how many each side holds possible, and whether that is a sample; ``beliefs``: of both sides, square
    by square, the enemy's pieces and how likely each stands there, by the learned filter where the configuration has
    one; ``counted``: the same with every position counted once; ``value`` for the mover; ``truth``, the value of the
    true position for White; ``moves`` of the mixture; ``tries``, SAN and cost of every move; ``lines`` of SAN;
    ``played`` with its ``loss`` against what the player held possible, and what it ``turned`` out to be against the
    truth; ``best``.
    """
    analysis, loss = turn.analysis, turn.loss()
    sets = {color: analyst.position_set for color, analyst in turn.analysts.items()}
    # One pass over a set gives both: the sums by weight, and the counts beside them.
    weighed = {color: marginals(found, found.weights) for color, found in sets.items()}
    shown = [each for each in analysis.moves if each.probability >= _LEAST_SHOWN][:_MOST_MOVES]
    return {
        "ply": turn.ply,
        "color": chess.COLOR_NAMES[analysis.view.color],
        "positions": {
            chess.COLOR_NAMES[color]: [found.size, found.capped_by is not None] for color, found in sets.items()
        },
        "beliefs": {chess.COLOR_NAMES[color]: _belief(found, weighed[color]) for color, found in sets.items()},
        "counted": {
            chess.COLOR_NAMES[color]: _belief(found, replace(weighed[color], weighed=None))
            for color, found in sets.items()
        },
        "value": _rounded(analysis.value),
        "truth": _rounded(turn.true_value()),
        "moves": [
            {"move": each.move.uci(), "san": each.san, "p": round(each.probability, 4), "value": _rounded(each.value)}
            for each in shown
        ],
        "tries": {each.move.uci(): [each.san, _rounded(analysis.loss(each.move))] for each in analysis.moves},
        "lines": [[each.san for each in line.moves] for line in analysis.lines],
        "played": {
            "san": loss.san,
            "p": round(loss.played, 4),
            "loss": _rounded(loss.loss),
            "mark": mark(loss.loss),
            "turned": _rounded(turn.turned_out()),
        },
        "best": {"san": loss.best_san, "p": round(loss.probability, 4)},
    }


def _belief(known: PositionSet, found: Marginals) -> dict[str, dict[str, float]]:
    """How likely each enemy piece stands on each square that is not seen."""
    return {
        chess.SQUARE_NAMES[square]: {letter: round(p, 4) for letter, p in pieces.items() if p >= _LEAST_SHOWN}
        for square in chess.SQUARES
        if not known.view.sees(square) and (pieces := found.at(square))
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def analyse(request: dict[str, Any]) -> None:
    """Write the turns of the game that ``request`` holds: ``pgn``, ``rules``, ``configuration``, ``evaluator``,
    ``stockfish``, ``nodes``, ``cap``; or the one of ``ply``, where that is not None: of three searches with seeds of
    their own the one whose cost is the middle one, with all costs' ``range``.
    """
    record = read_pgn(request["pgn"])[0]
    rules = ruleset(request["rules"])
    chosen = configuration(request["configuration"])
    choice = EvaluatorChoice(request["evaluator"], request["stockfish"], reproducible=True)
    found = partial(
        turns,
        replayed(record, rules),
        lambda: make_evaluator(chosen, choice, rules),
        configuration=replace(chosen, cap=request["cap"]),
        limit=Limit(nodes=request["nodes"]),
    )
    if request["ply"] is None:
        for turn in found():
            print_document(turn_document(turn))
        return
    searched = [turn_document(next(found(seed=seed, first=request["ply"]))) for seed in _SEEDS]
    print_document(middle(searched))


def middle(searched: list[dict[str, Any]]) -> dict[str, Any]:
    """The turn whose cost is the middle one of those that are known, with their ``range``; without, where none is."""
    known = sorted(
        (each for each in searched if each["played"]["loss"] is not None), key=lambda each: each["played"]["loss"]
    )
    if not known:
        return searched[0]
    found = known[len(known) // 2]
    found["played"]["range"] = [known[0]["played"]["loss"], known[-1]["played"]["loss"]]
    return found


def main() -> int:
    """Answer one request."""
    return answer_one(analyse)


def answer_one(answer: Callable[[dict[str, Any]], None]) -> int:
    """Answer the request on stdin; the exit code."""
    with own_stdout():
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
    sys.exit(main())
