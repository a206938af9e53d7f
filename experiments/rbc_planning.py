"""What each part of planning on synopses is worth: ``python -m experiments.rbc_planning``.

The tables of Clark (2021) in small: five variants (playouts and none, a tree or the policy alone, no static analysis)
against the players that stand and against each other; then what the paper's constants leave open, one change at a time
against ``dsmcp`` as it is. Every match has the same nodes a question on both sides, Trout's engine too. What was played
is kept and gone on with; ``results/rbc_planning.json`` has the scores with their intervals.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from darkchess.game.arbiter import TimeControl
from experiments.rbc_games import matches_of, played
from experiments.series.runner import RESULTS, RUNS, positive
from uci_bridge.match.documents import head, write_document

__all__ = ["PAIRINGS", "main"]

PAIRINGS: Mapping[str, tuple[str, str, float]] = {
    "dsmcp-trout": ("dsmcp", "trout", 1.0),
    "dsmcp-network": ("dsmcp", "dsmcp-network", 1.0),
    "dsmcp-tree": ("dsmcp", "dsmcp-tree,cap=20000", 1.0),
    "dsmcp-cache": ("dsmcp", "dsmcp-cache", 0.3),
    "dsmcp-simple": ("dsmcp", "dsmcp-simple", 0.3),
    "dsmcp-expect": ("dsmcp", "rbc-expect", 0.3),
    "dsmcp-siamese": ("dsmcp", "rbc-siamese", 0.3),
    "dsmcp-attacker": ("dsmcp", "attacker", 0.3),
    "network-trout": ("dsmcp-network", "trout", 0.3),
    "network-attacker": ("dsmcp-network", "attacker", 0.3),
    "tree-trout": ("dsmcp-tree,cap=20000", "trout", 0.3),
    "cache-trout": ("dsmcp-cache", "trout", 0.3),
    "simple-trout": ("dsmcp-simple", "trout", 0.3),
    "known-trout": ("dsmcp,opponent=trout", "trout", 0.3),
    "leaf": ("dsmcp,backup=leaf", "dsmcp", 0.3),
    "mean": ("dsmcp,answer=mean", "dsmcp", 0.3),
    "visits": ("dsmcp,answer=visits", "dsmcp", 0.3),
    "puct": ("dsmcp,formula=puct", "dsmcp", 0.3),
    "c-1": ("dsmcp,exploration=1", "dsmcp", 0.3),
    "c-4": ("dsmcp,exploration=4", "dsmcp", 0.3),
    "caution-30": ("dsmcp,caution=0.3", "dsmcp", 0.3),
    "paranoia-30": ("dsmcp,paranoia=0.3", "dsmcp", 0.3),
    "caution-30-paranoia-30": ("dsmcp,caution=0.3,paranoia=0.3", "dsmcp", 0.3),
}
"""Who plays whom, and what part of ``--games``. The tree's position set is capped: where sets grow to two million, to
follow them takes seconds a turn (docs/dsmcp.md, "Play and analyse").
"""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--games", type=positive, default=200, metavar="N", help="of the matches with a bar")
    parser.add_argument("--nodes", type=positive, default=300, metavar="N", help="a question (default 300)")
    parser.add_argument("--only", choices=sorted(PAIRINGS), action="append", help="matches to play; may be repeated")
    parser.add_argument("--workers", type=positive, default=2, metavar="W", help="games at a time")
    parser.add_argument("--runs", type=Path, default=RUNS, help="where matches are kept")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where rbc_planning.json is kept")
    chosen = parser.parse_args(arguments)
    path = chosen.results / "rbc_planning.json"
    kept = matches_of(path)
    for name in chosen.only or PAIRINGS:
        a, b, share = PAIRINGS[name]
        games = round(chosen.games * share)
        budget = TimeControl(nodes=chosen.nodes)
        found = played(name, (a, b), games, budget, chosen.workers, chosen.runs / "rbc_planning")
        kept[found["name"]] = found
        low, middle, high = found["percent"]
        print(f"{found['name']}: {middle} % ({low} to {high}) of {found['games']}")
        write_document(path, head("rbc_planning") | {"matches": list(kept.values())})
    return 0


if __name__ == "__main__":
    sys.exit(main())
