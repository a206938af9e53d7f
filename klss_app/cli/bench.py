"""``klss bench``: the engine's speed here, a signature of its behaviour, and its score on positions that are known."""

from __future__ import annotations

import argparse
import importlib.metadata
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from darkchess.fog.game.contest import DEFAULT_PLAYER
from klss.errors import SolverError
from klss_app.cli.errors import FailedError, UsageError
from klss_app.cli.games import BY_PATH, FOG, check_evaluator
from klss_app.cli.options import Parser, count, positive
from klss_app.cli.options import seed as seed_type
from klss_app.stdout import print_document

if TYPE_CHECKING:
    from darkchess.evaluation.evaluator import Evaluator
    from darkchess.fog.players.configuration import Configuration
    from klss_app.bench.report import Report

_PLAYERS = {
    "search": DEFAULT_PLAYER,
    "equilibrium": "klss2021",  # solves linear programs
    "suite": DEFAULT_PLAYER,
}
"""Bench -> its default player."""

_SEARCH_S = 5.0

BENCHES = {
    "tracker": "the position set, in successors a second",
    "search": "nodes and depth of a search of a given time",
    "evaluator": "values a second, and their error against Stockfish",
    "equilibrium": "linear programs of a search, solved warm and cold",
    "suite": "score in turns for which the right play is known",
}
"""Bench -> its line in the help."""


def _parser(bench: str | None = None) -> Parser:
    """The parser of that bench, with its own flags; None: the parser of the command."""
    if bench is None:
        lines = "; ".join(f"{name}: {what}" for name, what in BENCHES.items())
        parser = Parser(
            "bench", "Measure the engine on this machine. klss bench WHAT --help lists the flags of each bench."
        )
        parser.add_argument("bench", metavar="WHAT", help=lines)
        return parser
    parser = Parser(f"bench {bench}", f"Measure on this machine: {BENCHES[bench]}.")
    parser.add_argument("bench", metavar=bench, choices=[bench], help="the bench")
    add = parser.add_argument
    add("--repetitions", type=count, default=3, metavar="N", help="repetitions of each measurement")
    if bench == "search":
        add(
            "--time",
            type=positive,
            default=_SEARCH_S,
            metavar="S",
            help="seconds a search; the figures are for that time",
        )
    elif bench == "suite":
        from klss_app.bench.suite import NODES as SUITE_NODES

        add(
            "--nodes",
            type=count,
            default=SUITE_NODES,
            metavar="N",
            help="nodes an entry; they have priority over --time",
        )
        add("--time", type=positive, metavar="S", help="seconds an entry instead")
    elif bench == "equilibrium":
        from klss_app.bench.equilibrium import NODES as EQUILIBRIUM_NODES

        add("--nodes", type=count, default=EQUILIBRIUM_NODES, metavar="N", help="nodes of the searches")
    if bench in _PLAYERS:
        add("--configuration", default=_PLAYERS[bench], metavar="NAME", help="the player")
    if bench in ("search", "suite"):
        add("--stockfish", metavar="PATH", help="path of Stockfish, if it is not found automatically")
        add("--seed", type=seed_type, default=0, metavar="N", help="seed of the players")
    add("--json", action="store_true", help="one JSON document on stdout, progress on stderr")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Run ``klss bench``; see :mod:`klss_app.cli.main`."""
    bench = next((argument for argument in arguments if argument in BENCHES), None)
    if bench is None:
        asked = _parser().parse_known_args(arguments)[0].bench
        raise UsageError(f"no such bench: {asked!r}; expected one of {', '.join(BENCHES)}")
    parsed = _parser(bench).parse(arguments)
    stockfish = getattr(parsed, "stockfish", None)
    if stockfish is not None:
        check_evaluator(BY_PATH, stockfish)
    name = getattr(parsed, "configuration", DEFAULT_PLAYER)
    try:
        report = _measured(bench, parsed, FOG.configuration(name, stockfish), stockfish)
    except SolverError as error:
        raise FailedError(str(error)) from error
    _print_report(bench, name, report, as_json=parsed.json)
    return 0


def _measured(bench: str, parsed: argparse.Namespace, chosen: Configuration, stockfish: str | None) -> Report:
    """The report of a bench; its module is imported only here, since it loads compiled code."""
    usual: dict[str, Any] = {"say": _say} | {
        name: getattr(parsed, name) for name in ("repetitions", "seed") if name in parsed
    }
    from klss.table.limits import Limit

    if bench == "tracker":
        from klss_app.bench.tracker import tracker

        return tracker(**usual)
    if bench == "evaluator":
        from klss_app.bench.evaluator import evaluator

        return evaluator(**usual)
    if bench == "equilibrium":
        from klss_app.bench.equilibrium import equilibrium

        return equilibrium(chosen, nodes=parsed.nodes, **usual)
    if bench == "suite":
        from klss_app.bench.suite import suite

        # ``--time`` replaces the default number of nodes, but not one that was given.
        by_time = parsed.time is not None and "nodes" not in parsed.given
        limit = Limit(time_s=parsed.time, nodes=None if by_time else parsed.nodes)
        return suite(chosen, _evaluator(stockfish, chosen), limit, **usual)
    from klss_app.bench.search import search

    return search(chosen, _evaluators(stockfish, chosen.threads), seconds=parsed.time, **usual)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _evaluator(stockfish: str | None, chosen: Configuration) -> Evaluator:
    """The configuration's evaluator; the built-in one if it leaves that open."""
    from darkchess.evaluation.registry import EvaluatorChoice
    from uci_bridge.evaluators import make_evaluator

    return make_evaluator(chosen, EvaluatorChoice(stockfish=stockfish, reproducible=True))


def _evaluators(stockfish: str | None, threads: int) -> dict[str, Evaluator | None]:
    """Every evaluator by its name; None for one that is not installed, unless its path was given."""
    from darkchess.errors import EvaluatorError
    from darkchess.evaluation.registry import EVALUATORS, EvaluatorChoice, evaluator_class

    evaluators: dict[str, Evaluator | None] = {}
    for name in EVALUATORS:
        try:
            evaluators[name] = evaluator_class(name).make(EvaluatorChoice(name, stockfish), threads=threads)
        except EvaluatorError as missing:
            if stockfish is not None:
                raise UsageError(str(missing)) from missing
            evaluators[name] = None
    return evaluators


def _print_report(name: str, configuration: str, report: Report, *, as_json: bool) -> None:
    """Print a bench's document, or its figures, one per line."""
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
            print(f"{figure}: not measured on this machine")
        else:
            print(
                f"{figure}: {values['min']:.6g} / {values['median']:.6g} / {values['max']:.6g} {values['unit']}"
                " (min / median / max)"
            )
    if report.signature is not None:
        print(f"signature: {report.signature}")
