"""``python -m experiments.series NAME …`` plays a series of the catalogue, or what is left; ``--list`` lists them."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from experiments.series import blind, runner
from experiments.series.catalogue import BLIND, FOG

__all__ = ["listed", "main"]


def listed() -> list[str]:
    """A line for each series: its name, its matches, a side's budget, and a description."""
    lines = []
    for name, series in FOG.items():
        games = f"{len(series.pairings()):2} x {series.games} games"
        lines.append(f"{name:20} {games}, {series.time_s:g} s a move: {series.about.replace('`', '')}")
    for name, other in BLIND.items():
        games = f"{len(other.pairings):2} x up to {blind.GAMES} games"
        lines.append(f"{name:20} {games}, {other.nodes} nodes a question: {other.about}")
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Play the series that is named first; return the exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    name, rest = (given[0], given[1:]) if given else ("", [])
    if name in FOG:
        return runner.main(FOG[name], rest)
    if name in BLIND:
        series = BLIND[name]
        command = f"series {name}"
        return blind.main(name, series.about, series.pairings, rest, nodes=series.nodes, command=command)
    if name in ("--list", "-h", "--help"):
        print("\n".join(listed()))
        return 0
    known = ", ".join([*FOG, *BLIND])
    print(f"python -m experiments.series: got {name!r}, expected --list or one of {known}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
