"""``klss bench``: how fast the engine is here, one signature of what it does, and how right it plays where that is
known.
"""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from darkchess.game.contest import DEFAULT_PLAYER
from klss.errors import SolverError
from klss_app.cli.errors import FailedError, UsageError
from klss_app.cli.options import Parser, check_stockfish, configured, nodes, repetitions, seconds
from klss_app.cli.options import seed as seed_type
from klss_app.stdout import print_document

if TYPE_CHECKING:
    from darkchess.evaluation.evaluator import Evaluator
    from darkchess.players.configuration import Configuration
    from klss_app.bench.report import Report

__all__ = ["print_report", "run"]

_OF_PROGRAMS = "klss2021"
_AT_BOARD = "greedy"

BENCHES = ("tracker", "search", "evaluator", "equilibrium", "suite", "board")


def _parser() -> Parser:
    parser = Parser("bench", "Measure the engine on this machine.")
    parser.add_argument("bench", metavar="WHAT", help=f"one of: {', '.join(BENCHES)}")
    parser.add_argument(
        "--time",
        type=seconds,
        metavar="S",
        help="search: seconds (default 5; figures are per that time); suite: seconds an entry; board: a move (0.05)",
    )
    parser.add_argument(
        "--nodes",
        type=nodes,
        metavar="N",
        help="nodes a search; equilibrium (default 50000), suite (default 4000; goes before --time)",
    )
    parser.add_argument(
        "--repetitions", type=repetitions, default=3, metavar="N", help="of each measurement (default 3); board: rounds"
    )
    parser.add_argument("--games", type=repetitions, default=20, metavar="N", help="board: at once (default 20)")
    parser.add_argument(
        "--configuration",
        metavar="NAME",
        help=f"the player (default {DEFAULT_PLAYER}; equilibrium: {_OF_PROGRAMS}, which solves linear programs; board: "
        f"{_AT_BOARD})",
    )
    parser.add_argument("--stockfish", metavar="PATH", help="Stockfish, if not found by itself")
    parser.add_argument("--seed", type=seed_type, default=0, metavar="N", help="of the players (default 0)")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout, progress on stderr")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Run ``klss bench``; see :mod:`klss_app.cli.main`."""
    parsed = _parser().parse(arguments)
    if parsed.bench not in BENCHES:
        raise UsageError(f"no such bench: {parsed.bench!r}; expected one of {', '.join(BENCHES)}")
    if parsed.stockfish is not None:
        check_stockfish(parsed.stockfish)
    usual = {"equilibrium": _OF_PROGRAMS, "board": _AT_BOARD}.get(parsed.bench, DEFAULT_PLAYER)
    chosen = configured(parsed.configuration or usual, parsed.stockfish)
    from darkchess.game.contest import Limit
    from klss_app.bench.board import board
    from klss_app.bench.equilibrium import NODES as EQUILIBRIUM_NODES
    from klss_app.bench.equilibrium import equilibrium
    from klss_app.bench.evaluator import evaluator
    from klss_app.bench.search import search
    from klss_app.bench.suite import NODES as SUITE_NODES
    from klss_app.bench.suite import suite
    from klss_app.bench.tracker import tracker

    def say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    if parsed.bench == "tracker":
        report = tracker(repetitions=parsed.repetitions, say=say)
    elif parsed.bench == "evaluator":
        report = evaluator(repetitions=parsed.repetitions, say=say)
    elif parsed.bench == "equilibrium":
        try:
            report = equilibrium(
                chosen, nodes=parsed.nodes or EQUILIBRIUM_NODES, repetitions=parsed.repetitions, say=say
            )
        except SolverError as error:
            raise FailedError(str(error)) from error
    elif parsed.bench == "suite":
        nodes_an_entry = parsed.nodes or (SUITE_NODES if parsed.time is None else None)
        report = suite(
            chosen,
            _evaluator(parsed.stockfish, chosen),
            Limit(time_s=parsed.time, nodes=nodes_an_entry),
            repetitions=parsed.repetitions,
            seed=parsed.seed,
            say=say,
        )
    elif parsed.bench == "board":
        report = board(
            parsed.configuration or usual,
            games=parsed.games,
            rounds=parsed.repetitions,
            limit=Limit(time_s=parsed.time or 0.05, nodes=parsed.nodes),
            seed=parsed.seed,
            say=say,
        )
    else:
        report = search(
            chosen,
            _evaluators(parsed.stockfish, chosen.threads),
            seconds=parsed.time or 5.0,
            repetitions=parsed.repetitions,
            seed=parsed.seed,
            say=say,
        )
    print_report(parsed.bench, parsed.configuration or usual, report, as_json=parsed.json)
    errors = report.figures.get("errors")
    return 1 if errors is not None and errors["max"] else 0


def _evaluator(stockfish: str | None, chosen: Configuration) -> Evaluator:
    """The one that the configuration names, the built-in one where it leaves that open."""
    from uci_bridge.evaluators import EvaluatorChoice, make_evaluator

    return make_evaluator(chosen, EvaluatorChoice(stockfish=stockfish, reproducible=True))


def _evaluators(stockfish: str | None, threads: int) -> dict[str, Evaluator | None]:
    from darkchess.evaluation.evaluator import BuiltinEvaluator
    from uci_bridge.errors import StockfishMissing
    from uci_bridge.stockfish.evaluator import StockfishEvaluator

    evaluators: dict[str, Evaluator | None] = {"builtin": BuiltinEvaluator(threads=threads), "stockfish": None}
    try:
        evaluators["stockfish"] = StockfishEvaluator(stockfish)
    except StockfishMissing as missing:
        if stockfish is not None:
            raise UsageError(str(missing)) from missing
    return evaluators


def print_report(name: str, configuration: str | None, report: Report, *, as_json: bool) -> None:
    """Print a bench's document, or its figures a line each."""
    packages = ("klss", "numpy", "numba", "scipy", "highspy")
    document: dict[str, Any] = {
        "bench": name,
        "signature": report.signature,
        "figures": report.figures,
        "configuration": configuration,
        "versions": {package: importlib.metadata.version(package) for package in packages},
        "samples": report.rows,
    }
    if as_json:
        print_document(document)
        return
    for figure, values in report.figures.items():
        if values is None:
            print(f"{figure}: not here")
        else:
            print(
                f"{figure}: {values['min']:.6g} / {values['median']:.6g} / {values['max']:.6g} {values['unit']}"
                " (min / median / max)"
            )
    if report.signature is not None:
        print(f"signature: {report.signature}")
