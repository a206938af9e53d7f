"""What games and searches looked like: |P| along the game, nodes, depth, gadgets, time; from finished matches.

``python -m experiments.games RUN_DIR…`` reads the directories of matches, or directories that hold such, and writes
``results/games.json``: one entry for each player (configuration and budget) of them. |P| is the number of positions
that the player to move held possible. Matches that are still being played can be read too.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.series.runner import RESULTS
from experiments.series.summary import budget_text, sessions
from uci_bridge.match.documents import commit, today, write_document
from uci_bridge.match.files import read_match
from uci_bridge.match.match import MatchError
from uci_bridge.match.report import MoveStatistics, spread
from uci_bridge.match.task import sides

__all__ = ["Moves", "document", "main", "match_folders"]

BINS_PER_DECADE = 4
"""Of the histogram of |P|."""

LEAST_AT_PLY = 5
LEAST_SHARE = 0.1
"""A ply at which fewer moves were made, or a smaller share of those made at the busiest ply, has no row of its own."""

_MORE = ("depth_mean", "iterations", "lp_share", "carried", "sampled")
"""Keys of a line of ``moves.jsonl`` that a match's own statistics leave out."""


class Moves(MoveStatistics):
    """Counts of one player's moves."""

    def __init__(self) -> None:
        super().__init__()
        self.games = 0
        self._more: dict[str, list[float]] = {name: [] for name in _MORE}
        self._positions: dict[int, list[int]] = defaultdict(list)
        self._roots = [0, 0]

    def count(self, move: dict[str, Any]) -> None:
        """Count a line of ``moves.jsonl``; what an engine did not report is left out."""
        super().count(move)
        for name in _MORE:
            value = move.get(name)
            if isinstance(value, int | float) and not isinstance(value, bool):
                self._more[name].append(float(value))
        positions = move.get("positions")
        if isinstance(positions, int) and positions > 0:
            self._positions[move["ply"]].append(positions)
        if isinstance(move.get("carried"), int) and isinstance(move.get("sampled"), int):
            self._roots[0] += move["carried"]
            self._roots[1] += move["sampled"]

    def document(self) -> dict[str, Any]:
        """As JSON; None where no move was reported."""
        everywhere = [number for numbers in self._positions.values() for number in numbers]
        least = max(LEAST_AT_PLY, LEAST_SHARE * max(map(len, self._positions.values()), default=0))
        rows = [
            [ply, len(numbers), *(round(float(level)) for level in np.percentile(numbers, [50, 90, 100]))]
            for ply, numbers in sorted(self._positions.items())
            if len(numbers) >= least
        ]
        roots = sum(self._roots)
        return {
            "games": self.games,
            **super().document(),
            **{name: spread(values) for name, values in self._more.items()},
            "carried_share_of_roots": round(self._roots[0] / roots, 4) if roots else None,
            "positions": {
                "all": spread([float(number) for number in everywhere]),
                "by_ply": {"columns": ["ply", "moves", "median", "p90", "max"], "rows": rows},
                "histogram": histogram(everywhere),
            },
        }


def histogram(numbers: Sequence[int]) -> dict[str, Any]:
    """How many of ``numbers`` (1 or more) fall into bins of equal width in log10.

    Returns
    -------
    dict
        ``edges_log10``, one more than there are bins, and ``counts``. A number on an edge belongs to the bin above.

    >>> histogram([1, 10, 11])
    {'edges_log10': [0.0, 0.25, 0.5, 0.75, 1.0, 1.25], 'counts': [1, 0, 0, 0, 2]}
    """
    # The 1e-9 keeps powers of ten on their edge, whatever log10 rounds to.
    bins = np.floor(np.log10(np.asarray(numbers, dtype=np.float64)) * BINS_PER_DECADE + 1e-9).astype(np.int64)
    counts = np.bincount(bins) if len(bins) else np.zeros(0, dtype=np.int64)
    return {
        "edges_log10": [edge / BINS_PER_DECADE for edge in range(len(counts) + 1)],
        "counts": [int(count) for count in counts],
    }


def match_folders(paths: Iterable[Path]) -> list[Path]:
    """The directories of matches among ``paths`` and below them."""
    found: list[Path] = []
    for path in paths:
        found += (
            [path] if (path / "match.json").exists() else sorted(about.parent for about in path.rglob("match.json"))
        )
    return found


def document(folders: Sequence[Path]) -> dict[str, Any]:
    """The document over all these matches.

    Raises
    ------
    MatchError
        See :func:`uci_bridge.match.files.read_match`.
    """
    players: dict[tuple[str, str, str], Moves] = defaultdict(Moves)
    matches = []
    latest: dict[str, Any] = {}
    for folder in folders:
        kept = read_match(folder)
        if kept is None or not kept[1]:
            continue
        identity, lines, moves = kept
        budgets = {"a": identity["budget"], "b": identity.get("budget_b", identity["budget"])}
        keys = {side: (identity[side]["name"], budget_text(budgets[side]), identity["evaluator"]) for side in "ab"}
        for line in lines:
            for side in sides(line["game"]).values():
                players[keys[side]].games += 1
        for move in moves:
            players[keys[move["player"]]].count(move)
        played = sessions(folder, len(lines))
        latest = max([latest, *played], key=lambda session: str(session.get("utc", "")))
        matches.append(
            {
                "a": keys["a"][0],
                "b": keys["b"][0],
                "budgets": budgets,
                "evaluator": identity["evaluator"],
                "seed": identity["seed"],
                "openings": identity.get("openings"),
                "games": len(lines),
                "commits": sorted({str(session["commit"]) for session in played}),
            }
        )
    ordered = sorted(players.items(), key=lambda item: -item[1].games)
    return {
        "experiment": "games",
        "created": today(),
        "commit": latest.get("commit"),
        "versions": latest.get("versions"),
        "summarised_at": commit(),
        "games": sum(match["games"] for match in matches),
        "matches": matches,
        "players": [
            {"player": name, "budget": budget, "evaluator": evaluator, **moves.document()}
            for (name, budget, evaluator), moves in ordered
        ],
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the matches and write the document; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.games", description="what games and searches looked like, from finished matches"
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="RUN_DIR", help="of a match, or one that holds such")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="DIR", help="where games.json goes")
    parsed = parser.parse_args(arguments)
    folders = match_folders(parsed.folders)
    try:
        found = document(folders)
    except MatchError as error:
        print(error, file=sys.stderr)
        return 1
    if not found["games"]:
        print(f"no finished games in {', '.join(map(str, parsed.folders))}; expected directories of matches")
        return 1
    path = parsed.results / "games.json"
    write_document(path, found)
    print(f"{path}: {found['games']} games of {len(found['matches'])} matches, {len(found['players'])} players")
    return 0


if __name__ == "__main__":
    sys.exit(main())
