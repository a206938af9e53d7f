"""``python -m experiments.belief allowance RUN_DIR…``: how likely the truth is to a filter that has so long for a view.

The games' position sets are gone through again, each with a filter that is given :data:`ALLOWANCES`. At a player's turn
with at least :data:`LEAST` possible positions each tells the logarithm of the truth's weight above uniform (*nats*), a
fifth of all weight being spread evenly, as the search has it. Beside it *all or none*: one level for all positions, the
dearest that the allowance pays for, and a fresh start where it pays for none.

Written to ``results/belief_allowance.json``.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import chess
import numpy as np

from darkchess.errors import DarkchessError
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.belief.filter import Filter
from darkchess.fog.belief.policy import Level, Policy
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game.record import GameRecord
from darkchess.fog.game.referee import Referee
from experiments.belief.replay import differing, gone_through
from experiments.commands import finished
from experiments.series.runner import RESULTS, RUNS, positive
from klss.support.arrays import Floats, Ints
from uci_bridge.match.documents import head, write_document

__all__ = ["ALLOWANCES", "ARMS", "LEAST", "AllOrNone", "main", "nats", "summary"]

ALLOWANCES = (0.015, 0.045, 0.075, 0.3, math.inf)
"""Seconds of one thread: what ``filtering`` leaves of 0.1, 0.3, 0.5 and 2 s a move; and no limit."""

LEAST, LARGE, MOST = 20, 5_000, 300_000
"""Possible positions: at the least; in the second column of the table; and where a player's part of a game ends."""

EVEN = 0.2

ARMS = [f"{kind} {allowance:g}" for allowance in ALLOWANCES for kind in ("shared", "all or none")]
COLUMNS = ["match", "game", "ply", "positions", *ARMS]


class AllOrNone(Filter):
    """Treats all sources at one level, or none."""

    def shared_out(self, weights: Floats, allowance: float, positions: int = 0) -> dict[Level, Ints]:
        """See :class:`darkchess.fog.belief.filter.Filter`."""
        level = self.affordable(len(weights), allowance, positions)
        return {} if level is None else {level: np.arange(len(weights))}


def nats(record: GameRecord, game: int) -> list[list[Any]]:
    """A row for each turn of a game that is looked at: ply, possible positions, and each arm's nats."""
    return list(_nats(record))


def _nats(record: GameRecord) -> Iterator[list[Any]]:
    evaluator, policy = BuiltinEvaluator(), Policy.packaged()
    referee = Referee(record.fen)
    sets = {
        color: [
            (allowance, PositionSet(referee.view(color), referee.position, cap=MOST, weigher=kind(policy, evaluator)))
            for allowance in ALLOWANCES
            for kind in (Filter, AllOrNone)
        ]
        for color in chess.COLORS
    }
    for ply, move in enumerate(record.moves, 1):
        referee.push(move)
        if referee.outcome is not None:
            return
        for color in list(sets):
            for allowance, known in sets[color]:
                known.observe(referee.view(color), allowance=allowance)
            if sets[color][0][1].capped_by is not None:
                del sets[color]
        mine = sets.get(referee.turn)
        if mine is None or mine[0][1].size < LEAST:
            continue
        size, at = mine[0][1].size, int(mine[0][1].indices(referee.position.row)[0])  # all have one order
        weights = [float(known.weights[at]) for _, known in mine]
        yield [ply, size, *(round(math.log((1.0 - EVEN) * weight * size + EVEN), 4) for weight in weights)]


def summary(rows: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    """Of each allowance: mean nats of both arms, of all turns and of those with large sets, and what sharing gains with
    its 95 % interval by game.
    """
    found = np.array([row[3:] for row in rows], dtype=np.float64)
    large = found[:, 0] >= LARGE
    shown = []
    for i, allowance in enumerate(ALLOWANCES):
        shared, other = found[:, 1 + 2 * i], found[:, 2 + 2 * i]
        shown.append(
            {
                "allowance_s": allowance,
                "shared": round(float(shared.mean()), 3),
                "all_or_none": round(float(other.mean()), 3),
                "gain": differing(shared - other, rows),
                "large": {
                    "turns": int(large.sum()),
                    "shared": round(float(shared[large].mean()), 3) if large.any() else None,
                    "all_or_none": round(float(other[large].mean()), 3) if large.any() else None,
                },
            }
        )
    return shown


def main(arguments: Sequence[str] | None = None) -> int:
    """Look at the games, or at what is left of them, and write; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.belief allowance", description="what the filter's time is worth"
    )
    add = parser.add_argument
    add("folders", nargs="+", type=Path, metavar="RUN_DIR", help="of a match, or one that holds such")
    add("--games", type=positive, default=30, metavar="N", help="of each match (default 30)")
    add("--workers", type=positive, default=2, metavar="W", help="games at a time (default 2)")
    add("--kept", type=Path, default=RUNS / "belief-allowance", metavar="DIR", help="where it keeps games looked at")
    add("--results", type=Path, default=RESULTS, metavar="DIR", help="where belief_allowance.json goes")
    parsed = parser.parse_args(arguments)
    return finished(lambda: _look(parsed), OSError, ValueError, DarkchessError)


def _look(parsed: argparse.Namespace) -> int:
    about = {"least": LEAST, "large": LARGE, "most": MOST, "even": EVEN, "arms": ARMS}
    shown = {**about, "policy": Policy.packaged().history}
    rows = gone_through(parsed.folders, nats, shown, games=parsed.games, kept=parsed.kept, workers=parsed.workers)
    if not rows:
        raise ValueError(f"no turns in {', '.join(map(str, parsed.folders))}; expected directories of matches")
    document = {
        **head("belief_allowance", "numpy", "numba"),
        "configuration": about,
        "games": len({(row[0], row[1]) for row in rows}),
        "turns": len(rows),
        "summary": summary(rows),
        "samples": {"columns": COLUMNS, "rows": rows},
    }
    path = parsed.results / "belief_allowance.json"
    write_document(path, document)
    for each in document["summary"]:
        print(f"{each['allowance_s']:g} s: {each['shared']} nats, all or none {each['all_or_none']}: {each['gain']}")
    return 0
