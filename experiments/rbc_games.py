"""Matches of Reconnaissance Blind Chess: ``python -m experiments.rbc_games``.

``rbc-expect`` and ``rbc-siamese`` against Trout-R (reconchess's TroutBot with an engine that lives), its attacker, our
own rush, a random player and each other. The budget is for each of a turn's two questions, Trout-R's engine has the
same nodes or seconds. What was played is kept and gone on with; ``results/rbc_games.json`` has the scores with their
intervals.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blindchess.players.configuration import CONFIGURATIONS
from darkchess.game.arbiter import TimeControl
from experiments.series.runner import RESULTS, RUNS, positive
from experiments.series.summary import score_interval
from uci_bridge.blind_players import Blind, blind_spec
from uci_bridge.match.blind.match import BlindMatch
from uci_bridge.match.documents import head, write_document
from uci_bridge.match.standing import Standing

__all__ = ["PAIRINGS", "main", "matches_of", "played"]

PAIRINGS: Mapping[str, tuple[str, str, float]] = {
    "trout": ("rbc-expect", "trout", 1.0),
    "attacker": ("rbc-expect", "attacker", 0.3),
    "rbc-attacker": ("rbc-expect", "rbc-attacker", 0.3),
    "random": ("rbc-expect", "random", 0.3),
    "value": ("rbc-expect", "rbc-expect,sense=value", 0.5),
    "siamese-trout": ("rbc-siamese", "trout", 1.0),
    "siamese-attacker": ("rbc-siamese", "attacker", 0.3),
    "siamese-expect": ("rbc-siamese", "rbc-expect", 1.0),
}
"""Who plays whom, and what part of ``--games``."""

SEED = 1800


def played(
    name: str, players: tuple[str, str], games: int, budget: TimeControl, workers: int, folder: Path
) -> dict[str, Any]:
    """Play what is left of a match; what it has shown.

    Parameters
    ----------
    name
        Of the match, without its limit.
    players
        Their texts (:func:`uci_bridge.blind_players.blind_spec`); ours get one thread each.
    budget
        For each of a turn's two questions.
    folder
        Where the match is kept, in a folder of its own.
    """
    a, b = players
    match = BlindMatch(a=_alone(a), b=_alone(b), games=max(2, games), seed=SEED, budget=budget)
    limit = f"{budget.nodes}nodes" if budget.nodes is not None else f"{budget.time_s:g}s"

    def tell(line: dict[str, Any], standing: Standing) -> None:
        print(f"{name}: {standing.score:g} of {standing.games}, {line['reason']}", file=sys.stderr, flush=True)

    standing = match.run(folder / f"{name}-{limit}", tell, workers=workers)
    elo = standing.elo
    shares = score_interval(elo, standing.score / standing.games)
    return {
        "name": f"{name}-{limit}",
        "a": a,
        "b": b,
        "budget": {"nodes": budget.nodes, "time_s": budget.time_s},
        **standing.document(),
        "percent": [round(100 * part, 2) for part in shares],
        "elo": [elo.low, elo.middle, elo.high],
        "seed": SEED,
        "statistics": standing.statistics(),
    }


def _alone(text: str) -> Blind:
    """Of a player's text, one thread."""
    ours = text.partition(",")[0] in CONFIGURATIONS
    return blind_spec(f"{text},threads=1" if ours else text)


def main(argv: list[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--games", type=positive, default=200, metavar="N", help="of the match against Trout-R")
    parser.add_argument("--nodes", type=positive, default=1000, metavar="N", help="an answer (default 1000)")
    parser.add_argument("--time", type=float, metavar="S", help="seconds an answer, instead of nodes")
    parser.add_argument("--only", choices=sorted(PAIRINGS), action="append", help="matches to play; may be repeated")
    parser.add_argument("--workers", type=positive, default=2, metavar="W", help="games at a time")
    parser.add_argument("--runs", type=Path, default=RUNS, help="where matches are kept")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where rbc_games.json is kept")
    chosen = parser.parse_args(argv)
    budget = TimeControl(nodes=chosen.nodes) if chosen.time is None else TimeControl(time_s=chosen.time)
    path = chosen.results / "rbc_games.json"
    kept = matches_of(path)
    for name in chosen.only or PAIRINGS:
        a, b, share = PAIRINGS[name]
        games = round(chosen.games * share)
        found = played(name, (a, b), games, budget, chosen.workers, chosen.runs / "rbc_games")
        kept[found["name"]] = found
        low, middle, high = found["percent"]
        print(f"{found['name']}: {middle} % ({low} to {high}) of {found['games']}")
        chosen.results.mkdir(parents=True, exist_ok=True)
        write_document(path, head("rbc_games") | {"matches": list(kept.values())})
    return 0


def matches_of(path: Path) -> dict[str, dict[str, Any]]:
    """The matches of a results file by name; none where there is none."""
    if not path.exists():
        return {}
    return {match["name"]: match for match in json.loads(path.read_text(encoding="utf-8"))["matches"]}


if __name__ == "__main__":
    sys.exit(main())
