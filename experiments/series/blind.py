"""Matches of any game for experiments, by default of Reconnaissance Blind Chess: played or resumed, each in its own
folder, and reported in one results file.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from darkchess.rbc.players.configuration import CONFIGURATIONS
from experiments.commands import finished
from experiments.series.runner import RESULTS, RUNS, amount, positive
from experiments.series.summary import match_name, score_interval
from klss.support.configurations import ConfigurationError
from klss.table.kit import Kit, Spec
from klss.table.limits import TimeControl
from uci_bridge.kits.named import kit_named
from uci_bridge.kits.rbc import RBC
from uci_bridge.match.documents import head, write_document
from uci_bridge.match.files import MatchError
from uci_bridge.match.match import Match
from uci_bridge.match.report import Standing
from uci_bridge.players import player_spec

__all__ = ["EXPECTED", "GAMES", "SEED", "keep", "main", "matches_of", "played"]

SEED = 1800
GAMES = 200
"""Games of a match whose share of them is 1."""
EXPECTED = (ConfigurationError, MatchError)
"""Expected errors of a match that can't be played."""


def played(
    name: str,  # of the match, without its limit
    players: tuple[str, str],  # their texts (``uci_bridge.players.player_spec``); ours get one thread each
    games: int,
    budget: TimeControl,  # for each question
    workers: int,
    folder: Path,  # where the match is kept, in a folder of its own
    seed: int = SEED,  # its own; with another than the usual one it is another match, by name too
    kit: Kit = RBC,  # of the game
) -> dict[str, Any]:
    """Play the remaining games of a match, with a line per game on standard error; return its results, with the score's
    interval in per cent and in Elo.
    """
    a, b = players
    match = Match(kit, a=_alone(kit, a), b=_alone(kit, b), games=max(2, games), seed=seed, budget=budget)
    name = match_name(name, budget, seed, SEED)

    def tell(line: dict[str, Any], standing: Standing) -> None:
        print(f"{name}: {standing.score:g} of {standing.games}, {line['reason']}", file=sys.stderr, flush=True)

    standing = match.run(folder / name, tell, workers=workers)
    elo = standing.elo
    shares = score_interval(elo, standing.score / standing.games)
    return {
        "name": name,
        "a": a,
        "b": b,
        "budget": {"nodes": budget.nodes, "time_s": budget.time_s},
        **standing.document(),
        "percent": [round(100 * part, 2) for part in shares],
        "elo": [elo.low, elo.middle, elo.high],
        "seed": seed,
        "statistics": standing.statistics(),
    }


def _alone(kit: Kit, text: str) -> Spec:
    """The player of a text, with one thread if it can have more."""
    two = kit is RBC and text.partition(",")[0] in CONFIGURATIONS
    return player_spec(kit, f"{text},threads=1" if two else text)


def matches_of(path: Path) -> dict[str, dict[str, Any]]:
    """The matches of a results file by name; empty if there is no file."""
    if not path.exists():
        return {}
    return {match["name"]: match for match in json.loads(path.read_text(encoding="utf-8"))["matches"]}


def keep(path: Path, found: dict[str, Any]) -> None:
    """Put a match into its experiment's results file, in place of an earlier one of the same name, and print its
    result.
    """
    low, middle, high = found["percent"]
    print(f"{found['name']}: {middle} % ({low} to {high}) of {found['games']}", flush=True)
    kept = matches_of(path) | {found["name"]: found}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_document(path, head(path.stem) | {"matches": list(kept.values())})


def main(
    experiment: str,
    about: str,
    pairings: Mapping[str, tuple[str, str, float]],  # both players, and the share of ``--games``
    arguments: Sequence[str] | None,
    *,
    nodes: int,  # default nodes per question
    # the value of ``--game`` by pairing; None: all are of Reconnaissance Blind Chess
    games: Mapping[str, str] | None = None,
    command: str | None = None,  # the command after ``python -m experiments.``, if not the experiment's name
) -> int:
    """The command of an experiment that is a series of matches; returns the exit code."""
    parser = argparse.ArgumentParser(prog=f"python -m experiments.{command or experiment}", description=about)
    parser.add_argument("--games", type=positive, default=GAMES, metavar="N", help=f"at most, of a match ({GAMES})")
    parser.add_argument("--nodes", type=positive, default=nodes, metavar="N", help=f"a question (default {nodes})")
    parser.add_argument("--time", type=amount, metavar="S", help="seconds a question, instead of nodes")
    parser.add_argument("--only", choices=sorted(pairings), action="append", help="matches to play; may be repeated")
    parser.add_argument("--seed", type=int, default=SEED, metavar="N", help=f"of every match (default {SEED})")
    parser.add_argument("--workers", type=positive, default=2, metavar="W", help="games at a time")
    parser.add_argument("--runs", type=Path, default=RUNS, help="where matches are kept")
    parser.add_argument("--results", type=Path, default=RESULTS, help=f"where {experiment}.json is kept")
    chosen = parser.parse_args(arguments)
    budget = TimeControl(nodes=chosen.nodes) if chosen.time is None else TimeControl(time_s=chosen.time)

    def play() -> None:
        for name in chosen.only or pairings:
            a, b, share = pairings[name]
            count = round(chosen.games * share)
            kit = RBC if games is None else kit_named(games[name])
            found = played(name, (a, b), count, budget, chosen.workers, chosen.runs / experiment, chosen.seed, kit)
            keep(chosen.results / f"{experiment}.json", found)

    return finished(play, *EXPECTED)
