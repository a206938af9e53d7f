"""``python -m experiments.rbc_nested``: the nested KLSS search on Reconnaissance Blind Chess, against ``dsmcp`` and
against ``rbc-expect``.

Every player has a budget of nodes, which are not the same thing for each: those of the others are such that a question
takes them about as long (``seconds`` in ``results/rbc_nested.json``, of both sides in the same games). What was played
is kept and gone on with.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from darkchess.game.arbiter import TimeControl
from experiments.commands import finished
from experiments.rbc_nested.player import Nested
from experiments.series import blind
from experiments.series.runner import RESULTS, RUNS, amount, positive
from uci_bridge.blind_players import blind_spec
from uci_bridge.match.blind.match import BlindMatch

__all__ = ["OPPONENTS", "main"]

OPPONENTS: dict[str, tuple[str, int]] = {
    "dsmcp": ("dsmcp,cap=20000,threads=1", 220),
    "expect": ("rbc-expect,cap=20000,threads=1", 450_000),
}
"""Who is played, and her nodes a question, by the name of the match."""
NODES = 180
"""Of the search, which take about as long."""
SEED = 1907


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.rbc_nested", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--games", type=positive, default=30, metavar="N", help="of each match (default 30)")
    parser.add_argument("--scale", type=amount, default=1.0, metavar="X", help="of all nodes (default 1)")
    parser.add_argument("--only", choices=sorted(OPPONENTS), action="append", help="matches to play; may be repeated")
    parser.add_argument("--workers", type=positive, default=1, metavar="W", help="games at a time (default 1)")
    parser.add_argument("--runs", type=Path, default=RUNS, help="where matches are kept")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where rbc_nested.json is kept")
    chosen = parser.parse_args(arguments)

    def play() -> None:
        for name in chosen.only or OPPONENTS:
            found = _played(name, chosen)
            blind.keep(chosen.results / "rbc_nested.json", found)
            print(f"seconds {found['seconds']}")

    return finished(play, *blind.EXPECTED)


def _played(name: str, chosen: argparse.Namespace) -> dict[str, Any]:
    """Play what is left of a match; what it has shown."""
    text, theirs = OPPONENTS[name]
    nested, nodes = Nested(max(1, round(NODES * chosen.scale))), max(1, round(theirs * chosen.scale))
    # Both sides in one process, or the seconds of one would say how busy the machine was.
    budget = TimeControl(nodes=nodes)
    match = BlindMatch(nested, blind_spec(text), max(2, chosen.games), SEED, budget, check_truth=True)
    folder = chosen.runs / "rbc_nested" / f"{name}-{nested.nodes}-{nodes}nodes"
    standing = blind.run(match, folder, chosen.workers)
    return {
        "name": folder.name,
        "a": nested.fields(),
        "b": text,
        "nodes": {"a": nested.nodes, "b": nodes},
        **blind.score(standing),
        "seed": SEED,
        "seconds": seconds_of(folder),
        "statistics": standing.statistics(),
    }


def seconds_of(folder: Path) -> dict[str, float]:
    """Seconds of wall time that a question took each side of a kept match: the mean over both questions of all turns
    but a game's first two, in which code is loaded.
    """
    turns = [json.loads(line) for line in (folder / "moves.jsonl").read_text(encoding="utf-8").splitlines()]
    return {
        side: round(
            fmean([turn["seconds_wall"] / 2 for turn in turns if turn["player"] == side and turn["ply"] > 2]), 4
        )
        for side in ("a", "b")
    }


if __name__ == "__main__":
    sys.exit(main())
