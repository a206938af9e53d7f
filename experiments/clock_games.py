"""Games by the clock, looked at: ``python -m experiments.clock_games DIR…`` (directories of ``klss match --clock``).

For each match: how its games ended, how many by a flag, the least time that was left on a clock before a move's
increment, and the slowest move. Written to ``results/clock_games.json``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from uci_bridge.match.documents import head, write_document

__all__ = ["looked_at", "main"]

RESULT = Path(__file__).resolve().parent / "results" / "clock_games.json"


def looked_at(folder: Path) -> dict[str, Any]:
    """The row of one match."""
    about = json.loads((folder / "match.json").read_text(encoding="utf-8"))
    games, moves = (
        [json.loads(line) for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
        for name in ("games", "moves")
    )
    start, increment = about["budget"]["clock"]
    left: dict[tuple[int, str], float] = {}
    least, slowest = start, 0.0
    for move in moves:
        side = (move["game"], move["player"])
        seconds = move.get("seconds_wall", move.get("seconds", 0.0))
        after = left.get(side, start) - seconds
        least, slowest = min(least, after), max(slowest, seconds)
        left[side] = after + increment
    reasons = Counter(game["reason"] for game in games)
    return {
        "a": about["a"]["name"], "b": about["b"]["name"], "clock": [start, increment], "seed": about["seed"],
        "games": len(games), "moves": len(moves), "reasons": dict(sorted(reasons.items())), "flags": reasons["flag"],
        "least_left_s": round(least, 3), "slowest_move_s": round(slowest, 3),
    }  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    parser.add_argument("--out", type=Path, default=RESULT)
    chosen = parser.parse_args(argv)
    rows = []
    for folder in chosen.folders:
        try:
            rows.append({"run": folder.name} | looked_at(folder))
        except (OSError, KeyError, TypeError, ValueError) as error:
            print(f"got {str(folder)!r}, expected the directory of a match with --clock: {error}", file=sys.stderr)
            return 2
        print(rows[-1])
    write_document(chosen.out, head("clock_games") | {"matches": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
