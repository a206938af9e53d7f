"""Analyse a finished game in a separate process: the request comes on stdin, the record of each turn goes to stdout as
a line of JSON.

``python -m klss_app.analysis.process`` is what a review runs; it ends when its reader does.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

from darkchess.evaluation.registry import EvaluatorChoice
from klss.play.limits import Limit
from klss_app.stdout import discard, own_stdout, print_document, release, reserve


def analyse(request: dict[str, Any]) -> None:
    """Write the turns of the game in ``request``, which has the name of the ``game``, its ``text``, ``rules``,
    ``configuration``, ``evaluator``, ``stockfish``, ``nodes`` and ``cap``.
    """
    kind = importlib.import_module(f"klss_app.analysis.{request['game']}")
    chosen = kind.configuration(request["configuration"])
    choice = EvaluatorChoice(request["evaluator"], request["stockfish"], reproducible=True)
    game = kind.read(request["text"], request["rules"])
    for turn in kind.turns(game, chosen, choice, Limit(nodes=request["nodes"]), cap=request["cap"]):
        print_document(turn)


def main() -> int:
    """Answer the request on stdin; return the exit code."""
    own_stdout()
    answers = reserve()
    try:
        analyse(json.loads(sys.stdin.readline()))
    except BrokenPipeError:
        discard(answers)
        return 1
    finally:
        release()
    return 0


if __name__ == "__main__":
    sys.exit(main())
