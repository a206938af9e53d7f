"""What a series of matches has shown, as one small JSON document, from the directories of its matches alone.

All of a match is A's: score, points, interval. The raw samples are one row a game; trees, moves and PGNs stay in the
directory. No host, no path is told.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from darkchess.players.configuration import CONFIGURATIONS
from uci_bridge.match.documents import commit, today
from uci_bridge.match.files import read_match
from uci_bridge.match.game import sides
from uci_bridge.match.match import Standing
from uci_bridge.match.statistics import Elo, score_of_elo

__all__ = ["SESSIONS", "budget_text", "match_document", "score_interval", "series_document", "sessions"]

SESSIONS = "sessions.jsonl"
"""In a match's directory: who played, from which game on."""

_POINTS = {"a": 1.0, None: 0.5, "b": 0.0}


def series_document(experiment: str, folders: Mapping[str, Path], planned: int) -> dict[str, Any]:
    """The document of a series.

    Parameters
    ----------
    experiment
        Its name.
    folders
        Name -> directory of each match; those without a finished game are left out.
    planned
        Games that each match is to have.

    Raises
    ------
    MatchError
        See :func:`uci_bridge.match.files.read_match`.
    """
    matches = []
    for name, folder in folders.items():
        found = match_document(name, folder, planned)
        if found is not None:
            matches.append(found)
    played = [match["sessions"][-1] for match in matches if match["sessions"]]
    last: dict[str, Any] = max(played, key=lambda session: session["utc"], default={})
    return {
        "experiment": experiment,
        "created": today(),
        "commit": last.get("commit"),
        "versions": last.get("versions"),
        "summarised_at": commit(),
        "games": sum(match["games"] for match in matches),
        "matches": matches,
    }


def match_document(name: str, folder: Path, planned: int | None = None) -> dict[str, Any] | None:
    """What a match has shown; None where no game has ended.

    Parameters
    ----------
    name
        Of the match.
    folder
        Its directory.
    planned
        Games that it is to have.
    """
    kept = read_match(folder)
    if kept is None or not kept[1]:
        return None
    identity, lines, moves = kept
    standing = Standing()
    for line in lines:
        standing.count(line)
    standing.count_moves(moves)
    elo = standing.elo
    return {
        "name": name,
        "a": identity["a"]["name"],
        "b": identity["b"]["name"],
        "budgets": {"a": identity["budget"], "b": identity.get("budget_b", identity["budget"])},
        **{key: identity[key] for key in ("seed", "openings", "rules", "evaluator")},
        "configurations": {side: identity[side] for side in "ab"},
        "changed": {side: _changed(identity[side]) for side in "ab"},
        "games_planned": planned,
        **standing.document(),
        "percent": [round(100 * share, 2) for share in score_interval(elo, standing)],
        "elo": [elo.low, elo.middle, elo.high],
        "elo_method": elo.method,
        "pairs": standing.pairs.counts,
        "by_color": {color: record.document() for color, record in standing.by_color.items()},
        "statistics": standing.statistics(),
        "seconds": round(sum(line["seconds"] for line in lines), 1),
        "faults": sum("fault" in line for line in lines),
        "sessions": sessions(folder, len(lines)),
        "samples": {
            "columns": ["game", "points", "plies", "reason", "color"],
            "rows": [_sample(line) for line in sorted(lines, key=lambda line: int(line["game"]))],
        },
    }


def score_interval(elo: Elo, standing: Standing) -> tuple[float, float, float]:
    """Score a game with its 95 % interval: low, middle, high, 0 to 1; the same interval as the Elo difference's."""
    low = 0.0 if elo.low is None else score_of_elo(elo.low)
    high = 1.0 if elo.high is None else score_of_elo(elo.high)
    return low, standing.score / standing.games, high


def budget_text(budget: Mapping[str, Any]) -> str:
    """A budget in words.

    >>> budget_text({"time_s": 0.0625, "nodes": None, "clock": None})
    '1/16 s a move'
    >>> budget_text({"time_s": 0.5, "nodes": None, "clock": None})
    '0.5 s a move'
    """
    if budget["nodes"] is not None:
        return f"{budget['nodes']} nodes a move"
    if budget["time_s"] is None:
        start, increment = budget["clock"]
        return f"{start:g}+{increment:g} s a game"
    parts = 1 / budget["time_s"]
    text = f"1/{parts:.0f}" if parts > 2 and math.log2(parts).is_integer() else f"{budget['time_s']:g}"
    return f"{text} s a move"


def _changed(kept: Mapping[str, Any]) -> dict[str, Any]:
    """In what a configuration differs from ``klss2021``; what is not finite as text."""
    usual = CONFIGURATIONS["klss2021"]
    changes = {key: value for key, value in kept.items() if key != "name" and value != getattr(usual, key, None)}
    return {key: str(value) if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in changes.items()}  # fmt: skip


def _sample(line: Mapping[str, Any]) -> list[Any]:
    white = next(color for color, side in sides(line["game"]).items() if side == "a")
    return [line["game"], _POINTS[line["winner"]], line["plies"], line["reason"], "white" if white else "black"]


def sessions(folder: Path, games: int) -> list[dict[str, Any]]:
    """Who played how many games, in order; nothing of a match that ``klss match`` has played alone."""
    path = folder / SESSIONS
    if not path.exists():
        return []
    rows = []
    for text in path.read_text(encoding="utf-8").splitlines():
        try:
            rows.append(json.loads(text))
        except ValueError:  # cut off when its writer died
            continue
    merged: list[dict[str, Any]] = []
    for row, following in zip(rows, [*rows[1:], {"games_before": games}]):
        count = following["games_before"] - row.pop("games_before")
        if merged and all(merged[-1].get(key) == row.get(key) for key in ("commit", "modified", "code", "versions")):
            merged[-1]["games"] += count
        else:
            merged.append(row | {"games": count})
    return merged
