"""The two schools on one board: planning on synopses in Fog of War against the players that stand, in equal time.

``python -m experiments.dark_planning`` plays 60 games of ``dsmcp`` against each, and writes
``results/dark_planning.json``. Nodes limit a move, so that a busy machine plays the same games as an idle one:
``klss2021`` has :data:`KLSS_NODES` of its nodes for one of ``dsmcp``'s, that of a set which a network sees, and takes
no longer. ``greedy`` and ``dsmcp-network`` take what time they take, which is less.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from experiments.series.runner import RESULTS, RUNS, Pairing, Plan, named, play, positive
from experiments.series.summary import match_document, read_document, series_document
from uci_bridge.match.documents import write_document

__all__ = ["KLSS_NODES", "PAIRINGS", "main"]

KLSS_NODES = 27.0
"""On one core 300 nodes of ``dsmcp`` take 0.12 s, 500 and 1,500 of ``klss2021`` 0.014 and 0.026 s (four games); the
rest is a straight line.
"""

PAIRINGS = {
    pairing.name: pairing
    for pairing in (
        Pairing(named("dsmcp", "klss2021"), "dsmcp", "klss2021", 1.0, KLSS_NODES),
        Pairing(named("dsmcp", "greedy"), "dsmcp", "greedy"),
        Pairing(named("dsmcp", "dsmcp-network"), "dsmcp", "dsmcp-network"),
    )
}
"""Who plays whom, with which part of ``--nodes``."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--games", type=positive, default=60, metavar="N", help="of each match (default 60)")
    parser.add_argument("--nodes", type=positive, default=150, metavar="N", help="dsmcp's, a move (default 150)")
    parser.add_argument("--only", choices=sorted(PAIRINGS), action="append", help="matches to play; may be repeated")
    parser.add_argument("--workers", type=positive, default=2, metavar="W", help="games at a time (default 2)")
    parser.add_argument("--runs", type=Path, default=RUNS, help="where matches are kept")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where dark_planning.json is kept")
    parser.add_argument("--summary-only", action="store_true", help="play nothing, tell of the games there are")
    chosen = parser.parse_args(arguments)
    plan = Plan(games=chosen.games, time_s=0.0, nodes=chosen.nodes, workers=chosen.workers, runs=chosen.runs)
    path = chosen.results / "dark_planning.json"
    for name in chosen.only or PAIRINGS:
        pairing = PAIRINGS[name]
        if not chosen.summary_only:
            play("dark_planning", pairing, plan)
        found = match_document(plan.name(pairing), plan.folder("dark_planning", pairing), chosen.games)
        if found is None:
            print(f"{name}: no games")
            continue
        write_document(path, series_document("dark_planning", [found], read_document(path)))
        print(f"{found['name']}: {found['score']} of {found['games']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
