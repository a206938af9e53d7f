"""``klss bench``: the engine's speed here, a signature of its behaviour, and its score on positions that are known."""

from __future__ import annotations

import argparse
import importlib.metadata
import sys
from collections.abc import Sequence
from functools import partial

from darkchess.errors import EvaluatorError
from darkchess.evaluation.evaluator import Evaluator
from darkchess.evaluation.registry import EVALUATORS, EvaluatorChoice, evaluator_class
from darkchess.fog.game.contest import DEFAULT_PLAYER
from darkchess.fog.players.named_fog_players import Configuration
from klss.play.kit import Spec
from klss.play.limits import Limit
from klss.search import Klss2021, SearchConfiguration
from klss_app.bench.equilibrium import NODES, equilibrium
from klss_app.bench.evaluator import evaluator
from klss_app.bench.report import Report
from klss_app.bench.search import search
from klss_app.bench.suite import NODES as SUITE_NODES
from klss_app.bench.suite import suite
from klss_app.bench.tracker import tracker
from klss_app.cli.errors import UsageError
from klss_app.cli.game_option import BY_PATH, FOG, check_evaluator
from klss_app.cli.options import Parser
from klss_app.flag_types import count, positive, seed
from klss_app.stdout import print_document
from uci_bridge.evaluators import make_evaluator

BENCHES = {
    "tracker": ("the position set, in successors a second", ()),
    "search": ("nodes and depth of a search of a given time", ("time", "configuration", "stockfish", "seed")),
    "evaluator": ("values a second, and their error against Stockfish", ()),
    "equilibrium": ("linear programs of a search, solved warm and cold", ("nodes", "configuration")),
    "suite": ("score in turns for which the right play is known",
              ("time", "nodes", "configuration", "stockfish", "seed")),
}  # fmt: skip
"""Bench -> its line in the help, and the flags that it takes besides ``--repetitions`` and ``--json``."""


def _parser() -> Parser:
    parser = Parser("bench", "Measure the engine on this machine.")
    add = parser.add_argument
    what = "; ".join(f"{name}: {what}" for name, (what, _) in BENCHES.items())
    add("bench", metavar="WHAT", choices=BENCHES, help=what)
    add("--repetitions", type=count, default=3, metavar="N", help="repetitions of each measurement")
    add("--time", type=positive, metavar="S", help="search, suite: seconds of each search")
    add("--nodes", type=count, metavar="N", help="equilibrium, suite: nodes of each search")
    add("--configuration", metavar="NAME", help="search, equilibrium, suite: the player")
    add("--stockfish", metavar="PATH", help="search, suite: path of Stockfish, if it is not found automatically")
    add("--seed", type=seed, metavar="N", help="search, suite: seed of the players")
    add("--json", action="store_true", help="one JSON document on stdout, progress on stderr")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Run ``klss bench``; see :mod:`klss_app.cli.main`."""
    parsed = _parser().parse(arguments)
    for flag in sorted(parsed.given - {"repetitions", "json", *BENCHES[parsed.bench][1]}):
        raise UsageError(f"--{flag}: got it with {parsed.bench}, which does not take it (klss bench --help)")
    if parsed.stockfish is not None:
        check_evaluator(BY_PATH, parsed.stockfish)
    # The bench of linear programs takes a player that solves them.
    name = parsed.configuration or ("klss2021" if parsed.bench == "equilibrium" else DEFAULT_PLAYER)
    report = _measured(parsed, FOG.configuration(name, parsed.stockfish))
    if parsed.json:
        packages = ("klss", "numpy", "numba", "scipy", "highspy")
        print_document({
            "bench": parsed.bench,
            "signature": report.signature,
            "figures": report.figures,
            "configuration": name,
            "versions": {package: importlib.metadata.version(package) for package in packages},
            "samples": report.rows,
        })  # fmt: skip
        return 0
    for figure, values in report.figures.items():
        told = "not measured on this machine"
        if values is not None:
            told = f"{values['min']:.6g} / {values['median']:.6g} / {values['max']:.6g} {values['unit']}"
        print(f"{figure}: {told}")
    if report.signature is not None:
        print(f"signature: {report.signature}")
    return 0


def _measured(parsed: argparse.Namespace, chosen: Spec) -> Report:
    assert isinstance(chosen, Configuration)
    needed: type = {"equilibrium": Klss2021, "search": SearchConfiguration}.get(parsed.bench, object)
    if not isinstance(chosen.search, needed):
        raise UsageError(f"--configuration: got {chosen.name!r}, expected klss2021 or the like for {parsed.bench}")
    repetitions, drawn = parsed.repetitions, parsed.seed or 0
    if parsed.bench == "tracker":
        return tracker(repetitions=repetitions, say=_say)
    if parsed.bench == "evaluator":
        return evaluator(repetitions=repetitions, say=_say)
    if parsed.bench == "equilibrium":
        return equilibrium(chosen, nodes=parsed.nodes or NODES, repetitions=repetitions, say=_say)
    if parsed.bench == "search":
        evaluators, seconds = partial(_evaluators, parsed.stockfish), parsed.time or 5.0
        return search(chosen, evaluators, seconds=seconds, repetitions=repetitions, seed=drawn, say=_say)
    # ``--time`` replaces the default number of nodes, but not one that was given.
    limit = Limit(time_s=parsed.time, nodes=parsed.nodes or (SUITE_NODES if parsed.time is None else None))
    values = make_evaluator(chosen, EvaluatorChoice(stockfish=parsed.stockfish, reproducible=True))
    return suite(chosen, values, limit, repetitions=repetitions, seed=drawn, say=_say)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _evaluators(stockfish: str | None, threads: int) -> dict[str, Evaluator | None]:
    """Every evaluator by its name; None for one that is not installed, unless its path was given."""
    evaluators: dict[str, Evaluator | None] = {}
    for name in EVALUATORS:
        try:
            evaluators[name] = evaluator_class(name).make(EvaluatorChoice(name, stockfish), threads=threads)
        except EvaluatorError:
            if stockfish is not None:
                raise
            evaluators[name] = None
    return evaluators
