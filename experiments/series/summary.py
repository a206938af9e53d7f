"""The results of a series of matches as one small JSON document, from the directories of its matches alone.

Score, points and interval of a match are A's. The raw samples are one row per game; trees, moves and PGNs stay in the
directory. No host and no path is in it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from darkchess.fog.players.configuration import CONFIGURATIONS
from klss.table.limits import TimeControl
from uci_bridge.match.documents import commit, today
from uci_bridge.match.files import read_match
from uci_bridge.match.match import Standing
from uci_bridge.match.statistics import Elo, elo_of_match, score_of_elo
from uci_bridge.match.task import sides

__all__ = [
    "SESSIONS", "budget_text", "match_document", "match_folders", "match_name", "pooled", "read_document",
    "score_interval", "series_document", "sessions", "told_together",
]  # fmt: skip

SESSIONS = "sessions.jsonl"
"""File in a match's directory: the runs that played, and from which game on."""

_POINTS = {"a": 1.0, None: 0.5, "b": 0.0}


_ALIKE = ("a", "b", "configurations", "budgets", "evaluator", "openings", "rules")
"""The fields that must be equal for matches of several seeds to be combined; names alone are not enough, as a name may
later mean another player."""


def match_name(name: str, budget: TimeControl, seed: int, usual: int) -> str:
    """Name of a match's directory and summary: ``name``, the limit of a move, and the seed if it is not the usual one.

    >>> match_name("a-b", TimeControl(nodes=300), 2, 1)
    'a-b-300nodes-seed2'
    """
    limit = f"{budget.time_s:g}s" if budget.nodes is None else f"{budget.nodes}nodes"
    return f"{name}-{limit}" + ("" if seed == usual else f"-seed{seed}")


def match_folders(paths: Iterable[Path]) -> list[Path]:
    """The directories of matches among ``paths`` and below them."""
    found: list[Path] = []
    for path in paths:
        found += (
            [path] if (path / "match.json").exists() else sorted(about.parent for about in path.rglob("match.json"))
        )
    return found


def read_document(path: Path) -> dict[str, Any] | None:
    """A document that was written before; None if there is none."""
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None


def series_document(
    experiment: str, found: Sequence[dict[str, Any]], before: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The document of the series ``experiment`` from its matches' documents ``found`` (:func:`match_document`); the
    entries of other matches in the document ``before`` are kept.
    """
    earlier = [] if before is None else before["matches"]
    matches = list({match["name"]: match for match in (*earlier, *found)}.values())
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


def told_together(matches: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """``matches``, with those combined that differ only in their seeds: a match begun on one machine can be continued
    on another by playing a second seed. Games, points, interval, colors and sessions of a combined match are those of
    all; other fields are left out.
    """
    groups: dict[str, list[dict[str, Any]]] = {}
    for match in matches:
        alike = [match[key] for key in _ALIKE if key in match]
        groups.setdefault(json.dumps(alike, sort_keys=True), []).append(match)
    shown = []
    for group in groups.values():
        seeds = [match.get("seed") for match in group]
        shown += [_together(group)] if 1 < len(group) == len(set(seeds)) else group
    return shown


def _together(group: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "name": group[0]["name"],
        **{key: group[0][key] for key in _ALIKE},
        "seeds": [match["seed"] for match in group],
        "games_planned": None,
        **{key: sum(match[key] for match in group) for key in ("wins", "draws", "losses")},
        **pooled(group),
        "by_color": {
            color: {key: sum(match["by_color"][color][key] for match in group) for key in group[0]["by_color"][color]}
            for color in group[0]["by_color"]
        },
        "sessions": [session for match in group for session in match["sessions"]],
    }


def pooled(group: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Games and points of several matches; score and Elo difference with the interval of all their pairs."""
    games, score = sum(match["games"] for match in group), sum(match["score"] for match in group)
    pairs = [sum(counts) for counts in zip(*(match["pairs"] for match in group), strict=True)]
    elo = elo_of_match(score, games, pairs)
    return {
        "games": games,
        "score": score,
        "percent": [round(100 * share, 2) for share in score_interval(elo, score / games)],
        "elo": [elo.low, elo.middle, elo.high],
        "elo_method": elo.method,
        "pairs": pairs,
    }


def match_document(name: str, folder: Path, planned: int | None = None) -> dict[str, Any] | None:
    """The results of the match in ``folder``, of ``planned`` games; None if no game has ended."""
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
        "budgets": {"a": identity["budget"], "b": identity["budget"]},
        **{key: identity[key] for key in ("seed", "openings", "rules", "evaluator")},
        "configurations": {side: identity[side] for side in "ab"},
        "changed": {side: _changed(identity[side]) for side in "ab"},
        "games_planned": planned,
        **standing.document(),
        "percent": [round(100 * share, 2) for share in score_interval(elo, standing.score / standing.games)],
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


def score_interval(elo: Elo, share: float) -> tuple[float, float, float]:
    """Score per game with its 95 % interval: low, ``share``, high, 0 to 1; from the interval of the Elo difference."""
    low = 0.0 if elo.low is None else score_of_elo(elo.low)
    high = 1.0 if elo.high is None else score_of_elo(elo.high)
    return low, share, high


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
    """The fields in which a configuration differs from ``klss2021``."""
    usual = CONFIGURATIONS["klss2021"].fields()
    return {key: value for key, value in kept.items() if key != "name" and value != usual.get(key)}


def _sample(line: Mapping[str, Any]) -> list[Any]:
    white = next(color for color, side in sides(line["game"]).items() if side == "a")
    return [line["game"], _POINTS[line["winner"]], line["plies"], line["reason"], "white" if white else "black"]


def sessions(folder: Path, games: int) -> list[dict[str, Any]]:
    """The runs of a match with their numbers of games, in order; empty if only ``klss match`` has played it."""
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
