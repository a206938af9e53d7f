"""Learn the packaged policy of moves from games; write it with its history, and its figures on held-out games to
``results/belief_policy.json``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

import darkchess
from darkchess.fog.belief.policy import LEVELS, Policy
from experiments.belief import mixture
from experiments.belief.policy import EVEN, Decisions, decisions, fitted, likelihoods
from experiments.commands import finished
from experiments.series.runner import RESULTS, RUNS, amount, positive
from klss.support.arrays import Bools, Floats
from klss_app.progress import ProgressLine
from uci_bridge.match.documents import commit, head, today, write_document
from uci_bridge.match.match import MatchError

__all__ = ["learn", "main", "train"]

PACKAGED = Path(darkchess.__file__).parent / "fog" / "belief" / "data"
"""The package's folder of weights."""


def train(folders: Sequence[Path], results: Path, out: Path, *, nodes: int) -> int:
    """See the module; ``folders`` are those of the matches, played with ``nodes``; return the exit code."""
    began = time.monotonic()
    played = [game for folder in folders for game in mixture.played_games(folder)]
    with closing(ProgressLine("reading")) as line:
        found = decisions(played, lambda count: line.tell(f"{count} moves of {len(played)} games"))
    history = {
        "matches": {folder.name: sum(game.match == folder.name for game in played) for folder in folders},
        "games": len(played),
        "seed": mixture.SEED,
        "nodes": nodes,
        "commit": commit(),
        "created": today(),
    }
    policy, table = learn(found, history)
    policy.save(out)
    document = {
        **head("belief_policy", "numpy", "scipy", "numba"),
        "configuration": history | {"even": EVEN},
        "moves": {"learned_from": int((~found.held_out).sum()), "held_out": int(found.held_out.sum())},
        "surprise": table,
        "seconds": round(time.monotonic() - began, 1),
    }
    write_document(results / "belief_policy.json", document)
    for row in table:
        print(f"{row['level']:9} {row['left_out'] or '':11} {row['held_out']} nats a move", file=sys.stderr)
    return 0


def learn(found: Decisions, history: dict[str, Any]) -> tuple[Policy, list[dict[str, Any]]]:
    """A policy, and its surprise at the moves of held-out games: after learning from all players, and for each kind of
    player after learning without that kind.
    """
    table: list[dict[str, Any]] = []
    shown = found.held_out
    uniform = np.log(np.diff(found.offsets))
    table.append({"level": "even", "left_out": None, "held_out": _mean(uniform[shown])})
    entries, slope = {}, 0.0
    for level in LEVELS[1:]:
        with closing(ProgressLine(f"learning {level}")) as line:
            entries[level], slope = fitted(level, found.of(~shown), lambda loss: line.tell(f"{loss:.4f} nats a move"))
        surprise = likelihoods(level, entries[level], slope, found.of(shown))
        table.append({"level": level, "left_out": None, "held_out": _mean(surprise)})
    for player in sorted(set(found.players.tolist())):
        own: Bools = found.players == player
        with closing(ProgressLine(f"learning without {player}")) as line:
            without, _ = fitted("features", found.of(~shown & ~own), lambda loss: line.tell(f"{loss:.4f} nats a move"))
        for name, tables in (("features", without), ("features, all players", entries["features"])):
            surprise = likelihoods("features", tables, 0.0, found.of(shown & own))
            table.append({"level": name, "left_out": player, "held_out": _mean(surprise)})
    return Policy.from_entries(entries, slope, EVEN, history), table


def _mean(surprise: Floats) -> float | None:
    """The mean surprise; None if no game was held out."""
    return round(float(surprise.mean()), 4) if len(surprise) else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Play the games and learn the policy; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m experiments.belief train", description="learn the policy of moves")
    add = parser.add_argument
    add("--out", type=Path, default=PACKAGED, metavar="DIR", help="of the weights (the package)")
    add("--games", type=amount, default=1.0, metavar="X", help="times the usual number (default 1)")
    add("--nodes", type=positive, default=mixture.NODES, metavar="N", help="a move (default 4000)")
    add("--workers", type=positive, default=2, metavar="W", help="games at a time (default 2)")
    add("--runs", type=Path, default=RUNS, metavar="DIR", help="of matches (experiments/runs)")
    add("--results", type=Path, default=RESULTS, metavar="DIR", help="(experiments/results)")
    parsed = parser.parse_args(arguments)

    def work() -> int:
        parsed.out.mkdir(parents=True, exist_ok=True)
        folders = mixture.play_all(parsed.runs, workers=parsed.workers, games=parsed.games, nodes=parsed.nodes)
        return train(folders, parsed.results, parsed.out / "policy.npz", nodes=parsed.nodes)

    return finished(work, MatchError)
