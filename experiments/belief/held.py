"""``python -m experiments.belief held RUN_DIR…``: how often the true position is in a set that had too little time.

The position sets of finished games are followed again, each view under the deadline that ``--time`` seconds per move
leave for it. Two sets are compared: one that follows the likeliest positions first if there is no time for all, and one
that stops in storage order at the deadline. Each player's turns are counted; an exact set always has the truth. Figures
differ from run to run, since clocks are read. Written to ``results/belief_held.json``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import chess
import numpy as np

from darkchess.errors import DarkchessError
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.belief.filter import Filter
from darkchess.fog.belief.policy import Policy
from darkchess.fog.belief.position_set import PositionSet, compile_rare_kernels
from darkchess.fog.belief.weights import BeliefSettings
from darkchess.fog.game.record import GameRecord, read_pgn
from darkchess.fog.game.referee import Referee
from experiments.commands import finished
from experiments.series.runner import RESULTS, positive
from experiments.series.summary import match_folders
from klss.support.arrays import Ints
from klss.table.limits import Limit
from klss.table.time_plan import TimePlan
from klss_app.progress import ProgressLine
from uci_bridge.match.documents import head, write_document

__all__ = ["ARMS", "CutAnywhere", "main", "summary", "turns"]

LARGE = 100_000
"""Least size of a large set."""

COLUMNS = ["arm", "game", "ply", "positions", "sampled", "held", "truth"]


class CutAnywhere(PositionSet):
    """Follows all positions in the order of storage, until time is up."""

    def _followed_by(self, deadline: float | None) -> Ints | None:
        return None


ARMS: dict[str, type[PositionSet]] = {"likeliest": PositionSet, "anywhere": CutAnywhere}


def turns(record: GameRecord, kind: type[PositionSet], time_s: float) -> Iterator[list[Any]]:
    """Rows for the turns of a game: ply, positions, whether the set is a sample, the weight that it is believed to
    have, and whether the true position is in it.
    """
    referee = Referee(record.fen)
    allowance = BeliefSettings().filtering * time_s
    known = {
        color: kind(
            referee.view(color), referee.position, weigher=Filter(Policy.packaged(), BuiltinEvaluator()), seed=1
        )
        for color in chess.COLORS
    }
    for ply, move in enumerate(record.moves, 1):
        referee.push(move)
        if referee.outcome is not None:
            return
        for color, positions in known.items():
            plan = TimePlan(Limit(time_s=time_s), began=time.monotonic())
            positions.observe(referee.view(color), deadline=plan.tracking_deadline(allowance), allowance=allowance)
        mine = known[referee.turn]
        yield [ply, mine.size, mine.sampled, round(mine.held, 4), mine.contains(referee.position.row)]


def summary(rows: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """Figures of each arm: turns, turns with a sample, turns without the truth; for samples the mean weight that they
    are believed to have, the share with the truth, the same for large ones, and the median size.
    """
    found: dict[str, Any] = {}
    for arm in ARMS:
        of_arm = [row for row in rows if row[0] == arm]
        sampled = [row for row in of_arm if row[4]]
        large = [row for row in sampled if row[3] > LARGE]
        found[arm] = {
            "turns": len(of_arm),
            "sampled": len(sampled),
            "without_truth": sum(not row[6] for row in of_arm),
            "held": _mean([row[5] for row in sampled]),
            "truth": _mean([row[6] for row in sampled]),
            "large": {"turns": len(large), "truth": _mean([row[6] for row in large])},
            "median_positions": float(np.median([row[3] for row in sampled])) if sampled else None,
        }
    return found


def _mean(numbers: Sequence[float]) -> float | None:
    return round(float(np.mean(numbers)), 4) if numbers else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Follow the games and write the results; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.belief held", description="how often the truth is in a set that was cut"
    )
    add = parser.add_argument
    add("folders", nargs="+", type=Path, metavar="RUN_DIR", help="of a match, or one that holds such")
    add("--games", type=positive, default=40, metavar="N", help="of each match (default 40)")
    add("--time", type=float, default=0.2, metavar="S", help="seconds a move (default 0.2)")
    add("--results", type=Path, default=RESULTS, metavar="DIR", help="where belief_held.json goes")
    parsed = parser.parse_args(arguments)
    return finished(lambda: _look(parsed), OSError, ValueError, DarkchessError)


def _look(parsed: argparse.Namespace) -> int:
    compile_rare_kernels()
    paths = [path for each in match_folders(parsed.folders) for path in sorted(each.glob("game-*.pgn"))[: parsed.games]]
    rows: list[list[Any]] = []
    with closing(ProgressLine("looking")) as line:
        for i, path in enumerate(paths, 1):
            record = read_pgn(path.read_text(encoding="utf-8"))[0]
            for arm, kind in ARMS.items():
                rows += [[arm, i, *row] for row in turns(record, kind, parsed.time)]
            line.tell(f"{i}/{len(paths)} games")
    if not rows:
        raise ValueError(f"no turns in {', '.join(map(str, parsed.folders))}; expected directories of matches")
    document = {
        **head("belief_held", "numpy", "numba"),
        "configuration": {"time_s": parsed.time, "large": LARGE},
        "games": len(paths),
        "summary": summary(rows),
        "samples": {"columns": COLUMNS, "rows": rows},
    }
    write_document(parsed.results / "belief_held.json", document)
    print(parsed.results / "belief_held.json")
    return 0
