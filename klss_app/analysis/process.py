"""Analyse finished games in a separate process: each line on stdin is a request, and the record of each turn goes to
stdout as a line of JSON, with null after the last.

``python -m klss_app.analysis.process`` is what a review runs, and the workers of an archive's analysis; it ends when
its reader does.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from darkchess.evaluation.registry import EvaluatorChoice
from klss.play.limits import Limit
from klss_app.analysis.summaries import CAP, Turn, Turns
from klss_app.analysis.turns import turns
from klss_app.stdout import discard, own_stdout, print_document, reserve
from uci_bridge.child_processes import own_program
from uci_bridge.kits.named import kit_named
from uci_bridge.protocol.engine_process import EngineProcess

_LONGEST_S = 1e8


@dataclass(frozen=True)
class Request:
    """A game to analyse, and how (:func:`klss_app.analysis.turns.turns`); all of it is JSON."""

    kit: str  # the game's name
    configuration: str
    evaluator: str
    stockfish: str | None
    nodes: int | None
    time: float | None = None
    seed: int = 0
    cap: int = CAP
    text: str = ""  # the game's record, and its ruleset
    rules: str | None = None


def analysed(request: Request) -> Iterator[Turn]:
    """The records of the game's turns."""
    kit, nodes = kit_named(request.kit), request.nodes
    choice = EvaluatorChoice(request.evaluator, request.stockfish, reproducible=nodes is not None)
    chosen, limit = kit.spec(request.configuration), Limit(request.time, nodes)
    replay = kit.replayed(request.text, request.rules)
    return turns(kit, replay, chosen, choice, limit, seed=request.seed, cap=request.cap)


class AnalysisProcess:
    """A process that analyses one game after the other."""

    def __init__(self) -> None:
        self._process = EngineProcess(own_program("klss_app.analysis.process"), name="analysis")

    def turns(self, request: Request) -> Iterator[Turn]:
        """The records of the game's turns. Raises EngineFailed: the process failed, or was closed."""
        self._process.start()
        until = time.monotonic() + _LONGEST_S
        self._process.send(json.dumps(asdict(request)).encode() + b"\n", until)
        while (turn := json.loads(self._process.receive(lambda: until))) is not None:
            yield turn

    def close(self, *, at_once: bool = True) -> None:
        """End it; whoever waits for a record gets EngineFailed."""
        (self._process.kill if at_once else self._process.close)()


def analyse(request: Request, process: AnalysisProcess) -> Turns:
    """The turns of a game, for a worker."""
    return list(process.turns(request))


def main() -> int:
    """Answer the requests on stdin; return the exit code."""
    own_stdout()
    answers = reserve()
    try:
        for line in sys.stdin:
            for turn in analysed(Request(**json.loads(line))):
                print_document(turn)
            print_document(None)
    except BrokenPipeError:
        discard(answers)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
