"""Position sets of 10⁸ and of 10⁷, and what they take: ``python -m experiments.streamed_update [--out FILE]``.

The largest of the bench's lines goes on with two quiet moves of each side, and Black's set of 13 million becomes one of
100 million; each update of more than a million positions is timed, streamed and on two threads. Memory is the
process's at its largest, looked at twenty times a second.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from pathlib import Path
from typing import Any

import chess

from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game.referee import Referee
from klss_app.bench.report import load
from klss_app.bench.tracker import bench_lines, resident_mb
from uci_bridge.match.documents import head, write_document

__all__ = ["main", "run"]

RESULT = Path(__file__).resolve().parent / "results" / "streamed_update.json"
FURTHER = ("e7e8", "b1a1", "e8f8", "a1b1")
CAP = 400_000_000


class _Peak:
    """The largest resident size since it was asked last."""

    def __init__(self) -> None:
        self._mb = 0.0
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            self._mb = max(self._mb, resident_mb() or 0.0)
            time.sleep(0.05)

    def take(self) -> float:
        """Megabytes; starts anew."""
        mb, self._mb = max(self._mb, resident_mb() or 0.0), 0.0
        return round(mb, 1)


def run(*, stream: bool, most: int = CAP) -> list[dict[str, Any]]:
    """The updates across enemy moves, one row each; ends with the first set of more than ``most``."""
    line = bench_lines()[-1]
    referee, rows, peak = Referee(None), [], _Peak()
    known = PositionSet(referee.view(line.color), referee.position, cap=CAP, threads=2, stream=stream)
    for move in (*line.moves, *map(chess.Move.from_uci, FURTHER)):
        referee.push(move)
        sources = known.size
        if sources > 1_000_000:
            peak.take()
        began = time.perf_counter()
        known.observe(referee.view(line.color))
        seconds = time.perf_counter() - began
        if sources > 1_000_000 and referee.turn == line.color:
            rows.append({
                "ply": referee.ply, "sources": sources, "positions": known.size, "successors": known.successors,
                "seconds": round(seconds, 3), "peak_mb": peak.take(), "stream": stream, "load": load(),
            })  # fmt: skip
            print(
                f"{'streamed' if stream else 'whole'}: {sources:,} → {known.size:,} positions in {seconds:.1f} s, "
                f"{rows[-1]['peak_mb']:,.0f} MB at the most",
                file=sys.stderr,
                flush=True,
            )
        if known.size > most:
            break
    return rows


def main(argv: list[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=RESULT)
    chosen = parser.parse_args(argv)
    document = {
        **head("streamed_update", "numpy", "numba"),
        "configuration": {"cap": CAP, "threads": 2, "line": bench_lines()[-1].name, "further": list(FURTHER)},
        "seed": 0,
        "samples": run(stream=False, most=10_000_000) + run(stream=True),
    }
    write_document(chosen.out, document)
    return 0


if __name__ == "__main__":
    sys.exit(main())
