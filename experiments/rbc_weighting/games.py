"""``python -m experiments.rbc_weighting games``: what weights are worth in games, at equal nodes: ``rbc-siamese``
against ``rbc-expect`` and against Trout, and at other temperatures. Writes ``results/rbc_weighting_games.json``.

A match that was stopped is gone on with; of one that isn't kept here the results stay.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from experiments.commands import finished
from experiments.series.blind import EXPECTED
from experiments.series.runner import RESULTS, RUNS, positive
from experiments.series.summary import score_interval
from klss.table.limits import TimeControl
from klss_app.progress import ProgressLine
from uci_bridge.kits.rbc import RBC
from uci_bridge.match.documents import head, write_document
from uci_bridge.match.files import read_match
from uci_bridge.match.match import Match
from uci_bridge.match.report import Standing

__all__ = ["PAIRINGS", "main"]

TEMPERATURES = ("0.5", "1", "2", "4", "inf")
"""Of learned weights; at the last one all are alike."""

PAIRINGS: dict[str, tuple[str, str]] = {
    "expect": ("rbc-siamese", "rbc-expect"),
    "trout": ("rbc-siamese", "trout"),
    "uniform-trout": ("rbc-expect", "trout"),
    **{f"temperature-{t}-expect": (f"rbc-siamese,temperature={t}", "rbc-expect") for t in TEMPERATURES},
    **{f"temperature-{t}-siamese": (f"rbc-siamese,temperature={t}", "rbc-siamese") for t in TEMPERATURES if t != "1"},
    **{f"temperature-{t}-trout": (f"rbc-siamese,temperature={t}", "trout") for t in TEMPERATURES if t != "1"},
}
"""Who plays whom, by the name of the match."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Play and write; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.rbc_weighting games", description="what weights of positions are worth in games"
    )
    parser.add_argument("--only", nargs="+", choices=list(PAIRINGS), default=list(PAIRINGS), metavar="NAME")
    parser.add_argument("--games", type=positive, default=200, metavar="N", help="of each match (default 200)")
    parser.add_argument("--nodes", type=positive, default=1000, metavar="N", help="a question (default 1000)")
    parser.add_argument("--seed", type=int, default=18, metavar="N", help="(default 18)")
    parser.add_argument("--workers", type=positive, default=1, metavar="W", help="games at a time (default 1)")
    parser.add_argument("--runs", type=Path, default=RUNS, metavar="DIR", help="of matches (experiments/runs)")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="DIR", help="(experiments/results)")
    parsed = parser.parse_args(arguments)

    def play() -> None:
        for name in parsed.only:
            _play(name, parsed)

    if code := finished(play, *EXPECTED):
        return code
    results = parsed.results / "rbc_weighting_games.json"
    earlier = _earlier(results)
    shown = [_told(name, _folder(name, parsed)) or earlier.get(name) for name in PAIRINGS]
    document = {
        **head("rbc_weighting_games", "numpy", "numba"),
        "nodes": parsed.nodes,
        "matches": [each for each in shown if each is not None],
    }
    write_document(results, document)
    return 0


def _earlier(results: Path) -> dict[str, Any]:
    """What results tell of matches, by the matches' names."""
    if not results.exists():
        return {}
    return {match["name"]: match for match in json.loads(results.read_text(encoding="utf-8"))["matches"]}


def _folder(name: str, parsed: argparse.Namespace) -> Path:
    return Path(parsed.runs / "rbc_weighting" / f"{name}-{parsed.nodes}-nodes")


def _play(name: str, parsed: argparse.Namespace) -> None:
    a, b = (RBC.spec(text) for text in PAIRINGS[name])
    match = Match(RBC, a, b, parsed.games, parsed.seed, TimeControl(nodes=parsed.nodes))
    with closing(ProgressLine(name)) as line:
        standing = match.run(
            _folder(name, parsed), lambda _, found: line.tell(f"{found.score}/{found.games}"), workers=parsed.workers
        )
    print(f"{name}: {PAIRINGS[name][0]} {standing.score}/{standing.games} against {PAIRINGS[name][1]}")


def _told(name: str, folder: Path) -> dict[str, Any] | None:
    """What a match has shown; None where no game has ended."""
    kept = read_match(folder)
    if kept is None or not kept[1]:
        return None
    identity, lines, _ = kept
    standing = Standing()
    for line in lines:
        standing.count(line)
    percent = [round(100 * share, 1) for share in score_interval(standing.elo, standing.score / standing.games)]
    return {
        "name": name,
        "a": identity["a"],
        "b": identity["b"],
        "seed": identity["seed"],
        **standing.document(),
        "percent": percent,
        "pairs": standing.pairs.counts,
        "plies": standing.statistics()["plies"],
    }
