"""``klss rbc bench``: how fast the position set of Reconnaissance Blind Chess is here, what is made of it, and who
plans on that."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from klss_app.cli.errors import UsageError
from klss_app.cli.games import game_named
from klss_app.cli.options import Parser, repetitions

__all__ = ["BENCHES", "run"]

BENCHES = ("tracker", "synopsis", "dsmcp")


def _parser() -> Parser:
    parser = Parser("bench", "Measure the engine on this machine.", game_named("rbc"))
    parser.add_argument("bench", metavar="WHAT", help=f"one of: {', '.join(BENCHES)}")
    parser.add_argument("--repetitions", type=repetitions, default=3, metavar="N", help="of each measurement")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout, progress on stderr")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Run ``klss rbc bench``; see :mod:`klss_app.cli.main`."""
    parsed = _parser().parse(arguments)
    if parsed.bench not in BENCHES:
        raise UsageError(f"no such bench: {parsed.bench!r}; expected one of {', '.join(BENCHES)}")
    from klss_app.bench import blind as bench
    from klss_app.cli.bench import print_report

    measure = {"tracker": bench.tracker, "synopsis": bench.synopsis, "dsmcp": bench.dsmcp}[parsed.bench]
    report = measure(repetitions=parsed.repetitions, say=lambda line: print(line, file=sys.stderr, flush=True))
    print_report(parsed.bench, None, report, as_json=parsed.json)
    return 0
