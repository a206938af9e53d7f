"""The files of a match, as lines that two matches can be compared by."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["rows", "timeless"]


def rows(folder: Path, name: str = "games") -> list[dict[str, Any]]:
    """The whole lines of ``games.jsonl`` or ``moves.jsonl``; none where it is not there."""
    path = folder / f"{name}.jsonl"
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def timeless(folder: Path, name: str = "games") -> list[dict[str, Any]]:
    """The same in the order of games and plies, without times and what is told of truths."""
    found = sorted(rows(folder, name), key=lambda row: (row["game"], row.get("ply", 0)))
    return [{key: row[key] for key in row if key != "truth" and not key.startswith("seconds")} for row in found]
